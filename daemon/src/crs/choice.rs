//! Which patches of a case are sent to the other side, and when.
//!
//! Pure: rows in, ids out. A patch waits a while for others that may make it
//! superfluous; of those that are ready the smallest set goes.

use super::cover::{Candidate, smallest};
use super::rows::{Fate, FindingRow, PatchRow};
use std::collections::BTreeSet;

/// Inputs of the choice besides the rows. Times are milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The most doubt that a patch may leave.
    pub doubt: u32,
    /// Time that a patch waits for others.
    pub hold: i64,
    pub now: i64,
    /// When the case is over.
    pub deadline: Option<i64>,
}

/// The places of the patches that are to be sent now.
pub fn to_send(findings: &[FindingRow], patches: &[PatchRow], terms: Terms) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut covered: BTreeSet<&String> = BTreeSet::new();
    for (place, patch) in patches.iter().enumerate() {
        let again = match patch.fate {
            None | Some(Fate::Failed | Fate::DeadlineExceeded) => continue,
            Some(Fate::Errored | Fate::Sending) => patch.rests <= terms.now,
            Some(_) => false,
        };
        covered.extend(&patch.stops);
        if again {
            chosen.push(place);
        }
    }
    let candidates = patches.iter().map(|patch| {
        let free = patch.fate.is_none() && patch.doubt <= terms.doubt;
        let mut stops = patch.stops.clone();
        stops.retain(|one| free && !covered.contains(one));
        let doubt = patch.doubt;
        Candidate { stops, doubt }
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let unfinished = findings.iter().any(FindingRow::is_open);
    let pressed = terms
        .deadline
        .is_some_and(|deadline| deadline - terms.now <= terms.hold);
    let ready = |place: &usize| {
        let waited = patches
            .get(*place)
            .is_some_and(|patch| terms.now - patch.created >= terms.hold);
        !unfinished || pressed || waited
    };
    chosen.extend(smallest(&candidates).into_iter().filter(ready));
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::{Terms, to_send};
    use crate::crs::patch_request::PatchRequest;
    use crate::crs::protocol::TaskKind;
    use crate::crs::rows::{Fate, FindingKind, FindingRow, FindingState, PatchRow};

    fn finding(id: &str, state: FindingState) -> FindingRow {
        FindingRow {
            id: id.into(),
            case: "case".into(),
            kind: FindingKind::Pov,
            request: PatchRequest {
                project_name: String::new(),
                blobs: Vec::new(),
                pov_id: String::new(),
                sarif_report: None,
                kind: TaskKind::Full,
            },
            round: 1,
            state,
            patch: None,
        }
    }

    fn patch(stops: &str, fate: Option<Fate>, created: i64) -> PatchRow {
        PatchRow {
            id: stops.into(),
            case: "case".into(),
            finding: String::new(),
            diff: String::new(),
            doubt: 0,
            stops: stops.chars().map(String::from).collect(),
            tried: std::collections::BTreeSet::new(),
            fate,
            remote: None,
            sent: 1,
            rests: 500,
            created,
        }
    }

    const TERMS: Terms = Terms {
        doubt: 1,
        hold: 100,
        now: 1_000,
        deadline: None,
    };

    #[test]
    fn the_smallest_set_that_is_not_there_yet() {
        let done = [finding("a", FindingState::Stopped)];
        let cases: &[(&[PatchRow], &[usize])] = &[
            (&[], &[]),
            (&[patch("a", None, 990), patch("ab", None, 990)], &[1]),
            (
                &[patch("a", Some(Fate::Passed), 0), patch("a", None, 990)],
                &[],
            ),
            (
                &[patch("a", Some(Fate::Accepted), 0), patch("ab", None, 990)],
                &[1],
            ),
            (
                &[patch("a", Some(Fate::Failed), 0), patch("a", None, 990)],
                &[1],
            ),
            (
                &[patch("a", Some(Fate::Errored), 0), patch("a", None, 990)],
                &[0],
            ),
            (&[patch("a", Some(Fate::Sending), 0)], &[0]),
            (&[patch("a", Some(Fate::DeadlineExceeded), 0)], &[]),
            (&[patch("a", Some(Fate::Inconclusive), 0)], &[]),
        ];
        for (patches, expected) in cases {
            assert_eq!(to_send(&done, patches, TERMS), *expected, "{patches:?}");
        }
    }

    #[test]
    fn a_patch_waits_for_others_but_not_for_ever() {
        let open = [
            finding("a", FindingState::Stopped),
            finding("b", FindingState::Open),
        ];
        let young = [patch("a", None, 950)];
        assert!(to_send(&open, &young, TERMS).is_empty());
        assert_eq!(to_send(&open, &[patch("a", None, 900)], TERMS), [0]);
        let pressed = Terms {
            deadline: Some(1_050),
            ..TERMS
        };
        assert_eq!(to_send(&open, &young, pressed), [0]);
    }

    #[test]
    fn weak_evidence_is_not_sent_and_errors_are_given_time() {
        let doubtful = PatchRow {
            doubt: 2,
            ..patch("a", None, 0)
        };
        assert!(to_send(&[], &[doubtful], TERMS).is_empty());
        let resting = PatchRow {
            rests: 1_001,
            ..patch("a", Some(Fate::Errored), 0)
        };
        assert!(to_send(&[], &[resting], TERMS).is_empty());
    }
}
