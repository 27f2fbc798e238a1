//! Agreement of lanes: where none has verified a patch, the candidates of all lanes that
//! keep the program silent and its tests passing are run on the same inputs. A doubt on
//! an input on which candidates of several lanes agree with each other is decided.

use super::{Phase, Run};
use crate::prompt;
use crate::record::{
    Agreement, Attempt, ChallengeRecord, ChallengeSource, DoubtedInput, Rung, Step,
};
use crate::repair::lane::{Finished, Lane, Stage};
use crate::task::Mode;
use itertools::Itertools;
use patchwright_source::counted;
use patchwright_verdict::{OPEN_FOR_DIFFERENCES, RungName};
use std::collections::BTreeSet;

/// The fewest candidates that can agree.
const FEWEST: usize = 2;
/// The number of the attempt that somebody else wrote, where one is judged.
const FOREIGN: u32 = 1;
/// The number of the lane that judges it.
const FIRST: u32 = 1;
/// The name of the count of other candidates that behave alike.
const AGREE: &str = "candidates that agree";
/// Attempts of one candidate's lane.
const TRIES: u32 = 2;

impl Run {
    /// Returns the candidates that are to be compared; none where they were, or there are
    /// too few. One a lane, and the same patch in other words counts once.
    pub(super) fn candidates(&self) -> Option<Vec<u32>> {
        let compared = self.agreement.is_some() || self.lanes.len() < FEWEST;
        if compared || self.plan.mode == Mode::DryRun {
            return None;
        }
        let mut patches: BTreeSet<&str> = BTreeSet::new();
        let mut chosen: Vec<u32> = Vec::new();
        for lane in &self.lanes {
            let own = self.attempts.iter().rev().filter(|attempt| {
                attempt.lane == lane.number
                    && !attempt.withdrawn
                    && attempt.holds(RungName::Silent)
                    && attempt.holds(RungName::Tested)
            });
            let best = own.max_by_key(|attempt| attempt.strength());
            if let Some(best) = best.filter(|best| patches.insert(&best.normal_form)) {
                chosen.push(best.number);
            }
        }
        let judged = self.foreign.is_none() || chosen.first() == Some(&1);
        (judged && chosen.len() >= FEWEST).then_some(chosen)
    }

    /// Returns the step that compares the candidates.
    pub(super) fn agreement_step(&self, attempts: &[u32]) -> Step {
        let candidates = attempts.iter().filter_map(|number| self.attempt(*number));
        let rungs = candidates.flat_map(|attempt| &attempt.rungs);
        let differing = rungs.flat_map(Rung::open_differences);
        let differing = differing.map(|(_, input)| ChallengeRecord {
            name: input.name.clone(),
            source: ChallengeSource::Kept(input.blob.clone()),
        });
        Step::Agree {
            attempts: attempts.to_vec(),
            inputs: differing.chain(self.challenges.clone()).collect(),
        }
    }

    pub(super) fn on_agreed(&mut self, record: Agreement) {
        self.phase = Phase::Repairing;
        let clusters = record.clusters.iter();
        let clusters = clusters.map(|cluster| format!("{cluster:?}")).join(", ");
        let inputs = record.inputs;
        self.remark(format!(
            "candidates that behave alike on {inputs} inputs: {clusters}"
        ));
        self.object_to_standing_alone(&record);
        for attempt in &mut self.attempts {
            let others = record.others(attempt.number) as u64;
            let mut rungs = attempt.rungs.iter_mut();
            if let Some(rung) = rungs.find(|rung| rung.name == RungName::SameElsewhere) {
                rung.counts.insert(AGREE.to_owned(), others);
            }
        }
        let standing = self.attempts.iter().filter(|one| one.stands());
        let standing: Vec<(u32, u32)> = standing.map(|one| (one.lane, one.number)).collect();
        let mut climbs_again = false;
        for (lane, number) in standing {
            let attempt = self.attempt(number);
            let attempt = attempt.filter(|_| record.alone(number).is_none());
            let agreed = attempt.map(|attempt| agreed_with(attempt, &record));
            for (input, reason) in agreed.unwrap_or_default() {
                if !self.accept(number, &[input], &reason) {
                    self.with_lane(lane, |_, lane| lane.climb(number, RungName::SameElsewhere));
                    climbs_again = true;
                }
            }
        }
        let is_refuted = self.refute_by_agreement(&record);
        let stands_alone = record.alone(FOREIGN).is_some();
        self.agreement = Some(record);
        let goes_on = is_refuted || climbs_again || stands_alone && self.weigh_standing_alone();
        if !goes_on {
            self.choose();
        }
    }

    /// Refutes attempts by a challenge that the unpatched program accepts, that they answer
    /// differently, and that independent candidates answer as before; false where there is none.
    fn refute_by_agreement(&mut self, record: &Agreement) -> bool {
        let is_challenge = |input: &&DoubtedInput| {
            let kept = ChallengeSource::Kept(input.blob.clone());
            self.challenges.iter().any(|one| one.source == kept)
        };
        let standing = self.attempts.iter().filter(|attempt| attempt.stands());
        let refuted: Vec<(u32, u32, String)> = standing
            .filter_map(|attempt| {
                let open = attempt.rung(RungName::SameElsewhere)?.open_differences();
                let mut inputs = open.into_iter().map(|(_, input)| input).filter(is_challenge);
                let number = attempt.number;
                let input = inputs.find(|one| record.against(number, &one.blob) >= FEWEST)?;
                let reason = format!(
                    "{} is accepted by the unpatched program, and the patched one answers it differently; {} independent candidates answer it as before",
                    input.name,
                    record.against(number, &input.blob)
                );
                Some((attempt.lane, number, reason))
            })
            .collect();
        for (lane, number, reason) in &refuted {
            let Some(rung) = self.compared(*number) else {
                continue;
            };
            rung.holds = Some(false);
            rung.feedback = Some(reason.clone());
            rung.reason.clone_from(reason);
            let rung = rung.clone();
            self.with_lane(*lane, |run, lane| {
                lane.failures.push(rung.name);
                run.on_refuted(lane, *number, &rung);
            });
        }
        !refuted.is_empty()
    }

    /// Puts before the critic on what input a judged patch stands alone; false where there is no
    /// critic, or none of its calls is left. Other candidates are of one model, and may share a
    /// convention that is no better than the patch's.
    fn weigh_standing_alone(&mut self) -> bool {
        let is_left = self.critic_calls < self.plan.critic_calls;
        let judged = self.attempt(FOREIGN);
        let judged = judged.filter(|_| self.foreign.is_some() && is_left);
        let reviewed = judged.and_then(|attempt| attempt.rung(RungName::Reviewed));
        let reviewed = reviewed.filter(|rung| rung.holds == Some(true)).cloned();
        let Some(rung) = reviewed else {
            return false;
        };
        self.with_lane(FIRST, |run, lane| run.review(lane, FOREIGN, rung));
        true
    }

    /// Notes against a judged patch that independent candidates agree with each other and
    /// not with it, with an input that shows it.
    fn object_to_standing_alone(&mut self, record: &Agreement) {
        let Some(split) = record.alone(FOREIGN).filter(|_| self.foreign.is_some()) else {
            return;
        };
        let doubt = split.doubt(FOREIGN);
        if let Some(rung) = self.compared(FOREIGN) {
            if rung.holds.take() == Some(true) {
                rung.counts.insert(OPEN_FOR_DIFFERENCES.to_owned(), 1);
            }
            rung.reason = format!("{}; {}", doubt.what, rung.reason);
            rung.doubts.push(doubt);
        }
    }

    /// Tells whether a lane judges a patch that somebody else wrote: the first one does.
    pub(super) fn is_foreign(&self, lane: &Lane) -> bool {
        self.foreign.is_some() && lane.number == FIRST
    }

    /// Returns the highest rung that the attempts of a lane climb.
    pub(super) fn top_of_lane(&self, lane: &Lane) -> RungName {
        if self.foreign.is_some() && !self.is_foreign(lane) {
            RungName::Tested
        } else {
            RungName::Reviewed
        }
    }

    /// Asks for candidates beside a judged patch that stands; false where none is wanted,
    /// or they were asked for before.
    pub(super) fn begin_candidates(&mut self, lane: &mut Lane) -> bool {
        let wanted = self.plan.limits.candidates;
        if !self.is_foreign(lane) || wanted == 0 || self.lanes.len() > 1 {
            return false;
        }
        lane.stage = Stage::Done(Finished::Held);
        self.plan.limits.attempts = 1 + TRIES * wanted;
        let system = prompt::system(&self.plan);
        let crash = self.crash().cloned().unwrap_or_default();
        let lanes = (2..=wanted + 1).map(|number| Lane::new(number, system.clone(), crash.clone()));
        self.lanes.extend(lanes);
        self.remark(format!(
            "the patch stands: asking for {wanted} candidate(s) to compare it with"
        ));
        true
    }
}

/// The open differences of an attempt on which candidates of other lanes do the same, each with
/// a sentence that says so.
fn agreed_with(attempt: &Attempt, record: &Agreement) -> Vec<(DoubtedInput, String)> {
    let rung = attempt.rung(RungName::SameElsewhere);
    let open = rung.map(Rung::open_differences).unwrap_or_default();
    let agreed = open.into_iter().filter_map(|(_, input)| {
        let group = record
            .apart
            .iter()
            .find(|one| one.blob == input.blob && one.attempts.contains(&attempt.number))?;
        let others = group.attempts.len() - 1;
        (others > 0).then(|| {
            let others = counted(others as u64, "candidate");
            let reason = format!("{others} written independently: the same behaviour there");
            (input.clone(), reason)
        })
    });
    agreed.collect()
}
