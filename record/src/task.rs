//! Parts of a task that everybody shares: whoever writes it, who keeps it, who runs it.

use crate::optional_seconds;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use utoipa::ToSchema;

/// Lines for `sh -eu`, run in `$TREE`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// Gets what the build needs; has network.
    pub prepare: Option<String>,
    /// Builds `$TREE` into `$OUT`.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub build: String,
    /// Feeds `$POV` to the program.
    pub pov: Option<String>,
    /// Runs the tests.
    pub test: Option<String>,
    /// Where the tests leave results by name (globs below `$TREE`).
    #[serde(default)]
    pub reports: Vec<String>,
}

/// An input that makes the unpatched program crash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pov {
    /// The input; in a task file, relative to it.
    #[schema(value_type = String)]
    pub file: PathBuf,
    /// Which of `[builds]`; the first by default.
    pub build: Option<String>,
    /// `$HARNESS` for the commands.
    pub harness: Option<String>,
    /// Its own command.
    pub command: Option<String>,
    /// Number of runs; measured at the baseline by default.
    pub repeat: Option<u32>,
    /// Longest time that one run may take (`"60s"`).
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub timeout: Option<Duration>,
    /// Pattern (a regular expression) that a run prints once the target has really started.
    pub ran: Option<String>,
    /// The command takes many inputs at once: `$POV` may also be a folder of them.
    #[serde(default)]
    pub batch: bool,
}

impl Pov {
    /// Returns the file's name, by which results name the PoV.
    pub fn name(&self) -> String {
        let name = self.file.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Tasks of earlier versions hold `null` where there is no command.
fn null_is_empty<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
