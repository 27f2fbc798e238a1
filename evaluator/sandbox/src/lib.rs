//! Commands run with limits and kept away from the host.
//!
//! [`Sandbox`] runs a command line in the strongest isolation that works here, [`process`] holds
//! it to its limits and tells how it ended, and [`attack`] tries to get out. What this crate does
//! not do: decide what to run, or judge what came of it.

pub mod attack;
pub mod contained_path;
mod error;
pub mod identity;
mod isolation;
pub mod process;

pub use error::{Result, SandboxError};
#[cfg(any(test, feature = "test-support"))]
pub use isolation::test_host;
pub use isolation::{
    Command, EngineAddress, Host, Image, Isolation, IsolationChoice, Place, Sandbox,
    StrongerSandbox, enter_from_arguments, hide_this_process, offered,
};
pub use process::{Captured, Ending, Execution, Limit};
