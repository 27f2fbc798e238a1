//! Rung *same elsewhere*: the patched program behaves as before on harmless inputs.
//!
//! Three kinds of input. *Given* ones are fine today: the task's own, files of
//! the tree that look like the PoV, and mutants of these that the unpatched
//! program accepts; any difference refutes, but for a mutant that the patched
//! program turns away and that is shown to be malformed as the PoV is
//! (`malformed`). *Derived* ones are mutants of a PoV that do not crash: the old
//! program may be wrong there in silence, so a difference never refutes; it is
//! settled by experiment or stays a doubt (`doubts`), and an open doubt leaves
//! the rung open. Inputs *aimed* at the patch's own numbers (`aimed`) count as
//! what they were made from does. What differs between two runs of the unpatched
//! program is not compared.

mod aimed;
mod doubts;
mod malformed;
mod outputs;
mod pool;
mod values;

use crate::TargetError;
use crate::attempt::{AttemptFacts, name_of_frame, touched_in_baseline};
use crate::evidence::{Doubt, RungName, RungResult};
use crate::rung::builds;
use crate::rung::feedback::FeedbackWriter;
use crate::runner::{
    Baseline, BaselinePov, Build, Capture, InputRun, Inputs, Pov, Target, TargetTask,
};
use doubts::Differing;
use pool::ComparedInput;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The most inputs of one comparison.
const CHUNK: usize = 96;
/// The fewest inputs of one comparison, however slow the program is.
const FEWEST: usize = 4;
/// Least and most time for one input.
const EACH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));
/// Time for running differing inputs again.
const AGAIN: Duration = Duration::from_secs(30);
/// Functions of a crash that are watched where no function is touched.
const CRASHED: usize = 3;
pub(crate) async fn climb(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<RungResult, TargetError> {
    let task = target.task();
    let pair = task.povs.iter().zip(&baseline.povs);
    let Some((pov, before)) = pair.clone().find(|(_, before)| before.reproduces()) else {
        let reason = "no PoV reproduces, so it is not known how inputs are run";
        return Ok(RungResult::new(RungName::SameElsewhere, None, reason));
    };
    let name = task.build_of(pov);
    let Some(old) = baseline.builds.get(&name) else {
        let reason = "the unpatched build is not at hand";
        return Ok(RungResult::new(RungName::SameElsewhere, None, reason));
    };
    let new = builds::build(target, attempt, &name).await?;
    let mut comparison = Comparison {
        target,
        builds: (old, &new),
        pov,
        before,
        functions: watched(task, before, attempt)?,
        writer: FeedbackWriter::new(task, attempt),
        pool: pool::InputPool::gather(task, pov)?,
        outputs_seen: BTreeSet::new(),
        compared: Vec::new(),
        reaching: Vec::new(),
        turned_away: Vec::new(),
        aside: Duration::ZERO,
        counts: BTreeMap::new(),
        differing: Vec::new(),
        doubts: Vec::new(),
    };
    let started = Instant::now();
    if let Some(difference) = comparison.all_outputs().await? {
        return Ok(comparison.refuted(&difference));
    }
    let spent = started.elapsed().saturating_sub(comparison.aside);
    let left = task.limits.same.saturating_sub(spent);
    if let Some(difference) = comparison.values(left).await? {
        return Ok(comparison.refuted(&difference));
    }
    let spent = started.elapsed().saturating_sub(comparison.aside);
    let left = task.limits.same.saturating_sub(spent);
    if let Some(difference) = comparison.aimed(&attempt.diff, left).await? {
        return Ok(comparison.refuted(&difference));
    }
    comparison.settle_differences().await?;
    Ok(comparison.held())
}

/// Returns the functions whose values are compared: those that the attempt touches and that
/// the unpatched program has too; where there are none (a table, a macro, a new function),
/// those of the crash.
fn watched(
    task: &TargetTask,
    before: &BaselinePov,
    attempt: &AttemptFacts,
) -> Result<Vec<String>, TargetError> {
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

/// An input on which the two programs differ.
struct Difference {
    input: String,
    what: String,
    old: String,
    new: String,
    /// True where a limit ended one of the two.
    limited: bool,
}

struct Comparison<'a> {
    target: &'a dyn Target,
    builds: (&'a Build, &'a Build),
    pov: &'a Pov,
    before: &'a BaselinePov,
    functions: Vec<String>,
    writer: FeedbackWriter<'a>,
    pool: pool::InputPool,
    /// Digests of the unpatched program's outputs.
    outputs_seen: BTreeSet<u64>,
    /// Inputs whose outputs were the same.
    compared: Vec<ComparedInput>,
    /// Those of them that reached a touched function.
    reaching: Vec<ComparedInput>,
    /// Mutants of given inputs that only the patched program turns away and
    /// that nothing is known of yet.
    turned_away: Vec<Differing>,
    /// The time that went into such mutants, which is not taken from the rest.
    aside: Duration,
    counts: BTreeMap<String, u64>,
    /// Derived inputs on which the programs differ.
    differing: Vec<Differing>,
    /// The doubts about such differences and about others that refute nothing.
    doubts: Vec<Doubt>,
}

impl Comparison<'_> {
    fn count(&mut self, what: &str, number: u64) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    fn counted(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or(0)
    }

    /// Returns the time limit of one input, a multiple of the PoV's time.
    fn each(&self) -> Duration {
        let usual = Duration::from_secs_f64(self.before.replay.execution.seconds.min(60.0));
        (usual * 10).clamp(EACH.0, EACH.1)
    }

    /// Returns the number of inputs that both programs can run in the time.
    fn fits(&self, left: Duration) -> usize {
        let usual = self.before.replay.execution.seconds.max(0.005);
        let lanes = f64::from(self.target.task().limits.jobs.max(1));
        let count = left.as_secs_f64() * 0.3 * lanes / usual;
        (count as usize).clamp(FEWEST, CHUNK)
    }

    async fn run(
        &self,
        build: &Build,
        inputs: &[ComparedInput],
        capture: Capture,
        budget: Duration,
    ) -> Result<BTreeMap<usize, InputRun>, TargetError> {
        let inputs = Inputs {
            contents: inputs.iter().map(|input| input.bytes.clone()).collect(),
            budget,
            each: self.each(),
            capture,
            ..Inputs::default()
        };
        let runs = self.target.run_inputs(build, self.pov, &inputs).await?;
        Ok(runs.into_iter().map(|run| (run.index, run)).collect())
    }

    fn refuted(&self, difference: &Difference) -> RungResult {
        let reason = format!("{}: {}", difference.input, difference.what);
        let shown = format!(
            "--- without the patch\n{}\n+++ with the patch\n{}",
            difference.old, difference.new
        );
        let lead = format!(
            "The patch changes what the program does with an input that was fine before.\n{reason}"
        );
        let mut result = RungResult::new(RungName::SameElsewhere, Some(false), reason)
            .feedback(self.writer.log(&lead, &shown))
            .log(shown)
            .settled(!difference.limited);
        result.counts.clone_from(&self.counts);
        result
    }

    fn held(&self) -> RungResult {
        let reached = self.counts.get("reached a touched function").copied();
        let inputs = self.compared.len();
        let open = self.doubts.iter().filter(|doubt| doubt.is_open());
        let open: Vec<&Doubt> = open.collect();
        let (holds, reason) = match reached {
            _ if !self.turned_away.is_empty() => (
                None,
                format!(
                    "{} mutants of given inputs are turned away by the patched program alone, and there was no time to see whether they are malformed",
                    self.turned_away.len()
                ),
            ),
            _ if let Some(first) = open.first() => (
                None,
                format!(
                    "{} difference(s) on mutants of the PoV that no experiment settles; {}",
                    open.len(),
                    first.what
                ),
            ),
            _ if inputs == 0 => (
                None,
                "there is no input that both programs could be compared on".to_owned(),
            ),
            Some(0) => (
                None,
                format!(
                    "{inputs} inputs behave as before, but none of those looked at reaches a touched function"
                ),
            ),
            Some(count) => (
                Some(true),
                format!(
                    "{inputs} inputs behave as before; {count} of those looked at reach a touched function"
                ),
            ),
            None => (
                None,
                format!(
                    "{inputs} inputs behave as before, but which functions they reach could not be seen"
                ),
            ),
        };
        let log: String = self
            .doubts
            .iter()
            .map(|d| format!("for the critic: {d}\n"))
            .collect();
        let mut result = RungResult::new(RungName::SameElsewhere, holds, reason)
            .log(log)
            .doubts(self.doubts.clone());
        result.counts.clone_from(&self.counts);
        result
    }
}

#[cfg(test)]
mod tests;
