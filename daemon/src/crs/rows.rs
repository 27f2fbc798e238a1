//! Cases, findings and patches, as the store keeps them.

use super::case::Prepared;
use super::patch_request::PatchRequest;
use super::protocol::TaskDetail;
use patchwright_store::crs::{CASE, FINDING, Keys, PATCH, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A challenge, or a project of the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseRow {
    pub id: String,
    /// The OSS-Fuzz project.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// Its files are on the way.
    Pending,
    /// Nothing was found in it yet.
    Waiting,
    /// Something is open in it.
    Processing,
    /// There is a patch, and nothing is open.
    Succeeded,
    /// There is no patch, and nothing is open.
    Failed,
    /// It cannot be worked on.
    Errored,
    /// Somebody stopped it.
    Canceled,
}

/// A PoV or a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRow {
    pub id: String,
    /// The case it belongs to.
    pub case: String,
    pub kind: FindingKind,
    /// The message.
    pub request: PatchRequest,
    /// Number of times it was queued anew.
    pub round: i64,
    /// Its outcome.
    pub state: FindingState,
    /// The patch that stops it.
    pub patch: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// An input that crashes.
    Pov,
    /// A suspicion.
    Sarif,
}

/// Outcome of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// A patch is sought.
    Open,
    /// A patch stops it: that of its own run, or of another finding.
    #[serde(alias = "patched", alias = "closed")]
    Stopped,
    /// There is none.
    Failed,
    /// It could not be worked on.
    Errored,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Status of a patch on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is on its way; whoever finds it so was cut off and does not know.
    Sending,
    /// It is looked at.
    Accepted,
    /// It is good.
    Passed,
    /// It is not.
    Failed,
    /// It came too late.
    DeadlineExceeded,
    /// The other side made a mistake.
    Errored,
    /// There was no verdict in time.
    Inconclusive,
}

impl CaseState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Waiting,
        Self::Processing,
        Self::Succeeded,
        Self::Failed,
        Self::Errored,
        Self::Canceled,
    ];
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
}

impl PatchRow {
    /// Returns true when the other side said that it is wrong.
    pub fn is_refuted(&self) -> bool {
        self.fate == Some(Fate::Failed)
    }
}

impl Record for CaseRow {
    const KIND: &'static str = CASE;

    fn keys(&self) -> Keys<'_> {
        Keys {
            id: &self.id,
            case: &self.id,
            tag: format!("{:?}", self.state).to_lowercase(),
            until: self.deadline,
        }
    }
}

impl Record for FindingRow {
    const KIND: &'static str = FINDING;

    fn keys(&self) -> Keys<'_> {
        Keys {
            id: &self.id,
            case: &self.case,
            tag: format!("{:?} {}", self.state, self.round).to_lowercase(),
            until: None,
        }
    }
}

impl Record for PatchRow {
    const KIND: &'static str = PATCH;

    fn keys(&self) -> Keys<'_> {
        Keys {
            id: &self.id,
            case: &self.case,
            tag: String::new(),
            until: None,
        }
    }
}
