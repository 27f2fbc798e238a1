//! Cases, findings and patches, as the store keeps them.

use super::patch_request::PatchRequest;
use super::protocol::TaskDetail;
pub use super::protocol::{CaseState, Fate};
use patchwright_source::words;
use patchwright_store::crs::Record;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A challenge, or a project of the settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseRow {
    pub id: String,
    pub project: String,
    /// The challenge as it was sent; nothing for a project of the settings.
    pub detail: Option<TaskDetail>,
    /// Facts that were read from its files.
    pub prepared: Option<Prepared>,
    pub state: CaseState,
    /// The reason why it cannot be worked on.
    pub problem: Option<String>,
    /// When work must stop, in milliseconds.
    pub deadline: Option<i64>,
    /// When it came, in milliseconds.
    pub created: i64,
}

/// Facts that were read from the files of a challenge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// The hashes of the files that go along with each task, by their names.
    pub files: BTreeMap<String, String>,
    /// `c`, `c++` or `java`.
    pub language: String,
    /// True when the project has a `test.sh`.
    pub tests: bool,
}

/// A PoV or a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRow {
    pub id: String,
    /// The case it belongs to.
    pub case: String,
    pub kind: FindingKind,
    pub request: PatchRequest,
    /// Number of times it was queued anew.
    pub round: i64,
    pub state: FindingState,
    /// The patch that stops it.
    pub patch: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    Pov,
    Sarif,
}

words!(FindingKind: Pov "pov", Sarif "sarif");

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    Open,
    /// A patch stops it: that of its own run, or of another finding.
    Stopped,
    Failed,
    /// It could not be worked on.
    Errored,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchRow {
    /// The hash of case and diff.
    pub id: String,
    /// The case it belongs to.
    pub case: String,
    /// The finding that it was made for.
    pub finding: String,
    /// The unified diff in base64.
    pub diff: String,
    /// The doubt that it leaves.
    pub doubt: u32,
    /// The findings that it stops.
    pub stops: BTreeSet<String>,
    /// The findings it was tried on.
    pub tried: BTreeSet<String>,
    /// Its status on the other side; nothing while it was not sent.
    pub fate: Option<Fate>,
    /// Its id on the other side.
    pub remote: Option<String>,
    /// Number of times it was sent.
    pub sent: i64,
    /// Before this time it is not sent again, in milliseconds.
    pub rests: i64,
    /// When it was made, in milliseconds.
    pub created: i64,
}

impl CaseRow {
    /// Returns true when nobody wants a patch any more.
    pub fn is_late(&self, now: i64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Returns true when there may be something to do for it: it is not over by itself or by
    /// its deadline.
    pub fn is_open(&self, now: i64) -> bool {
        match self.state {
            CaseState::Pending | CaseState::Waiting | CaseState::Processing => true,
            CaseState::Succeeded | CaseState::Failed => !self.is_late(now),
            CaseState::Errored | CaseState::Canceled => false,
        }
    }
}

impl FindingRow {
    /// Returns true while a patch is sought.
    pub fn is_open(&self) -> bool {
        self.state == FindingState::Open
    }

    /// Returns the same finding in another state.
    pub(super) fn in_state(&self, state: FindingState) -> Self {
        Self {
            state,
            ..self.clone()
        }
    }
}

impl PatchRow {
    /// Returns true when the other side said that it is wrong.
    pub fn is_refuted(&self) -> bool {
        self.fate == Some(Fate::Failed)
    }
}

impl Record for CaseRow {
    const KIND: &'static str = "case";
}

impl Record for FindingRow {
    const KIND: &'static str = "finding";
}

impl Record for PatchRow {
    const KIND: &'static str = "patch";
}
