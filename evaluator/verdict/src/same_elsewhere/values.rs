//! Value comparison: return values of the touched functions and their callers.
//!
//! Most harnesses print nothing, so outputs alone hardly distinguish two programs. Return
//! values, and the values that the harness receives from the project, are read by a debugger
//! for C and C++, and by an agent in the JVM for Java. A mutant on which a touched function throws
//! is one that the unpatched program does not accept, so another exception there refutes nothing.

use super::clock::Part;
use super::outputs::half;
use super::pool::{ComparedInput, InputKind};
use super::{Comparison, Difference};
use crate::evidence::Doubt;
use patchwright_target::TargetError;
use patchwright_target::runner::{Capture, InputRun};
use std::collections::BTreeMap;
use std::time::Duration;

/// Inputs of one round; the next round follows if there is time.
const ROUND: usize = 6;
/// The name of the count of compared inputs.
const COMPARED: &str = "values compared";
/// The most inputs whose values are compared.
const MOST: usize = 64;

impl Comparison<'_> {
    /// Compares return values on some of the inputs whose outputs were the same.
    pub(super) async fn values(&mut self) -> Result<Option<Difference>, TargetError> {
        if self.functions.is_empty() || self.compared.is_empty() {
            return Ok(None);
        }
        // Those that were seen to reach the patch tell most.
        let mut order = self.reaching.clone();
        if self.reach.is_none() {
            order = mixed(&self.compared);
        }
        for (round, chunk) in order.chunks(ROUND).take(MOST / ROUND).enumerate() {
            let left = self.clock.left(Part::Values);
            if round > 0 && left.is_zero() {
                break;
            }
            if let Some(difference) = self.round(chunk, left).await? {
                return Ok(Some(difference));
            }
        }
        Ok(None)
    }

    async fn round(
        &mut self,
        chunk: &[ComparedInput],
        left: Duration,
    ) -> Result<Option<Difference>, TargetError> {
        let half = half(left, self.counted(COMPARED));
        let capture = || Capture::Values(self.functions.clone());
        let (old, new) = self.builds;
        let first = self.run(old, chunk, capture(), half).await?;
        let patched = self.run(new, chunk, capture(), half).await?;
        let (mut seen, mut reached) = (0, 0);
        let mut found = None;
        for (index, input) in chunk.iter().enumerate() {
            let (Some(before), Some(after)) = (text(&first, index), text(&patched, index)) else {
                continue;
            };
            seen += 1;
            if !before.starts_with("0 calls") {
                reached += 1;
                if self.reach.is_none() {
                    self.reaching.push(input.clone());
                }
            }
            if before == after || !self.steady(input, &before).await? {
                continue;
            }
            let difference = self.value_difference(input, &before, &after);
            if let Some(settled) = self.accepted(input) {
                self.doubts.push(Doubt {
                    settled: Some(settled),
                    ..difference.doubt
                });
            } else if let Some(settled) = settled(input.kind, &before, &after) {
                let what = format!("{}: {}", difference.input, difference.what);
                self.doubts.push(Doubt {
                    settled: Some(settled.to_owned()),
                    ..Doubt::new(what)
                });
            } else {
                found = found.or(Some(difference));
            }
        }
        if seen > 0 {
            self.count(COMPARED, seen);
            self.count("reached a touched function", reached);
        }
        Ok(found)
    }

    /// Tells whether the unpatched program returns the same values again.
    async fn steady(&self, input: &ComparedInput, before: &str) -> Result<bool, TargetError> {
        let capture = Capture::Values(self.functions.clone());
        let one = std::slice::from_ref(input);
        let again = self
            .run(self.builds.0, one, capture, self.clock.again())
            .await?;
        Ok(text(&again, 0).is_some_and(|again| again == before))
    }

    /// Describes the first value that differs.
    fn value_difference(&self, input: &ComparedInput, before: &str, after: &str) -> Difference {
        let mut pairs = before.lines().zip(after.lines()).skip(1);
        let what = match pairs.find(|(old, new)| old != new) {
            Some((old, new)) => format!("{old:?} became {new:?}"),
            None => "touched functions are called more or less often".to_owned(),
        };
        let what = format!("{what} ({})", input.kind.name());
        Difference {
            doubt: self.doubt_about(input, &what, (before, after)),
            input: input.name.clone(),
            what,
            old: before.to_owned(),
            new: after.to_owned(),
            limited: false,
        }
    }
}

/// Returns why values that differ on an input, whose outputs are the same, refute nothing.
fn settled(kind: InputKind, before: &str, after: &str) -> Option<&'static str> {
    let mut pairs = before.lines().zip(after.lines()).skip(1);
    let (old, new) = pairs.find(|(old, new)| old != new).unwrap_or_default();
    let both_throw = old.contains(" throws ") && new.contains(" throws ");
    match kind {
        InputKind::Derived => Some("what the program says is the same"),
        InputKind::GivenMutant if both_throw => {
            Some("both programs turn it away there, and say the same")
        }
        _ => None,
    }
}

/// Orders the inputs by kind in turn, given ones first, since they are the likeliest to
/// reach a touched function. Of each kind those with a new output come first.
pub(super) fn mixed(inputs: &[ComparedInput]) -> Vec<ComparedInput> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, usize, &ComparedInput)> = Vec::new();
    let mut inputs: Vec<&ComparedInput> = inputs.iter().collect();
    inputs.sort_by_key(|input| !input.fresh);
    for (place, input) in inputs.into_iter().enumerate() {
        let rank = counts.entry(input.kind.name()).or_default();
        ranked.push((*rank, place, input));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, place, input)| (*rank, input.kind != InputKind::Given, *place));
    ranked
        .into_iter()
        .map(|(.., input)| input.clone())
        .collect()
}

fn text(runs: &BTreeMap<usize, InputRun>, index: usize) -> Option<String> {
    let run = runs.get(&index)?;
    Some(String::from_utf8_lossy(&run.output).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{InputKind, settled};

    #[test]
    fn another_exception_on_a_mutant_refutes_nothing() {
        let (thrown, other) = ("1 calls\nf throws A", "1 calls\nf throws B");
        for (kind, before, after, expected) in [
            (InputKind::GivenMutant, thrown, other, true),
            (InputKind::GivenMutant, "1 calls\nf = 1", other, false),
            (InputKind::GivenMutant, thrown, "1 calls\nf = 1", false),
            (
                InputKind::GivenMutant,
                "1 calls\nf = 1",
                "2 calls\nf = 1",
                false,
            ),
            (InputKind::Given, thrown, other, false),
            (InputKind::Derived, "1 calls\nf = 1", other, true),
        ] {
            let is_settled = settled(kind, before, after).is_some();
            assert_eq!(is_settled, expected, "{before} {after}");
        }
    }
}
