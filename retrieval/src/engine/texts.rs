//! Files kept in memory while one context is gathered, which looks at the same
//! few files many times.

use super::{Engine, locked};
use patchwright_source::{SourceError, Text, TreePath};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// No more bytes than this are kept.
const MOST: usize = 64 * 1024 * 1024;

/// Files by path.
pub(super) type Texts = Mutex<BTreeMap<TreePath, Arc<Text>>>;

impl Engine {
    /// A file that one context reads again and again; read at most once until
    /// [`Engine::forget_texts`].
    pub(crate) fn text(&self, path: &TreePath) -> Result<Arc<Text>, SourceError> {
        if let Some(text) = locked(&self.texts).get(path) {
            return Ok(Arc::clone(text));
        }
        let text = Arc::new(self.tree().read(path)?);
        let mut kept = locked(&self.texts);
        let bytes: usize = kept.values().map(|text| text.bytes().len()).sum();
        if bytes + text.bytes().len() <= MOST {
            kept.insert(path.clone(), Arc::clone(&text));
        }
        Ok(text)
    }

    /// Forgets the files that were kept: the next context shall see them anew.
    pub(crate) fn forget_texts(&self) {
        locked(&self.texts).clear();
    }
}
