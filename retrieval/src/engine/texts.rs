//! Files kept in memory while one context is gathered, which looks at the same
//! few files many times.

use patchwright_source::{SourceError, Text, Tree, TreePath};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No more bytes than this are kept.
const MOST: usize = 64 * 1024 * 1024;

/// Files by path.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<BTreeMap<TreePath, Arc<Text>>>);

impl Texts {
    /// A file, read at most once until [`Texts::clear`].
    pub(super) fn get(&self, tree: &Tree, path: &TreePath) -> Result<Arc<Text>, SourceError> {
        if let Some(text) = self.lock().get(path) {
            return Ok(Arc::clone(text));
        }
        let text = Arc::new(tree.read(path)?);
        let mut kept = self.lock();
        let bytes: usize = kept.values().map(|text| text.bytes().len()).sum();
        if bytes + text.bytes().len() <= MOST {
            kept.insert(path.clone(), Arc::clone(&text));
        }
        Ok(text)
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TreePath, Arc<Text>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
