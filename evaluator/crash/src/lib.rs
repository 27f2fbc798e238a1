//! Reading of what programs print: crashes, test results and logs; no process and no clock.
//!
//! [`parse`] finds the crash report in a log, [`signature`] tells whether two crashes are one,
//! [`test_report`] reads test results by name, and [`feedback`] turns logs into text that a
//! repairer can act on.

mod crash;
pub mod feedback;
mod kept;
pub mod signature;
pub mod test_report;

pub use crash::{
    Access, CommandLine, CrashReport, FrameOrigin, Operation, Place, ReportInWords, Side, Stack,
    Thread, Tool, busiest_thread, fold, is_only_shown, parse, plain_name, read_leading,
    read_pasted, read_threads, read_words, scrub, stack_text,
};
pub use kept::{frames_of, rebased};
pub use patchwright_source::{Frame, Role};
pub use signature::Signature;
pub use test_report::TestReport;
