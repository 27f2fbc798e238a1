//! The step that a lane's stage calls for.

use super::compact;
use crate::repair::lane::{Lane, Stage};
use crate::repair::{Purpose, Step};

/// What a lane has to have done now; `None` while it follows others or is done.
pub(super) fn step_of(lane: &Lane) -> Option<Step> {
    Some(match &lane.stage {
        Stage::Context(issue) => Step::Context {
            round: lane.rounds,
            request: issue.crash.text.clone(),
            frames: issue.frames(),
            memory: lane.memory.clone(),
        },
        Stage::Ask => Step::Ask {
            purpose: Purpose::Repair,
            messages: lane.messages.clone(),
        },
        Stage::Compact => Step::Ask {
            purpose: Purpose::Compact,
            messages: compact::question(lane),
        },
        Stage::Recall { queries, .. } => Step::Retrieve {
            round: lane.rounds,
            queries: queries.clone(),
            memory: lane.memory.clone(),
        },
        Stage::Wait { until, reason, .. } => Step::Wait {
            until: until.clone(),
            reason: reason.clone(),
        },
        Stage::Retrieve(queries, _) => Step::Retrieve {
            round: lane.rounds + 1,
            queries: queries.clone(),
            memory: lane.memory.clone(),
        },
        Stage::Probe { open, .. } => Step::Probe {
            probes: open.clone(),
        },
        Stage::Locate(patch) => Step::Locate {
            patch: patch.clone(),
        },
        Stage::Climb { attempt, rung } => Step::Climb {
            attempt: *attempt,
            rung: *rung,
        },
        Stage::Review(review) => Step::Ask {
            purpose: Purpose::Critic,
            messages: review.messages.clone(),
        },
        Stage::Follow(_) | Stage::Done(_) => return None,
    })
}
