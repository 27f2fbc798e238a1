//! The rungs of the ladder, each in a file of its own.

pub(crate) mod builds;
pub(crate) mod confirm;
pub(crate) mod feedback;
pub(crate) mod given_inputs;
pub(crate) mod patch;
pub(crate) mod silent;
pub(crate) mod tested;

use crate::TargetError;
use crate::runner::{Build, Pov, Replay, Target};

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
