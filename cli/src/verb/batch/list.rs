//! Reads the tasks of a batch: a folder, or a file with one in each line.

use anyhow::Context;
use patchwright_agent::task::{self, Task, TaskFile};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Folders below the given one in which tasks are looked for.
const DEPTH: usize = 8;
/// The name of a task file.
const TASK: &str = "task.toml";

/// A task of the batch, or why it is none.
#[derive(Debug)]
pub(super) struct Listed {
    /// Its id, or where it stands when it has none.
    pub(super) id: String,
    /// The task, or what is wrong with it.
    pub(super) task: Result<Task, String>,
}

/// The tasks of a folder or a file, in the order of their paths or lines.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Listed>> {
    let mut listed = if path.is_dir() {
        find(path).iter().map(|file| of_file(file)).collect()
    } else {
        lines(path)?
    };
    anyhow::ensure!(
        !listed.is_empty(),
        "there is no {TASK} in {} and no task in its lines",
        path.display()
    );
    let mut seen = BTreeSet::new();
    for listed in &mut listed {
        if !seen.insert(listed.id.clone()) {
            listed.task = Err("another task of this batch has the same id".to_owned());
        }
    }
    Ok(listed)
}

/// Finds task files; what lies below one is not looked at.
fn find(folder: &Path) -> Vec<PathBuf> {
    let all = WalkDir::new(folder).max_depth(DEPTH).sort_by_file_name();
    let (mut all, mut found) = (all.into_iter(), Vec::new());
    while let Some(entry) = all.next() {
        // Only a link that was named is followed.
        let is_folder = |entry: &DirEntry| entry.file_type().is_dir() || entry.depth() == 0;
        let Some(folder) = entry.ok().filter(is_folder) else {
            continue;
        };
        let file = folder.path().join(TASK);
        if file.is_file() {
            found.push(file);
            all.skip_current_dir();
        }
    }
    found
}

fn of_file(file: &Path) -> Listed {
    let task = task::read(file).map_err(|error| error.to_string());
    let id = match &task {
        Ok(task) => task.id.clone(),
        Err(_) => file.display().to_string(),
    };
    Listed { id, task }
}

fn lines(path: &Path) -> anyhow::Result<Vec<Listed>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let file = path.canonicalize()?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let listed = lines.map(|(at, line)| {
        let place = format!("{}:{}", path.display(), at + 1);
        match serde_json::from_str::<TaskFile>(line) {
            Ok(keys) => Listed {
                id: keys.id.clone(),
                task: task::from_file(keys, folder, Path::new(&place))
                    .map_err(|error| error.to_string()),
            },
            Err(error) => Listed {
                task: Err(format!("{place}: {error}")),
                id: place,
            },
        }
    });
    Ok(listed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_folders_are_read_and_what_is_wrong_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("src");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(tree.join("a.c"), "int a;").unwrap();
        let file = folder.path().join("tasks.jsonl");
        let line = r#"{"id":"a","language":"c","mode":"dry-run","source":{"path":"src"}}"#;
        std::fs::write(&file, format!("{line}\n\n{line}\n{{\n")).unwrap();
        let listed = read(&file).unwrap();
        let wrong: Vec<_> = listed
            .iter()
            .map(|listed| listed.task.as_ref().err().map(String::as_str))
            .collect();
        assert_eq!(wrong[0], None);
        assert!(wrong[1].unwrap().contains("same id"));
        assert!(wrong[2].unwrap().contains("tasks.jsonl:4"), "{wrong:?}");
        assert!(read(&tree).is_err());
        assert!(read(&folder.path().join("none")).is_err());
    }
}
