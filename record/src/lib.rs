//! Facts of a run: one type for each, from the rung that observes it to the journal, the
//! report and the prompts.
//!
//! The types hold what was observed and decide nothing: no clock, no input or output.

mod agreement;
mod blob;
mod crash;
mod doubt;
mod ending;
mod history;
pub mod optional_seconds;
mod regression;
pub mod result;
mod rung;
pub mod seconds;
mod smallest;
mod task;

pub use agreement::{AgreedInput, Agreement, Split};
pub use blob::{Blob, empty_is_none};
pub use crash::{Crash, CrashFrame};
pub use doubt::{AcceptedInput, Doubt, DoubtedInput};
pub use ending::{Ending, EndingKind};
pub use history::{CommitRecord, CrashHistory};
pub use regression::{RegressionRecord, TestFiles};
pub use rung::{FoundInput, Rung, RungName};
pub use smallest::SmallestRecord;
pub use task::{Commands, Pov};
