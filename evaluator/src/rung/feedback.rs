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
    changed: BTreeMap<String, LineMap>,
}

impl<'a> FeedbackWriter<'a> {
    pub(crate) fn new(task: &'a TargetTask, attempt: &AttemptFacts) -> Self {
        let tree = Tree::open(&task.tree).ok();
        let mut changed = BTreeMap::new();
        for (path, bytes) in &attempt.changes.files {
            let before = attempt
                .changes
                .renamed
                .iter()
                .find(|(_, to)| *to == path)
                .map_or(path, |(from, _)| from);
            if let Some(pristine) = tree.as_ref().and_then(|tree| tree.read(before).ok()) {
                let map = LineMap::between(
                    &String::from_utf8_lossy(pristine.bytes()),
                    &String::from_utf8_lossy(bytes),
                );
                changed.insert(path.as_str().to_owned(), map);
            }
        }
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
