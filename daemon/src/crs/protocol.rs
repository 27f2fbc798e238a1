//! The shapes of AIxCC's CRS API v1.4, both directions: what we are sent, and
//! what the competition is sent. Times are Unix milliseconds.
//!
//! Unknown keys are ignored: the two sides may be of different versions.

mod checks;

pub use checks::{Wrong, decode, encode, is_name, is_uuid};

use patchwright_store::crs::{CaseState, Fate};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The largest patch that the competition takes, in bytes before encoding.
pub const PATCH_LIMIT: usize = 100 * 1024;

/// A refusal, in the shape of both interfaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For people.
    pub message: String,
    /// Errors, key by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Wrong>,
}

/// The body of `POST /v1/task/`.
#[derive(Debug, Clone, Deserialize)]
pub struct TaskMessage {
    /// The same message is sent again until it is accepted.
    pub message_id: String,
    /// When it was sent.
    pub message_time: i64,
    /// The work to do.
    pub tasks: Vec<TaskDetail>,
}

/// One challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskDetail {
    /// A UUID.
    pub task_id: String,
    /// Whole project or one change.
    #[serde(rename = "type")]
    pub kind: TaskKind,
    /// Given back as attributes of traces.
    pub metadata: Map<String, Value>,
    /// The OSS-Fuzz project.
    pub project_name: String,
    /// The folder of the repository's tarball that holds the target.
    pub focus: String,
    /// True when there are harnesses.
    pub harnesses_included: bool,
    /// When work must stop.
    pub deadline: i64,
    /// The tarballs.
    pub source: Vec<SourceDetail>,
}

/// Subject of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// The whole project.
    Full,
    /// One change of it.
    Delta,
}

/// A tarball.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SourceDetail {
    /// Its content.
    #[serde(rename = "type")]
    pub kind: SourceKind,
    /// Its address.
    pub url: String,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Content of a tarball.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The sources, before the change in question.
    Repo,
    /// OSS-Fuzz with the project.
    FuzzTooling,
    /// The change in question, as `ref.diff`.
    Diff,
}

/// The body of `POST /v1/sarif/`.
#[derive(Debug, Clone, Deserialize)]
pub struct SarifMessage {
    /// The same message is sent again until it is accepted.
    pub message_id: String,
    /// When it was sent.
    pub message_time: i64,
    /// The reports.
    pub broadcasts: Vec<Broadcast>,
}

/// One report of a suspected bug.
#[derive(Debug, Clone, Deserialize)]
pub struct Broadcast {
    /// Given back as attributes of traces.
    pub metadata: Map<String, Value>,
    /// SARIF 2.1.
    pub sarif: Value,
    /// A UUID.
    pub sarif_id: String,
    /// The challenge it is about.
    pub task_id: String,
}

/// The answer of `GET /status/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// True when work would be done.
    pub ready: bool,
    /// Since when is counted.
    pub since: i64,
    /// The counts.
    pub state: StatusState,
    /// Ours.
    pub version: String,
    /// Further details.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

/// The counters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusState {
    /// The number of challenges in each state.
    pub tasks: BTreeMap<CaseState, i64>,
}

/// The body of `POST /v1/task/{task_id}/patch/` on the other side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PatchSubmission {
    /// The unified diff in base64.
    pub patch: String,
}

/// The other side's answer about a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchAnswer {
    /// Its id of the patch.
    pub patch_id: String,
    /// Its outcome.
    pub status: Fate,
    /// True when the tests pass; nothing while they have not been run.
    #[serde(default)]
    pub functionality_tests_passing: Option<bool>,
}
