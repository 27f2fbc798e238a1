//! The rungs of the ladder, each in a file of its own.

pub(crate) mod applies;
pub(crate) mod builds;
pub(crate) mod confirmed;
mod given;
pub(crate) mod parses;
pub(crate) mod reviewed;
pub(crate) mod robust;
pub(crate) mod same_elsewhere;
pub(crate) mod silent;
pub(crate) mod tested;
pub(crate) mod told;

use crate::TargetError;
use crate::crash::Frame;
use crate::target::{Build, INSIDE, Pov, Replay, Target, TargetTask};
use patchwright_source::TreePath;

/// Runs an input that is no file yet, the way a PoV is run.
pub(crate) async fn replay_input(
    target: &dyn Target,
    build: &Build,
    pov: &Pov,
    input: &[u8],
) -> Result<Replay, TargetError> {
    let folder = tempfile::tempdir()
        .map_err(|e| TargetError::io("no folder for an input", "temporary folder", e))?;
    let name = pov.file.file_name().unwrap_or_default();
    let file = folder.path().join(name);
    std::fs::write(&file, input)
        .map_err(|e| TargetError::io("an input could not be written", &file, e))?;
    let pov = Pov {
        file,
        ..pov.clone()
    };
    target.replay(build, &pov).await
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
