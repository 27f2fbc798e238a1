//! Given inputs, which the unpatched program accepts: the task's own, and files of the tree
//! and of the task's folder with the file extension of the PoV. Files of the tree's tests
//! may be inputs as well, whatever they are called. Of many files those are taken that are
//! most alike to the PoVs (`likeness`).

mod likeness;

use patchwright_source::{Language, Tree, TreePath};
use patchwright_target::runner::{Pov, TargetTask, content};
use patchwright_target::{Result, TargetError};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The largest file that serves as an input.
const LARGEST: u64 = 1 << 20;
/// The most inputs that are used.
const MOST: usize = 400;
/// The most files of the tree with the file extension of the PoV.
const MOST_ALIKE: usize = 64;

/// Folders of what tests read, beside those of tests.
const DATA_FOLDERS: [&str; 3] = ["fixtures", "corpus", "seeds"];
/// The most bytes that are read to choose files from.
const MOST_READ: usize = 64 << 20;
/// The most files of tests, and the largest of them.
const MOST_OF_TESTS: usize = 48;
const LARGEST_OF_TESTS: usize = 1 << 16;

/// Returns the inputs by their files' names, each once; the PoVs are none of them.
pub(crate) fn inputs(task: &TargetTask, pov: &Pov) -> Result<Vec<(String, Vec<u8>)>> {
    let mut seen: BTreeSet<Vec<u8>> = povs(task)?.into_iter().collect();
    let mut found = Vec::new();
    for path in task.harmless.iter().take(MOST) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        found.extend(read(path)?.map(|bytes| (name.into_owned(), bytes)));
    }
    found.extend(alike(task, pov)?);
    found.retain(|(_, bytes)| seen.insert(bytes.clone()));
    found.truncate(MOST);
    Ok(found)
}

/// Returns the inputs without their names.
pub(crate) fn contents(task: &TargetTask, pov: &Pov) -> Result<Vec<Vec<u8>>> {
    let inputs = inputs(task, pov)?.into_iter();
    Ok(inputs.map(|(_, bytes)| bytes).collect())
}

/// Returns files of the tree's tests that are no source code, by their names; each may be
/// an input or not.
pub(crate) fn of_tests(task: &TargetTask, pov: &Pov) -> Result<Vec<(String, Vec<u8>)>> {
    let mut seen: BTreeSet<Vec<u8>> = povs(task)?.into_iter().collect();
    seen.extend(contents(task, pov)?);
    let mut named = read_some(&task.tree, |path, _| {
        let mut parts = path.folder().split('/');
        let in_tests = path.is_in_tests()
            || parts.any(|part| DATA_FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
        (in_tests && Language::of_path(path).is_none()).then(|| path.to_string())
    })?;
    named.retain(|(_, bytes)| {
        (1..=LARGEST_OF_TESTS).contains(&bytes.len()) && seen.insert(bytes.clone())
    });
    Ok(likeness::choose(&povs(task)?, named, MOST_OF_TESTS))
}

/// Reads the files of a folder that get a name, up to a limit. Nobody named these as inputs, so one that
/// cannot be read is none.
fn read_some(
    root: &Path,
    name: impl Fn(&TreePath, &Path) -> Option<String>,
) -> Result<Vec<(String, Vec<u8>)>> {
    let tree = Tree::open(root).map_err(|error| TargetError::tree(&error, root))?;
    let mut left = MOST_READ;
    let mut found = Vec::new();
    for path in tree.files() {
        let file = tree.absolute(&path);
        let Some(name) = name(&path, &file) else {
            continue;
        };
        let Some(bytes) = read(&file).unwrap_or(None) else {
            continue;
        };
        let Some(rest) = left.checked_sub(bytes.len()) else {
            break;
        };
        left = rest;
        found.push((name, bytes));
    }
    Ok(found)
}

/// Returns the contents of a task's PoVs.
pub(crate) fn povs(task: &TargetTask) -> Result<Vec<Vec<u8>>> {
    task.povs.iter().map(content).collect()
}

/// Reads a file that serves as an input; none where it is too large for one.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let fail = |e| TargetError::io("an input cannot be read", path, e);
    let facts = fs::metadata(path).map_err(fail)?;
    if !facts.is_file() || facts.len() > LARGEST {
        return Ok(None);
    }
    fs::read(path).map(Some).map_err(fail)
}

/// Returns files of the tree and of the task's folder with the file extension of the PoV, which
/// are mostly inputs of tests, by their names.
fn alike(task: &TargetTask, pov: &Pov) -> Result<Vec<(String, Vec<u8>)>> {
    let Some(ending) = pov.file.extension().and_then(|e| e.to_str()) else {
        return Ok(Vec::new());
    };
    let folders = task.povs.iter().filter_map(|pov| pov.file.parent());
    let folders: BTreeSet<&Path> = folders.collect();
    let mut found = Vec::new();
    for root in [&task.tree, &task.task_folder] {
        let files = read_some(root, |path, file| {
            let in_folder = folders.iter().any(|folder| file.starts_with(folder));
            let is_alike = path.extension() == Some(ending) && !in_folder;
            is_alike.then(|| path.file_name().to_owned())
        })?;
        found.extend(likeness::choose(&povs(task)?, files, MOST_ALIKE));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{inputs, of_tests, povs};
    use patchwright_target::runner::{Pov, TargetTask};
    use std::fs;

    #[test]
    fn an_input_or_a_pov_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["tree", "pov"] {
            fs::create_dir(path(name)).unwrap();
        }
        for name in ["pov/pov.bin", "fine.bin", "tree/alike.bin"] {
            fs::write(path(name), name).unwrap();
        }
        let pov = Pov {
            file: path("pov/pov.bin"),
            ..Pov::default()
        };
        let mut task = TargetTask {
            tree: path("tree"),
            task_folder: path("tree"),
            povs: vec![pov.clone()],
            harmless: vec![path("fine.bin"), path("pov/pov.bin")],
            ..TargetTask::default()
        };
        let names = |task: &TargetTask| -> Vec<String> {
            let inputs = inputs(task, &pov).unwrap().into_iter();
            inputs.map(|(name, _)| name).collect()
        };
        assert_eq!(names(&task), ["fine.bin", "alike.bin"]);
        fs::create_dir_all(path("tree/src/test/resources")).unwrap();
        for name in ["page.html", "Test.java", "empty"] {
            let text = if name == "empty" { "" } else { name };
            fs::write(path("tree/src/test/resources").join(name), text).unwrap();
        }
        let found = of_tests(&task, &pov).unwrap();
        let expected = (
            "src/test/resources/page.html".to_owned(),
            b"page.html".to_vec(),
        );
        assert_eq!(found, [expected]);
        task.harmless.push(path("missing.bin"));
        assert!(inputs(&task, &pov).is_err());
        task.povs[0].file = path("missing.bin");
        assert!(povs(&task).is_err());
    }
}
