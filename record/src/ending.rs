//! Endings of a run and their exit statuses.

use patchwright_source::words;
use serde::{Deserialize, Serialize};

/// The kinds of endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// Every rung holds, and there were tests.
    Verified,
    /// Dry run: candidates, nothing executed.
    Proposed,
    /// Attempts used up, none acceptable.
    NoPatch,
    /// The task is wrong, or the unpatched tree does not build.
    InvalidTask,
    /// Rounds, tokens, money or format retries are used up.
    BudgetExhausted,
    /// The clock ran out.
    Deadline,
    /// No PoV crashes here.
    NotReproducible,
    /// Disk, sandbox, network, model endpoint.
    InfraError,
    /// Some rung could not be climbed.
    Plausible,
    /// There is no PoV at all.
    Unverified,
    /// Somebody stopped it.
    Canceled,
}

impl EndingKind {
    /// Returns the exit status of the command line.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Verified | Self::Proposed => 0,
            Self::NoPatch => 1,
            Self::InvalidTask => 2,
            Self::BudgetExhausted | Self::Deadline => 3,
            Self::NotReproducible => 4,
            Self::InfraError => 5,
            Self::Plausible | Self::Unverified => 6,
            Self::Canceled => 130,
        }
    }
}

words!(EndingKind: Verified "verified", Proposed "proposed", NoPatch "no_patch",
    InvalidTask "invalid_task", BudgetExhausted "budget_exhausted", Deadline "deadline",
    NotReproducible "not_reproducible", InfraError "infra_error", Plausible "plausible",
    Unverified "unverified", Canceled "canceled");

/// An ending with the reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub kind: EndingKind,
    /// Why, in a sentence for people; may hold the end of a log.
    pub detail: String,
}

impl Ending {
    /// An ending of a kind, with its reason.
    pub fn new(kind: EndingKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EndingKind;

    #[test]
    fn an_ending_is_read_from_its_word() {
        for kind in [
            EndingKind::Verified,
            EndingKind::NoPatch,
            EndingKind::Canceled,
        ] {
            assert_eq!(EndingKind::read(kind.as_str()), Some(kind));
        }
        for word in ["paused", "running", ""] {
            assert_eq!(EndingKind::read(word), None, "{word}");
        }
        assert_eq!(EndingKind::Canceled.exit_code(), 130);
    }
}
