//! Judges a patch: runs the target in a sandbox and reads what it printed.
//!
//! The reading half needs no process and no clock: [`crash`] finds the crash
//! report in a log and [`signature`] tells whether two crashes are one.

pub mod crash;
pub mod signature;

pub use crash::CrashReport;
pub use signature::Signature;
