//! Hints of a task besides its crash: a static analyser's findings and the
//! change that introduced the bug, read for the first issue and for the frames
//! that retrieval starts from. Pure: text in, text and frames out.

pub mod delta;
pub mod sarif;
