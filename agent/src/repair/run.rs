//! The whole repair of a task: what lanes share, and how it ends.

mod agreement;
mod challenge;
mod choose;
mod closing;
mod compact;
mod contest;
mod critic;
mod reply;
mod verdict;

use super::lane::{Lane, Stage};
use crate::plan::{Origin, Plan};
use crate::prompt;
use crate::record::{
    AcceptedInput, Agreement, Attempt, BaselineSummary, ChallengeRecord, Crash, Ending, EndingKind,
    FollowUp, FoundInput, Left, Outcome, Postponed, RunLimits, SmallestRecord, Spent, Step, StepId,
};
use crate::task::Mode;
use closing::Closing;
use patchwright_patcher::Patch;

/// A run: budget, attempts, lanes, ending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    pub(crate) plan: Plan,
    /// A patch that somebody else wrote, to be judged.
    foreign: Option<Patch>,
    /// The baseline; an empty one before it, and in a dry run.
    pub(crate) baseline: BaselineSummary,
    /// The lanes by their numbers, from 1; none is ever taken away.
    lanes: Vec<Lane>,
    attempts: Vec<Attempt>,
    spent: Spent,
    own_steps: u32,
    critic_calls: u32,
    /// True where a patch has to be reviewed, and there is nobody who could be asked.
    lacks_reviewer: bool,
    /// Decisions that what a patched program answers to an input is right.
    decisions: Vec<AcceptedInput>,
    /// Differences that authors were asked about or contested.
    contests: u32,
    /// Questions for challenges.
    challenge_calls: u32,
    /// Challenges that count, for later attempts.
    challenges: Vec<ChallengeRecord>,
    /// The models that answered, by their own names, each once.
    models: Vec<String>,
    /// Sentences for whoever watches, not yet told.
    remarks: Vec<String>,
    phase: Phase,
    /// The behaviour of candidates of several lanes, once that is known.
    agreement: Option<Agreement>,
    /// The smallest input that shows the crash, once it was sought and found.
    pub(crate) smallest: Option<SmallestRecord>,
    chosen: Option<u32>,
}

/// The part of a run that goes on.
#[derive(Debug, Clone, Default, PartialEq)]
enum Phase {
    /// The unpatched program is looked at.
    #[default]
    Baseline,
    /// Lanes look for a patch.
    Repairing,
    /// Candidates of several lanes are compared.
    Agreeing(Vec<u32>),
    /// One of the attempts with equal evidence is chosen.
    Choosing(Vec<u32>),
    /// The patch gets a test, and the ending is put off until then.
    Closing(Closing),
    Ended(Ending),
}

impl Run {
    /// A run that has done nothing yet.
    pub fn new(plan: Plan) -> Self {
        let decisions = match &plan.follows {
            Some(FollowUp::Evaluate(evaluation)) => evaluation.accepted.clone(),
            _ => Vec::new(),
        };
        let mut run = Self {
            plan,
            decisions,
            ..Self::default()
        };
        if let Some(FollowUp::Revise(revision)) = &run.plan.follows {
            // The patch that a person rejected is before all attempts. It costs none.
            run.attempts.push(revision.first_attempt());
            run.plan.limits.attempts = run.plan.limits.attempts.saturating_add(1);
        }
        if run.plan.mode == Mode::DryRun {
            run.start_lanes();
        }
        run
    }

    /// A run that asks nobody: one attempt, with a patch that somebody else wrote. It is not
    /// verified where a review was wanted: nobody has read it, unless a person sent it here.
    pub fn judging(mut plan: Plan, patch: Patch) -> Self {
        let read = matches!(plan.follows, Some(FollowUp::Evaluate(_)));
        let lacks_reviewer = plan.critic_calls > 0 && !read;
        plan.critic_calls = 0;
        plan.limits.challenges = 0;
        plan.limits.candidates = 0;
        plan.limits.regression_tests = 0;
        Self {
            lacks_reviewer,
            ..Self::challenging(plan, patch)
        }
    }

    /// The same with a model, which writes inputs against the patch, and patches of its
    /// own to compare it with; a critic reviews it.
    pub fn challenging(mut plan: Plan, patch: Patch) -> Self {
        plan.mode = Mode::Repair;
        plan.lanes = 1;
        plan.limits.attempts = 1;
        Self {
            foreign: Some(patch),
            ..Self::new(plan)
        }
    }

    /// Returns the crash that is repaired: as it was seen here, else as the task tells it.
    pub fn crash(&self) -> Option<&Crash> {
        self.seen().or(self.plan.crash.as_ref())
    }

    /// Returns the crash that was seen here.
    fn seen(&self) -> Option<&Crash> {
        self.baseline.crashes.first()
    }

    /// Returns the steps that are possible now, in a fixed order. Once the run is decided this is
    /// one `End`, and nothing else any more.
    pub fn ready(&self) -> Vec<(StepId, Step)> {
        let own = StepId {
            lane: 0,
            number: self.own_steps,
        };
        let step = match &self.phase {
            Phase::Repairing => {
                let lanes = self.lanes.iter();
                let steps =
                    lanes.filter_map(|lane| Some((lane.id(), lane.next_step(&self.attempts)?)));
                return steps.collect();
            }
            Phase::Baseline => Step::Baseline,
            Phase::Agreeing(attempts) => self.agreement_step(attempts),
            Phase::Choosing(among) => self.choice(among),
            Phase::Closing(closing) => self.closing_step(closing),
            Phase::Ended(ending) => Step::End {
                ending: ending.clone(),
            },
        };
        vec![(own, step)]
    }

    /// Takes what came of a step. The outcome of a step that is not ready (a
    /// lane that was overtaken by the end, say) changes nothing.
    #[must_use]
    pub fn feed(mut self, step: StepId, outcome: Outcome) -> Self {
        if self.ending().is_some() || !self.ready().iter().any(|(id, _)| *id == step) {
            return self;
        }
        self.account(&outcome);
        match self.lane_mut(step.lane) {
            None => self.own_steps += 1,
            Some(lane) => lane.steps += 1,
        }
        match outcome {
            Outcome::Stopped { ending, .. } => {
                // What a patch has been found to be stays so without a test.
                let known = match &self.phase {
                    Phase::Closing(closing) => Some(closing.ending.clone()),
                    _ => self.standing_at(&ending),
                };
                self.phase = Phase::Ended(known.unwrap_or(ending));
            }
            outcome if step.lane == 0 => self.go_on(outcome),
            outcome => self.with_lane(step.lane, |run, lane| run.go_on_with(lane, outcome)),
        }
        self.settle_followers();
        self.end_if_idle();
        self
    }

    /// Takes what came of a step of the run itself.
    fn go_on(&mut self, outcome: Outcome) {
        match (self.phase.clone(), outcome) {
            (Phase::Closing(closing), outcome) => self.on_closing(closing, outcome),
            (Phase::Choosing(among), Outcome::Reply(reply)) => self.on_choice(&among, &reply.text),
            (_, Outcome::Baseline(summary)) => {
                let duplicate = self.duplicate(&summary.signatures);
                self.baseline = summary;
                match duplicate {
                    Some(ending) => self.phase = Phase::Ended(ending),
                    None => self.start_lanes(),
                }
            }
            (_, Outcome::Agreed(record)) => self.on_agreed(record),
            (Phase::Choosing(among), _) => self.on_choice(&among, ""),
            _ => {}
        }
    }

    /// Takes what came of the step that a lane was at.
    fn go_on_with(&mut self, lane: &mut Lane, outcome: Outcome) {
        let stage = std::mem::take(&mut lane.stage);
        match (stage, outcome) {
            (Stage::Context(issue), Outcome::Context(code)) => self.on_context(lane, &issue, code),
            (Stage::Compact, Outcome::Reply(reply)) => self.on_compacted(lane, &reply),
            (Stage::Review(review), Outcome::Reply(reply)) => {
                self.on_opinion(lane, *review, &reply.text);
            }
            (Stage::AskChallenge(challenge), Outcome::Reply(reply)) => {
                self.on_inputs(lane, *challenge, &reply.text);
            }
            (Stage::Contest(contest), Outcome::Reply(reply)) => {
                self.on_decision(lane, *contest, &reply.text);
            }
            (_, Outcome::Reply(reply)) => self.on_answer(lane, &reply),
            (stage, Outcome::Full(full)) => self.on_full(lane, stage, &full),
            (stage, Outcome::Unanswered(missing)) => {
                self.on_unanswered(lane, stage, &missing.reason);
            }
            (then, Outcome::Postponed(Postponed { until, reason, .. })) => {
                let then = Box::new(then);
                lane.stage = Stage::Wait {
                    until,
                    reason,
                    then,
                };
            }
            (Stage::Wait { then, .. }, Outcome::Waited) => lane.stage = *then,
            (Stage::Recall { findings, .. }, Outcome::Retrieved(code)) => {
                self.tell_in_short(lane, &findings, code);
            }
            (
                Stage::Retrieve {
                    probes, unanswered, ..
                },
                Outcome::Retrieved(answers),
            ) => {
                lane.memory = answers.memory;
                self.begin_probes(lane, &probes, unanswered + &answers.text);
            }
            (Stage::Probe { all, open, answers }, Outcome::Probed(probed)) => {
                self.on_probed(lane, (all, &open), &answers, &probed);
            }
            (Stage::Locate(patch), Outcome::Located(placed)) => {
                self.on_located(lane, patch, placed);
            }
            (Stage::Climb { attempt, .. }, Outcome::Climbed(rung)) => {
                self.on_climbed(lane, attempt, rung);
            }
            (Stage::Challenge(challenge), Outcome::Challenged(told)) => {
                self.on_challenged(lane, *challenge, told);
            }
            (Stage::Examine(review), Outcome::Challenged(told)) => {
                self.on_examined(lane, *review, told);
            }
            (stage, _) => lane.stage = stage,
        }
    }

    /// Adds working time, which the wall limit counts.
    #[must_use]
    pub fn worked(mut self, seconds: f64) -> Self {
        self.spent.seconds.total += seconds;
        self
    }

    /// Ends the run from outside, before or between its steps.
    #[must_use]
    pub fn stopped(mut self, ending: Ending) -> Self {
        if self.ending().is_none() {
            self.phase = Phase::Ended(ending);
        }
        self
    }

    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// The attempts so far, by number.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    pub fn attempt(&self, number: u32) -> Option<&Attempt> {
        self.attempts.get((number as usize).checked_sub(1)?)
    }

    fn attempt_mut(&mut self, number: u32) -> Option<&mut Attempt> {
        self.attempts.get_mut((number as usize).checked_sub(1)?)
    }

    fn lane_mut(&mut self, number: u32) -> Option<&mut Lane> {
        self.lanes.get_mut((number as usize).checked_sub(1)?)
    }

    /// Does something with a lane, which is taken out of the run meanwhile.
    fn with_lane(&mut self, number: u32, work: impl FnOnce(&mut Self, &mut Lane)) {
        let Some(mut lane) = self.lane_mut(number).map(std::mem::take) else {
            return;
        };
        work(self, &mut lane);
        if let Some(place) = self.lane_mut(number) {
            *place = lane;
        }
    }

    /// Takes the sentences for whoever watches that were not told yet.
    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }

    /// Inputs that refuted attempts, each once: PoVs besides those of the task.
    pub fn found(&self) -> Vec<FoundInput> {
        let rungs = self.attempts.iter().flat_map(|attempt| &attempt.rungs);
        let mut found: Vec<FoundInput> = Vec::new();
        for input in rungs.flat_map(|rung| &rung.found) {
            if !found.iter().any(|known| known.blob == input.blob) {
                found.push(input.clone());
            }
        }
        found
    }

    /// Returns the models that answered, by the names that they gave themselves.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    pub fn limits(&self) -> &RunLimits {
        &self.plan.limits
    }

    /// Returns what is left of the limits.
    pub fn left(&self) -> Left {
        let made = self.attempts.len() as u32;
        self.plan.limits.left(&self.spent, made)
    }

    /// Returns the ending, once there is one.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.phase {
            Phase::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    /// Until when nothing at all can be done, as RFC 3339 writes it, and why: no model can answer
    /// before. Each lane goes on where it stood then. Waiting is no working time.
    pub fn paused(&self) -> Option<(&str, &str)> {
        let stages = || self.lanes.iter().map(|lane| &lane.stage);
        let is_idle = |stage: &Stage| {
            matches!(
                stage,
                Stage::Wait { .. } | Stage::Done(_) | Stage::Follow(_)
            )
        };
        if self.ending().is_some() || !stages().all(is_idle) {
            return None;
        }
        let waits = stages().filter_map(|stage| match stage {
            Stage::Wait { until, reason, .. } => Some((until.as_str(), reason.as_str())),
            _ => None,
        });
        waits.min_by_key(|(until, _)| *until)
    }

    /// The text of the crash that is repaired; empty where there is none.
    fn crash_text(&self) -> &str {
        self.crash().map_or("", |crash| &crash.text)
    }

    /// Where the text of the first issue comes from.
    fn origin(&self) -> Origin {
        self.seen().map_or(self.plan.origin, |_| Origin::Seen)
    }

    fn start_lanes(&mut self) {
        self.phase = Phase::Repairing;
        let mut crash = self.crash().cloned().unwrap_or_default();
        if self.origin() != Origin::Finding {
            let known = crash.frames.len() as u32;
            let mut hinted = self.plan.hinted.clone();
            for frame in &mut hinted {
                frame.depth += known;
            }
            crash.frames.append(&mut hinted);
        }
        let system = prompt::system(&self.plan);
        if let Some(patch) = self.foreign.clone() {
            return self.lanes.extend([if self.plan.limits.challenges > 0 {
                Lane::new(1, String::new(), crash)
            } else {
                Lane::judging(patch)
            }]);
        }
        let numbers = 1..=self.plan.lanes.max(1);
        let lanes = numbers.map(|number| Lane::new(number, system.clone(), crash.clone()));
        self.lanes.extend(lanes);
    }

    /// Returns the ending of a run whose crashes are all known. A patch of somebody else is
    /// judged all the same.
    fn duplicate(&self, signatures: &[String]) -> Option<Ending> {
        let known = signatures.iter();
        let known = known.map(|one| self.plan.known.get(one).cloned());
        let names: Vec<String> = known.collect::<Option<_>>()?;
        let (names, signatures) = (names.join(", "), signatures.join(", "));
        (self.foreign.is_none() && !signatures.is_empty()).then(|| {
            let detail = format!("duplicate of {names}: {signatures}");
            Ending::new(EndingKind::NoPatch, detail)
        })
    }

    fn account(&mut self, outcome: &Outcome) {
        let spent = &mut self.spent;
        match outcome {
            Outcome::Baseline(summary) => spent.seconds.commands += summary.seconds,
            Outcome::Reply(record) => {
                spent.cost.calls += 1;
                spent.add_call(&record.usage, record.usd, record.seconds);
                if !self.models.contains(&record.model) {
                    self.models.push(record.model.clone());
                }
            }
            Outcome::Postponed(lost) => spent.add_call(&lost.usage, lost.usd, lost.seconds),
            Outcome::Unanswered(lost) => spent.add_call(&lost.usage, lost.usd, lost.seconds),
            Outcome::Context(context) => spent.add_signals(&context.signals),
            Outcome::Retrieved(answers) => spent.add_signals(&answers.signals),
            Outcome::Agreed(record) => spent.seconds.commands += record.seconds,
            Outcome::Minimized(record) => spent.seconds.commands += record.seconds,
            Outcome::Proved(record) => spent.seconds.commands += record.seconds,
            Outcome::Challenged(told) => spent.seconds.commands += told.rung.seconds,
            Outcome::Climbed(rung) => spent.seconds.commands += rung.seconds,
            Outcome::Probed(probed) => spent.seconds.commands += probed.seconds,
            _ => {}
        }
    }
}
