//! Disk space for workspaces: a command that fails on a full disk says nothing about a
//! patch. The limits of a command keep it from filling the disk, not this module.

use crate::{Result, TargetError};
use patchwright_sandbox::process::Execution;
use patchwright_sandbox::process::disk::FULL;
use std::path::Path;

/// Free bytes below which a failure is blamed on the disk: compilers remove incomplete
/// output, so some space is free again after their failure.
const LEAST: u64 = 32 << 20;

/// Returns an error where a command failed and the disk is full.
pub(super) fn check(execution: &Execution, folder: &Path) -> Result<()> {
    if execution.ending.success() {
        return Ok(());
    }
    let room = rustix::fs::statvfs(folder)
        .map_err(|e| TargetError::io("the room on the disk cannot be read", folder, e.into()))?;
    // A file system that does not count its files reports 0 for both.
    let files_left = room.f_favail > 0 || room.f_files == 0;
    if room.f_bavail.saturating_mul(room.f_frsize) >= LEAST && files_left {
        return Ok(());
    }
    Err(TargetError::machinery(FULL, folder.display().to_string()))
}
