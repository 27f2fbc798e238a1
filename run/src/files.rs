//! Lays out the files that came with a task on the machine that works on it.

use crate::admission;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::task::{Sender, Task};
use patchwright_config::Settings;
use patchwright_source::digest;
use patchwright_store::{Store, StoreError};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The task with its files in a folder of this machine, below `cache`. A task
/// that brought none stays as it is. The folder appears whole or not at all,
/// and two workers with the same files share it.
///
/// # Errors
/// When the files are not kept any more or cannot be written.
pub async fn lay_out(task: Task, store: &Store, cache: &Path) -> Result<Task, StoreError> {
    if task.sent.is_empty() {
        return Ok(task);
    }
    let tasks = cache.join("tasks");
    let folder = tasks.join(digest(task.sent.iter().flat_map(<[_; 2]>::from)));
    if !folder.is_dir() {
        fill(&task.sent, store, (&tasks, &folder)).await?;
    }
    Ok(task.moved_to(&folder))
}

/// The task as this machine works on it: what somebody over the network may
/// name is judged by the settings here, and the files are laid out.
///
/// # Errors
/// The ending of a task that may not be worked on, or cannot be now.
pub(crate) async fn ready(task: &Task, store: &Store, settings: &Settings) -> Result<Task, Ending> {
    if task.sender == Sender::Remote {
        admission::still_allowed(task, &settings.intake)
            .map_err(|message| Ending::new(EndingKind::InvalidTask, message))?;
    }
    lay_out(task.clone(), store, &settings.cache.folder)
        .await
        .map_err(|error| Ending::new(EndingKind::InfraError, error.to_string()))
}

async fn fill(
    files: &BTreeMap<String, String>,
    store: &Store,
    (tasks, folder): (&Path, &Path),
) -> Result<(), StoreError> {
    let disk = |error: io::Error| StoreError::folder(folder, &error);
    patchwright_config::private_folder(tasks).map_err(disk)?;
    let fresh = tempfile::tempdir_in(tasks).map_err(disk)?;
    for (name, hash) in files {
        let place = fresh.path().join(name);
        if let Some(above) = place.parent() {
            std::fs::create_dir_all(above).map_err(disk)?;
        }
        store.file_to(hash, &place).await?;
    }
    let fresh = fresh.keep();
    match std::fs::rename(&fresh, folder) {
        // Another worker was faster.
        Err(_) if folder.is_dir() => std::fs::remove_dir_all(&fresh).map_err(disk),
        other => other.map_err(disk),
    }
}

/// Returns the hash of a file's content.
pub fn hash_of(file: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    std::io::copy(&mut std::fs::File::open(file)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}
