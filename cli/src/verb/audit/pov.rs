//! The PoV of an old fix: what the task or the command line names, or else inputs that came with
//! the commit, which crash the tree before it.
//!
//! A commit that repairs a crash often brings the input as a test, or quotes it. Inputs that stand
//! in the code of a test are not taken out of it, and none is made.

use super::AuditArguments;
use crate::common::{WrongInput, plain_name, real_path};
use crate::issue::attached::quoted;
use crate::revisions::{Revisions, tree_of};
use crate::verb::backport::fix::Fix;
use crate::verb::init;
use crate::verb::task_flags::{CrashedTree, language_of_files, name_of};
use anyhow::Context;
use patchwright_agent::record::result::TASK_FILE;
use patchwright_agent::task::file::{SourceKeys, TaskFile};
use patchwright_agent::task::{self, Mode, Pov, Task};
use patchwright_config::private_folder;
use patchwright_source::{Language, TreePath};
use std::path::{Path, PathBuf};

/// The most files of a commit that are tried, and the bytes of the largest.
const FILES: usize = 16;
const BYTES: u64 = 1 << 20;

/// A task of a tree alone, for its history.
pub(super) fn of_tree(tree: &Path) -> anyhow::Result<Task> {
    let shown = tree.display();
    let missing = || WrongInput(format!("--repo: no file below {shown} is C, C++ or Java"));
    let language = language_of_files(tree).ok_or_else(missing)?;
    let source = SourceKeys {
        path: Some(real_path(tree).display().to_string()),
        ..SourceKeys::default()
    };
    let mut keys = TaskFile::new(name_of(tree), language.to_string(), source);
    keys.mode = Mode::DryRun;
    Ok(task::from_file(keys, tree, tree)?)
}

/// Returns the task of the tree before a fix, with PoVs that crash it where they are to be had.
///
/// # Errors
/// Nothing is there that could show the crash, or the machinery fails.
pub(super) async fn before(
    (revisions, fix): (&Revisions<'_>, &Fix),
    arguments: &AuditArguments,
) -> anyhow::Result<Task> {
    let mut before = revisions.kept_at(&fix.parent).await?;
    if arguments.task.is_none() {
        return found((revisions, fix), arguments, &before).await;
    }
    if !arguments.pov.is_empty() {
        let files = arguments.pov.iter().map(|file| real_path(file)).collect();
        before.povs = povs(&before, files);
        return Ok(before);
    }
    if !before.povs.is_empty() && revisions.crashing(&before).await? != Ok(Vec::new()) {
        return Ok(before);
    }
    let lacking = match brought((revisions, fix), &before).await? {
        Ok(povs) if povs.is_empty() => {
            "no input of the commit crashes the tree before it".to_owned()
        }
        Ok(povs) => {
            before.povs = povs;
            return Ok(before);
        }
        Err(lacking) => lacking,
    };
    if before.povs.is_empty() {
        let told =
            format!("no PoV: the task has none, and {lacking}; name an input with --pov FILE");
        return Err(WrongInput(told).into());
    }
    Ok(before)
}

/// Returns the inputs of a commit that crash the tree before it, or why nothing is known of them.
async fn brought(
    (revisions, fix): (&Revisions<'_>, &Fix),
    before: &Task,
) -> anyhow::Result<Result<Vec<Pov>, String>> {
    let files = inputs((revisions, fix)).await?;
    if files.is_empty() {
        return Ok(Err("the commit brings no input".to_owned()));
    }
    let tried = Task {
        povs: povs(before, files),
        ..before.clone()
    };
    let crashing = revisions.crashing(&tried).await?;
    Ok(crashing.map(|crashing| crashing.into_iter().map(|(pov, _)| pov).collect()))
}

/// Finds the commands of the tree before a fix by trying, as `init` does. The task file is written
/// where no repository can have put one.
async fn found(
    commit: (&Revisions<'_>, &Fix),
    arguments: &AuditArguments,
    before: &Task,
) -> anyhow::Result<Task> {
    let (revisions, fix) = commit;
    let settings = revisions.settings;
    let name = fix.hash().get(..12).unwrap_or_default();
    let pov = arguments.pov.clone();
    let mut candidates = Vec::new();
    if pov.is_empty() {
        candidates = inputs(commit).await?;
        if candidates.is_empty() {
            let told = "brings no input; name one with --pov FILE, or a task with --task TASK";
            return Err(WrongInput(format!("no PoV: commit {name} {told}")).into());
        }
    }
    let crashed = CrashedTree {
        tree: tree_of(before, settings).await.unwrap_or_default(),
        pov,
        ..CrashedTree::default()
    };
    let folder = folder(commit)?;
    let found = Box::pin(init::task_of(settings, crashed, candidates, &folder));
    let found = found.await.context("no task was found (--task names one)");
    let missing = || {
        let found = folder.join(TASK_FILE).display().to_string();
        WrongInput(format!(
            "no command was found by which an input crashes the tree before {name}: write commands.pov into a copy of {found}, for --task"
        ))
    };
    Ok(Task {
        id: before.id.clone(),
        ..found?.ok_or_else(missing)?
    })
}

/// The folder of the cache for what is found out of a fix.
fn folder((revisions, fix): (&Revisions<'_>, &Fix)) -> anyhow::Result<PathBuf> {
    let cache = &revisions.settings.cache.folder;
    let folder = cache.join(format!("sources/audit-{}", fix.hash()));
    private_folder(&folder)?;
    Ok(folder)
}

/// Files as PoVs that are run as those of a task are.
fn povs(task: &Task, files: Vec<PathBuf>) -> Vec<Pov> {
    let like = task.povs.first().cloned().unwrap_or_default();
    let pov = |file| Pov {
        file,
        ..like.clone()
    };
    files.into_iter().map(pov).collect()
}

/// Writes the inputs that a commit may bring into a folder: those that its message quotes, and
/// files that are no code and no build file, new or among the tests. Those of tests come first, of
/// these the new ones.
async fn inputs((revisions, fix): (&Revisions<'_>, &Fix)) -> anyhow::Result<Vec<PathBuf>> {
    let git = &revisions.git;
    let message = ["show", "--no-patch", "--format=%B", fix.hash()];
    let mut inputs = quoted(&git.run(&message).await?);
    inputs.truncate(FILES);
    let range = format!("{} {}", fix.parent, fix.hash());
    let listing = format!("diff-tree -r --raw -z --no-renames --diff-filter=AM {range}");
    let listed = git.run(&listing.split(' ').collect::<Vec<_>>()).await?;
    let mut fields = listed.split('\0');
    let mut files = Vec::new();
    while let (Some(entry), Some(path)) = (fields.next(), fields.next()) {
        files.extend(input(entry, path));
    }
    files.sort_by_key(|(rank, ..)| *rank);
    for (_, blob, name) in files {
        if inputs.len() == FILES {
            break;
        }
        let size = git.run(&["cat-file", "-s", blob]).await?;
        if size.parse::<u64>().is_ok_and(|size| size <= BYTES) {
            let content = git.output(&["cat-file", "blob", blob]).await?;
            inputs.push((name, content));
        }
    }
    let folder = folder((revisions, fix))?.join("inputs");
    let mut written = Vec::new();
    for (number, (name, content)) in inputs.into_iter().enumerate() {
        let own = folder.join(number.to_string());
        private_folder(&own)?;
        let file = own.join(name);
        std::fs::write(&file, content)?;
        written.push(file);
    }
    Ok(written)
}

/// A file of a commit that may be an input: its place in the order of trials, its content and its name.
type Input<'a> = (u8, &'a str, String);

/// Reads an entry of `git diff-tree --raw`, where it is a plain file that may be an input.
fn input<'a>(entry: &'a str, path: &str) -> Option<Input<'a>> {
    let mut fields = entry.split(' ').skip(1);
    let mut next = || fields.next();
    let (mode, _, blob, status) = (next()?, next()?, next()?, next()?);
    let path = TreePath::new(path).ok()?;
    let (is_new, is_tested) = (status == "A", path.is_in_tests());
    let is_input = mode.starts_with("100")
        && Language::of_path(&path).is_none()
        && !path.is_build_file()
        && (is_new || is_tested);
    let rank = 2 * u8::from(!is_tested) + u8::from(!is_new);
    is_input.then(|| (rank, blob, plain_name(path.file_name(), "._", 80)))
}

#[cfg(test)]
mod tests {
    use super::input;

    #[test]
    fn plain_files_that_are_new_or_of_the_tests_may_be_inputs() {
        let read = |mode: &str, status: &str, path: &str| {
            let entry = format!(":100644 {mode} 0 b10b {status}");
            input(&entry, path).map(|(rank, blob, name)| format!("{rank} {blob} {name}"))
        };
        for (mode, status, path, told) in [
            ("100644", "A", "tests/a b.txt", "0 b10b a-b.txt"),
            ("100755", "M", "tests/data/long.txt", "1 b10b long.txt"),
            ("100644", "A", "data/long.txt", "2 b10b long.txt"),
        ] {
            assert_eq!(read(mode, status, path).unwrap_or_default(), told);
        }
        for (mode, status, path) in [
            ("100644", "M", "NEWS"),
            ("100644", "A", "tests/long.c"),
            ("100644", "A", "tests/Makefile"),
            ("120000", "A", "tests/link"),
            ("160000", "A", "tests/module"),
        ] {
            assert_eq!(read(mode, status, path), None, "{path}");
        }
    }
}
