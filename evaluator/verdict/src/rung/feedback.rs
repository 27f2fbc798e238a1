//! Rung feedback: the reason of a failed rung, and its log in terms of the pristine tree.

use crate::attempt::AttemptFacts;
use patchwright_crash::CrashReport;
use patchwright_crash::feedback;
use patchwright_crash::feedback::{LineMap, LocationTranslator};
use patchwright_crash::test_report::{Comparison, TestReport};
use patchwright_source::{Tree, TreePath};
use patchwright_target::runner::{INSIDE, TargetTask};
use std::collections::BTreeMap;

/// Tokens of one feedback.
const TOKENS: usize = 3_000;

/// Writes the feedback of rungs about one patched build.
pub(crate) struct FeedbackWriter<'a> {
    task: &'a TargetTask,
    roots: Vec<String>,
    tree: Option<Tree>,
    changed: BTreeMap<TreePath, LineMap>,
}

impl<'a> FeedbackWriter<'a> {
    pub(crate) fn new(task: &'a TargetTask, attempt: &AttemptFacts) -> Self {
        let tree = Tree::open(&task.tree).ok();
        let changes = &attempt.changes;
        let map = |path: &TreePath| {
            LineMap::of_change(tree.as_ref()?, changes, changes.pristine_name(path))
        };
        let changed = changes.files.keys();
        let changed = changed
            .filter_map(|path| Some((path.clone(), map(path)?)))
            .collect();
        let mut roots = vec![task.seen_tree()];
        roots.push(format!("{INSIDE}/out"));
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Self {
            task,
            roots,
            tree,
            changed,
        }
    }

    fn places<T>(&self, say: impl FnOnce(&LocationTranslator<'_>) -> T) -> T {
        let rebase = |path: &str| -> Option<String> {
            let path = self.tree.as_ref()?.rebase(path)?;
            Some(TreePath::as_str(&path).to_owned())
        };
        say(&LocationTranslator {
            roots: &self.roots,
            rebase: &rebase,
            changed: &self.changed,
        })
    }

    /// Describes a failed build.
    pub(crate) fn build(&self, reason: &str, log: &str) -> String {
        let text = self.places(|places| feedback::build(log, places, TOKENS));
        format!("{reason}\n\n{text}")
    }

    /// Describes a remaining crash.
    pub(crate) fn crash(
        &self,
        reason: &str,
        before: Option<&CrashReport>,
        now: &CrashReport,
    ) -> String {
        let task = self.task;
        let project = |frame: &patchwright_crash::Frame| task.in_project(frame);
        let text = self.places(|places| feedback::crash(before, now, &project, places, TOKENS));
        format!("{reason}\n\n{text}")
    }

    /// Describes a hang, by thread dumps where there are any.
    pub(crate) fn hang(&self, reason: &str, dumps: &[String], log: &str) -> String {
        let text = self.places(|places| {
            feedback::hang(dumps, places, TOKENS)
                .unwrap_or_else(|| feedback::excerpt(log, places, TOKENS))
        });
        format!("{reason}\n\n{text}")
    }

    /// Describes broken tests.
    pub(crate) fn tests(
        &self,
        reason: &str,
        (comparison, report): (&Comparison, &TestReport),
        log: &str,
    ) -> String {
        let text = self.places(|places| feedback::tests(comparison, report, log, places, TOKENS));
        format!("{reason}\n\n{text}")
    }

    /// Describes any other failure by its log.
    pub(crate) fn log(&self, reason: &str, log: &str) -> String {
        let text = self.places(|places| feedback::excerpt(log, places, TOKENS));
        format!("{reason}\n\n{text}\n")
    }
}
