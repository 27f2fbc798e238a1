//! The fix that is carried: a commit of the project, or the patch of a run, reduced to code.
//!
//! Tests, build files, documents and whatever lies outside the task's tree are left out and
//! named: what is carried is what the ladder judges, and nothing else.

use crate::common::WrongInput;
use crate::revisions::{Revisions, is_code};
use patchwright_agent::record::CommitRecord;
use patchwright_source::{FileDiff, Side, visible_line};
use serde::Serialize;
use std::collections::BTreeSet;

/// A fix as a commit on its parent.
#[derive(Debug, Serialize)]
pub(in crate::verb) struct Fix {
    /// The commit of the project; none for the patch of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::verb) commit: Option<CommitRecord>,
    /// The commit that it changes.
    pub(in crate::verb) parent: String,
    /// A commit with the changes that are carried, which only our clone has.
    #[serde(skip)]
    pub(in crate::verb) code: String,
    /// These changes, in the task's tree.
    #[serde(skip)]
    pub(in crate::verb) diff: Vec<u8>,
    /// The files whose changes are not carried.
    pub(in crate::verb) left_out: Vec<String>,
    pub(in crate::verb) size: Size,
}

/// Lines that a patch adds and removes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(in crate::verb) struct Size {
    pub(in crate::verb) added: usize,
    pub(in crate::verb) removed: usize,
}

/// Bytes of a diff with whole functions that are shown.
const IN_FULL: usize = 9_000;

/// Lines of a file, from the first to the last.
type Range = (String, u32, u32);

impl Fix {
    /// Reads a commit of the project.
    ///
    /// # Errors
    /// There is no such commit, it is the first of its history, or it changes no code.
    pub(in crate::verb) async fn of_commit(
        revisions: &Revisions<'_>,
        name: &str,
    ) -> anyhow::Result<Self> {
        let commit = commit(revisions, name).await?;
        let parent = revisions.git.commit(&format!("{commit}^1")).await;
        let told = visible_line(name);
        let first = || format!("{told} is the first commit: there is no tree before it");
        let parent = parent.map_err(|_| WrongInput(first()))?;
        let arguments = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
        let arguments = [&arguments[..], &[&parent, &commit]].concat();
        let listed = revisions.git.run(&arguments).await?;
        let is_carried = |path: &&str| path.strip_prefix(revisions.prefix).is_some_and(is_code);
        let paths = listed.split('\0').filter(|path| !path.is_empty());
        let (carried, left_out): (Vec<&str>, Vec<&str>) = paths.partition(is_carried);
        if carried.is_empty() {
            return Err(WrongInput(format!("{told} changes no code of the task's tree")).into());
        }
        let relative = format!("--relative={}", revisions.prefix);
        let paths = carried.iter().map(|path| format!(":(literal){path}"));
        let paths: Vec<String> = paths.collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let changes = (parent.as_str(), commit.as_str());
        let diff = revisions.diff(changes, &[&relative], &paths).await?;
        let left_out = left_out.into_iter().map(str::to_owned).collect();
        let record = revisions.record(&commit, 1).await?;
        Self::of_diff(revisions, (&parent, diff), (Some(record), left_out)).await
    }

    /// The hash of the commit; of what is carried where there is none.
    pub(in crate::verb) fn hash(&self) -> &str {
        let commit = self.commit.as_ref().map(|commit| commit.commit.as_str());
        commit.unwrap_or(&self.code)
    }

    /// Takes the patch of a run against the tree of a commit.
    pub(super) async fn of_diff(
        revisions: &Revisions<'_>,
        (parent, diff): (&str, Vec<u8>),
        (commit, left_out): (Option<CommitRecord>, Vec<String>),
    ) -> anyhow::Result<Self> {
        let tree = revisions.tree_with(parent, &diff).await?;
        Ok(Self {
            code: revisions.commit_of(&tree, parent).await?,
            commit,
            parent: parent.to_owned(),
            size: Size::of(&String::from_utf8_lossy(&diff)),
            diff,
            left_out,
        })
    }

    /// Returns the commit's words, and its changes within the functions that they are in.
    pub(super) async fn in_full(&self, revisions: &Revisions<'_>) -> anyhow::Result<String> {
        let commit = self.commit.as_ref().map(CommitRecord::in_words);
        let changes = (self.parent.as_str(), self.code.as_str());
        let relative = format!("--relative={}", revisions.prefix);
        let whole = revisions.diff(changes, &[&relative, "-W"], &[]).await?;
        let fits = whole.len() <= IN_FULL;
        let diff = String::from_utf8_lossy(if fits { &whole } else { &self.diff });
        Ok(format!("{}\n\n{diff}", commit.unwrap_or_default()))
    }

    /// Names the commits that brought the lines that are changed, as far as another commit does
    /// not have them: neither themselves nor, by their subject, as somebody else carried them.
    pub(super) async fn missing_at(
        &self,
        revisions: &Revisions<'_>,
        onto: &str,
    ) -> anyhow::Result<Vec<String>> {
        let changes = (self.parent.as_str(), self.code.as_str());
        let diff = revisions.diff(changes, &["-U0"], &[]).await?;
        let range = format!("{onto}..{}", self.parent);
        let there = format!("{}..{onto}", self.parent);
        let mut commits = BTreeSet::new();
        for (file, first, last) in ranges(&String::from_utf8_lossy(&diff)) {
            let lines = format!("-L{first},{last}");
            let blame = ["blame", "-l", "-s", &lines, &range, "--", &file];
            let told = revisions.git.run(&blame).await.unwrap_or_default();
            commits.extend(blamed(&told).map(str::to_owned));
        }
        let mut missing = Vec::new();
        for commit in commits {
            let record = revisions.record(&commit, 1).await?;
            let carried = revisions.git.newest_saying(&record.subject, &there);
            if carried.await?.is_empty() {
                missing.push(record.in_words());
            }
        }
        Ok(missing)
    }

    /// Returns the commit by which a branch has the fix already.
    pub(super) async fn carried_by(
        &self,
        revisions: &Revisions<'_>,
        onto: &str,
    ) -> anyhow::Result<Option<String>> {
        let Some(commit) = &self.commit else {
            return Ok(None);
        };
        if revisions.git.is_before(&commit.commit, onto).await {
            return Ok(Some(commit.in_words()));
        }
        let range = format!("{}..{onto}", self.parent);
        let found = revisions.git.newest_saying(&commit.commit, &range).await?;
        match found.as_str() {
            "" => Ok(None),
            found => Ok(Some(revisions.record(found, 1).await?.in_words())),
        }
    }
}

/// Returns the hash of a commit, or of the branch of this name at the origin of a clone.
pub(in crate::verb) async fn commit(
    revisions: &Revisions<'_>,
    name: &str,
) -> anyhow::Result<String> {
    if let Ok(commit) = revisions.git.commit(name).await {
        return Ok(commit);
    }
    let at_origin = format!("refs/remotes/origin/{name}");
    let found = revisions.git.commit(&at_origin).await;
    let name = visible_line(name);
    Ok(found.map_err(|_| WrongInput(format!("there is no commit {name} in the repository")))?)
}

impl Size {
    /// Counts the changed lines of a diff.
    pub(in crate::verb) fn of(diff: &str) -> Self {
        let files = FileDiff::read(diff).unwrap_or_default();
        let count = |side| files.iter().map(|file| file.lines(side).count()).sum();
        Self {
            added: count(Side::New),
            removed: count(Side::Old),
        }
    }
}

/// Lists the lines that each hunk of a diff without context replaces, or those on both sides of
/// the place where it adds some.
fn ranges(diff: &str) -> Vec<Range> {
    let files = FileDiff::read(diff).unwrap_or_default();
    let mut ranges = Vec::new();
    for file in files {
        let Some(path) = &file.old else { continue };
        ranges.extend(file.hunks.iter().map(|hunk| {
            let first = hunk.old_start.max(1);
            let last = match hunk.old_count() {
                0 => hunk.old_start.saturating_add(1),
                count => hunk.old_start.saturating_add(count - 1),
            };
            (path.clone(), first, last)
        }));
    }
    ranges
}

/// Lists the commits of a range to which `git blame -l -s` gives lines. Those at the boundary, which
/// are marked, are older.
fn blamed(told: &str) -> impl Iterator<Item = &str> {
    let commits = told.lines().filter_map(|line| line.split(' ').next());
    commits.filter(|commit| !commit.starts_with('^'))
}
