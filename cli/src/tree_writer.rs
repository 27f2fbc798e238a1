//! Tree writer: applies changes to a tree in place. Everything is laid down beside its place
//! first, so that a full disk leaves the tree as it was.

use anyhow::Context;
use patchwright_patcher::Changes;
use patchwright_source::{Tree, TreePath};
use std::io::Write;
use std::path::PathBuf;
use tempfile::NamedTempFile;

/// Writes changes into a tree.
pub(crate) fn write(tree: &Tree, changes: &Changes) -> anyhow::Result<()> {
    let mut laid: Vec<(NamedTempFile, PathBuf)> = Vec::new();
    for (path, bytes) in &changes.files {
        laid.push(lay_down(tree, changes, path, bytes)?);
    }
    for (from, to) in &changes.renamed {
        let target = folder_of(tree, to)?;
        let fail = || format!("renaming {from} to {to}");
        std::fs::rename(tree.absolute(from), target).with_context(fail)?;
    }
    for (file, target) in laid {
        let fail = || format!("writing {}", target.display());
        file.persist(&target).with_context(fail)?;
    }
    for path in &changes.deleted {
        std::fs::remove_file(tree.absolute(path)).with_context(|| format!("deleting {path}"))?;
    }
    Ok(())
}

/// Writes a file's new bytes beside its place, with the mode of the old one.
fn lay_down(
    tree: &Tree,
    changes: &Changes,
    path: &TreePath,
    bytes: &[u8],
) -> anyhow::Result<(NamedTempFile, PathBuf)> {
    let target = folder_of(tree, path)?;
    let folder = target.parent().unwrap_or(tree.root());
    let fail = || format!("writing beside {path}");
    let mut file = tempfile::Builder::new()
        .prefix(".patchwright-")
        .tempfile_in(folder)
        .with_context(fail)?;
    file.write_all(bytes).with_context(fail)?;
    file.as_file().sync_all().with_context(fail)?;
    let renamed = changes.renamed.iter().find(|(_, to)| *to == path);
    let old = tree.absolute(renamed.map_or(path, |(from, _)| from));
    let permissions = match std::fs::metadata(old) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.as_file()
        .set_permissions(permissions)
        .with_context(fail)?;
    Ok((file, target))
}

/// Where a file goes; its folder is made if it is new.
fn folder_of(tree: &Tree, path: &TreePath) -> anyhow::Result<PathBuf> {
    let target = tree.absolute(path);
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("making the folder of {path}"))?;
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::write;
    use patchwright_patcher::Changes;
    use patchwright_source::{Tree, TreePath};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn writes_what_the_changes_say() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kept.c", "gone.c", "old.c", "edited.c"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path().join("edited.c"), mode).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let path = |name: &str| TreePath::new(name).unwrap();
        let changes = Changes {
            files: [
                (path("edited.c"), b"new".to_vec()),
                (path("deep/new.c"), b"fresh".to_vec()),
                (path("moved.c"), b"moved and edited".to_vec()),
            ]
            .into(),
            deleted: [path("gone.c")].into(),
            renamed: [(path("old.c"), path("moved.c"))].into(),
        };
        write(&tree, &changes).unwrap();
        let files: Vec<(String, Vec<u8>)> = tree
            .files()
            .into_iter()
            .map(|path| (path.to_string(), tree.read(&path).unwrap().bytes().to_vec()))
            .collect();
        let expected = [
            ("deep/new.c", "fresh"),
            ("edited.c", "new"),
            ("kept.c", "kept.c"),
            ("moved.c", "moved and edited"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(files, expected);
        let metadata = fs::metadata(folder.path().join("edited.c")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o755);
    }
}
