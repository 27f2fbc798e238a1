//! The store: runs, journals, submissions, money and blobs, in one SQLite file
//! of the state folder or in a PostgreSQL that several machines share.
//!
//! Writing to a run needs its current epoch, so that whoever claimed it last is
//! the only one who writes. This crate decides nothing and knows no model.

mod backup;
mod blobs;
mod connect;
pub mod crs;
mod files;
mod journal;
mod prune;
mod quota;
pub mod reviews;
pub mod runs;
mod spending;
mod store;
pub mod submissions;
#[cfg(test)]
mod tests;
pub mod tokens;

pub use journal::Journal;
pub use prune::Pruned;
pub use quota::{Quota, Usage};
pub use store::{Result, Store, StoreError, in_journal_form, milliseconds, now};
