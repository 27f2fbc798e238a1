//! Dictionary inputs: PoVs and harmless inputs changed by the constants of the patch and the
//! numbers of the PoVs.
//!
//! They run one by one and have little time: a large number as the end of a loop makes the
//! loop slow, which is no failure of the patch.

use super::bounds::bounds;
use super::failure::FailureJudge;
use super::{Group, LOOKED_AT, Search};
use crate::given_inputs;
use crate::mutation::Dictionary;
use crate::witness::Failure;
use patchwright_sandbox::Ending;
use patchwright_target::Result;
use patchwright_target::runner::{Inputs, Outcome};
use std::time::Duration;

/// The most mutants of PoVs, and of harmless inputs, that are run.
const MOST: usize = 128;
/// Divisor of the time of the rung for them.
const SHARE: u32 = 4;
/// Least and most time for one of them, and the multiple of the PoV's time in between.
const EACH: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
const TIMES: u32 = 5;

impl Search<'_> {
    /// Runs them on the patched program. Where the PoV hangs, slow loops look like it, and
    /// nothing is run.
    pub(super) async fn with_dictionary(
        &mut self,
        judge: &FailureJudge<'_>,
        group: &Group<'_>,
        budget: Duration,
    ) -> Result<Option<Failure>> {
        if group.before.replay.outcome == Outcome::Hung {
            return Ok(None);
        }
        let given = given_inputs::inputs(self.target.task(), group.pov)?.into_iter();
        let given: Vec<Vec<u8>> = given.map(|(_, bytes)| bytes).collect();
        let constants = bounds(self.attempt);
        let dictionary = Dictionary::new(&constants).with_povs(&group.seeds, &given);
        let inputs = Inputs {
            contents: in_turn(&dictionary, &group.seeds, &given),
            budget: budget / SHARE,
            each: group.before.time_limit(TIMES, EACH),
            ..Inputs::default()
        };
        let new = judge.builds.1;
        let runs = self.target.run_inputs(new, group.pov, &inputs).await?;
        self.runs += runs.len() as u64;
        let ended = |ending| !matches!(ending, Ending::Limit(_));
        let failed = runs
            .iter()
            .filter(|run| ended(run.ending) && run.is_failure());
        for run in failed.take(LOOKED_AT) {
            let bytes = inputs.contents.get(run.index).map_or(&[][..], |b| b);
            if let Some(found) = self.weigh(judge.look(bytes).await?, group) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
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
