//! Compaction of a conversation that nears the model's window: it is told in
//! short. The model says what it found and which code still matters; the
//! crash, the attempts with their verdicts and the message that waits for an
//! answer are told from what the run knows. A model that says nothing of use
//! costs the findings and no more.

use super::Run;
use crate::plan::QUERIES;
use crate::prompt;
use crate::record::{Attempt, Full, ReplyRecord, Retrieved};
use crate::repair::lane::{Finished, Lane, Stage};
use patchwright_model::Finish;
use patchwright_patcher::{RawQuery, reply};
use patchwright_retrieval::Query;

/// Characters of the findings that are kept.
const FINDINGS: usize = 12_000;
/// The standing instructions and one message: nothing that could be shorter.
const SHORTEST: usize = 2;

impl Run {
    pub(super) fn on_full(&mut self, lane: &mut Lane, stage: Stage, full: &Full) {
        match stage {
            Stage::Ask if !lane.compacted && lane.messages.len() > SHORTEST => {
                lane.stage = Stage::Compact;
            }
            Stage::Review(review) => {
                let (tokens, fits) = (full.tokens, full.fits);
                let why = format!("the question has about {tokens} tokens and {fits} fit");
                self.unheard(lane, *review, &why);
            }
            Stage::AskChallenge(_) | Stage::Contest(_) | Stage::Compact => {
                let why = "the question does not fit the model's window";
                self.on_unanswered(lane, stage, why);
            }
            _ => lane.stage = Stage::Done(Finished::Window),
        }
    }

    pub(super) fn on_compacted(&self, lane: &mut Lane, record: &ReplyRecord) {
        if record.finish == Finish::Refused {
            return self.compact(lane, String::new(), Vec::new());
        }
        let read = reply::read(&record.text, record.finish == Finish::Length);
        let findings = read.analysis.unwrap_or_else(|| record.text.clone());
        let usable =
            |query: &RawQuery| Query::read(&query.kind, &query.body, &query.attributes).is_ok();
        let queries = read.queries.into_iter().filter(usable).take(QUERIES);
        let findings = findings.chars().take(FINDINGS);
        self.compact(lane, findings.collect(), queries.collect());
    }

    /// Goes on in short: with the code that still matters, once it is there.
    pub(super) fn compact(&self, lane: &mut Lane, findings: String, queries: Vec<RawQuery>) {
        lane.memory.forget(lane.rounds);
        lane.probed.clear();
        if queries.is_empty() {
            let nothing = Retrieved {
                memory: lane.memory.clone(),
                ..Retrieved::default()
            };
            self.tell_in_short(lane, &findings, nothing);
        } else {
            lane.stage = Stage::Recall { findings, queries };
        }
    }

    /// Begins the conversation anew, with everything that matters of the old one.
    pub(super) fn tell_in_short(&self, lane: &mut Lane, findings: &str, code: Retrieved) {
        let own = self.attempts.iter();
        let own: Vec<&Attempt> = own.filter(|one| one.lane == lane.number).collect();
        let waiting = lane.messages.last().map_or("", |last| last.text.as_str());
        let text = prompt::compacted(self.crash_text(), findings, &own, &code.text, waiting);
        lane.memory = code.memory;
        lane.messages.truncate(1);
        lane.compacted = true;
        lane.tell(text);
    }
}
