//! Rung *same elsewhere*: the patched program behaves as before on harmless inputs.
//!
//! `docs/behaviour.md` defines behaviour, and the inputs on which it is compared. *Given*
//! inputs are fine today: the task's own, files of the tree that look like the PoV, of a Java
//! program what its tests read and pass on (`test_calls`), and mutants of these that the
//! unpatched program accepts; a difference refutes, but for a mutant that the patched program
//! turns away and that is shown to be malformed as the PoV is (`malformed`). *Derived* ones are
//! mutants of a PoV that do not crash: a difference is settled by experiment or stays a doubt
//! (`doubts`), and an open doubt leaves the rung open. Inputs *aimed* at the patch's own numbers
//! (`aimed`) count as what they were made from does; those that the project's own fuzzer finds
//! (`searched`) are derived ones. Those on which the unpatched program errs are not compared
//! (`erring`).

mod aimed;
mod branches;
mod challenge;
mod clock;
mod compared_values;
mod decisions;
mod departure;
mod doubts;
mod erring;
mod malformed;
mod outputs;
mod pool;
mod reach;
mod runs;
mod searched;
mod test_calls;
mod turned;
mod values;

pub use challenge::{CONTROLS_LEAVE_OPEN, CONTROLS_REACH, ChallengeInput, Challenged, challenge};
pub(crate) use doubts::shown;

use crate::attempt::{AttemptFacts, Ground, name_of_frame, touched_in_baseline};
use crate::evidence::{Doubt, Rung, RungName};
use crate::rung::builds;
use crate::rung::feedback::FeedbackWriter;
use clock::Clock;
use doubts::Differing;
use patchwright_sandbox::process::Ending;
use patchwright_source::{TreePath, counted};
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, BaselinePov, Build, Pov, Target, TargetTask};
use pool::ComparedInput;
use reach::Reach;
use std::collections::{BTreeMap, BTreeSet};
use test_calls::TestCalls;

/// The most inputs of one comparison.
const CHUNK: usize = 96;
/// Inputs whose reasons stand in the log.
const MOST_NOTES: usize = 200;
/// Functions of a crash that are watched where no function is touched.
const CRASHED: usize = 3;
/// Count of the outcomes of the patch's branches that nothing accounts for.
pub const OPEN_BRANCHES: &str = "branches not accounted for";
/// Count of the accepted inputs that are missing at the patched lines; there only where
/// nothing else leaves the rung open.
pub const MISSING_REACH: &str = "inputs missing at the patched lines";
/// Count of an open rung: 1 where it holds once its differences are settled, else 0.
pub const OPEN_FOR_DIFFERENCES: &str = "open for its differences alone";

pub(crate) async fn climb((target, baseline, attempt): Ground<'_>) -> Result<Rung> {
    let (pov, before, old) = match run_how(target, baseline) {
        Ok(how) => how,
        Err(reason) => return Ok(Rung::new(RungName::SameElsewhere, None, reason)),
    };
    let new = builds::build(target, attempt, &target.task().build_of(pov)).await?;
    let mut comparison = Comparison::new((target, baseline), attempt, (pov, before), (old, &new))?;
    comparison.test_calls().await?;
    if let Some(difference) = comparison.all_outputs().await? {
        return Ok(comparison.refuted(&difference));
    }
    comparison.measure_reach().await?;
    if let Some(difference) = comparison.values().await? {
        return Ok(comparison.refuted(&difference));
    }
    if let Some(difference) = comparison.aimed().await? {
        return Ok(comparison.refuted(&difference));
    }
    if let Some(difference) = comparison.searched().await? {
        return Ok(comparison.refuted(&difference));
    }
    comparison.settle_differences().await?;
    comparison.ask_about_erring().await?;
    comparison.settle_reach().await?;
    comparison.turn_conditions().await?;
    Ok(comparison.held())
}

/// Returns how inputs are run: like the first PoV that reproduces, and on its build.
pub(crate) fn run_how<'a>(
    target: &'a dyn Target,
    baseline: &'a Baseline,
) -> Result<(&'a Pov, &'a BaselinePov, &'a Build), &'static str> {
    let task = target.task();
    let mut pairs = task.povs.iter().zip(&baseline.povs);
    let found = pairs.find(|(_, before)| before.reproduces());
    let (pov, before) = found.ok_or("no PoV reproduces, so it is not known how inputs are run")?;
    let old = baseline.builds.get(&task.build_of(pov));
    Ok((
        pov,
        before,
        old.ok_or("the unpatched build is not at hand")?,
    ))
}

/// Returns the functions whose values are compared: those that the attempt touches and that
/// the unpatched program has too; where there are none (a table, a macro, a new function),
/// those of the crash.
fn watched(task: &TargetTask, before: &BaselinePov, attempt: &AttemptFacts) -> Result<Vec<String>> {
    let touched = touched_in_baseline(attempt, &task.tree)?;
    if !touched.is_empty() {
        return Ok(touched);
    }
    let Some(crash) = &before.replay.crash else {
        return Ok(Vec::new());
    };
    let mut crashed: Vec<String> = Vec::new();
    let frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
    for frame in frames.filter(|frame| task.in_project(frame)) {
        let name = name_of_frame(&frame.function, task.language);
        if crashed.len() < CRASHED && !name.is_empty() && !crashed.contains(&name) {
            crashed.push(name);
        }
    }
    Ok(crashed)
}

struct Comparison<'a> {
    target: &'a dyn Target,
    builds: (&'a Build, &'a Build),
    pov: &'a Pov,
    before: &'a BaselinePov,
    functions: Vec<String>,
    attempt: &'a AttemptFacts,
    writer: FeedbackWriter<'a>,
    pool: pool::InputPool,
    /// Digests of the unpatched program's outputs.
    outputs_seen: BTreeSet<u64>,
    /// Inputs that were not compared, each with the reason.
    notes: Vec<String>,
    /// Experiments on the unpatched program and what came of them, for the log.
    experiments: Vec<String>,
    /// Mutants of the PoVs that make the unpatched program crash.
    crashing: Vec<ComparedInput>,
    /// Inputs whose outputs were the same.
    compared: Vec<ComparedInput>,
    /// Contents of those of them that both programs refuse.
    refused: BTreeSet<Vec<u8>>,
    /// Those of them that reached a touched function.
    reaching: Vec<ComparedInput>,
    /// Mutants of given inputs that only the patched program turns away and
    /// that nothing is known of yet.
    turned_away: Vec<Differing>,
    clock: Clock,
    counts: BTreeMap<String, u64>,
    /// Derived inputs on which the programs differ.
    differing: Vec<Differing>,
    /// The doubts about such differences and about others that refute nothing.
    doubts: Vec<Doubt>,
    /// Answers of the patched program to inputs that crash the unpatched one.
    answers: Vec<String>,
    /// Inputs and tests that run the patched lines; none where it could not be counted.
    reach: Option<Reach>,
    /// Inputs that were aimed at the patch, whatever became of them.
    tried: Vec<Vec<u8>>,
    /// Seconds that one input of the last comparison took; none before the first.
    seconds_each: Option<f64>,
    /// Wall time of the tests of the unpatched program, in seconds; none without tests.
    tests_seconds: Option<f64>,
    /// The calls while the tests ran.
    test_calls: TestCalls,
    /// Reasons why it could not be seen which inputs reach the patch.
    unseen: Vec<String>,
    /// The count that a part of the comparison fell short of for lack of time.
    missed: Option<String>,
}

impl<'a> Comparison<'a> {
    fn new(
        (target, baseline): (&'a dyn Target, &'a Baseline),
        attempt: &'a AttemptFacts,
        (pov, before): (&'a Pov, &'a BaselinePov),
        builds: (&'a Build, &'a Build),
    ) -> Result<Self> {
        let task = target.task();
        Ok(Self {
            target,
            builds,
            pov,
            before,
            functions: watched(task, before, attempt)?,
            attempt,
            writer: FeedbackWriter::new(task, attempt),
            pool: pool::InputPool::gather(task, pov)?,
            outputs_seen: BTreeSet::new(),
            notes: Vec::new(),
            experiments: Vec::new(),
            crashing: Vec::new(),
            compared: Vec::new(),
            refused: BTreeSet::new(),
            reaching: Vec::new(),
            turned_away: Vec::new(),
            clock: Clock::start(task.limits.same),
            counts: BTreeMap::new(),
            differing: Vec::new(),
            doubts: Vec::new(),
            answers: Vec::new(),
            reach: None,
            tried: Vec::new(),
            seconds_each: None,
            tests_seconds: baseline.tests.as_ref().map(|tests| tests.execution.seconds),
            test_calls: TestCalls::default(),
            unseen: Vec::new(),
            missed: None,
        })
    }
}

impl Comparison<'_> {
    fn count(&mut self, what: &str, number: u64) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    fn counted(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or(0)
    }

    /// Keeps the reason why an input was not compared, for the log.
    fn note(&mut self, input: &str, why: &str) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(format!("{input}: {why}"));
        }
    }

    /// Returns who found this answer to an input right, and why.
    fn accepted(&self, input: &ComparedInput, answer: &str) -> Option<String> {
        let mut accepted = self.attempt.accepted.iter();
        let found = accepted.find(|one| {
            one.blob.bytes() == input.bytes && (one.answer.is_empty() || one.answer == answer)
        })?;
        Some(found.reason.clone())
    }

    fn refuted(&self, one: &Differing) -> Rung {
        let reason = format!("{}: {}", one.input.name, one.what);
        let shown = format!(
            "--- without the patch\n{}\n+++ with the patch\n{}",
            shown(&one.before),
            shown(&one.after)
        );
        let lead = format!(
            "The patched program behaves differently on an input that the unpatched program accepts.\n{reason}"
        );
        let mut runs = [&one.before, &one.after].into_iter();
        let limited = runs.any(|run| matches!(run.ending, Ending::Limit(_)));
        self.rung(Some(false), reason)
            .feedback(self.writer.log(&lead, &shown))
            .log(shown)
            .doubts(vec![self.doubt(one, None, None)])
            .settled(!limited)
    }

    /// Creates a result with the counts so far.
    fn rung(&self, holds: Option<bool>, reason: impl Into<String>) -> Rung {
        let mut result = Rung::new(RungName::SameElsewhere, holds, reason);
        result.counts.clone_from(&self.counts);
        result
    }

    /// Returns the verdict when nothing refuted the patch, and its reason.
    fn verdict(&self) -> (Option<bool>, String) {
        let open = self.doubts.iter().filter(|doubt| doubt.is_open());
        let open: Vec<&Doubt> = open.collect();
        if !self.turned_away.is_empty() {
            let reason = format!(
                "{} mutants of given inputs are turned away by the patched program alone, and there was no time to see whether they are malformed (limits.same)",
                self.turned_away.len()
            );
            return (None, reason);
        }
        if let Some(first) = open.first() {
            let reason = format!(
                "{} that no experiment settles, for a model, a critic or a person to decide: {}",
                counted(open.len() as u64, "doubt"),
                first.what
            );
            return (None, reason);
        }
        self.apart_from_differences()
    }

    /// Returns the verdict as it is when every difference is settled, and its reason.
    fn apart_from_differences(&self) -> (Option<bool>, String) {
        let calls = self.test_calls.telling;
        if self.compared.is_empty() && calls == 0 {
            return (None, self.nothing_compared());
        }
        if let Some(missed) = &self.missed {
            return (None, missed.clone());
        }
        let (holds, why) = self.reached_enough();
        let inputs = self.compared.len();
        let of_tests = match calls {
            0 => String::new(),
            calls => format!(" and {} of the tests", counted(calls, "call")),
        };
        let reason = format!("{inputs} inputs{of_tests} behave as before; {why}");
        (holds, reason)
    }

    /// Returns the reason why no input could be compared.
    fn nothing_compared(&self) -> String {
        let why = match self.counted("not comparable") {
            0 => "there is no input that both programs could be compared on".to_owned(),
            tried => format!(
                "on all {tried} inputs that were tried the unpatched program errs or answers otherwise each time, so nothing could be compared"
            ),
        };
        format!("{why}; files that are fine today can be given as [inputs] harmless")
    }

    /// Judges by the floor whether enough of the compared inputs reach what the patch touches.
    fn reached_enough(&self) -> (Option<bool>, String) {
        let floor = self.target.task().limits.reached;
        if let Some(reach) = &self.reach {
            let mut reached = format!("{} of those counted run the patched lines", reach.reached);
            let mut calls = 0;
            if reach.tests == Some(true) {
                reached.push_str(", and the tests do");
                calls = self.test_calls.telling;
            }
            return match reach.missing(floor.saturating_sub(calls)) {
                None => (Some(true), reached),
                Some(missing) => (None, missing),
            };
        }
        match self.counts.get("reached a touched function").copied() {
            Some(count) if count >= floor && count > 0 => (
                Some(true),
                format!("{count} of those looked at reach a touched function"),
            ),
            Some(count) => (
                None,
                format!(
                    "{count} of those looked at reach a touched function, and at least {} have to (limits.reached)",
                    floor.max(1)
                ),
            ),
            None => {
                let why = self.unseen.join("; ");
                let reason = format!("which functions they reach could not be seen: {why}");
                (None, reason)
            }
        }
    }

    /// Returns the doubts, what is known of the patch's branches, and the inputs that could
    /// not be compared.
    fn log(&self) -> String {
        let doubts = self
            .doubts
            .iter()
            .map(|doubt| format!("for the critic: {doubt}\n"));
        let reach = self.reach.iter();
        let branches = reach.flat_map(|reach| {
            let open = reach.unaccounted.iter();
            let open = open.map(|branch| format!("branch not accounted for: {branch}\n"));
            open.chain(
                reach
                    .reasons
                    .iter()
                    .map(|reason| format!("branch: {reason}\n")),
            )
        });
        let notes = self
            .notes
            .iter()
            .map(|note| format!("not compared: {note}\n"));
        let experiments = self.experiments.iter();
        let experiments = experiments.map(|told| format!("experiment: {told}\n"));
        doubts
            .chain(experiments)
            .chain(branches)
            .chain(notes)
            .collect()
    }

    /// Returns a branch of the patch, told as `path:line (why)`, with the code of its line.
    fn with_code(&self, branch: &str) -> String {
        let code = || {
            let (place, _) = branch.split_once(" (")?;
            let (path, line) = place.rsplit_once(':')?;
            let text = self
                .attempt
                .changes
                .new_content(&TreePath::new(path).ok()?)?;
            let text = String::from_utf8_lossy(text);
            let line = line.parse::<usize>().ok()?.checked_sub(1)?;
            Some(text.lines().nth(line)?.trim().to_owned())
        };
        code().map_or_else(|| branch.to_owned(), |code| format!("{branch}: {code}"))
    }

    fn held(&self) -> Rung {
        let (holds, reason) = self.verdict();
        let mut result = self
            .rung(holds, reason)
            .log(self.log())
            .doubts(self.doubts.clone())
            .answers(self.answers.clone());
        let branches = self.reach.iter().flat_map(|reach| &reach.unaccounted);
        result.conditions = branches.map(|branch| self.with_code(branch)).collect();
        if holds.is_none() && self.turned_away.is_empty() && self.doubts.iter().any(Doubt::is_open)
        {
            let (apart, why) = self.apart_from_differences();
            if apart.is_none() {
                result.reason = format!("{}; besides, {why}", result.reason);
            }
            result = result.count(OPEN_FOR_DIFFERENCES, u64::from(apart == Some(true)));
        }
        if let (None, Some(reach)) = (holds, &self.reach)
            && !self.doubts.iter().any(Doubt::is_open)
            && self.turned_away.is_empty()
            && !self.compared.is_empty()
            && self.missed.is_none()
        {
            let floor = self.target.task().limits.reached;
            let missing = floor.saturating_sub(reach.reached);
            result = result.count(MISSING_REACH, missing);
        }
        result
    }
}

#[cfg(test)]
mod doubt_tests;
#[cfg(test)]
mod tests;
