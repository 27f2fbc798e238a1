//! Questions about a patch that nothing refuted: to a critic, to the author of inputs against
//! it, to the author of a regression test, and to a model that chooses among several. What is
//! asked of the author of a patch is the business of the module above.

use super::template::render;
use super::{Difference, language_name, shown};
use crate::plan::Plan;
use crate::record::{Attempt, BaselineSummary, DoubtRecord, RungRecord, TestFiles};
use minijinja::{Value, context};
use patchwright_source::Language;

/// Differences that a critic is shown with their inputs.
pub(crate) const CRITIC_DIFFERENCES: usize = 4;
/// Answers to crashing inputs that a critic is shown.
const ANSWERS: usize = 12;
/// Answers to crashing inputs that the author of challenges is shown.
const CHALLENGED: usize = 3;

/// The question what a critic thinks of a patch that nothing refuted.
pub fn critic(
    language: Language,
    crash: &str,
    (attempt, last): (&Attempt, &RungRecord),
    code: &str,
) -> String {
    let rungs: Vec<&RungRecord> = attempt.rungs.iter().chain([last]).collect();
    let observed: Vec<String> = rungs
        .iter()
        .map(|rung| {
            let word = match rung.holds {
                Some(true) => "holds",
                Some(false) => "does not hold",
                None => "could not be looked at",
            };
            format!("{} {word}: {}", rung.name.name(), rung.reason)
        })
        .collect();
    let doubts = doubt_lines(rungs.iter().flat_map(|rung| &rung.doubts));
    let answers: Vec<String> = rungs
        .iter()
        .flat_map(|rung| rung.answers.clone())
        .take(ANSWERS)
        .collect();
    let differences: Vec<Difference<'_>> = rungs
        .iter()
        .flat_map(|rung| rung.open_differences())
        .take(CRITIC_DIFFERENCES)
        .collect();
    render(
        "critic.md",
        context! {
            language => language_name(language),
            crash,
            explanation => attempt.patch.explanation.clone(),
            diff => attempt.diff.clone(),
            surroundings => attempt.surroundings.clone(),
            code,
            observed => observed.join("\n"),
            answers,
            doubts => doubts.join("\n"),
            differences => shown(&differences),
        },
    )
}

/// Returns a line for each open doubt, and one for all that were settled alike.
fn doubt_lines<'d>(doubts: impl Iterator<Item = &'d DoubtRecord>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut settled: Vec<(&DoubtRecord, usize)> = Vec::new();
    for doubt in doubts {
        let alike = settled
            .iter_mut()
            .find(|(one, _)| one.settled == doubt.settled);
        match (&doubt.settled, alike) {
            (None, _) => lines.push(doubt.line()),
            (Some(_), Some((_, more))) => *more += 1,
            (Some(_), None) => settled.push((doubt, 0)),
        }
    }
    lines.extend(settled.into_iter().map(|(first, more)| match more {
        0 => first.line(),
        more => format!("{}; {more} more settled in the same way", first.line()),
    }));
    lines
}

/// A critic's answer that holds no verdict.
pub fn critic_again() -> String {
    render("critic_again.md", context! {})
}

/// The request for inputs that show a patch to be wrong.
pub fn challenge(
    (plan, baseline): (&Plan, &BaselineSummary),
    crash: &str,
    (attempt, compared): (&Attempt, &RungRecord),
    code: &str,
) -> String {
    let povs = shown_povs(baseline);
    let answers: Vec<String> = compared.answers.iter().take(CHALLENGED).cloned().collect();
    render(
        "challenge.md",
        context! {
            language => language_name(plan.language),
            crash,
            povs,
            harness => baseline.harness.clone(),
            diff => attempt.diff.clone(),
            surroundings => attempt.surroundings.clone(),
            answers,
            code,
            inputs => plan.limits.challenge_inputs,
        },
    )
}

fn shown_povs(baseline: &BaselineSummary) -> Vec<String> {
    let povs = baseline.povs.iter();
    povs.map(|pov| format!("{}\nis run by: {}\n{}", pov.name, pov.command, pov.text))
        .collect()
}

/// The request for a regression test that goes with a patch.
pub fn regression_test(
    (plan, baseline): (&Plan, &BaselineSummary),
    crash: &str,
    diff: &str,
    tests: &TestFiles,
) -> String {
    render(
        "regression_test.md",
        context! {
            language => language_name(plan.language),
            crash,
            povs => shown_povs(baseline),
            diff,
            command => tests.command.clone(),
            files => tests.text.clone(),
        },
    )
}

/// The question which of several patches with equal evidence is the best.
pub fn judge(language: Language, crash: &str, candidates: &[&Attempt]) -> String {
    let candidates: Vec<Value> = candidates
        .iter()
        .map(|attempt| {
            context! {
                number => attempt.number,
                explanation => attempt.patch.explanation.clone(),
                diff => attempt.diff.clone(),
            }
        })
        .collect();
    render(
        "judge.md",
        context! { language => language_name(language), crash, candidates },
    )
}
