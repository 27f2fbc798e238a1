//! Copies of built workspaces that are made before anybody asks for them.
//!
//! Copying a large tree takes longer than building one changed file of it. So
//! the copy for the next attempt is made while the model thinks about it.

use crate::TargetError;
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// One copy for each build, ready or in the making.
#[derive(Debug, Default)]
pub(super) struct SpareWorkspaces {
    ready: Mutex<BTreeMap<String, JoinHandle<Result<Workspace, TargetError>>>>,
    stop: Arc<AtomicBool>,
}

impl SpareWorkspaces {
    /// Begins to copy, unless a copy is there already.
    pub(super) fn prepare(&self, name: &str, of: &Arc<Workspace>, root: PathBuf) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// The copy, where one was begun and came to a good end.
    pub(super) async fn take(&self, name: &str) -> Option<Workspace> {
        let copy = {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            ready.remove(name)?
        };
        let copied = tokio::task::spawn_blocking(move || copy.join()).await;
        copied.ok()?.ok()?.ok()
    }
}

impl Drop for SpareWorkspaces {
    /// Nothing may be written any more when the scratch folder goes away.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ready = self.ready.get_mut();
        let ready = std::mem::take(ready.unwrap_or_else(PoisonError::into_inner));
        for (_, copy) in ready {
            let _ = copy.join();
        }
    }
}
