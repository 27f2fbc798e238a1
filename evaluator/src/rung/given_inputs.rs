//! Inputs that are fine today: the task's own, and files of the tree and of the
//! task's folder that look like the PoV.

use crate::runner::{Pov, TargetTask};
use patchwright_source::{Tree, TreePath};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest file that serves as an input.
const LARGEST: u64 = 1 << 20;
/// Inputs that are taken at most.
const MOST: usize = 400;
/// Files of the tree that are taken because they look like the PoV.
const MOST_ALIKE: usize = 64;

/// The inputs by their files' names, each once; the PoVs are none of them.
pub(crate) fn inputs(task: &TargetTask, pov: &Pov) -> Vec<(String, Vec<u8>)> {
    let mut seen: BTreeSet<Vec<u8>> = povs(task).into_iter().collect();
    let mut found = Vec::new();
    let alike = alike(task, pov);
    for path in task.harmless.iter().chain(&alike).take(MOST) {
        let small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= LARGEST);
        if let (true, Ok(bytes)) = (small, fs::read(path))
            && seen.insert(bytes.clone())
        {
            let name = path.file_name().unwrap_or_default();
            found.push((name.to_string_lossy().into_owned(), bytes));
        }
    }
    found
}

/// What the PoVs of a task say.
pub(crate) fn povs(task: &TargetTask) -> Vec<Vec<u8>> {
    let files = task.povs.iter();
    files.filter_map(|pov| fs::read(&pov.file).ok()).collect()
}

/// Files of the tree and of the task's folder whose name ends like the PoV's:
/// what the tests read, mostly.
fn alike(task: &TargetTask, pov: &Pov) -> Vec<PathBuf> {
    let Some(ending) = pov.file.extension().and_then(|e| e.to_str()) else {
        return Vec::new();
    };
    let povs: BTreeSet<&Path> = task
        .povs
        .iter()
        .filter_map(|pov| pov.file.parent())
        .collect();
    let mut found = Vec::new();
    for root in [&task.tree, &task.task_folder] {
        let Ok(tree) = Tree::open(root) else {
            continue;
        };
        let files = tree.files();
        let alike = files
            .iter()
            .filter(|path: &&TreePath| path.extension() == Some(ending))
            .map(|path| tree.absolute(path))
            .filter(|path| !povs.iter().any(|folder| path.starts_with(folder)));
        found.extend(alike.take(MOST_ALIKE));
    }
    found
}
