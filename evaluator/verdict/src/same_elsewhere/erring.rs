//! Inputs that are not comparable: the PoVs, and mutants of them on which the unpatched program
//! errs.
//!
//! Output past a program's own fault is no reference, so nothing is compared here. One
//! question is asked for the whole class, with the answers of the patched program that differ
//! most from each other: is this what a correct program says? No run decides it, and every right
//! repair raises it. So it is told, for a second reader or a person, and leaves the rung open only
//! where a PoV is accepted now while most of what lies near it is refused: then an error may be
//! swallowed. Nearest of all are inputs that differ from a PoV in numbers alone, since these have
//! its syntax; where the program accepts most of them and now refuses the PoV, the rung is open too.

use super::Comparison;
use super::departure::Values;
use super::doubts::{Differing, shown};
use super::pool::{ComparedInput, InputKind};
use crate::evidence::TOLD;
use crate::given_inputs;
use patchwright_crash::feedback;
use patchwright_source::{counted, regex};
use patchwright_target::Result;
use patchwright_target::runner::{Capture, InputRun, Inputs};
use std::collections::BTreeSet;

/// PoVs and mutants that are run.
const MOST_INPUTS: usize = 24;
/// Answers of the class that are shown.
const MOST_SHOWN: usize = 3;
/// Answers that are kept of the class and of challenges.
const MOST_ANSWERS: usize = 8;
/// Inputs near a PoV that have to be refused before its acceptance is a doubt, and those of its
/// own form that are enough to leave all others aside.
const FEWEST: usize = 3;

/// An input on which the unpatched program errs, and the answer of the patched one.
type Answered = (ComparedInput, InputRun);

impl Comparison<'_> {
    /// Asks about the answers to inputs on which the unpatched program errs.
    pub(super) async fn ask_about_erring(&mut self) -> Result<()> {
        let povs = given_inputs::povs(self.programs.task())?;
        let mut answered = self.answers_where_it_errs(&povs).await?;
        let number = answered.len() as u64;
        self.count("inputs that only the patched program answers", number);
        let near = self.near(&povs, &answered);
        let stands_out = |(input, run): &Answered| {
            povs.contains(&input.bytes) && near.is_against(run.ending.success())
        };
        let alone = answered.iter().position(stands_out);
        if let Some(index) = alone {
            answered.swap(0, index);
        }
        let mut shown: Vec<Answered> = most_different(&answered).into_iter().cloned().collect();
        self.add_values(&mut shown).await?;
        for (input, run) in &shown {
            self.keep_answer(&input.name, &input.bytes, run);
        }
        let Some((input, after)) = answered.first().cloned() else {
            return Ok(());
        };
        let what = match alone {
            Some(_) => near.told(after.ending.success()),
            None => format!(
                "one of {} on which only the patched program answers; is this what a correct program says?",
                counted(answered.len() as u64, "input")
            ),
        };
        let mut one = Differing::new(input, what, [&self.crash_of_the_pov(), &after]);
        let settled = self.accepted(&one);
        one.settled = settled.or_else(|| alone.is_none().then(|| TOLD.to_owned()));
        self.keep_doubt(&one);
        Ok(())
    }

    /// Runs the patched program where the unpatched one errs.
    async fn answers_where_it_errs(&self, povs: &[Vec<u8>]) -> Result<Vec<Answered>> {
        let name = |_| "the PoV".to_owned();
        let mut inputs = ComparedInput::numbered(InputKind::Derived, povs.to_vec(), name);
        inputs.extend(self.crashing.iter().cloned());
        inputs.truncate(MOST_INPUTS);
        let runs = self.run(&self.programs.new, &inputs, self.again());
        let mut runs = runs.await?;
        let inputs = inputs.into_iter().enumerate();
        let answered = inputs.filter_map(|(index, input)| Some((input, runs.remove(&index)?)));
        Ok(answered.filter(|(_, run)| !run.is_failure()).collect())
    }

    /// Adds to the answers of a program that shows nothing what its harness receives.
    async fn add_values(&self, answers: &mut [Answered]) -> Result<()> {
        if self.functions.is_empty() || self.outputs_seen.is_empty() || !self.is_silent() {
            return Ok(());
        }
        let inputs: Vec<ComparedInput> = answers.iter().map(|(input, _)| input.clone()).collect();
        let how = Inputs {
            capture: Capture::Values(self.functions.clone()),
            ..self.again()
        };
        for (index, run) in self.run(&self.programs.new, &inputs, how).await? {
            if let Some((_, answer)) = answers.get_mut(index) {
                let values = format!("\nvalues: {}", Values::read(&run).in_words());
                answer.output.extend(values.bytes());
            }
        }
        Ok(())
    }

    /// Counts what the patched program does with mutants of the PoVs: with those of the form of
    /// one on which the unpatched program is defined, or else with all.
    fn near(&self, povs: &[Vec<u8>], answered: &[Answered]) -> Near {
        let compared = self.compared.iter();
        let compared = compared.filter(|input| input.kind == InputKind::Derived);
        let is_refused = |input: &ComparedInput| input.refused;
        let forms: BTreeSet<String> = povs.iter().filter_map(|pov| form(pov)).collect();
        let has_form =
            |input: &&ComparedInput| form(&input.bytes).is_some_and(|form| forms.contains(&form));
        let own = Near::of(true, compared.clone().filter(has_form).map(is_refused));
        if own.refused + own.accepted >= FEWEST {
            return own;
        }
        let mutants = answered.iter();
        let mutants = mutants.filter(|(input, _)| !povs.contains(&input.bytes));
        let erring = mutants.map(|(_, run)| !run.ending.success());
        Near::of(false, compared.map(is_refused).chain(erring))
    }

    pub(super) fn crash_of_the_pov(&self) -> InputRun {
        let crash = self.programs.crash();
        InputRun {
            index: 0,
            ending: self.programs.before.replay.execution.ending,
            output: crash.map_or_else(Vec::new, |crash| crash.summary.clone().into_bytes()),
        }
    }

    /// Keeps what the patched program says on an input, for somebody who knows what a right
    /// program says there. Answers that end in the same way and are alike but for
    /// numbers are kept once.
    pub(super) fn keep_answer(&mut self, name: &str, bytes: &[u8], after: &InputRun) {
        let said = shown(after);
        let plain = without_digits(&said);
        let ending = said.lines().next().unwrap_or_default();
        let answers = &mut self.result.answers;
        let mut kept = answers.iter();
        let known =
            kept.any(|answer| answer.contains(ending) && without_digits(answer).contains(&plain));
        if answers.len() < MOST_ANSWERS && !known {
            let bytes = feedback::input(bytes);
            answers.push(format!("{name}: {said}\nThe input: {bytes}"));
        }
    }
}

/// The numbers of mutants of the PoVs that are refused and accepted.
#[derive(Debug, Default)]
struct Near {
    refused: usize,
    accepted: usize,
    /// True where they differ from a PoV in numbers alone.
    of_form: bool,
}

impl Near {
    fn of(of_form: bool, refused: impl Iterator<Item = bool>) -> Self {
        let (refused, accepted): (Vec<bool>, Vec<bool>) = refused.partition(|one| *one);
        Self {
            refused: refused.len(),
            accepted: accepted.len(),
            of_form,
        }
    }

    /// Tells whether most of them are answered in the other way than a PoV.
    fn is_against(&self, is_accepted: bool) -> bool {
        if is_accepted {
            self.refused >= FEWEST && self.refused > self.accepted
        } else {
            self.of_form && self.accepted >= FEWEST && self.accepted > self.refused
        }
    }

    /// Says how a PoV stands out among them.
    fn told(&self, is_accepted: bool) -> String {
        let (refused, accepted) = (self.refused, self.accepted);
        let all = refused + accepted;
        let which = if self.of_form {
            "that differ from it in numbers alone"
        } else {
            "near it"
        };
        if is_accepted {
            format!(
                "accepted now, while {refused} of {all} inputs {which} are refused; is it malformed as they are?"
            )
        } else {
            format!(
                "refused now, while {accepted} of {all} inputs {which} are accepted; is it malformed, or would a correct program take it?"
            )
        }
    }
}

/// Returns a text with one digit in place of each number; nothing for other bytes, or without a
/// number.
fn form(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let form = regex!("[0-9]+").replace_all(text, "0");
    form.contains('0').then(|| form.into_owned())
}

/// Returns the first answer and those that differ most from it and from each other: with other
/// ends first, then with other words.
fn most_different(answered: &[Answered]) -> Vec<&Answered> {
    let mut ends = BTreeSet::new();
    let is_new = |(_, run): &&Answered| ends.insert(run.ending.to_string());
    let (by_end, others): (Vec<_>, Vec<_>) = answered.iter().partition(is_new);
    let mut words = BTreeSet::new();
    let mut chosen: Vec<&Answered> = by_end.into_iter().chain(others).collect();
    chosen.retain(|(_, run)| words.insert(without_digits(&shown(run))));
    chosen.truncate(MOST_SHOWN);
    chosen
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|one| !one.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Answered, ComparedInput, InputKind, InputRun, Near, form, most_different};
    use patchwright_sandbox::process::Ending;

    fn answered(name: &str, status: i32, said: &str) -> Answered {
        let input = ComparedInput::new(InputKind::Derived, name.to_owned(), name.into());
        let run = InputRun {
            index: 0,
            ending: Ending::Exited(status),
            output: said.into(),
        };
        (input, run)
    }

    #[test]
    fn of_a_class_the_most_different_answers_are_shown() {
        let all = [
            answered("the PoV", 0, "7 items"),
            answered("a", 0, "9 items"),
            answered("b", 0, "no items"),
            answered("c", 1, "malformed"),
            answered("d", 0, "all items"),
        ];
        let found = most_different(&all);
        let names: Vec<_> = found.iter().map(|(input, _)| input.name.as_str()).collect();
        assert_eq!(names, ["the PoV", "c", "b"]);
        assert!(most_different(&[]).is_empty());
    }

    #[test]
    fn most_of_what_lies_near_is_answered_in_another_way() {
        for (of_form, refused, accepted, is_accepted, expected) in [
            (false, 3, 2, true, true),
            (false, 2, 0, true, false),
            (false, 4, 4, true, false),
            (false, 0, 9, false, false),
            (true, 1, 3, false, true),
            (true, 3, 3, false, false),
            (true, 0, 2, false, false),
        ] {
            let near = Near {
                refused,
                accepted,
                of_form,
            };
            assert_eq!(near.is_against(is_accepted), expected, "{near:?}");
        }
    }

    #[test]
    fn inputs_that_differ_in_numbers_have_one_form() {
        assert_eq!(form(b"1e922337 + 07"), form(b"0e5 + 1"));
        assert_ne!(form(b"1e9"), form(b"1e"));
        assert_eq!(form(b"x"), None);
        assert_eq!(form(&[b'1', 0xff]), None);
    }
}
