//! The user's own files as commands see them: where they lie, or as a copy where
//! the user that commands run as could not read them there.

use super::LocalTarget;
use crate::TargetError;
use crate::identity;
use crate::workspace::{copy_tree, lent_folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

impl LocalTarget {
    /// The task's folder, looked through once.
    pub(super) async fn shown_task(&self) -> Result<PathBuf, TargetError> {
        let shown = self.shown_task.get_or_try_init(|| async {
            let (folder, copy) = (self.task.task_folder.clone(), self.fresh("task"));
            let maps = self.sandbox.maps_paths();
            tokio::task::spawn_blocking(move || show(&folder, &copy, maps))
                .await
                .map_err(|e| TargetError::machinery(e.to_string(), "copy of the task's folder"))?
        });
        shown.await.cloned()
    }

    /// A PoV, which may be another file at the same path next time.
    pub(super) fn shown_pov(&self, file: &Path) -> Result<PathBuf, TargetError> {
        let copy = self.fresh("pov").join(file.file_name().unwrap_or_default());
        show(file, &copy, self.sandbox.maps_paths())
    }
}

fn show(path: &Path, copy: &Path, maps_paths: bool) -> Result<PathBuf, TargetError> {
    let fail = |e| {
        TargetError::io(
            "a file of the task cannot be shown to its commands",
            path,
            e,
        )
    };
    if identity::can_read(path).map_err(fail)? && (maps_paths || identity::can_reach(path)) {
        return Ok(path.to_path_buf());
    }
    if path.is_dir() {
        lent_folder(copy).map_err(fail)?;
        copy_tree(path, copy, &AtomicBool::new(false))?;
        identity::give_all(copy).map_err(fail)?;
        // What its owner could not read either is of no use to the command.
        lent_folder(copy).map_err(fail)?;
    } else {
        lent_folder(copy.parent().unwrap_or(copy)).map_err(fail)?;
        fs::copy(path, copy).map_err(fail)?;
        identity::give(copy).map_err(fail)?;
    }
    Ok(copy.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::show;
    use crate::identity;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Tells something only where we are root, which is where it matters.
    #[test]
    fn what_commands_could_not_read_is_copied_and_given_to_them() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let task = root.path().join("task");
        fs::create_dir(&task).unwrap();
        fs::set_permissions(&task, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(task.join("open"), "x").unwrap();
        fs::set_permissions(task.join("open"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(show(&task, &root.path().join("1"), true).unwrap(), task);
        fs::write(task.join("closed"), "y").unwrap();
        fs::set_permissions(task.join("closed"), fs::Permissions::from_mode(0o600)).unwrap();
        let shown = show(&task, &root.path().join("2"), true).unwrap();
        let file = show(&task.join("closed"), &root.path().join("3/closed"), true).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"y");
        let Some(ids) = identity::of_commands() else {
            assert_eq!(shown, task);
            return;
        };
        assert_ne!(shown, task);
        for copy in [&shown, &shown.join("closed"), &file] {
            assert_eq!(fs::metadata(copy).unwrap().uid(), ids.user);
        }
        // The temporary folder itself is closed to others.
        assert_ne!(
            show(&task.join("open"), &root.path().join("4/open"), false).unwrap(),
            task.join("open")
        );
    }
}
