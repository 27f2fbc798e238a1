//! Autonomous repair of crashes, with evidence.
//!
//! The library behind the binary `patchwright`: the task, the decisions of a
//! run ([`repair`]), who performs them ([`drive`]), the model, the store, and
//! the command line. Finding code, placing edits and judging patches are the
//! business of the crates beside this one.

pub mod anchors;
pub mod cli;
pub mod crs;
pub mod display;
pub mod drive;
pub mod export;
pub mod hints;
pub mod intake;
pub mod mcp;
pub mod model;
pub mod output;
pub mod prompt;
pub mod repair;
pub mod report;
pub mod serve;
pub mod session;
pub mod settings;
pub mod signals;
pub mod store;
pub mod task;
pub mod telemetry;
pub mod wire;
