//! The rungs of the ladder, each in a file of its own.

pub(crate) mod applies;
pub(crate) mod builds;
pub(crate) mod confirmed;
pub(crate) mod parses;
pub(crate) mod reviewed;
pub(crate) mod robust;
pub(crate) mod same_elsewhere;
pub(crate) mod silent;
pub(crate) mod tested;
pub(crate) mod told;

use crate::crash::Frame;
use crate::target::{INSIDE, TargetTask};
use patchwright_source::TreePath;

/// Whether a frame lies in the tree: by the path at which the commands see it,
/// or by naming a file that is there.
pub(crate) fn in_project(task: &TargetTask, frame: &Frame) -> bool {
    let Some(file) = frame.file.as_deref() else {
        return false;
    };
    let usual = format!("{INSIDE}/tree");
    let seen = task.seen_as.as_deref().unwrap_or(&usual);
    match file.strip_prefix(seen) {
        Some(rest) => rest.starts_with('/'),
        None => TreePath::new(file).is_ok_and(|path| task.tree.join(path.as_str()).is_file()),
    }
}
