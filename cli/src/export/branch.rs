//! A patch as a branch of a git repository: made from objects alone, with an
//! index of its own, so that no work tree, no index and no other branch changes.

use super::{Exported, commit_message};
use crate::git::Git;
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
    let message = commit_message(exported)?;
    let diff = exported.attempt.delivered_bytes();
    let patch = file(scratch.path(), "patch", &diff)?;
    let message = file(scratch.path(), "message", message.as_bytes())?;
    let inside = Git::new(folder);
    let prefix = inside.run(&["rev-parse", "--show-prefix"]).await?;
    let top = inside.run(&["rev-parse", "--show-toplevel"]).await?;
    let author = exported.signatures.author();
    let git = git_as(Path::new(&top), scratch.path(), &author);
    git.run(&["check-ref-format", "--branch", name]).await?;
    let base = git.commit(base).await?;
    let tree = git.tree_with(&base, Path::new(&patch), &prefix).await?;
    let commit = git
        .run(&["commit-tree", &tree, "-p", &base, "-F", &message])
        .await?;
    git.run(&["branch", "--no-track", "--", name, &commit])
        .await?;
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

/// Returns the commit that changed a line last; nothing where no repository tells.
pub(crate) async fn last_change(folder: &Path, file: &str, line: u32) -> Option<LastChange> {
    let git = Git::new(folder);
    let range = format!("-L{line},{line}");
    let blame = ["blame", "--porcelain", &range, "HEAD", "--", file];
    let told = git.run(&blame).await.ok()?;
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

/// Writes a file for git and returns its path.
fn file(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<String> {
    let path = folder.join(name);
    std::fs::write(&path, content)?;
    Ok(path.display().to_string())
}

/// Git in a folder, with an index of its own and this author.
fn git_as(folder: &Path, scratch: &Path, author: &str) -> Git {
    let (name, address) = author.split_once('<').unwrap_or((author, ""));
    let (name, address) = (name.trim(), address.trim_end_matches('>').trim());
    Git::new(folder)
        .with("GIT_INDEX_FILE", scratch.join("index"))
        .with("GIT_AUTHOR_NAME", name)
        .with("GIT_AUTHOR_EMAIL", address)
        .with("GIT_COMMITTER_NAME", name)
        .with("GIT_COMMITTER_EMAIL", address)
}
