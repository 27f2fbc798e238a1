//! The task file as it is written: one shape for TOML and JSON.
//!
//! Unknown keys are errors here. What the values mean is checked in
//! `task::read`, not here.

use patchwright_record::{Commands, Pov, optional_seconds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::ToSchema;

/// Mode in which a task is worked on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Build, replay, patch, prove.
    #[default]
    Repair,
    /// Propose candidates; nothing of the project is executed.
    DryRun,
}

/// The task file.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    /// `[A-Za-z0-9._-]{1,128}`; the same id is the same task.
    #[schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")]
    pub id: String,
    /// `c`, `c++` or `java`.
    #[schema(pattern = "^(c|c\\+\\+|java)$")]
    pub language: String,
    /// `repair` or `dry-run`.
    #[serde(default)]
    pub mode: Mode,
    /// Lanes, or proposals of a dry run.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 16)]
    pub candidates: u32,
    /// A line for people.
    pub title: Option<String>,
    /// A container image that has the project's tools: commands run in containers of it.
    pub image: Option<String>,
    /// A file that such an image is built from, relative to the task file.
    pub dockerfile: Option<String>,
    /// A recorded transcript that stands in for the model.
    pub transcript: Option<String>,
    /// Exactly one of path, git, archive, fetch.
    pub source: SourceKeys,
    /// Lines for `sh -eu`, run in `$TREE`.
    #[serde(default)]
    pub commands: Commands,
    /// Environment of the build, one table per sanitizer.
    #[serde(default)]
    pub builds: BTreeMap<String, BTreeMap<String, String>>,
    /// The inputs that make the program crash.
    #[serde(default)]
    pub pov: Vec<Pov>,
    /// Crash report of whoever found the bug.
    #[serde(default)]
    pub crash: CrashKeys,
    /// Inputs that are fine today.
    #[serde(default)]
    pub inputs: InputKeys,
    /// Further knowledge about the bug.
    #[serde(default)]
    pub hints: HintKeys,
    /// Files that are never edited.
    #[serde(default)]
    pub guard: GuardKeys,
    /// Limits of this task, over those of the settings.
    #[serde(default)]
    pub limits: TaskLimits,
}

impl TaskFile {
    /// Returns a task with an id, a language and a source, and nothing else.
    pub fn new(id: String, language: String, source: SourceKeys) -> Self {
        Self {
            id,
            language,
            source,
            candidates: one(),
            ..Self::default()
        }
    }
}

fn one() -> u32 {
    1
}

/// `[source]`
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceKeys {
    /// A folder, relative to the task file.
    pub path: Option<String>,
    /// A repository; `revision` goes with it.
    pub git: Option<String>,
    /// Commit, tag or branch to check out.
    pub revision: Option<String>,
    /// A tarball; `sha256` goes with it.
    pub archive: Option<String>,
    /// The hash of the tarball.
    pub sha256: Option<String>,
    /// A command, run once with network, that fills `$TREE`.
    pub fetch: Option<String>,
    /// Where the tree is seen inside the sandbox.
    pub seen_as: Option<String>,
}

/// `[crash]`
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CrashKeys {
    /// The report, relative to the task file.
    pub report: Option<String>,
}

/// `[inputs]`
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InputKeys {
    /// Globs, relative to the task file.
    #[serde(default)]
    pub harmless: Vec<String>,
}

/// `[hints]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HintKeys {
    /// A SARIF report.
    pub sarif: Option<String>,
    /// The diff that introduced the bug.
    pub diff: Option<String>,
    /// The maintainer's own words.
    pub note: Option<String>,
}

/// `[guard]`
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardKeys {
    /// Paths and globs that are never edited.
    #[serde(default)]
    pub protect: Vec<String>,
}

/// Limits of a task, over those of the settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskLimits {
    /// Patches that are evaluated.
    pub attempts: Option<u32>,
    /// Rounds of retrieval.
    pub rounds: Option<u32>,
    /// Malformed replies that are asked again.
    pub format_retries: Option<u32>,
    /// Tokens, in and out together.
    pub tokens: Option<u64>,
    /// Money in US dollars.
    pub usd: Option<f64>,
    /// Working time (`"30m"`).
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub wall: Option<Duration>,
    /// Longest time that a build may take.
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub build: Option<Duration>,
    /// Longest time that one PoV may take.
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub pov: Option<Duration>,
    /// Longest time that the tests may take.
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub test: Option<Duration>,
    /// Time in which mutations of the PoVs are tried.
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub robust: Option<Duration>,
    /// Time in which the patched program is compared with the unpatched.
    #[serde(default, with = "optional_seconds")]
    #[schema(value_type = Option<String>)]
    pub same: Option<Duration>,
}
