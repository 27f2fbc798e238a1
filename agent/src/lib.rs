//! The repair loop: the task, the decisions of a run ([`repair`]), who performs
//! them ([`drive`]), and the prompts.
//!
//! Finding code, placing edits, judging patches and asking models are the
//! business of the crates below this one. What a run needs of a store is the
//! trait [`journal::Journal`]; there is no database, no queue and no HTTP
//! interface here.

pub mod anchors;
pub mod drive;
pub mod hints;
pub mod journal;
pub mod plan;
mod probability;
pub mod progress;
pub mod prompt;
pub mod record;
pub mod repair;
pub mod report;
pub mod report_text;
pub mod signals;
pub mod task;
pub mod telemetry;
pub mod template;

pub use patchwright_source::words;
