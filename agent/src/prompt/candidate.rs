//! Questions about a patch that nothing refuted: to a critic, to the author of inputs against
//! it, to the author of a regression test, and to a model that chooses among several. What is
//! asked of the author of a patch is the business of the module above.

use super::template::render;
use super::{Difference, language_name, shown, surroundings};
use crate::plan::Plan;
use crate::record::{Attempt, BaselineSummary, ChallengedRecord, Doubt, Rung, TestFiles};
use itertools::Itertools;
use minijinja::value::Serde;
use minijinja::{Value, context};
use patchwright_source::Language;
use patchwright_verdict::RungName;

/// Differences that are shown with their inputs, and decided at once.
pub(crate) const SHOWN_DIFFERENCES: usize = 6;
/// Inputs that a critic may name with an objection.
pub(crate) const CRITIC_INPUTS: usize = 3;
/// Answers to crashing inputs that a critic is shown.
const ANSWERS: usize = 12;
/// Answers to crashing inputs that the author of challenges is shown.
const CHALLENGED: usize = 3;

/// Tells whether a question asks a critic for its verdict.
pub fn asks_for_verdict(question: &str) -> bool {
    question.contains("<verdict>accept</verdict>")
}

/// The question what a critic thinks of a patch that nothing refuted.
pub fn critic(
    (language, baseline): (Language, &BaselineSummary),
    crash: &str,
    (attempt, last): (&Attempt, &Rung),
    code: &str,
) -> String {
    let rungs: Vec<&Rung> = attempt.rungs.iter().chain([last]).collect();
    let doubts = doubt_lines(rungs.iter().flat_map(|rung| &rung.doubts));
    let answers = rungs.iter().flat_map(|rung| rung.answers.clone());
    let answers: Vec<String> = answers.take(ANSWERS).collect();
    let differences = rungs.iter().flat_map(|rung| rung.open_differences());
    let differences: Vec<Difference<'_>> = differences.take(SHOWN_DIFFERENCES).collect();
    render(
        "critic.md",
        context! {
            language => language_name(language),
            crash,
            povs => shown_povs(baseline),
            inputs => CRITIC_INPUTS,
            diff => attempt.diff.clone(),
            surroundings => surroundings(attempt, code),
            code,
            observed => rungs.iter().filter(|rung| is_told(rung)).map(|rung| rung.in_words("is open")).join("\n"),
            answers,
            doubts => doubts.join("\n"),
            differences => shown(&differences),
        },
    )
}

/// Tells whether a rung says something to a reader: a patch that compiles has been applied and parsed.
fn is_told(rung: &Rung) -> bool {
    rung.holds != Some(true) || rung.name >= RungName::Builds
}

/// Returns a line for each open doubt, and one for all that were settled alike.
fn doubt_lines<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut settled: Vec<(&Doubt, usize)> = Vec::new();
    for doubt in doubts {
        let mut known = settled.iter_mut();
        let alike = known.find(|(one, _)| one.settled == doubt.settled);
        match (&doubt.settled, alike) {
            (None, _) => lines.push(doubt.to_string()),
            (Some(_), Some((_, more))) => *more += 1,
            (Some(_), None) => settled.push((doubt, 0)),
        }
    }
    lines.extend(settled.into_iter().map(|(first, more)| match more {
        0 => first.to_string(),
        more => format!("{first}; {more} more settled in the same way"),
    }));
    lines
}

/// A critic's answer that holds no verdict.
pub fn critic_again() -> String {
    render("critic_again.md", context! {})
}

/// The answers of both programs to the inputs that a critic named; `first` is the name of one.
pub fn examined(told: &ChallengedRecord, first: &str) -> String {
    let rung = &told.rung;
    render(
        "examined.md",
        context! {
            lines => told.lines.join("\n"),
            answers => rung.answers.clone(),
            differences => shown(&rung.open_differences()),
            first,
            shows => told.shows_something(),
        },
    )
}

/// The request for inputs that show a patch to be wrong.
pub fn challenge(
    (plan, baseline): (&Plan, &BaselineSummary),
    crash: &str,
    (attempt, compared): (&Attempt, &Rung),
    code: &str,
) -> String {
    // A line for each rung, with a reason where it is open.
    let rungs = attempt.rungs.iter().chain([compared]);
    let rungs = rungs.filter(|rung| is_told(rung));
    let mut rungs = rungs.map(|rung| match rung.holds {
        Some(true) => format!("{} holds", rung.name),
        _ => rung.in_words("is open"),
    });
    let answers: Vec<String> = compared.answers.iter().take(CHALLENGED).cloned().collect();
    render(
        "challenge.md",
        context! {
            language => language_name(plan.language),
            crash,
            povs => shown_povs(baseline),
            harness => baseline.harness.clone(),
            diff => attempt.diff.clone(),
            surroundings => surroundings(attempt, code),
            observed => rungs.join("\n"),
            conditions => compared.conditions.join("\n"),
            answers,
            code,
            inputs => plan.limits.challenge_inputs,
        },
    )
}

fn shown_povs(baseline: &BaselineSummary) -> Vec<String> {
    let povs = baseline.povs.iter();
    povs.map(|pov| {
        let beside = pov.beside.iter();
        let beside = beside.map(|file| format!("\n\nThe command names {file}"));
        let (name, command, text) = (&pov.name, &pov.command, &pov.text);
        let beside: String = beside.collect();
        format!("{name}\nis run by: {command}\n{text}{beside}")
    })
    .collect()
}

/// The request for a regression test that goes with a patch.
pub fn regression_test(
    (plan, baseline): (&Plan, &BaselineSummary),
    crash: &str,
    attempt: &Attempt,
    tests: &TestFiles,
) -> String {
    let answers = attempt.rungs.iter().flat_map(|rung| rung.answers.clone());
    render(
        "regression_test.md",
        context! {
            language => language_name(plan.language),
            crash,
            title => plan.title.clone(),
            note => plan.hints.note.clone(),
            povs => shown_povs(baseline),
            diff => attempt.diff.clone(),
            answers => answers.take(CHALLENGED).collect::<Vec<_>>(),
            command => tests.command.clone(),
            files => tests.text.clone(),
        },
    )
}

/// The question which of several patches with equal evidence is the best.
pub fn judge(language: Language, crash: &str, candidates: &[&Attempt]) -> String {
    let candidates = Value::from(Serde(candidates));
    render(
        "judge.md",
        context! { language => language_name(language), crash, candidates },
    )
}

#[cfg(test)]
mod tests {
    use super::super::objection;
    use super::super::tests::{attempt, difference, left, settled};
    use super::{critic, critic_again, examined};
    use crate::record::{BaselineSummary, ChallengedRecord, PovRecord, Rung};
    use patchwright_source::Language;
    use patchwright_verdict::RungName;

    #[test]
    fn critic_prompt() {
        let mut attempt = attempt();
        attempt.patch.explanation = Some("the length was not checked".into());
        let last = Rung {
            name: RungName::Reviewed,
            holds: Some(true),
            doubts: vec![
                settled("mutant 1"),
                difference("exit 0 became exit 1 (derived)"),
                settled("mutant 2"),
                settled("mutant 3"),
            ],
            ..attempt.rungs[0].clone()
        };
        let baseline = BaselineSummary {
            povs: vec![PovRecord {
                name: "long.txt".into(),
                command: "\"$OUT\"/harness \"$POV\"".into(),
                text: "(3 bytes of text)\nabc".into(),
                ..PovRecord::default()
            }],
            ..BaselineSummary::default()
        };
        let applied = Rung::new(RungName::Applies, Some(true), "every edit was located");
        attempt.rungs.push(applied);
        let of = (Language::C, &baseline);
        let text = critic(of, "crash", (&attempt, &last), "b.c:2-2\n2: y\n");
        assert!(!text.contains("the length was not checked"), "{text}");
        // What compiles has been applied.
        assert!(!text.contains("applies holds"), "{text}");
        insta::assert_snapshot!(text);
        insta::assert_snapshot!(critic_again());
    }

    #[test]
    fn objection_prompts() {
        let rung = Rung {
            doubts: vec![difference("objection 1.2: exit 0 became exit 1")],
            answers: vec!["objection 1.1 (\"x\"): exit 0, prints 7".into()],
            ..attempt().rungs[0].clone()
        };
        let told = ChallengedRecord {
            rung,
            kept: Vec::new(),
            lines: vec![
                "objection 1.1 makes the unpatched program crash as the PoV does".into(),
                "objection 1.2 is accepted by the unpatched program".into(),
                "objection 1.3 could not be made: it is no hex".into(),
            ],
        };
        insta::assert_snapshot!(examined(&told, "objection 1.1"));
        let nothing = ChallengedRecord {
            rung: attempt().rungs[0].clone(),
            ..told
        };
        insta::assert_snapshot!(examined(&nothing, "objection 1.1"));
        insta::assert_snapshot!(objection(&attempt(), "a.c:3 is off by one", &left(1, 9)));
    }
}
