//! *same elsewhere*: on harmless inputs the patched program does what it did.
//!
//! Three kinds of input. *Given* ones are fine today: the task's own, files of
//! the tree that look like the PoV, and mutants of these that the unpatched
//! program accepts; any difference refutes, but for a mutant that the patched
//! program turns away and that is shown to be malformed as the PoV is
//! (`malformed`). *Derived* ones are mutants of a PoV that do not crash: a right
//! fix may refuse some that the old program happened to survive, so a difference
//! refutes only where both accept the input and print something else.
//! Inputs *aimed* at the patch's own numbers count alike (`aimed`). What
//! differs between two runs of the unpatched program is not compared.

mod aimed;
mod malformed;
mod pool;
mod values;

use super::told::Told;
use crate::TargetError;
use crate::ladder::{AttemptFacts, RungName, RungResult};
use crate::process::Ending;
use crate::target::{
    Baseline, BaselinePov, Build, InputRun, Inputs, Pov, Target, TargetTask, Wanted,
};
use crate::touched;
use pool::{Input, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// Inputs that are compared in one go.
const CHUNK: usize = 96;
/// Inputs that are tried in one go however slow the program is.
const FEWEST: usize = 4;
/// Inputs after which more would tell little.
const MOST: usize = 1_500;
/// The part of the time in which outputs are compared; the rest is for values.
const OUTPUTS_SHARE: f64 = 0.5;
/// The same for Java, where each run starts a JVM and values tell more.
const OUTPUTS_SHARE_JAVA: f64 = 0.25;
/// Least and most time for one input.
const EACH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));
/// Time for running inputs once more that seem to tell something.
const AGAIN: Duration = Duration::from_secs(30);
/// Time for the first inputs, however little is left: they take a second or
/// two, and without them a busy machine would leave the rung open.
const FIRST: Duration = Duration::from_secs(30);
/// Functions of a crash that stand for what was touched.
const CRASHED: usize = 3;
/// Bytes of an output that are shown.
const SHOWN: usize = 600;

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
    let new = super::builds::build(target, attempt, &name).await?;
    let mut comparison = Comparison {
        target,
        builds: (old, &new),
        pov,
        before,
        functions: watched(task, before, attempt),
        told: Told::new(task, attempt),
        pool: pool::Pool::gather(task, pov),
        outputs_seen: BTreeSet::new(),
        compared: Vec::new(),
        reaching: Vec::new(),
        turned_away: Vec::new(),
        aside: Duration::ZERO,
        counts: BTreeMap::new(),
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
    Ok(comparison.held())
}

/// The functions whose values are compared: those that the attempt touches and
/// that the unpatched program has too; where there is none (a table, a macro, a
/// new function) those that crashed.
fn watched(task: &TargetTask, before: &BaselinePov, attempt: &AttemptFacts) -> Vec<String> {
    let touched = touched::known(attempt, &task.tree);
    if !touched.is_empty() {
        return touched;
    }
    let Some(crash) = &before.replay.crash else {
        return Vec::new();
    };
    let mut crashed: Vec<String> = Vec::new();
    let frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
    for frame in frames.filter(|frame| super::in_project(task, frame)) {
        let name = touched::as_watched(&frame.function, &task.language);
        if crashed.len() < CRASHED && !name.is_empty() && !crashed.contains(&name) {
            crashed.push(name);
        }
    }
    crashed
}

/// An input on which the two programs differ.
struct Difference {
    input: String,
    what: String,
    old: String,
    new: String,
    /// Whether one of the two was ended by a limit.
    limited: bool,
}

struct Comparison<'a> {
    target: &'a dyn Target,
    builds: (&'a Build, &'a Build),
    pov: &'a Pov,
    before: &'a BaselinePov,
    functions: Vec<String>,
    told: Told<'a>,
    pool: pool::Pool,
    /// Digests of the unpatched program's outputs.
    outputs_seen: BTreeSet<u64>,
    /// Inputs whose outputs were the same.
    compared: Vec<Input>,
    /// Of these the ones that were seen to reach a touched function.
    reaching: Vec<Input>,
    /// Mutants of given inputs that only the patched program turns away and
    /// that nothing is known of yet.
    turned_away: Vec<(Input, Difference)>,
    /// The time that went into such mutants, which is not taken from the rest.
    aside: Duration,
    counts: BTreeMap<String, u64>,
    /// Differences that are for the critic.
    doubts: Vec<String>,
}

impl Comparison<'_> {
    fn count(&mut self, what: &str, number: u64) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    fn counted(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or(0)
    }

    /// Time for one input, by what the PoV takes.
    fn each(&self) -> Duration {
        let usual = Duration::from_secs_f64(self.before.replay.execution.seconds.min(60.0));
        (usual * 10).clamp(EACH.0, EACH.1)
    }

    /// How many inputs go through both programs in a part of the time.
    fn fits(&self, left: Duration) -> usize {
        let usual = self.before.replay.execution.seconds.max(0.005);
        let lanes = f64::from(self.target.task().limits.jobs.max(1));
        let count = left.as_secs_f64() * 0.3 * lanes / usual;
        (count as usize).clamp(FEWEST, CHUNK)
    }

    async fn run(
        &self,
        build: &Build,
        inputs: &[Input],
        wanted: Wanted,
        budget: Duration,
    ) -> Result<BTreeMap<usize, InputRun>, TargetError> {
        let inputs = Inputs {
            only: Vec::new(),
            many: false,
            contents: inputs.iter().map(|input| input.bytes.clone()).collect(),
            budget,
            each: self.each(),
            wanted,
        };
        let runs = self.target.run_inputs(build, self.pov, &inputs).await?;
        Ok(runs.into_iter().map(|run| (run.index, run)).collect())
    }

    /// Compares exit statuses and outputs for as long as they may take.
    async fn all_outputs(&mut self) -> Result<Option<Difference>, TargetError> {
        let task = self.target.task();
        let started = Instant::now();
        let share = match task.language.as_str() {
            "java" => OUTPUTS_SHARE_JAVA,
            _ => OUTPUTS_SHARE,
        };
        let all = task.limits.same.mul_f64(share);
        while self.compared.len() < MOST {
            let left = all.saturating_sub(started.elapsed().saturating_sub(self.aside));
            if left.is_zero() {
                break;
            }
            let Some(chunk) = self.pool.next(self.fits(left)) else {
                break;
            };
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
            if let Some(difference) = self.weigh_turned_away().await? {
                return Ok(Some(difference));
            }
        }
        Ok(None)
    }

    /// Compares exit statuses and outputs of some inputs.
    async fn outputs(
        &mut self,
        chunk: Vec<Input>,
        left: Duration,
    ) -> Result<Option<Difference>, TargetError> {
        let (old, new) = self.builds;
        let half = half(left, self.compared.len() as u64);
        let first = self.run(old, &chunk, Wanted::Outputs, half).await?;
        let patched = self.run(new, &chunk, Wanted::Outputs, half).await?;
        let noisy = self.noisy(&chunk, &first, &patched).await?;
        for (index, mut input) in chunk.into_iter().enumerate() {
            let (Some(before), Some(after)) = (first.get(&index), patched.get(&index)) else {
                continue;
            };
            if super::robust::is_failure(before) || noisy.contains(&index) {
                self.count("not comparable", 1);
                continue;
            }
            let accepted = before.ending.success();
            if matches!(input.kind, Kind::GivenMutant | Kind::Aimed) && !accepted {
                continue;
            }
            self.count(input.kind.name(), 1);
            if before != after {
                let both_accept = accepted && after.ending.success();
                let difference = difference(&input, before, after);
                match input.kind {
                    Kind::Derived | Kind::Aimed if !both_accept => {
                        let what = format!("{} and answered differently", input.kind.name());
                        self.count(&what, 1);
                        self.doubts.push(difference.what);
                    }
                    Kind::GivenMutant if turns_away(after) => {
                        self.count("mutants of given turned away", 1);
                        self.turned_away.push((input, difference));
                    }
                    _ => return Ok(Some(difference)),
                }
                continue;
            }
            if input.kind == Kind::Given && accepted {
                self.pool.accepted(&input.bytes);
            }
            input.fresh = self.outputs_seen.insert(digest(&before.output));
            self.compared.push(input);
        }
        Ok(None)
    }

    /// Of the inputs on which the programs differ those on which the unpatched
    /// one differs from itself. All are run again, so that names and numbers stay.
    async fn noisy(
        &self,
        chunk: &[Input],
        first: &BTreeMap<usize, InputRun>,
        patched: &BTreeMap<usize, InputRun>,
    ) -> Result<BTreeSet<usize>, TargetError> {
        let differing: Vec<usize> = first
            .iter()
            .filter(|(_, run)| !super::robust::is_failure(run))
            .filter(|(index, run)| patched.get(index).is_some_and(|after| after != *run))
            .map(|(index, _)| *index)
            .collect();
        if differing.is_empty() {
            return Ok(BTreeSet::new());
        }
        let again = Inputs {
            contents: chunk.iter().map(|input| input.bytes.clone()).collect(),
            budget: AGAIN,
            each: self.each(),
            wanted: Wanted::Outputs,
            only: differing.clone(),
            many: false,
        };
        let again = self
            .target
            .run_inputs(self.builds.0, self.pov, &again)
            .await?;
        let again: BTreeMap<usize, InputRun> =
            again.into_iter().map(|run| (run.index, run)).collect();
        Ok(differing
            .into_iter()
            .filter(|index| again.get(index) != first.get(index))
            .collect())
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
            .feedback(self.told.log(&lead, &shown))
            .log(shown)
            .settled(!difference.limited);
        result.counts.clone_from(&self.counts);
        result
    }

    fn held(&self) -> RungResult {
        let reached = self.counts.get("reached a touched function").copied();
        let inputs = self.compared.len();
        let (holds, reason) = match reached {
            _ if !self.turned_away.is_empty() => (
                None,
                format!(
                    "{} mutants of given inputs are turned away by the patched program alone, and there was no time to see whether they are malformed",
                    self.turned_away.len()
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
        let mut log = String::new();
        for doubt in &self.doubts {
            log.push_str("for the critic: ");
            log.push_str(doubt);
            log.push('\n');
        }
        let mut result = RungResult::new(RungName::SameElsewhere, holds, reason).log(log);
        result.counts.clone_from(&self.counts);
        result
    }
}

/// The time that one of the two programs may take for some inputs, where so
/// many were compared before.
fn half(left: Duration, compared: u64) -> Duration {
    let half = left.mul_f64(0.45);
    if compared == 0 { half.max(FIRST) } else { half }
}

/// What an output says but for its numbers: an output like none before comes of
/// another way through the program.
fn digest(output: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let words = output.iter().filter(|byte| !byte.is_ascii_digit());
    words.for_each(|byte| byte.hash(&mut hasher));
    hasher.finish()
}

/// Whether a program ended of its own will and said no.
fn turns_away(run: &InputRun) -> bool {
    !super::robust::is_failure(run) && matches!(run.ending, Ending::Exited(1..))
}

fn difference(input: &Input, before: &InputRun, after: &InputRun) -> Difference {
    let what = if before.ending == after.ending {
        "the output differs".to_owned()
    } else {
        format!("{} became {}", before.ending, after.ending)
    };
    Difference {
        input: input.name.clone(),
        what: format!("{what} ({})", input.kind.name()),
        old: shown(before),
        new: shown(after),
        limited: [before, after]
            .iter()
            .any(|run| matches!(run.ending, Ending::Limit(_))),
    }
}

fn shown(run: &InputRun) -> String {
    let head = run.output.get(..SHOWN).unwrap_or(&run.output);
    format!("{}\n{}", run.ending, String::from_utf8_lossy(head))
}

#[cfg(test)]
mod tests;
