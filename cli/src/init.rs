//! First task of a project: looks at its tree, proposes commands, tries them in
//! the sandbox, and writes down what worked.
//!
//! Proposals come from files that every build system has by convention; a command
//! is kept when it was seen to work here. It asks no model, and it writes nothing
//! but the task file.

pub(crate) mod bench;
pub(crate) mod build_systems;
mod feeds;
mod harnesses;
pub(crate) mod oss_fuzz;
pub(crate) mod task_file;
pub(crate) mod trials;

use patchwright_agent::task::file::TaskFile;
use serde::Serialize;

/// A task as far as it is known, with what was seen of each part.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// The keys of the task file.
    pub keys: TaskFile,
    /// Remarks for the parts of the file, in its order.
    pub remarks: Remarks,
}

/// Comments of the task file: what was tried, and what was seen.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Remarks {
    /// On the build.
    pub build: String,
    /// On the PoV.
    pub pov: String,
    /// On the tests.
    pub test: String,
    /// On the harmless inputs.
    pub harmless: String,
}
