//! One run, from a task to its report, for whoever carries it out: the command
//! line in front of a person, or a worker of the daemon.
//!
//! [`prepare`] puts the parts of a run together, and a [`Session`] writes it down,
//! has it driven, and writes down how it ended. Nothing here decides how a crash
//! is repaired.

pub mod admission;
mod answers;
mod checkout;
mod commands;
mod error;
pub mod files;
pub mod intake;
mod known;
pub mod oss_fuzz;
mod plan;
mod prepare;
pub mod session;

pub use answers::{Answers, answering, answers, models, signals};
pub use checkout::kept_source;
pub use commands::{host, isolation, limits, own_command_limits, target_task};
pub use error::WrongInput;
pub use plan::plan;
pub use prepare::{Prepared, engine_settings, ground, prepare};
pub use session::{Session, run_id};
