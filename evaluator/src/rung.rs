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

use crate::crash::Frame;
use crate::target::{INSIDE, TargetTask};
use patchwright_source::TreePath;

/// Bytes of a log that a repairer is shown at most: about 3,000 tokens.
const EXCERPT: usize = 12_000;

/// A reason and the end of what explains it, fit for a repairer.
pub(crate) fn excerpt(reason: &str, log: &str) -> String {
    let log = crate::crash::scrub(log);
    let mut start = log.len().saturating_sub(EXCERPT);
    while !log.is_char_boundary(start) {
        start += 1;
    }
    let tail = log.get(start..).unwrap_or_default().trim();
    format!("{reason}\n\n{tail}\n")
}

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
