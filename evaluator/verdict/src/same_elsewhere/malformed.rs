//! Malformed mutants: mutants of given inputs that only the patched program refuses.
//!
//! Such a mutant counts against the patch unless an experiment shows that it is
//! malformed as the PoV is: cut short somewhere behind what was changed, it
//! makes the unpatched program crash as the PoV does, while the input that it
//! was made from brings no failure wherever it is cut. Then the unpatched
//! program accepted the mutant only because more bytes happened to lie where it
//! reads what is not its own. What cannot be shown counts. Java is left out:
//! each cut would start a JVM.

use super::Comparison;
use super::doubts::Differing;
use super::pool::ComparedInput;
use super::reach::spread;
use super::runs::Part;
use crate::evidence::changed_at;
use patchwright_source::Language;
use patchwright_target::Result;
use patchwright_target::runner::{Inputs, content};
use std::time::Duration;

/// Cuts that are tried, from the first changed byte on: a length that was
/// changed tells of the bytes that follow it.
const MOST_CUTS: usize = 512;
/// Pieces of a mutant of a PoV that are tried.
const MOST_PIECES: usize = 48;
/// Failing cuts whose crash is compared with the PoV's.
const LOOKED_AT: usize = 4;
/// Most and least time for all cuts of one input. A cut takes milliseconds: this
/// only ends what goes astray.
const WALL: Duration = Duration::from_mins(1);
const LEAST: Duration = Duration::from_secs(4);

impl Comparison<'_> {
    /// Returns the first refused mutant that is not shown to be malformed.
    /// Once there is no time left, the rest stay as they are, and the rung is open.
    pub(super) async fn weigh_turned_away(&mut self) -> Result<Option<Differing>> {
        while let Some(mut one) = self.turned_away.pop() {
            if self.clock.left(Part::DIFFERENCES).is_zero() {
                self.turned_away.push(one);
                break;
            }
            if !self.is_malformed(&one.input).await? {
                return Ok(Some(one));
            }
            self.count("malformed mutants turned away", 1);
            one.settled = Some("the input is malformed as the PoV is".to_owned());
            self.keep_doubt(&one);
        }
        Ok(None)
    }

    async fn is_malformed(&self, mutant: &ComparedInput) -> Result<bool> {
        let parent = match &mutant.parent {
            Some(parent) if self.programs.task().language != Language::Java => parent,
            _ => return Ok(false),
        };
        let from = changed_at(parent, &mutant.bytes);
        let Some(failing) = self.failing(cuts(&mutant.bytes, from)).await? else {
            return Ok(false);
        };
        if !self.any_crashes_as_the_pov(&failing).await? {
            return Ok(false);
        }
        let control = self.failing(cuts(parent, from)).await?;
        Ok(control.is_some_and(|failing| failing.is_empty()))
    }

    /// Tells whether a mutant of a PoV still has its defect: it is cut short at some
    /// places behind what was changed, and the unpatched program crashes on a
    /// piece as on the PoV.
    pub(super) async fn holds_the_defect(&mut self, mutant: &[u8]) -> Result<bool> {
        let no_time = self.clock.left(Part::DIFFERENCES).is_zero();
        if self.programs.task().language == Language::Java || no_time {
            return Ok(false);
        }
        let pov = content(self.programs.pov).unwrap_or_default();
        let pieces = spread(&cuts(mutant, changed_at(&pov, mutant)), MOST_PIECES);
        let failing = self.failing(pieces).await?.unwrap_or_default();
        self.any_crashes_as_the_pov(&failing).await
    }

    /// Tells whether one of the first inputs makes the unpatched program crash as the PoV does.
    async fn any_crashes_as_the_pov(&self, failing: &[Vec<u8>]) -> Result<bool> {
        for input in failing.iter().take(LOOKED_AT) {
            if self.crashes_as_the_pov(input).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns those inputs on which the unpatched program fails; none where not all of
    /// them could be run.
    async fn failing(&self, contents: Vec<Vec<u8>>) -> Result<Option<Vec<Vec<u8>>>> {
        let cuts = Inputs {
            contents,
            budget: self.clock.left(Part::LAST).clamp(LEAST, WALL),
            each: self.each(),
            ..Inputs::default()
        };
        let runs = self.programs.run(self.programs.old, &cuts).await?;
        if runs.len() < cuts.contents.len() {
            return Ok(None);
        }
        let failing = runs.iter().filter(|run| run.is_failure());
        let failing = failing.filter_map(|run| cuts.contents.get(run.index).cloned());
        Ok(Some(failing.collect()))
    }

    pub(super) async fn crashes_as_the_pov(&self, input: &[u8]) -> Result<bool> {
        let replay = self.programs.replay(self.programs.old, input).await?;
        let mut crash = replay.crash.iter();
        Ok(crash.any(|crash| self.programs.is_the_povs(crash)))
    }
}

/// Returns the input cut after each of its bytes from a position on.
fn cuts(input: &[u8], from: usize) -> Vec<Vec<u8>> {
    (from + 1..input.len())
        .take(MOST_CUTS)
        .filter_map(|length| input.get(..length).map(<[u8]>::to_vec))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MOST_CUTS, changed_at, cuts};

    #[test]
    fn an_input_is_cut_behind_what_was_changed() {
        for (parent, mutant, place, lengths) in [
            ("abcdef", "abXdef", 2, vec![3, 4, 5]),
            ("abcdef", "abc", 3, vec![]),
            ("abc", "abcdef", 3, vec![4, 5]),
            ("abc", "Xbc", 0, vec![1, 2]),
            ("", "", 0, vec![]),
        ] {
            let (parent, mutant) = (parent.as_bytes(), mutant.as_bytes());
            assert_eq!(changed_at(parent, mutant), place);
            let made = cuts(mutant, place);
            let found: Vec<usize> = made.iter().map(Vec::len).collect();
            assert_eq!(found, lengths);
            assert!(made.iter().all(|cut| mutant.starts_with(cut)));
        }
        assert_eq!(cuts(&[0; 9000], 7).len(), MOST_CUTS);
    }
}
