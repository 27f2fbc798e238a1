//! Folders of ours that only their owner gets into: what is kept in them tells
//! of bugs that nobody has mended yet.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// Makes a folder with what is missing above it, and closes it to others. One
/// that an earlier version left open is closed too.
///
/// # Errors
/// When it cannot be made, or belongs to somebody else.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::private_folder;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_made_is_closed_and_what_was_open_too() {
        let root = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            fs::metadata(root.path().join(name))
                .unwrap()
                .permissions()
                .mode()
        };
        private_folder(&root.path().join("a/b")).unwrap();
        assert_eq!((mode("a") & 0o777, mode("a/b") & 0o777), (0o700, 0o700));
        fs::create_dir(root.path().join("open")).unwrap();
        private_folder(&root.path().join("open")).unwrap();
        assert_eq!(mode("open") & 0o777, 0o700);
    }
}
