//! Rung feedback: the reason of a failed rung, and its log in terms of the pristine tree.

use crate::attempt::AttemptFacts;
use patchwright_crash::feedback::{self, LineMap, LineOrigin, LocationTranslator};
use patchwright_crash::test_report::{Comparison, TestReport};
use patchwright_crash::{CrashReport, rebased};
use patchwright_record::Crash;
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
        let changed = changed.filter_map(|path| Some((path.clone(), map(path)?)));
        let changed = changed.collect();
        let mut roots = vec![task.seen_tree(), format!("{INSIDE}/out")];
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Self {
            task,
            roots,
            tree,
            changed,
        }
    }

    /// Returns a crash as it is kept: its paths and lines are those of the pristine tree, which is
    /// what retrieval shows.
    pub(crate) fn kept(&self, report: CrashReport) -> Crash {
        let mut crash = Crash::from(match &self.tree {
            Some(tree) => rebased(report, tree),
            None => report,
        });
        for frame in &mut crash.frames {
            let file = frame.file.as_deref();
            let path = file.and_then(|file| TreePath::new(file).ok());
            let map = path.and_then(|path| self.changed.get(&path));
            if let (Some(map), Some(line)) = (map, frame.line) {
                frame.line = Some(match map.origin(line) {
                    LineOrigin::Same(line) | LineOrigin::Replaced(line, _) => line,
                    LineOrigin::InsertedAfter(line) => line.max(1),
                });
            }
        }
        crash
    }

    /// Writes a reason, and what is said below it in terms of the pristine tree.
    fn write(&self, reason: &str, say: impl FnOnce(&LocationTranslator<'_>) -> String) -> String {
        let rebase = |path: &str| -> Option<String> {
            let path = self.tree.as_ref()?.rebase(path)?;
            Some(TreePath::as_str(&path).to_owned())
        };
        let text = say(&LocationTranslator {
            roots: &self.roots,
            rebase: &rebase,
            changed: &self.changed,
        });
        format!("{reason}\n\n{text}")
    }

    /// Describes a failed build.
    pub(crate) fn build(&self, reason: &str, log: &str) -> String {
        self.write(reason, |places| feedback::build(log, places, TOKENS))
    }

    /// Describes a run that fails: by its crash where there is a report, else by its log.
    pub(crate) fn run(
        &self,
        reason: &str,
        before: Option<&CrashReport>,
        (now, log): (Option<&CrashReport>, &str),
    ) -> String {
        let project = |frame: &patchwright_crash::Frame| self.task.in_project(frame);
        let crash = |now: &CrashReport| {
            self.write(reason, |places| {
                feedback::crash(before, now, &project, places, TOKENS)
            })
        };
        now.map_or_else(|| self.log(reason, log), crash)
    }

    /// Describes broken tests.
    pub(crate) fn tests(
        &self,
        reason: &str,
        (comparison, report): (&Comparison, &TestReport),
        log: &str,
    ) -> String {
        self.write(reason, |places| {
            feedback::tests(comparison, report, log, places, TOKENS)
        })
    }

    /// Describes any other failure by its log.
    pub(crate) fn log(&self, reason: &str, log: &str) -> String {
        let text = self.write(reason, |places| feedback::excerpt(log, places, TOKENS));
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::FeedbackWriter;
    use crate::attempt::AttemptFacts;
    use patchwright_target::runner::TargetTask;
    use patchwright_target::test_support::change;

    #[test]
    fn a_kept_crash_names_places_of_the_pristine_tree() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "1\n2\n3\n4\n").unwrap();
        let task = TargetTask {
            tree: folder.path().to_owned(),
            ..TargetTask::default()
        };
        let attempt = AttemptFacts {
            changes: change("a.c", "1\nnew\nnew\n2\n3\n4\n".to_owned()),
            ..AttemptFacts::default()
        };
        let log = "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n    #0 0x1 in f /src/a.c:5\n    #1 0x2 in f /src/a.c:2\n    #2 0x3 in main /src/a.c:1\n";
        let report = patchwright_crash::parse(log).unwrap();
        let crash = FeedbackWriter::new(&task, &attempt).kept(report);
        let lines: Vec<_> = crash.frames.iter().filter_map(|frame| frame.line).collect();
        assert_eq!(lines, [3, 1, 1]);
        assert_eq!(crash.frames[0].file.as_deref(), Some("a.c"));
    }
}
