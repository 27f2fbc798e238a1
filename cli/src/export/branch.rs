//! A patch as a branch of a git repository: made from objects alone, with an
//! index of its own, so that no work tree, no index and no other branch changes.

use super::Exported;
use super::message::commit_message;
use crate::git::Git;
use patchwright_agent::report::CrashSummary;
use patchwright_source::visible_line;
use serde::Serialize;
use std::path::Path;

/// Makes a branch of the repository that the tree of the task is, with the patch as its one
/// commit on the base, and returns that commit.
///
/// # Errors
/// The folder is in no repository, the base is unknown, the patch does not fit
/// it, or the branch is there already.
pub(crate) async fn make(
    (folder, base): (&Path, &str),
    name: &str,
    exported: &Exported<'_>,
) -> anyhow::Result<String> {
    let scratch = tempfile::tempdir()?;
    let message = scratch.path().join("message");
    std::fs::write(&message, commit_message(exported)?)?;
    let message = message.display().to_string();
    let inside = Git::new(folder);
    let prefix = inside.run(&["rev-parse", "--show-prefix"]).await?;
    let top = inside.run(&["rev-parse", "--show-toplevel"]).await?;
    let author = exported.signatures.author();
    let (name_of_author, address) = author.split_once('<').unwrap_or((&author, ""));
    let address = address.trim_end_matches('>').trim();
    let git = Git::new(Path::new(&top))
        .with("GIT_INDEX_FILE", scratch.path().join("index"))
        .signed(name_of_author.trim(), address);
    git.run(&["check-ref-format", "--branch", name]).await?;
    let base = git.commit(base).await?;
    let diff = exported.attempt.delivered_bytes();
    let tree = git.tree_with(&base, &diff, &prefix).await?;
    let commit = ["commit-tree", &tree, "-p", &base, "-F", &message];
    let commit = git.run(&commit).await?;
    let branch = ["branch", "--no-track", "--", name, &commit];
    git.run(&branch).await?;
    Ok(commit)
}

/// The commit that changed a line last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LastChange {
    commit: String,
    subject: String,
    author: String,
    /// True for the first commit of a history: it brought everything.
    first: bool,
}

/// Returns the commit that changed the line of a crash last; nothing where no repository tells.
pub(crate) async fn last_change(folder: &Path, crash: &CrashSummary) -> Option<LastChange> {
    let (file, line) = (crash.file.as_deref()?, crash.line?);
    let range = format!("-L{line},{line}");
    let blame = ["blame", "--porcelain", &range, "HEAD", "--", file];
    let told = Git::new(folder).run(&blame).await.ok()?;
    let of = |key: &str| told.lines().find_map(|line| line.strip_prefix(key));
    Some(LastChange {
        commit: told.chars().take(12).collect(),
        subject: visible_line(of("summary ")?).into_owned(),
        author: visible_line(of("author ")?).into_owned(),
        first: of("boundary").is_some(),
    })
}

/// Returns the person whose name git gives to commits in a folder.
pub(crate) async fn identity(folder: &Path) -> Option<String> {
    let git = Git::new(folder);
    let name = git.run(&["config", "user.name"]).await.ok()?;
    let address = git.run(&["config", "user.email"]).await.ok()?;
    Some(format!("{name} <{address}>"))
}
