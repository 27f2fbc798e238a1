//! Searched inputs: those that the project's own fuzzer finds for a patch.
//!
//! Where a branch of the patch is not accounted for, or too few inputs come there, a harness that
//! is a fuzzer is asked for a few seconds: on the patched program, from inputs that come near. What
//! it keeps is compared like any derived input. Harnesses that take one input in a process of
//! their own are no fuzzers, and nothing is searched for them.

use super::clock::Part;
use super::doubts::Differing;
use super::pool::{ComparedInput, InputKind};
use super::{CHUNK, Comparison};
use crate::given_inputs;
use crate::robust::is_fuzzer;
use patchwright_target::Result;
use std::time::Duration;

/// Time for the fuzzer.
const TIME: Duration = Duration::from_secs(5);
/// Least time for comparing what it finds.
const LEAST: Duration = Duration::from_secs(5);
const SEEDS: usize = 24;

impl Comparison<'_> {
    /// Compares what the project's fuzzer finds, where something of the patch is open.
    pub(super) async fn searched(&mut self) -> Result<Option<Differing>> {
        if !is_fuzzer(self.before) || !self.is_open() {
            return Ok(None);
        }
        let mut seeds = given_inputs::povs(self.target.task())?;
        let near = self.reaching.iter().chain(&self.compared).take(SEEDS);
        seeds.extend(near.map(|input| input.bytes.clone()));
        let fuzzed = self.target.fuzz(self.builds.1, self.pov, &seeds, TIME);
        let Some(fuzzed) = fuzzed.await? else {
            return Ok(None);
        };
        let kept = fuzzed.kept.into_iter().enumerate();
        let mut inputs: Vec<ComparedInput> = kept
            .map(|(number, bytes)| {
                ComparedInput::new(
                    InputKind::Derived,
                    format!("input {number} of the fuzzer"),
                    bytes,
                )
            })
            .collect();
        self.count("found by the fuzzer", inputs.len() as u64);
        let known = self.compared.len();
        let mut least = LEAST;
        while !inputs.is_empty() {
            let left = self.clock.left(Part::Aimed).max(std::mem::take(&mut least));
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

    /// Tells whether inputs are missing at the patch, or at a way out of one of its branches.
    pub(super) fn is_open(&mut self) -> bool {
        let floor = self.target.task().limits.reached;
        self.reach.as_mut().is_some_and(|reach| {
            reach.settle(self.attempt);
            reach.reached < floor || !reach.unaccounted.is_empty()
        })
    }

    /// Counts what the inputs run that were compared since, those that both programs accept
    /// before others; returns how many of them come to the patch.
    pub(super) async fn count_since(&mut self, known: usize) -> Result<u64> {
        let mut new: Vec<ComparedInput> = self.compared.iter().skip(known).cloned().collect();
        new.sort_by_key(|input| self.refused.contains(&input.bytes));
        new.truncate(CHUNK);
        let Some(mut reach) = self.reach.take() else {
            return Ok(0);
        };
        let before = reach.reached;
        let counted = self.count_chunk(&mut reach, &new, LEAST).await;
        let come = reach.reached - before;
        self.reach = Some(reach);
        counted.map(|()| come)
    }
}
