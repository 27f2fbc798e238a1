//! Unified diffs: read from others, written by us.

mod compare;
mod read;
mod write;

pub use compare::diff;
pub(crate) use compare::diff_of_splices;
pub(crate) use read::parse_diff;
use write::FileDiff;
