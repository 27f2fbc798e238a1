//! Prompts for the model, made from the templates in `prompts/`.
//!
//! Strict: a template that names a variable nobody gives is an error, found by
//! the tests. Text from outside enters only through the filter `fence`, and
//! control tokens of chat templates are broken up wherever they stand. No
//! template is given an address, a process id, a temporary path or a time, so
//! that the same run always makes the same prompts.

mod candidate;
pub(crate) mod control_tokens;
mod surroundings;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use candidate::{CRITIC_INPUTS, SHOWN_DIFFERENCES};
pub use candidate::{
    asks_for_verdict, challenge, critic, critic_again, examined, judge, regression_test,
};
pub use template::fence;

use crate::hints::delta;
use crate::plan::{Origin, Plan, QUERIES};
use crate::record::{
    Attempt, BaselineSummary, Crash, Doubt, DoubtedInput, Left, ProbeTold, Revision,
};
use crate::task::Mode;
use minijinja::value::Serde;
use minijinja::{Value, context};
use patchwright_retrieval::{Candidate, FILE_LINES};
use patchwright_source::Language;
use surroundings::surroundings;
use template::render;

/// A difference of behaviour, and the input that shows it.
pub type Difference<'a> = (&'a Doubt, &'a DoubtedInput);

/// Judge of a difference that the author of a patch contests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    Critic,
    Person,
}

/// Names of fuzzing entry points: those of libFuzzer and of Jazzer, with their parameters.
const ENTRIES: [&str; 2] = ["LLVMFuzzerTestOneInput(const", "fuzzerTestOneInput("];
/// Lines of a harness that are shown.
const HARNESS_LINES: usize = 24;

/// The first message of every conversation.
pub fn system(plan: &Plan) -> String {
    render(
        "system.md",
        context! {
            language => language_name(plan.language),
            java => plan.language == Language::Java,
            cpp => plan.language == Language::Cpp,
            limits => context! { queries_max => QUERIES, file_lines => FILE_LINES },
            protect => plan.protect.clone(),
            probes => plan.probes(),
        },
    )
}

/// The crash that a lane starts from, with the code that goes with it.
pub fn first_issue(
    (plan, origin): (&Plan, Origin),
    baseline: &BaselineSummary,
    crash: &Crash,
    code: &str,
    budget: &Left,
) -> String {
    let others = baseline.crashes.iter().skip(1);
    let others: Vec<String> = others.map(|crash| crash.text.clone()).collect();
    let first_pov = baseline.povs.first().cloned().unwrap_or_default();
    render(
        "issue.md",
        context! {
            title => plan.title.clone(),
            origin => origin.as_str(),
            executed => plan.mode == Mode::Repair,
            crash => crash.text.clone(),
            others,
            command => first_pov.command,
            beside => first_pov.beside,
            pov => first_pov.text,
            harness => unseen(&baseline.harness, code),
            tests => baseline.tests.clone(),
            note => plan.hints.note.clone(),
            diff => plan.hints.diff.as_ref().map(|diff| delta::ordered(diff, &crash.frames)),
            sarif => plan.hints.sarif.as_ref().filter(|_| origin != Origin::Finding),
            context => code,
            left => left(budget),
        },
    )
}

/// The fuzzing entry point of a harness, unless it is shown already. Code without one is that of
/// the program.
fn unseen(harness: &str, code: &str) -> String {
    let names_entry = |line: &str| ENTRIES.iter().any(|name| line.contains(name));
    let Some(from) = harness.lines().position(names_entry) else {
        return String::new();
    };
    let mut kept = Vec::new();
    for line in harness.lines().skip(from).take(HARNESS_LINES) {
        kept.push(line);
        if line.starts_with('}') {
            break;
        }
    }
    let lines = kept.iter().map(|line| line.trim());
    match lines.max_by_key(|line| line.len()) {
        Some(line) if !line.is_empty() && !code.contains(line) => kept.join("\n"),
        _ => String::new(),
    }
}

/// A patch that a person rejected, and the reason: an issue beside the crash.
pub fn revision(revision: &Revision) -> String {
    render("revision.md", Value::from(Serde(revision)))
}

/// The answers of a round: those to its queries, then those to its probes.
pub fn answers(round: u32, answers: &str, probes: &[ProbeTold], budget: &Left) -> String {
    render(
        "answers.md",
        context! { round, answers, probes => Value::from(Serde(probes)), left => left(budget) },
    )
}

/// A reply that could not be used, and why.
pub fn problem(problem: &str, budget: &Left) -> String {
    render("problem.md", context! { problem, left => left(budget) })
}

/// A failed attempt: the issue that the next round starts from.
pub fn feedback(
    (attempt, code): (&Attempt, &str),
    (differences, contest): (&[Difference<'_>], Option<Decider>),
    alternatives: bool,
    budget: &Left,
) -> String {
    let refuted = attempt.refuted_by();
    let feedback = refuted.map(|rung| rung.feedback.clone().unwrap_or_else(|| rung.reason.clone()));
    render(
        "feedback.md",
        context! {
            rung => refuted.map(|rung| rung.name.as_str()),
            feedback,
            differences => shown(differences),
            contest => contest.is_some(),
            reviewed => contest == Some(Decider::Critic),
            warnings => attempt.warnings.clone(),
            patch => attempt.diff.clone(),
            context => code,
            alternatives,
            left => left(budget),
        },
    )
}

/// The question about an attempt that stands and answers some inputs differently.
pub fn differences(
    attempt: &Attempt,
    (differences, decider): (&[Difference<'_>], Decider),
    budget: &Left,
) -> String {
    render(
        "differences.md",
        context! {
            reviewed => decider == Decider::Critic,
            differences => shown(differences),
            patch => attempt.diff.clone(),
            left => left(budget),
        },
    )
}

/// The question about a patch that stands, and that a reviewer objects to without a run
/// that shows it.
pub fn objection(attempt: &Attempt, objection: &str, budget: &Left) -> String {
    render(
        "objection.md",
        context! {
            objection,
            patch => attempt.diff.clone(),
            left => left(budget),
        },
    )
}

/// The offer to send another patch beside one that stands, where a person decides about what its
/// author contests.
pub fn left_open(budget: &Left) -> String {
    render("left_open.md", context! { left => left(budget) })
}

/// The question whether the other behaviour of a patch is right. Nothing that its author wrote
/// is in it.
pub fn contest(
    (language, crash): (Language, &str),
    (attempt, code): (&Attempt, &str),
    differences: &[Difference<'_>],
) -> String {
    render(
        "contest.md",
        context! {
            language => language_name(language),
            crash,
            diff => attempt.diff.clone(),
            surroundings => surroundings(attempt, code),
            code,
            differences => shown(differences),
        },
    )
}

/// Describes differences: each with its input and both behaviours.
fn shown(differences: &[Difference<'_>]) -> Vec<String> {
    let described = differences.iter().map(|(doubt, input)| {
        let diverges = input.diverges.as_ref();
        let diverges =
            diverges.map(|value| format!("The first value that differs inside: {value}\n"));
        format!(
            "{}\nThe input (compared with the PoV: {}):\n{}\n\nWithout the patch: {}\n\nWith the patch: {}\n{}",
            doubt.what,
            input.change,
            input.text.trim_end(),
            input.before.trim_end(),
            input.after.trim_end(),
            diverges.unwrap_or_default(),
        )
    });
    described.collect()
}

/// The request to say what of the conversation still matters.
pub fn compact() -> String {
    render("compact.md", context! {})
}

/// A conversation told in short: what is known, what was tried, the code that
/// still matters, and the message that waits for an answer.
pub fn compacted(
    crash: &str,
    findings: &str,
    attempts: &[&Attempt],
    code: &str,
    waiting: &str,
) -> String {
    let attempts: Vec<Value> = attempts
        .iter()
        .map(|attempt| {
            let refuted = attempt.refuted_by();
            let reason = refuted.map_or("", |rung| rung.reason.as_str());
            context! { rung => refuted.map(|rung| rung.name.as_str()), reason, diff => attempt.diff.clone() }
        })
        .collect();
    render(
        "compacted.md",
        context! { crash, findings, attempts, code, waiting },
    )
}

/// The request for patterns that hit what somebody looks for.
pub fn patterns(request: &str, languages: &[String]) -> String {
    render(
        "patterns.md",
        context! {
            request,
            languages => languages.join(", "),
            java => languages == [language_name(Language::Java)],
        },
    )
}

/// The request for SQL that finds what belongs to the code that fits best.
pub fn anchors(request: &str, anchors: &[Candidate]) -> String {
    let anchors: Vec<Value> = anchors
        .iter()
        .map(|one| context! { name => one.name.clone(), place => one.place.clone(), text => one.text.clone() })
        .collect();
    render("anchors.md", context! { request, anchors, java => false })
}

/// The request for further words of a search.
pub fn words(request: &str) -> String {
    render("words.md", context! { request })
}

fn left(left: &Left) -> String {
    render("left.md", context! { left => Value::from(Serde(left)) })
        .trim()
        .to_owned()
}

/// Returns the name of a language as people write it.
fn language_name(language: Language) -> String {
    match language {
        Language::C => "C".to_owned(),
        Language::Cpp => "C++".to_owned(),
        Language::Java => "Java".to_owned(),
        other => other.to_string(),
    }
}
