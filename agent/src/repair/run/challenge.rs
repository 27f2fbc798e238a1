//! Challenges: after *same elsewhere* a model writes inputs against the patch. What
//! they show is a part of that rung. Inputs that count are run on every later attempt
//! of the run too. Where no model answers, the rung is as it was.

use super::Run;
use crate::prompt;
use crate::record::{
    Attempt, ChallengeRecord, ChallengeSource, ChallengedRecord, Rung, UNCHALLENGED,
};
use crate::repair::lane::{Examination, Lane, Stage};
use patchwright_patcher::reply;
use patchwright_verdict::{
    CONTROLS_LEAVE_OPEN, CONTROLS_REACH, MISSING_REACH, OPEN_BRANCHES, OPEN_FOR_DIFFERENCES,
    RungName,
};

/// Inputs of earlier attempts that are run again, the latest ones.
const MOST_KEPT: usize = 40;

impl Run {
    /// Tells whether inputs are to be run against an attempt at this rung.
    pub(super) fn wants_challenges(&self, rung: &Rung) -> bool {
        let asks = self.challenge_calls < self.plan.limits.challenges;
        rung.name == RungName::SameElsewhere
            && rung.holds != Some(false)
            && self.plan.has_povs
            && (asks || !self.challenges.is_empty())
    }

    /// Asks for inputs; where nothing may be asked any more, or the attempt was asked
    /// about before, those that are known are run.
    pub(super) fn challenge(&mut self, lane: &mut Lane, number: u32, rung: Rung) {
        let compared = |attempt: &Attempt| attempt.rung(rung.name).is_some();
        let known = self.attempt(number).is_some_and(compared);
        let asks = self.challenge_calls < self.plan.limits.challenges && !known;
        let asked = self.attempt(number).filter(|_| asks);
        let question = asked.map(|attempt| {
            let (known, code) = ((&self.plan, &self.baseline), &lane.code);
            prompt::challenge(known, self.crash_text(), (attempt, &rung), code)
        });
        let challenge = Examination {
            inputs: self.challenges.clone(),
            ..Examination::new(number, rung, question)
        };
        if asks {
            self.challenge_calls += 1;
            lane.stage = Stage::AskChallenge(Box::new(challenge));
        } else {
            self.run_challenges(lane, challenge);
        }
    }

    pub(super) fn on_inputs(&mut self, lane: &mut Lane, mut challenge: Examination, text: &str) {
        let named = format!("challenge {}", self.challenge_calls);
        let most = self.plan.limits.challenge_inputs as usize;
        let written = written(text, &named, most);
        if written.is_empty() {
            return self.unchallenged(lane, challenge, "the reply holds no input");
        }
        challenge.inputs.extend(written);
        self.run_challenges(lane, challenge);
    }

    /// No input came: those of earlier attempts are run, else the rung says why there are none.
    pub(super) fn unchallenged(&mut self, lane: &mut Lane, mut challenge: Examination, why: &str) {
        if challenge.inputs.is_empty() {
            let rung = &mut challenge.rung;
            rung.reason = format!("{}; {UNCHALLENGED}: {why}", rung.reason);
        }
        self.run_challenges(lane, challenge);
    }

    fn run_challenges(&mut self, lane: &mut Lane, challenge: Examination) {
        if challenge.inputs.is_empty() {
            return self.keep(lane, challenge.attempt, challenge.rung);
        }
        lane.stage = Stage::Challenge(Box::new(challenge));
    }

    /// Takes what the inputs showed into the rung.
    pub(super) fn on_challenged(
        &mut self,
        lane: &mut Lane,
        challenge: Examination,
        told: ChallengedRecord,
    ) {
        self.keep_challenges(&told);
        let rung = joined(challenge.rung, told.rung);
        self.keep(lane, challenge.attempt, rung);
    }

    /// Keeps the inputs that count for later attempts, each once.
    pub(super) fn keep_challenges(&mut self, told: &ChallengedRecord) {
        for kept in &told.kept {
            let mut known = self.challenges.iter();
            if !known.any(|known| known.source == kept.source) {
                self.challenges.push(kept.clone());
            }
        }
        let surplus = self.challenges.len().saturating_sub(MOST_KEPT);
        self.challenges.drain(..surplus);
    }
}

/// Returns the inputs that a reply holds, at most so many, each with a name of its own.
pub(super) fn written(text: &str, named: &str, most: usize) -> Vec<ChallengeRecord> {
    let inputs = (1..).zip(reply::challenges(text)).take(most);
    let records = inputs.map(|(number, raw)| ChallengeRecord {
        name: format!("{named}.{number}"),
        source: ChallengeSource::Written(raw),
    });
    records.collect()
}

/// A rung together with its challenges: what refutes or is open there is so for the whole.
fn joined(mut rung: Rung, challenges: Rung) -> Rung {
    let counts = challenges.counts.iter();
    let counts = counts.filter(|(name, _)| name.starts_with("challenges: "));
    let counts: u64 = counts.map(|(_, count)| count).sum();
    let closed = closed_by_controls(&rung, &challenges);
    let knows = rung.holds.is_some() || rung.counts.contains_key(OPEN_FOR_DIFFERENCES);
    let alone =
        closed || rung.holds == Some(true) || rung.counts.get(OPEN_FOR_DIFFERENCES) == Some(&1);
    rung.seconds += challenges.seconds;
    rung.counts.extend(challenges.counts);
    rung.log = challenges.log;
    rung.found.extend(challenges.found);
    match challenges.holds {
        Some(false) => {
            rung.holds = Some(false);
            rung.reason = challenges.reason;
            rung.feedback = challenges.feedback;
            rung.crash = challenges.crash;
        }
        None if counts > 0 => {
            if rung.holds == Some(true) {
                rung.holds = None;
            }
            rung.reason = format!("{}; {}", challenges.reason, rung.reason);
        }
        Some(true) if closed => {
            rung.holds = Some(true);
            rung.counts
                .entry(OPEN_BRANCHES.to_owned())
                .and_modify(|open| *open = 0);
            rung.reason = format!(
                "{}, and they close what was open before them: {}",
                challenges.reason, rung.reason
            );
        }
        _ => rung.reason = format!("{}; {}", rung.reason, challenges.reason),
    }
    rung.doubts.extend(challenges.doubts);
    if knows && rung.holds.is_none() {
        let alone = u64::from(alone);
        rung.counts.insert(OPEN_FOR_DIFFERENCES.to_owned(), alone);
    }
    rung.answers.extend(challenges.answers);
    rung
}

/// Tells whether challenges that are answered as before make up for what a rung lacks, where
/// it is open only because too few accepted inputs come to the patch.
fn closed_by_controls(rung: &Rung, challenges: &Rung) -> bool {
    let of = |record: &Rung, name: &str| record.counts.get(name).copied();
    let Some(missing) = of(rung, MISSING_REACH).filter(|_| rung.holds.is_none()) else {
        return false;
    };
    let reached = of(challenges, CONTROLS_REACH).unwrap_or(0);
    let open = of(rung, OPEN_BRANCHES).unwrap_or(0);
    let left = of(challenges, CONTROLS_LEAVE_OPEN).unwrap_or(open);
    reached > 0 && reached >= missing && open.min(left) == 0
}
