//! Changes written into a tree: everything is laid down beside its place
//! first, so that a full disk leaves the tree as it was.

use anyhow::Context;
use patchwright_patcher::Changes;
use patchwright_source::{Tree, TreePath};
use std::io::Write;
use std::path::PathBuf;
use tempfile::NamedTempFile;

/// Writes changes into a tree.
pub(super) fn write(tree: &Tree, changes: &Changes) -> anyhow::Result<()> {
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
