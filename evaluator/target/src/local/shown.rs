//! Shown files: the user's own files as commands see them, in place or as a copy where the
//! user that commands run as cannot read them in place.

use super::{LocalTarget, blocking};
use crate::workspace::{copy_tree, lent_folder};
use crate::{Result, TargetError};
use patchwright_sandbox::identity;
use std::fs;
use std::path::{Path, PathBuf};

impl LocalTarget {
    /// The task's folder, which is looked at again when entries came to it or went.
    pub(super) async fn shown_task(&self) -> Result<PathBuf> {
        let folder = self.task.task_folder.clone();
        let changed = fs::metadata(&folder).and_then(|at| at.modified()).ok();
        let mut shown = self.shown_task.lock().await;
        if let Some((_, path)) = shown.as_ref().filter(|(known, _)| *known == changed) {
            return Ok(path.clone());
        }
        let (how, copy) = (self.showing(), self.scratch.fresh("task"));
        let show = move || how.show(&folder, &copy);
        let path = blocking("copy of the task's folder", show).await??;
        *shown = Some((changed, path.clone()));
        Ok(path)
    }

    /// A PoV, which may be another file at the same path next time.
    pub(super) fn shown_pov(&self, file: &Path) -> Result<PathBuf> {
        let name = file.file_name().unwrap_or_default();
        let copy = self.scratch.fresh("pov").join(name);
        self.showing().show(file, &copy)
    }

    fn showing(&self) -> Showing {
        let scratch = self.scratch.path();
        Showing {
            maps_paths: self.sandbox.maps_paths(),
            except: scratch.parent().unwrap_or(scratch).to_path_buf(),
        }
    }
}

/// The circumstances under which files are shown.
pub(super) struct Showing {
    pub(super) maps_paths: bool,
    /// The folder of scratch folders, which may lie in the task's.
    pub(super) except: PathBuf,
}

impl Showing {
    /// Returns the path that is shown: the path itself, or `copy`.
    pub(super) fn show(&self, path: &Path, copy: &Path) -> Result<PathBuf> {
        let what = "a file of the task cannot be shown to its commands";
        let fail = |e| TargetError::io(what, path, e);
        let reached = self.maps_paths || identity::can_reach(path);
        if reached && identity::can_read(path, &self.except).map_err(fail)? {
            return Ok(path.to_path_buf());
        }
        if path.is_dir() {
            lent_folder(copy).map_err(fail)?;
            copy_tree(path, copy, Some(&self.except))?;
        } else {
            lent_folder(copy.parent().unwrap_or(copy)).map_err(fail)?;
            fs::copy(path, copy).map_err(fail)?;
            identity::give(copy).map_err(fail)?;
        }
        Ok(copy.to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::Showing;
    use patchwright_sandbox::identity;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Tells something only where we are root, which is where it matters.
    #[test]
    fn what_commands_could_not_read_is_copied_and_given_to_them() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        mode(root.path(), 0o700);
        let at = |name: &str| root.path().join(name);
        for folder in ["task", "task/scratch"] {
            fs::create_dir(at(folder)).unwrap();
            mode(&at(folder), 0o755);
        }
        for (file, bits) in [("task/open", 0o644), ("task/scratch/own", 0o600)] {
            fs::write(at(file), file).unwrap();
            mode(&at(file), bits);
        }
        let showing = |maps_paths| Showing {
            maps_paths,
            except: at("task/scratch"),
        };
        let show = |name: &str, copy: &str| showing(true).show(&at(name), &at(copy)).unwrap();
        assert_eq!(show("task", "1"), at("task"));
        fs::write(at("task/closed"), "y").unwrap();
        mode(&at("task/closed"), 0o600);
        let folder = show("task", "2");
        let file = show("task/closed", "3/closed");
        // The temporary folder itself is closed to others.
        let open = showing(false)
            .show(&at("task/open"), &at("4/open"))
            .unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"y");
        let Some(ids) = identity::of_commands() else {
            assert_eq!((folder, open), (at("task"), at("task/open")));
            return;
        };
        assert_eq!((&folder, &open), (&at("2"), &at("4/open")));
        assert!(!folder.join("scratch").exists());
        for copy in [&folder, &folder.join("closed"), &file, &open] {
            assert_eq!(fs::metadata(copy).unwrap().uid(), ids.user);
        }
    }
}
