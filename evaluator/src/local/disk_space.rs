//! Room on the disk that workspaces lie on: a command that fails where none is
//! left says nothing of a patch. What it deliberately does not do: keep a
//! command from filling it, which its limits do.

use crate::TargetError;
use crate::process::Execution;
use std::path::Path;

/// Bytes below which a failure is laid to the disk: compilers remove what they
/// could not write to its end, so some is free again when they have failed.
const LEAST: u64 = 32 << 20;

/// Refuses to take a failure for the command's own where the disk is full.
pub(super) fn check(execution: &Execution, folder: &Path) -> Result<(), TargetError> {
    if execution.ending.success() {
        return Ok(());
    }
    let room = rustix::fs::statvfs(folder)
        .map_err(|e| TargetError::io("the room on the disk cannot be read", folder, e.into()))?;
    // A filesystem that does not count its files says 0 of both.
    let files_left = room.f_favail > 0 || room.f_files == 0;
    if room.f_bavail.saturating_mul(room.f_frsize) >= LEAST && files_left {
        return Ok(());
    }
    let what =
        "a command failed, and the disk is full: make room, or set cache.folder to a larger disk";
    Err(TargetError::machinery(what, folder.display().to_string()))
}
