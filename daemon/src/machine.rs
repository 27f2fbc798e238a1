//! This machine: its name, and the room on its disk. A worker that would fill
//! the disk takes nothing.

use patchwright_config::Settings;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of this machine.
pub(crate) fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}

/// The name of the user of this process, or its number.
pub fn user() -> String {
    let number = rustix::process::getuid().as_raw().to_string();
    let known = std::fs::read_to_string("/etc/passwd").ok();
    let name = known.as_deref().and_then(|known| {
        known.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == number).then(|| name.to_owned())
        })
    });
    name.unwrap_or_else(|| format!("user {number}"))
}

/// Returns true when both the state and the cache have the room that the settings ask
/// for. Said once each time that it changes.
pub(crate) fn has_room(settings: &Settings) -> bool {
    static FULL: AtomicBool = AtomicBool::new(false);
    let wanted = settings.queue.free_mb << 20;
    let short = [&settings.store.folder, &settings.cache.folder]
        .into_iter()
        .find(|folder| free(folder).is_some_and(|free| free < wanted));
    if FULL.swap(short.is_some(), Ordering::Relaxed) != short.is_some() {
        let folder = short.map_or_else(String::new, |folder| folder.display().to_string());
        let state = match short {
            Some(_) => "too little: nothing is taken until there is more",
            None => "enough again",
        };
        let wanted_mb = settings.queue.free_mb;
        tracing::error!(folder, wanted_mb, state, "room on the disk");
    }
    short.is_none()
}

/// The free bytes of the disk of a folder, or of the nearest one above that is there.
pub(crate) fn free(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let found = rustix::fs::statvfs(there).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_config::Settings;

    #[test]
    fn a_disk_is_never_large_enough_for_everything() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("not/there/yet");
        assert!(free(&folder).unwrap() > 0);
        let folder = folder.display().to_string();
        let room = |wanted: &str| {
            let values = [
                ("store.folder", folder.as_str()),
                ("cache.folder", &folder),
                ("queue.free_mb", wanted),
            ];
            has_room(&Settings::with(&values).unwrap())
        };
        assert!(room("0"));
        assert!(!room("8796093022207"));
    }
}
