//! Runs of inputs on one of the two programs, how many of them fit, and the time of the rung.
//!
//! The parts of the comparison run one after the other, and each may go on until a share of the
//! whole budget is used, so that time which one of them leaves is for the next. Builds of our
//! own do not count: how long one takes is the project's affair.

use super::pool::ComparedInput;
use super::{CHUNK, Comparison};
use patchwright_target::runner::{Build, Capture, InputRun, Inputs};
use patchwright_target::{Result, WorkTime};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// The fewest inputs of one comparison, however slow the program is.
const FEWEST: usize = 4;
/// Least and most time for one input.
pub(super) const EACH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));
/// Time for running a few inputs again, and the least time for it.
const AGAIN: Duration = Duration::from_secs(30);
const LEAST_AGAIN: Duration = Duration::from_secs(4);

/// A part of the comparison: the share of the budget at which it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part(f64);

impl Part {
    /// Outputs and exit statuses.
    pub(super) const OUTPUTS: Self = Self(0.4);
    /// The same for Java, where each run starts a JVM and values tell more.
    pub(super) const OUTPUTS_OF_JVM: Self = Self(0.25);
    /// Inputs that run the patched lines.
    pub(super) const REACH: Self = Self(0.55);
    /// Values inside the program.
    pub(super) const VALUES: Self = Self(0.7);
    /// Inputs aimed at the patch.
    pub(super) const AIMED: Self = Self(0.8);
    /// Experiments on differences.
    pub(super) const DIFFERENCES: Self = Self(0.95);
    /// Whatever is left.
    pub(super) const LAST: Self = Self(1.0);
}

/// Measures the work time of the rung without builds.
#[derive(Debug)]
pub(super) struct Clock {
    started: WorkTime,
    budget: Duration,
    builds: Duration,
}

impl Clock {
    pub(super) fn start(budget: Duration) -> Self {
        Self {
            started: WorkTime::now(),
            budget,
            builds: Duration::ZERO,
        }
    }

    /// Takes the time of a build out of the count.
    pub(super) fn leave_out(&mut self, build: Duration) {
        self.builds += build;
    }

    /// Returns the time that is left for a part.
    pub(super) fn left(&self, part: Part) -> Duration {
        let spent = self.started.elapsed().saturating_sub(self.builds);
        self.budget.mul_f64(part.0).saturating_sub(spent)
    }

    /// Returns the time for running a few inputs again, which is short once the budget
    /// is used up.
    pub(super) fn again(&self) -> Duration {
        self.left(Part::LAST).clamp(LEAST_AGAIN, AGAIN)
    }
}

/// Runs of some inputs on both programs, by the places of the inputs.
pub(super) struct BothRuns<'a> {
    pub(super) inputs: &'a [ComparedInput],
    pub(super) before: BTreeMap<usize, InputRun>,
    pub(super) after: BTreeMap<usize, InputRun>,
    /// Time that the unpatched program took.
    pub(super) seconds: f64,
}

impl BothRuns<'_> {
    /// Returns the inputs that both programs were run on, with their places and both runs.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, &ComparedInput, [&InputRun; 2])> {
        self.inputs.iter().enumerate().filter_map(|(place, input)| {
            let runs = [self.before.get(&place)?, self.after.get(&place)?];
            Some((place, input, runs))
        })
    }
}

impl Comparison<'_> {
    /// Returns the time limit of one input, a multiple of the PoV's time.
    pub(super) fn each(&self) -> Duration {
        self.programs.before.time_limit(10, EACH)
    }

    /// Returns the number of inputs that both programs can run in the time.
    pub(super) fn fits(&self, left: Duration) -> usize {
        let lanes = f64::from(self.programs.task().limits.jobs.max(1));
        let usual = self.programs.before.replay.execution.seconds.max(0.005) / lanes;
        // Many inputs may share a process, where the PoV had one of its own.
        let each = self.seconds_each.unwrap_or(usual).min(usual).max(0.0005);
        let count = left.as_secs_f64() * 0.3 / each;
        (count as usize).clamp(FEWEST, CHUNK)
    }

    /// Runs inputs on both programs, one after the other.
    pub(super) async fn run_both<'a>(
        &self,
        inputs: &'a [ComparedInput],
        capture: Capture,
        budget: Duration,
    ) -> Result<BothRuns<'a>> {
        let how = Inputs {
            budget,
            capture,
            ..Inputs::default()
        };
        let started = WorkTime::now();
        let of_old = self.inputs(inputs, how.clone());
        let before = by_index(self.programs.run_old(&of_old).await?);
        let seconds = started.elapsed().as_secs_f64();
        Ok(BothRuns {
            inputs,
            before,
            after: self.run(&self.programs.new, inputs, how).await?,
            seconds,
        })
    }

    /// Runs inputs on a build, as `how` says.
    pub(super) async fn run(
        &self,
        build: &Build,
        inputs: &[ComparedInput],
        how: Inputs,
    ) -> Result<BTreeMap<usize, InputRun>> {
        let runs = self.programs.run(build, &self.inputs(inputs, how)).await?;
        Ok(by_index(runs))
    }

    fn inputs(&self, inputs: &[ComparedInput], how: Inputs) -> Inputs {
        Inputs {
            contents: inputs.iter().map(|input| input.bytes.clone()).collect(),
            each: self.each(),
            leaks_allowed: self.leaks_allowed,
            ..how
        }
    }

    /// Returns how a few inputs are run once more.
    pub(super) fn again(&self) -> Inputs {
        Inputs {
            budget: self.clock.again(),
            capture: Capture::Outputs,
            ..Inputs::default()
        }
    }
}

fn by_index(runs: Vec<InputRun>) -> BTreeMap<usize, InputRun> {
    runs.into_iter().map(|run| (run.index, run)).collect()
}

/// Returns the digest of an output without its numbers: an output unlike all others comes
/// from another path through the program.
pub(super) fn digest(output: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let words = output.iter().filter(|byte| !byte.is_ascii_digit());
    words.for_each(|byte| byte.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{AGAIN, Clock, LEAST_AGAIN, Part};
    use std::time::Duration;

    #[test]
    fn parts_end_in_order_and_builds_do_not_count() {
        let hour = Duration::from_hours(1);
        let clock = Clock::start(hour);
        let parts = [
            Part::OUTPUTS_OF_JVM,
            Part::OUTPUTS,
            Part::REACH,
            Part::VALUES,
            Part::AIMED,
            Part::DIFFERENCES,
            Part::LAST,
        ];
        let left = |clock: &Clock| parts.map(|part| clock.left(part));
        assert!(left(&clock).is_sorted() && left(&clock)[0] > hour / 5);
        assert_eq!(clock.again(), AGAIN);
        let short = Duration::from_millis(1);
        let mut clock = Clock::start(short);
        while clock.started.elapsed() < short {
            std::thread::sleep(short);
        }
        assert_eq!(left(&clock), [Duration::ZERO; 7]);
        assert_eq!(clock.again(), LEAST_AGAIN);
        clock.leave_out(hour);
        assert_eq!(clock.left(Part::LAST), short);
    }
}
