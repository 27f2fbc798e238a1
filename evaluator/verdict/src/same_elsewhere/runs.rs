//! Runs of inputs on one of the two programs, and how much time and how many fit.

use super::pool::ComparedInput;
use super::{CHUNK, Comparison};
use patchwright_target::Result;
use patchwright_target::runner::{Build, Capture, InputRun, Inputs};
use std::collections::BTreeMap;
use std::time::Duration;

/// The fewest inputs of one comparison, however slow the program is.
const FEWEST: usize = 4;
/// Least and most time for one input.
pub(super) const EACH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));

impl Comparison<'_> {
    /// Returns the time limit of one input, a multiple of the PoV's time.
    pub(super) fn each(&self) -> Duration {
        self.before.time_limit(10, EACH)
    }

    /// Returns the number of inputs that both programs can run in the time.
    pub(super) fn fits(&self, left: Duration) -> usize {
        let lanes = f64::from(self.target.task().limits.jobs.max(1));
        let usual = self.before.replay.execution.seconds.max(0.005) / lanes;
        // Many inputs may share a process, where the PoV had one of its own.
        let each = self.seconds_each.unwrap_or(usual).min(usual).max(0.0005);
        let count = left.as_secs_f64() * 0.3 / each;
        (count as usize).clamp(FEWEST, CHUNK)
    }

    pub(super) async fn run(
        &self,
        build: &Build,
        inputs: &[ComparedInput],
        capture: Capture,
        budget: Duration,
    ) -> Result<BTreeMap<usize, InputRun>> {
        let how = Inputs {
            budget,
            capture,
            ..Inputs::default()
        };
        self.run_as(build, inputs, how).await
    }

    /// Runs inputs on a build, as `how` says.
    pub(super) async fn run_as(
        &self,
        build: &Build,
        inputs: &[ComparedInput],
        how: Inputs,
    ) -> Result<BTreeMap<usize, InputRun>> {
        let inputs = Inputs {
            contents: inputs.iter().map(|input| input.bytes.clone()).collect(),
            each: self.each(),
            ..how
        };
        let runs = self.target.run_inputs(build, self.pov, &inputs).await?;
        Ok(runs.into_iter().map(|run| (run.index, run)).collect())
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
