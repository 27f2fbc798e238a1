//! Spare workspaces: copies of built workspaces that are made in advance.
//!
//! Copying a large tree takes longer than building one changed file of it, so the copy for
//! the next attempt is made while the model answers.

use super::locked;
use crate::Result;
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// One copy for each build, ready or in the making.
#[derive(Debug, Default)]
pub(super) struct SpareWorkspaces {
    ready: Mutex<BTreeMap<String, JoinHandle<Result<Workspace>>>>,
    stop: Arc<AtomicBool>,
}

impl SpareWorkspaces {
    /// Starts to copy, unless there is a copy already.
    pub(super) fn prepare(&self, name: &str, of: &Arc<Workspace>, root: PathBuf) {
        let mut ready = locked(&self.ready);
        if ready.contains_key(name) {
            return;
        }
        let (of, stop) = (Arc::clone(of), Arc::clone(&self.stop));
        let copy = std::thread::Builder::new()
            .name("spare workspace".to_owned())
            .spawn(move || Workspace::copy_unless(&of, root, &stop));
        // Without a thread the copy is made when it is needed.
        if let Ok(copy) = copy {
            ready.insert(name.to_owned(), copy);
        }
    }

    /// Returns the copy, where one was started and succeeded.
    pub(super) async fn take(&self, name: &str) -> Option<Workspace> {
        let copy = locked(&self.ready).remove(name)?;
        let copied = tokio::task::spawn_blocking(move || copy.join()).await;
        copied.ok()?.ok()?.ok()
    }
}

impl Drop for SpareWorkspaces {
    /// Waits for copies, since nothing may be written after the scratch folder is removed.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ready = std::mem::take(&mut *locked(&self.ready));
        for (_, copy) in ready {
            let _ = copy.join();
        }
    }
}
