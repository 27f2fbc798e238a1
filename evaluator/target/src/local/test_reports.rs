//! Result files of tests: found, cleared and read.

use crate::workspace::Workspace;
use crate::{Result, TargetError};
use globset::{GlobBuilder, GlobMatcher};
use patchwright_sandbox::contained_path::ContainedFolder;
use patchwright_source::TreePath;
use std::fmt::Display;
use std::path::Path;

/// The most result files that are read.
const MOST_FILES: usize = 5000;
/// The most bytes of one result file.
const FILE_LIMIT: u64 = 16 << 20;
/// The most bytes of all result files together.
const TOTAL_LIMIT: usize = 64 << 20;

/// Removes result files of an earlier run or of the build.
pub(super) fn clear(workspace: &Workspace, patterns: &[String]) -> Result<()> {
    let tree = workspace.tree()?;
    for path in find(&tree, patterns)? {
        tree.remove(Path::new(&path))
            .map_err(|e| TargetError::io("an old test report could not be removed", path, e))?;
    }
    Ok(())
}

/// Reads the result files in order of their paths, except those that are too long or no
/// regular files.
pub(super) fn read(workspace: &Workspace, patterns: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let tree = workspace.tree()?;
    let mut total = 0;
    let mut reports = Vec::new();
    for path in find(&tree, patterns)? {
        if let Ok(bytes) = tree.read(&*path, FILE_LIMIT) {
            total += bytes.len();
            if total > TOTAL_LIMIT {
                break;
            }
            reports.push((path, bytes));
        }
    }
    Ok(reports)
}

fn find(tree: &ContainedFolder, patterns: &[String]) -> Result<Vec<String>> {
    let invalid = |why: &dyn Display| TargetError::invalid(format!("[commands] reports: {why}"));
    let mut found = Vec::new();
    for pattern in patterns {
        let pattern = TreePath::new(pattern).map_err(|e| invalid(&e))?;
        let matcher = matcher(&pattern).map_err(|e| invalid(&e))?;
        // The part before the first wildcard is the folder to search.
        let mut parts = pattern.as_str().split(['*', '?', '[', '{', '\\']);
        let fixed = parts.next().unwrap_or_default();
        let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
        walk(tree, folder, &matcher, &mut found);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Adds the files below a folder of the tree whose paths match.
fn walk(tree: &ContainedFolder, folder: &str, matcher: &GlobMatcher, found: &mut Vec<String>) {
    let Ok(start) = tree.below(Path::new(folder)) else {
        return;
    };
    for visited in start.folders(|_| true).flatten() {
        let files = visited.entries.iter().filter(|entry| entry.is_file());
        let paths = files.map(|file| Path::new(folder).join(visited.path_of(file)));
        let paths = paths.filter_map(|path| path.to_str().map(str::to_owned));
        found.extend(paths.filter(|path| matcher.is_match(path)));
        if found.len() >= MOST_FILES {
            found.truncate(MOST_FILES);
            return;
        }
    }
}

/// Reads a pattern: `*` and `?` stay within a folder, `**/` spans any number of them.
fn matcher(pattern: &TreePath) -> Result<GlobMatcher, globset::Error> {
    let mut glob = GlobBuilder::new(pattern.as_str());
    Ok(glob.literal_separator(true).build()?.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::{clear, matcher, read};
    use crate::workspace::{TREE, Workspace};
    use patchwright_source::TreePath;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, path, expected) in [
            ("t/*.xml", "t/a.xml", true),
            ("t/*.xml", "t/x/a.xml", false),
            ("**/t/*.xml", "t/a.xml", true),
            ("**/t/*.xml", "m/n/t/a.xml", true),
            ("t/?.(x)", "t/a.(x)", true),
            ("t/*.xml", "t/axxml", false),
            ("t/[ab].{xml,log}", "t/b.log", true),
        ] {
            assert_eq!(
                matcher(&TreePath::new(pattern).unwrap())
                    .unwrap()
                    .is_match(path),
                expected,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn reads_what_is_there_and_nothing_through_links() {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(scratch.path().join("w")).unwrap();
        let tree = workspace.part(TREE);
        fs::create_dir_all(tree.join("a/target/reports")).unwrap();
        fs::write(tree.join("a/target/reports/one.xml"), "1").unwrap();
        fs::write(scratch.path().join("secret.xml"), "secret").unwrap();
        symlink(
            scratch.path().join("secret.xml"),
            tree.join("a/target/reports/two.xml"),
        )
        .unwrap();
        symlink(scratch.path(), tree.join("b")).unwrap();
        let patterns = ["**/target/reports/*.xml".to_owned(), "b/*.xml".to_owned()];
        for (name, to) in [("passwd.xml", "/etc/passwd"), ("zero.xml", "/dev/zero")] {
            symlink(to, tree.join("a/target/reports").join(name)).unwrap();
        }
        let pipe = tree.join("a/target/reports/pipe.xml");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, pipe, kind, mode, 0).unwrap();
        let names = |reports: Vec<(String, Vec<u8>)>| {
            reports
                .into_iter()
                .map(|(path, _)| path)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(read(&workspace, &patterns).unwrap()),
            ["a/target/reports/one.xml"]
        );
        clear(&workspace, &patterns[..1]).unwrap();
        assert!(read(&workspace, &patterns).unwrap().is_empty());
        assert!(scratch.path().join("secret.xml").exists());
        assert!(read(&workspace, &["../*.xml".to_owned()]).is_err());
    }
}
