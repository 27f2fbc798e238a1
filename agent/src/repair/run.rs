//! The whole repair of a task: what lanes share, and how it ends.

mod agreement;
mod challenge;
mod choose;
mod closing;
mod compact;
mod contest;
mod critic;
mod objection;
mod reply;
mod verdict;
mod wait;

use super::lane::Lane;
use super::lane::Lanes;
use crate::plan::{Origin, Plan};
use crate::prompt;
use crate::record::{
    AcceptedInput, Agreement, Attempt, BaselineSummary, ChallengeRecord, Crash, Ending, EndingKind,
    FollowUp, FoundInput, Left, Outcome, RunLimits, SmallestRecord, Spent, Step, StepId,
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
    /// The baseline; none before it, and in a dry run.
    pub(crate) baseline: Option<BaselineSummary>,
    lanes: Lanes,
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
        run.begin_with_rejected();
        if run.plan.mode == Mode::DryRun {
            run.start_lanes();
        }
        run
    }

    /// Puts the patch that a person rejected before all attempts. It costs none.
    fn begin_with_rejected(&mut self) {
        if let Some(FollowUp::Revise(revision)) = &self.plan.follows {
            self.attempts.push(revision.first_attempt());
            self.plan.limits.attempts = self.plan.limits.attempts.saturating_add(1);
        }
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
        self.baseline.as_ref()?.crashes.first()
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
                let steps = lanes.filter_map(|lane| Some((lane.id(), lane.next_step()?)));
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
        let index = self.lanes.numbered(step.lane);
        match index {
            None => self.own_steps += 1,
            Some(index) => self.lanes[index].steps += 1,
        }
        match (index, outcome) {
            (_, Outcome::Stopped { ending, .. }) => {
                // What a patch has been found to be stays so without a test.
                let known = match &self.phase {
                    Phase::Closing(closing) => Some(closing.ending.clone()),
                    _ => self.standing_at(&ending),
                };
                self.phase = Phase::Ended(known.unwrap_or(ending));
            }
            (None, outcome) if matches!(self.phase, Phase::Closing(_)) => self.on_closing(outcome),
            (None, Outcome::Baseline(summary)) => {
                let duplicate = self.duplicate(&summary.signatures);
                self.baseline = Some(summary);
                match duplicate {
                    Some(ending) => self.phase = Phase::Ended(ending),
                    None => self.start_lanes(),
                }
            }
            (None, Outcome::Agreed(record)) => self.on_agreed(record),
            (None, Outcome::Reply(record)) => self.on_choice(&record.text),
            (None, _) if matches!(self.phase, Phase::Choosing(_)) => self.on_choice(""),
            (Some(index), Outcome::Context(context)) => self.on_context(index, context),
            (Some(index), Outcome::Reply(record)) => self.on_reply(index, &record),
            (Some(index), Outcome::Full(full)) => self.on_full(index, &full),
            (Some(index), Outcome::Postponed(postponed)) => self.on_postponed(index, postponed),
            (Some(index), Outcome::Waited) => self.on_waited(index),
            (Some(index), Outcome::Unanswered(missing)) => {
                self.on_unanswered(index, &missing.reason);
            }
            (Some(index), Outcome::Retrieved(answers)) => self.on_retrieved(index, answers),
            (Some(index), Outcome::Probed(probed)) => self.on_probed(index, &probed),
            (Some(index), Outcome::Located(located)) => self.on_located(index, located),
            (Some(index), Outcome::Challenged(told)) => self.on_challenged(index, told),
            (Some(index), Outcome::Climbed(rung)) => self.on_climbed(index, rung),
            _ => {}
        }
        self.settle_followers();
        self.end_if_idle();
        self
    }

    /// Adds working time, which the wall limit counts.
    #[must_use]
    pub fn worked(mut self, seconds: f64) -> Self {
        self.spent.total_seconds += seconds;
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
        self.plan
            .limits
            .left(&self.spent, self.attempts.len() as u32)
    }

    /// Returns the ending, once there is one.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.phase {
            Phase::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    /// The crash that is repaired; an empty one where there is none.
    fn first_crash(&self) -> Crash {
        self.crash().cloned().unwrap_or_default()
    }

    /// Where the text of the first issue comes from.
    fn origin(&self) -> Origin {
        self.seen().map_or(self.plan.origin, |_| Origin::Seen)
    }

    fn start_lanes(&mut self) {
        self.phase = Phase::Repairing;
        let mut crash = self.first_crash();
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
        let known = signatures
            .iter()
            .map(|one| self.plan.known.get(one).cloned());
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
            Outcome::Baseline(summary) => spent.command_seconds += summary.seconds,
            Outcome::Reply(record) => {
                spent.calls += 1;
                spent.add_call(&record.usage, record.usd, record.seconds);
                if !self.models.contains(&record.model) {
                    self.models.push(record.model.clone());
                }
            }
            Outcome::Postponed(lost) => spent.add_call(&lost.usage, lost.usd, lost.seconds),
            Outcome::Unanswered(lost) => spent.add_call(&lost.usage, lost.usd, lost.seconds),
            Outcome::Context(context) => spent.add_signals(&context.signals),
            Outcome::Retrieved(answers) => spent.add_signals(&answers.signals),
            Outcome::Agreed(record) => spent.command_seconds += record.seconds,
            Outcome::Minimized(record) => spent.command_seconds += record.seconds,
            Outcome::Proved(record) => spent.command_seconds += record.seconds,
            Outcome::Challenged(told) => spent.command_seconds += told.rung.seconds,
            Outcome::Climbed(rung) => spent.command_seconds += rung.seconds,
            Outcome::Probed(probed) => spent.command_seconds += probed.seconds,
            _ => {}
        }
    }
}
