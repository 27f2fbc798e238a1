//! Sources of inputs for the patch at hand, once the pool is used up.
//!
//! *Aimed* inputs are brought to the constants of the patch. A bound that is too small shows only
//! on inputs beyond it, and given inputs are small. So inputs that reach a touched function are
//! changed by the dictionary of the patch's constants and of the values that it compares, or of
//! usual sizes where there are none: numbers replaced, items repeated. Where the patched program
//! refuses such an input, it is a doubt, since the repair may be that bound. Where both programs
//! accept it and print different output, the patch is refuted. Nothing is tried where the PoV
//! exhausts stack, memory or time, because there a bound of any size is the repair.
//!
//! *Searched* inputs are those that the project's own fuzzer finds. Where a branch of the patch is
//! not accounted for, or too few inputs come there, a harness that is a fuzzer is asked for a few
//! seconds: on the patched program, from inputs that come near. What it keeps is compared like any
//! derived input. Harnesses that take one input in a process of their own are no fuzzers, and
//! nothing is searched for them.

use super::doubts::Differing;
use super::pool::{ComparedInput, InputKind};
use super::runs::Part;
use super::{CHUNK, Comparison};
use crate::given_inputs;
use crate::mutation::Dictionary;
use crate::robust::{bounds, is_fuzzer};
use crate::rung::Programs;
use patchwright_crash::CrashReport;
use patchwright_target::Result;
use patchwright_target::runner::Outcome;
use std::time::Duration;

/// Numbers and sizes that are tried where a patch has none: beyond a byte, and beyond
/// usual buffers.
const SIZES: [u64; 2] = [300, 5000];
/// The most inputs that are made of one.
const MOST: usize = 3 * 160;
/// The most inputs that others are made from.
const SEEDS: usize = 4;
/// The largest such input, in bytes.
const LARGEST_SEED: usize = 1 << 14;
/// The fewest that have to be run, where there are so many.
const FLOOR: usize = 32;
/// Least time for some of them until so many were run, on a busy machine.
const LEAST_AIMED: Duration = Duration::from_secs(12);
/// Time for the fuzzer, and least time for comparing what it finds.
const FUZZER_TIME: Duration = Duration::from_secs(5);
const LEAST_FOUND: Duration = Duration::from_secs(5);
/// The most seeds of the fuzzer beside the PoVs.
const FUZZER_SEEDS: usize = 24;

impl Comparison<'_> {
    /// Compares the outputs of inputs that are aimed at the patch's numbers.
    pub(super) async fn aimed(&mut self) -> Result<Option<Differing>> {
        if self.is_exhaustion() {
            return Ok(None);
        }
        let known = self.compared.len();
        let mut constants = bounds(self.programs.attempt);
        if let Some(seed) = self.seeds().first().map(|seed| (*seed).clone()) {
            constants.extend(self.compared_values(&seed).await?);
        }
        if constants.is_empty() {
            constants.extend(SIZES);
        }
        let mut inputs = self.inputs_at(&Dictionary::new(&constants));
        let floor = FLOOR.min(inputs.len());
        let mut run = 0;
        while !inputs.is_empty() {
            let least = if run < floor {
                LEAST_AIMED
            } else {
                Duration::ZERO
            };
            let left = self.clock.left(Part::AIMED).max(least);
            let before = self.answered();
            if left.is_zero() {
                break;
            }
            let count = self.fits(left).min(CHUNK).min(inputs.len());
            let chunk: Vec<ComparedInput> = inputs.drain(..count).collect();
            self.tried
                .extend(chunk.iter().map(|input| input.bytes.clone()));
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
            let now = self.answered() - before;
            run += now as usize;
            if now == 0 {
                break;
            }
        }
        self.missed = shortfall(run, floor);
        // They are made of inputs that come to the patch, and most come there too.
        if self.is_open() {
            let reached = self.count_since(known).await?;
            self.count("aimed and reached the patch", reached);
        }
        Ok(None)
    }

    /// Compares what the project's fuzzer finds, where something of the patch is open.
    pub(super) async fn searched(&mut self) -> Result<Option<Differing>> {
        if !is_fuzzer(self.programs.before) || !self.is_open() {
            return Ok(None);
        }
        let mut seeds = given_inputs::povs(self.programs.task())?;
        let near = self.reaching.iter().chain(&self.compared);
        let near = near.map(|input| input.bytes.clone());
        seeds.extend(near.take(FUZZER_SEEDS));
        let Programs { target, pov, .. } = self.programs;
        let fuzzed = target.fuzz(&self.programs.new, pov, &seeds, FUZZER_TIME);
        let Some(fuzzed) = fuzzed.await? else {
            return Ok(None);
        };
        let name = |number| format!("input {number} of the fuzzer");
        let mut inputs = ComparedInput::numbered(InputKind::Derived, fuzzed.kept, name);
        self.count("found by the fuzzer", inputs.len() as u64);
        let known = self.compared.len();
        let mut least = LEAST_FOUND;
        while !inputs.is_empty() {
            let left = self.clock.left(Part::AIMED).max(std::mem::take(&mut least));
            if left.is_zero() {
                break;
            }
            let count = self.fits(left).min(CHUNK).min(inputs.len());
            let chunk = inputs.drain(..count).collect();
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
        }
        self.count_since(known).await?;
        Ok(None)
    }

    fn is_exhaustion(&self) -> bool {
        let before = &self.programs.before.replay;
        let crash = before.crash.as_ref();
        let overflows = crash.is_some_and(CrashReport::is_stack_overflow);
        overflows || matches!(before.outcome, Outcome::Hung | Outcome::Exhausted(_))
    }

    /// The inputs that others are made from.
    fn seeds(&self) -> Vec<&ComparedInput> {
        let mut seeds: Vec<&ComparedInput> = self.reaching.iter().collect();
        seeds.retain(|seed| seed.bytes.len() <= LARGEST_SEED);
        seeds.sort_by_key(|seed| seed.kind as u8);
        seeds.truncate(SEEDS);
        seeds
    }

    fn inputs_at(&self, dictionary: &Dictionary) -> Vec<ComparedInput> {
        let made = self.seeds().into_iter().flat_map(|seed| {
            let mut made = dictionary.at_bounds(&seed.bytes);
            made.extend(dictionary.mutants(&seed.bytes, MOST));
            let kind = match seed.kind {
                InputKind::Derived => InputKind::Derived,
                _ => InputKind::Aimed,
            };
            ComparedInput::numbered(kind, made, |number| {
                format!("{}, changed towards a bound ({number})", seed.name)
            })
        });
        made.collect()
    }

    /// Tells whether inputs are missing at the patch, or at a way out of one of its branches.
    pub(super) fn is_open(&mut self) -> bool {
        let floor = self.programs.task().limits.reached;
        self.reach.as_mut().is_some_and(|reach| {
            reach.settle(self.programs.attempt);
            reach.reached < floor || !reach.unaccounted.is_empty()
        })
    }

    /// Counts what the inputs run that were compared since, those that both programs accept
    /// before others; returns how many of them come to the patch.
    pub(super) async fn count_since(&mut self, known: usize) -> Result<u64> {
        let mut new: Vec<ComparedInput> = self.compared.iter().skip(known).cloned().collect();
        new.sort_by_key(|input| input.refused);
        new.truncate(CHUNK);
        let Some(mut reach) = self.reach.take() else {
            return Ok(0);
        };
        let before = reach.reached;
        let counted = self.count_chunk(&mut reach, &new, LEAST_FOUND).await;
        let come = reach.reached - before;
        self.reach = Some(reach);
        counted.map(|()| come)
    }
}

/// Says how many inputs are missing at the floor.
fn shortfall(run: usize, floor: usize) -> Option<String> {
    (run < floor).then(|| {
        format!(
            "only {run} of {floor} inputs aimed at the patch could be run in the time (limits.same)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::shortfall;

    #[test]
    fn too_few_aimed_inputs_say_how_many_are_missing() {
        assert_eq!(shortfall(0, 0), None);
        assert_eq!(shortfall(40, 32), None);
        let missing = shortfall(7, 32).unwrap();
        assert!(missing.starts_with("only 7 of 32 inputs"), "{missing}");
    }
}
