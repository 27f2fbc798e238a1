//! What a repairer is told: the reason, and feedback in terms of the pristine tree.

use crate::attempt::AttemptFacts;
use crate::crash::CrashReport;
use crate::feedback::{self, LineMap, LocationTranslator};
use crate::runner::{INSIDE, TargetTask};
use crate::test_report::{Comparison, TestReport};
use patchwright_source::{Tree, TreePath};
use std::collections::BTreeMap;

/// Tokens of one feedback.
const TOKENS: usize = 3_000;

/// Everything that is needed to put logs of a patched build into words.
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

    /// A build that failed.
    pub(crate) fn build(&self, reason: &str, log: &str) -> String {
        let text = self.places(|places| feedback::build(log, places, TOKENS));
        format!("{reason}\n\n{text}")
    }

    /// A crash that is still there.
    pub(crate) fn crash(
        &self,
        reason: &str,
        before: Option<&CrashReport>,
        now: &CrashReport,
    ) -> String {
        let task = self.task;
        let project = |frame: &crate::crash::Frame| task.in_project(frame);
        let text = self.places(|places| feedback::crash(before, now, &project, places, TOKENS));
        format!("{reason}\n\n{text}")
    }

    /// A hang, by thread dumps where there are any.
    pub(crate) fn hang(&self, reason: &str, dumps: &[String], log: &str) -> String {
        let text = self.places(|places| {
            feedback::hang(dumps, places, TOKENS)
                .unwrap_or_else(|| feedback::excerpt(log, places, TOKENS))
        });
        format!("{reason}\n\n{text}")
    }

    /// Tests that broke.
    pub(crate) fn tests(
        &self,
        reason: &str,
        (comparison, report): (&Comparison, &TestReport),
        log: &str,
    ) -> String {
        let text = self.places(|places| feedback::tests(comparison, report, log, places, TOKENS));
        format!("{reason}\n\n{text}")
    }

    /// Anything else that was printed.
    pub(crate) fn log(&self, reason: &str, log: &str) -> String {
        let text = self.places(|places| feedback::excerpt(log, places, TOKENS));
        format!("{reason}\n\n{text}\n")
    }
}
