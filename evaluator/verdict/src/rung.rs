//! Rungs *applies* to *tested*, the check on a clean build, and the feedback of all rungs.

pub(crate) mod builds;
pub(crate) mod confirm;
pub(crate) mod feedback;
pub(crate) mod leak;
pub(crate) mod patch;
pub(crate) mod silent;
pub(crate) mod tested;

use patchwright_target::Result;
use patchwright_target::runner::{Build, InputFile, Pov, Replay, Target};

/// Runs an input the way a PoV is run.
pub(crate) async fn replay_input(
    target: &dyn Target,
    build: &Build,
    pov: &Pov,
    input: &[u8],
) -> Result<Replay> {
    let input = InputFile::like(pov, input)?;
    target.replay(build, input.pov()).await
}
