//! One branch: it is tried with the PoV, gets the fix, and the ladder judges it there.

use super::agreement::Agreement;
use super::fix::Size;
use super::{Backport, file_name};
use crate::display;
use crate::revisions::Seen;
use crate::verb::session::{self, Beginning};
use patchwright_agent::record::EndingKind;
use patchwright_agent::report::{INTERRUPTED, Report};
use patchwright_agent::task::{Hints, Task};
use patchwright_patcher::Patch;
use patchwright_source::{FileDiff, Side};
use serde::Serialize;

/// The flaw in a branch, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Affected {
    Yes,
    No,
    #[default]
    Unknown,
}

/// The way in which a fix got to a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Carried {
    /// Git merged it, as `git cherry-pick` does.
    Merged,
    /// Git's conflicts were resolved: each change concerns other words.
    Resolved,
    /// Each edit was found where its original stands in the branch.
    Located,
    /// A model wrote it, with the original before it.
    Written,
}

/// A row of the result.
#[derive(Debug, Default, Serialize)]
pub(super) struct Branch {
    /// As the user named it.
    pub(super) name: String,
    pub(super) commit: String,
    pub(super) affected: Affected,
    /// The reason for taking it to be affected or not.
    pub(super) evidence: String,
    /// None where the fix was not carried.
    pub(super) carried: Option<Carried>,
    /// True where the lines that are added and removed are those of the original.
    pub(super) unchanged: bool,
    /// Commits that brought the lines which the fix changes, and that the branch lacks.
    pub(super) missing: Vec<String>,
    pub(super) size: Option<Size>,
    /// The ending of the judgement in one word; none where there was none.
    pub(super) ending: Option<String>,
    pub(super) detail: String,
    pub(super) run: Option<String>,
    /// The branch with a patch that stands, against the main line with the fix.
    pub(super) agreement: Option<Agreement>,
    /// The file for `git am`, of a patch that stands.
    pub(super) mail: Option<String>,
}

impl Branch {
    /// Tells whether nothing is left to do for somebody: it is not affected, or has its patch.
    pub(super) fn is_settled(&self) -> bool {
        self.affected == Affected::No || self.ending.as_deref() == Some("verified")
    }

    /// Tells whether somebody stopped the work on it.
    pub(super) fn was_stopped(&self) -> bool {
        let agreement = self.agreement.as_ref();
        self.ending.as_deref() == Some(INTERRUPTED) || agreement.is_some_and(Agreement::was_stopped)
    }

    fn stands(&self) -> bool {
        let ending = self.ending.as_deref().and_then(EndingKind::read);
        matches!(ending, Some(EndingKind::Verified | EndingKind::Plausible))
    }
}

impl Backport<'_> {
    /// Tries a branch, and carries the fix to it where the PoV crashes it.
    pub(super) async fn branch(&self, (name, commit): (&str, &str)) -> anyhow::Result<Branch> {
        let (revisions, fix) = (&self.revisions, &self.fix);
        let mut branch = Branch {
            name: name.to_owned(),
            commit: commit.to_owned(),
            missing: fix.missing_at(revisions, commit).await?,
            ..Branch::default()
        };
        let mut task = self.task_at(name, commit).await?;
        let merged = self.merged(commit).await?;
        let mut seen = Seen::of(&self.tried(name, &task).await?);
        let mut evidence = "the PoV crashes it".to_owned();
        if let Seen::Unknown(reason) = &seen
            && let Some(found) = Box::pin(self.found_there(commit, &task)).await?
        {
            let command = found.commands.pov.as_deref().unwrap_or_default();
            evidence = format!("{evidence} by `{command}`, which was found there ({reason})");
            (task, seen) = (found, Seen::Crashes);
        }
        match seen {
            Seen::Crashes => {
                branch.affected = Affected::Yes;
                branch.evidence = evidence;
                Box::pin(self.carry(&mut branch, task, merged)).await?;
            }
            Seen::Silent => self.explain_silence(&mut branch, merged.as_deref()).await?,
            Seen::Unknown(reason) => branch.evidence = reason,
        }
        if branch.affected != Affected::Yes || branch.carried == Some(Carried::Merged) {
            branch.missing.clear();
        }
        Ok(branch)
    }

    /// Merges the fix into a branch as `git cherry-pick` does, and returns what this changes in
    /// the task's tree; none where the merge conflicts.
    async fn merged(&self, onto: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let (revisions, fix) = (&self.revisions, &self.fix);
        let tree = format!("{onto}^{{tree}}");
        let tree = revisions.git.run(&["rev-parse", "--verify", &tree]).await?;
        // Git merges commits by the ancestor that they share: here it is the parent of the fix.
        let side = revisions.commit_of(&tree, &fix.parent).await?;
        let merge = [
            "merge-tree",
            "--write-tree",
            "--no-messages",
            &side,
            &fix.code,
        ];
        let Ok(merged) = revisions.git.run(&merge).await else {
            return Ok(None);
        };
        let relative = format!("--relative={}", revisions.prefix);
        let diff = revisions.diff((&tree, &merged), &[&relative], &[]).await?;
        Ok(Some(diff))
    }

    /// Says why the PoV does not crash a branch. Without a reason of its own the silence of one
    /// input says nothing of the flaw.
    async fn explain_silence(
        &self,
        branch: &mut Branch,
        merged: Option<&[u8]>,
    ) -> anyhow::Result<()> {
        let fixed = self.fix.carried_by(&self.revisions, &branch.commit).await?;
        let (affected, reason) = match (fixed, merged) {
            (Some(commit), _) => (Affected::No, format!("and it has the fix: {commit}")),
            (None, Some([])) => (Affected::No, "and it has every line of the fix".to_owned()),
            (None, Some(_)) => {
                let reason = "but it has the lines that the fix changes";
                (Affected::Unknown, reason.to_owned())
            }
            (None, None) if branch.missing.is_empty() => {
                let reason = "and its code is another; nothing shows why";
                (Affected::Unknown, reason.to_owned())
            }
            (None, None) => {
                let missing = branch.missing.join(", ");
                let reason = format!("and the code came later, with {missing}");
                (Affected::No, reason)
            }
        };
        branch.affected = affected;
        branch.evidence = format!("the PoV does not crash it, {reason}");
        Ok(())
    }

    /// Judges the fix on a branch: as it was merged, or else with the conflicts resolved, or else,
    /// where they cannot be, with its edits located anew. Where that does not hold, a model writes
    /// it, if one is named.
    async fn carry(
        &self,
        branch: &mut Branch,
        task: Task,
        merged: Option<Vec<u8>>,
    ) -> anyhow::Result<()> {
        let (how, diff) = match merged {
            Some(diff) => (Carried::Merged, diff),
            None => match self.resolved(&branch.commit).await? {
                Some(diff) => (Carried::Resolved, diff),
                None => (Carried::Located, self.fix.diff.clone()),
            },
        };
        let mut patch = Patch::from_diff(&diff);
        let commit = self.fix.commit.as_ref();
        patch.explanation = commit.map(|commit| format!("Backport of {}.", commit.in_words()));
        let mut loaded = self.loaded.clone();
        // The project has reviewed its own lines, and no others.
        if how == Carried::Merged && commit.is_some() && self.is_unchanged(&diff) {
            loaded.settings.critic.calls = 0;
        }
        let mut output = self.arguments.output.clone();
        output.out = output.out.map(|out| out.join(file_name(&branch.name)));
        let report = session::judge((task.clone(), loaded), patch, &output).await?;
        self.enter(branch, how, &report).await?;
        if let Some(answers) = &self.answers
            && !branch.stands()
        {
            // A model carries the fix, as in a repair.
            let task = self.told(branch, task).await?;
            let display = display::of_settings(&self.loaded.settings);
            output.force = true;
            let new = Beginning::new(answers.clone(), None);
            let asked = (&self.arguments.asked, &output);
            let task = (task, self.loaded.clone());
            let report = session::begin_to_end(display, task, new, asked);
            let report = Box::pin(report).await?;
            self.enter(branch, Carried::Written, &report).await?;
        }
        Ok(())
    }

    /// Enters what came of a way to carry the fix.
    async fn enter(
        &self,
        branch: &mut Branch,
        how: Carried,
        report: &Report,
    ) -> anyhow::Result<()> {
        branch.ending = Some(report.ending.clone());
        branch.detail = session::reason(report);
        branch.run = Some(report.run.clone());
        let placed = report.best.as_ref().filter(|best| !best.diff.is_empty());
        let Some(best) = placed else {
            return Ok(());
        };
        branch.carried = Some(how);
        branch.size = Some(Size::of(&best.diff));
        branch.unchanged = self.is_unchanged(&best.diff_bytes());
        if branch.stands() {
            branch.mail = self.write_mail(branch, report).await?;
            let at = (branch.name.as_str(), branch.commit.as_str());
            let agreement = self.agreement(at, report).await;
            branch.agreement = Some(agreement);
        }
        Ok(())
    }

    /// The task with what a model has to know: the original, why it does not hold as it is, and
    /// the commits that the branch lacks.
    async fn told(&self, branch: &Branch, task: Task) -> anyhow::Result<Task> {
        let original = self.fix.in_full(&self.revisions).await?;
        let mut note = format!(
            "The project has repaired this defect elsewhere by the commit below. Carry its change to this tree, \
             where names and code may be other ones. As it is it does not hold here: {}.\n",
            branch.detail
        );
        if !branch.missing.is_empty() {
            let missing = branch.missing.join(", ");
            note = format!("{note}This tree lacks {missing}. Do not take these over.\n");
        }
        let parts = task.hints.note.clone().into_iter();
        let parts: Vec<String> = parts.chain([note + "\n" + &original]).collect();
        Ok(Task {
            hints: Hints {
                note: Some(parts.join("\n\n")),
                ..task.hints
            },
            ..task
        })
    }

    /// Tells whether a patch adds and removes the lines of the original.
    fn is_unchanged(&self, diff: &[u8]) -> bool {
        let [one, other] = [diff, &self.fix.diff].map(String::from_utf8_lossy);
        same_lines(&one, &other)
    }
}

/// Tells whether two diffs add and remove the same lines of the same files, in the same order.
fn same_lines(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|diff| FileDiff::read(diff).unwrap_or_default());
    changed_lines(&one).eq(changed_lines(&other))
}

fn changed_lines(files: &[FileDiff]) -> impl Iterator<Item = (&str, Side, &str)> {
    files.iter().flat_map(|file| {
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        let changed = lines.filter(|line| line.side != Side::Both);
        changed.map(|line| (file.path(), line.side, line.text.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::same_lines;

    #[test]
    fn only_the_changed_lines_are_compared() {
        let one = "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n before\n-old\n+new\n";
        let moved = one
            .replace("-1,2 +1,2", "-9,2 +9,2")
            .replace(" before", " other");
        assert!(same_lines(one, &moved));
        assert!(!same_lines(one, &one.replace("+new", "+newer")));
        assert!(!same_lines(one, &one.replace("a.c", "b.c")));
    }
}
