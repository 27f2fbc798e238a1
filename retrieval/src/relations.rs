//! Relations: the questions that the code database answers.
//!
//! Lookups by name, along calls, along types and by place, all as methods of
//! [`Index`]. They return everything they find in a fixed order; choosing what
//! to show is not done here.

mod calls;
mod definitions;
mod name;
mod nearest;
mod places;
pub(crate) mod resolution;
mod rows;
mod similar;

#[cfg(test)]
pub(crate) mod tests;

use crate::error::Result;
use rustc_hash::FxHashMap;
use std::hash::Hash;

pub use definitions::Definitions;
pub(crate) use definitions::nearest_named;
pub use name::QualifiedName;
pub use similar::Similar;

/// Returns what is known under a key, looked up once.
fn kept<K: Eq + Hash, V: Clone>(
    known: &mut FxHashMap<K, V>,
    key: K,
    look_up: impl FnOnce() -> Result<V>,
) -> Result<V> {
    if let Some(value) = known.get(&key) {
        return Ok(value.clone());
    }
    let value = look_up()?;
    known.insert(key, value.clone());
    Ok(value)
}
