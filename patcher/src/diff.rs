//! Unified diffs: read from others, written by us.

mod header;
mod read;
mod write;

pub(crate) use read::parse_diff;
pub(crate) use write::{FileDiff, write_diff};
