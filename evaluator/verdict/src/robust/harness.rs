//! Harnesses that take many inputs, and harnesses that are fuzzers.

use super::failure::FailureJudge;
use super::{EACH, FIRST, Group, Search};
use crate::given_inputs;
use crate::mutation::Mutator;
use crate::witness::Failure;
use patchwright_target::Result;
use patchwright_target::runner::{BaselinePov, Build, Inputs, Outcome};
use std::time::Duration;

/// Inputs that are run before a known crash in one process.
const BEFORE: usize = 12;
/// The share of the time for the project's own fuzzer.
const FUZZER_SHARE: f64 = 0.4;
/// The most harmless inputs among its seeds.
const SEEDS: usize = 64;

impl Search<'_> {
    /// Tells whether one process reaches a known crash after accepted and refused inputs.
    pub(super) async fn takes_many(
        &self,
        old: &Build,
        group: &Group<'_>,
        most: Duration,
    ) -> Result<bool> {
        let most = most.max(FIRST);
        if group.pov.batch || group.before.replay.outcome == Outcome::Hung {
            return Ok(false);
        }
        let Some(seed) = group.seeds.first() else {
            return Ok(false);
        };
        let tried = Mutator::new(group.seeds.clone()).take(BEFORE);
        let runs = self.run(old, group, tried.clone(), most).await?;
        let mut contents: Vec<Vec<u8>> = runs
            .iter()
            .filter(|run| !run.is_failure())
            .filter_map(|run| tried.get(run.index).cloned())
            .collect();
        if contents.is_empty() {
            return Ok(false);
        }
        contents.push(seed.clone());
        let last = contents.len() - 1;
        let inputs = Inputs {
            contents,
            budget: most,
            each: EACH.0,
            many: true,
            ..Inputs::default()
        };
        let runs = self.target.run_inputs(old, group.pov, &inputs).await?;
        // All inputs of a process that succeeds count as passed.
        Ok(runs.iter().any(|run| run.index == last && run.is_failure()))
    }

    /// Lets the project's own fuzzer search, where the harness is one.
    pub(super) async fn fuzzed(
        &mut self,
        judge: &FailureJudge<'_>,
        group: &Group<'_>,
        budget: Duration,
    ) -> Result<Option<Failure>> {
        if !is_fuzzer(group.before) {
            return Ok(None);
        }
        let mut seeds = group.seeds.clone();
        for path in self.target.task().harmless.iter().take(SEEDS) {
            seeds.extend(given_inputs::read(path)?);
        }
        let time = budget.mul_f64(FUZZER_SHARE);
        let fuzzed = self.target.fuzz(judge.builds.1, group.pov, &seeds, time);
        let Some(fuzzed) = fuzzed.await? else {
            return Ok(None);
        };
        self.runs += fuzzed.executions;
        for input in &fuzzed.found {
            let found = judge.look(input).await?;
            if let Some(found) = self.weigh(found, group) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Tells by what it printed on a PoV whether a harness may be a fuzzer.
pub(crate) fn is_fuzzer(before: &BaselinePov) -> bool {
    let printed = before.replay.execution.text();
    printed.contains("libFuzzer") || printed.contains("INFO: Seed: ")
}
