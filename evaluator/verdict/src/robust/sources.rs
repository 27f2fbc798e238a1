//! Sources of inputs beside plain mutation: the project's own fuzzer, and PoVs and harmless inputs
//! changed by the constants of the patch and the numbers of the PoVs. Also told is whether a
//! harness takes many inputs.

use super::bounds::bounds;
use super::{EACH, FIRST, Group, LOOKED_AT, Search};
use crate::given_inputs;
use crate::mutation::{Dictionary, Mutator};
use crate::witness::Failure;
use patchwright_sandbox::Ending;
use patchwright_target::Result;
use patchwright_target::runner::{BaselinePov, InputRun, Inputs, Outcome};
use std::time::Duration;

/// Inputs that are run before a known crash in one process.
const BEFORE: usize = 12;
/// The share of the time for the project's own fuzzer.
const FUZZER_SHARE: f64 = 0.4;
/// The most harmless inputs among its seeds.
const SEEDS: usize = 64;
/// The most mutants of PoVs, and of harmless inputs, that are made with the dictionary: all forms of
/// two bounds at twenty places.
const MOST: usize = 384;
/// Divisor of the time of the rung for them.
const SHARE: u32 = 4;
/// Least and most time for one of them, and the multiple of the PoV's time in between: a large
/// number as the end of a loop makes the loop slow, which is no failure of the patch.
const BRIEFLY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
const TIMES: u32 = 5;

impl Search {
    /// Tells whether one process reaches a known crash after accepted and refused inputs.
    pub(super) async fn takes_many(&self, group: &Group<'_>, most: Duration) -> Result<bool> {
        let (programs, most) = (&group.programs, most.max(FIRST));
        if programs.pov.batch || programs.before.replay.outcome == Outcome::Hung {
            return Ok(false);
        }
        let Some(seed) = group.seeds.first() else {
            return Ok(false);
        };
        let tried = Mutator::new(group.seeds.clone()).take(BEFORE);
        let runs = self.run(programs.old, group, tried.clone(), most).await?;
        let passed = runs.iter().filter(|run| !run.is_failure());
        let contents = passed.filter_map(|run| tried.get(run.index).cloned());
        let mut contents: Vec<Vec<u8>> = contents.collect();
        if contents.is_empty() {
            return Ok(false);
        }
        contents.push(seed.clone());
        let last = contents.len() - 1;
        let inputs = Inputs {
            many: true,
            ..Inputs::new(contents, most, EACH.0)
        };
        let runs = programs.run(programs.old, &inputs).await?;
        // All inputs of a process that succeeds count as passed.
        let mut runs = runs.into_iter();
        Ok(runs.any(|run| run.index == last && run.is_failure()))
    }

    /// Lets the project's own fuzzer search, where the harness is one.
    pub(super) async fn fuzzed(
        &mut self,
        group: &Group<'_>,
        budget: Duration,
    ) -> Result<Option<Failure>> {
        let programs = &group.programs;
        if !is_fuzzer(programs.before) {
            return Ok(None);
        }
        let mut seeds = group.seeds.clone();
        for path in programs.task().harmless.iter().take(SEEDS) {
            seeds.extend(given_inputs::read(path)?);
        }
        let time = budget.mul_f64(FUZZER_SHARE);
        let (target, new) = (programs.target, &programs.new);
        let fuzzed = target.fuzz(new, programs.pov, &seeds, time);
        let Some(fuzzed) = fuzzed.await? else {
            return Ok(None);
        };
        self.runs += fuzzed.executions;
        for input in &fuzzed.found {
            if let Some(found) = self.look(group, input).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Runs mutants of the dictionary one by one on the patched program. Where the PoV hangs, slow
    /// loops look like it, and nothing is run.
    pub(super) async fn with_dictionary(
        &mut self,
        group: &Group<'_>,
        budget: Duration,
    ) -> Result<Option<Failure>> {
        let programs = &group.programs;
        if programs.before.replay.outcome == Outcome::Hung {
            return Ok(None);
        }
        let given = given_inputs::contents(programs.task(), programs.pov)?;
        let constants = bounds(programs.attempt);
        let dictionary = Dictionary::new(&constants).with_povs(&group.seeds, &given);
        let contents = in_turn(&dictionary, &group.seeds, &given);
        let each = programs.before.time_limit(TIMES, BRIEFLY);
        let inputs = Inputs::new(contents, budget / SHARE, each);
        let runs = programs.run(&programs.new, &inputs).await?;
        self.runs += runs.len() as u64;
        let failed = |run: &&InputRun| !matches!(run.ending, Ending::Limit(_)) && run.is_failure();
        for run in runs.iter().filter(failed).take(LOOKED_AT) {
            let bytes = inputs.contents.get(run.index).map_or(&[][..], |b| b);
            if let Some(found) = self.look(group, bytes).await? {
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

/// Returns mutants of the PoVs and of the harmless inputs, taken from each input in turn.
fn in_turn(dictionary: &Dictionary, povs: &[Vec<u8>], harmless: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut chosen = Vec::new();
    for seeds in [povs, harmless] {
        let each = MOST.div_ceil(seeds.len().clamp(1, MOST));
        let seeds = seeds.iter().take(MOST);
        let made = seeds.flat_map(|seed| {
            let at_bounds = dictionary.at_bounds(seed).into_iter();
            let mutants = dictionary.mutants(seed, each).into_iter();
            at_bounds.chain(mutants).take(each).enumerate()
        });
        let mut made: Vec<(usize, Vec<u8>)> = made.collect();
        made.sort_by_key(|(turn, _)| *turn);
        made.truncate(MOST);
        chosen.extend(made.into_iter().map(|(_, bytes)| bytes));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{MOST, in_turn};
    use crate::mutation::Dictionary;

    #[test]
    fn every_input_has_its_turn() {
        let texts =
            |words: &[&str]| -> Vec<Vec<u8>> { words.iter().map(|w| (*w).into()).collect() };
        let (povs, harmless) = (texts(&["get 99"]), texts(&["1 2", "3", "none"]));
        let dictionary = Dictionary::default().with_povs(&povs, &harmless);
        let mut chosen = in_turn(&dictionary, &povs, &harmless);
        let of_harmless = chosen.split_off(chosen.len() - 3);
        assert_eq!(of_harmless, texts(&["99 2", "99", "1 99"]));
        assert!(chosen.contains(&b"get 4294967296".to_vec()));
        let many: Vec<Vec<u8>> = (0..500)
            .map(|n| format!("{n} {n} 7").into_bytes())
            .collect();
        assert_eq!(in_turn(&dictionary, &[], &many).len(), MOST);
    }
}
