//! Evidence of a candidate: the ladder with its logs, the doubts with both outputs,
//! and the crash and the tests before and after.

use crate::layout::{lazy, mark};
use crate::run::{LADDER, log_path, refuting};
use crate::text::{first_line, seconds, shown, shown_line};
use crate::view::CandidateView;
use maud::{Markup, html};
use patchwright_agent::record::Observed;
use patchwright_agent::report::{AttemptReport, DoubtReport, RungReport};
use patchwright_store::reviews::DecisionKind;

/// Writes the ladder, rung by rung.
pub(super) fn ladder(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let run = &view.run.report.run;
    html! {
        section.evidence aria-labelledby="evidence" {
            h2 #evidence { "Evidence" }
            @for name in LADDER {
                @match attempt.rungs.iter().find(|rung| rung.name == name) {
                    Some(rung) => { (rung_part(run, rung)) }
                    None => { p.rung.none { span.mark.none { "·" } " " (name) " " span.muted { "not climbed" } } }
                }
            }
        }
    }
}

fn rung_part(run: &str, rung: &RungReport) -> Markup {
    let told = html! {
        (mark(rung.holds)) " " strong { (shown_line(&rung.name)) } " " span.muted { (seconds(rung.seconds)) }
        div.reason { (first_line(&rung.reason)) }
    };
    let rest = rung
        .reason
        .trim()
        .split_once('\n')
        .map(|(_, rest)| rest.trim());
    html! {
        details.rung {
            summary { (told) }
            div.inside {
                @if let Some(rest) = rest.filter(|rest| !rest.is_empty()) { pre.log tabindex="0" { (shown(rest)) } }
                @if !rung.counts.is_empty() {
                    ul.figures { @for (name, count) in &rung.counts { li { (count) " " (shown_line(name)) } } }
                }
                @if let Some(log) = &rung.log { (lazy(&html! { "Log of " (shown_line(&rung.name)) }, &log_path(run, log), false)) }
                @else { p.muted { "No log." } }
            }
        }
    }
}

/// Writes why an attempt was refused: the observation and its log.
pub(super) fn refusal(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let run = &view.run.report.run;
    html! {
        @if let Some(rung) = refuting(attempt) {
            section aria-labelledby="refusal" {
                h2 #refusal { "Why it was refused" }
                p { (meaning(&rung.name)) }
                @if rung.reason.trim().contains('\n') { pre.log tabindex="0" { (shown(rung.reason.trim())) } }
                @if let Some(log) = &rung.log { (lazy(&html! { "Log of " (shown_line(&rung.name)) }, &log_path(run, log), true)) }
            }
        }
    }
}

/// Explains a rung to a newcomer.
fn meaning(rung: &str) -> &'static str {
    match rung {
        "applies" => {
            "Every edit must have one place in the unpatched tree, in a file that may be edited."
        }
        "parses" => "The patched files must have no new syntax error.",
        "builds" => "The patched program must build.",
        "silent" => "The input that crashed the program must not crash it any more.",
        "tested" => "Every test that passed before must still pass.",
        "robust" => "Variants of the crashing input must not bring the crash back.",
        "same elsewhere" => "On harmless inputs the program must behave as before.",
        "reviewed" => "The patch must treat the cause: nothing hidden, weakened or removed.",
        _ => "This check refused the patch.",
    }
}

/// Writes the doubts of all rungs, each with its input and both outputs.
pub(super) fn doubts(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let all: Vec<&DoubtReport> = attempt.rungs.iter().flat_map(|rung| &rung.doubts).collect();
    html! {
        @if !all.is_empty() {
            section aria-labelledby="doubts" {
                h2 #doubts { "Doubts" }
                @for doubt in all { (doubt_part(view, doubt)) }
            }
        }
    }
}

fn doubt_part(view: &CandidateView, doubt: &DoubtReport) -> Markup {
    let mut decisions = view.run.decisions.iter().rev();
    let contested = decisions.find(|one| {
        one.made.kind == DecisionKind::Contest
            && one.made.attempt == view.number
            && one.made.input == doubt.input
    });
    let settled = doubt.settled.is_some() || contested.is_some();
    let text = view
        .inputs
        .iter()
        .find(|(hash, _)| Some(hash) == doubt.input.as_ref())
        .map(|(_, text)| text);
    html! {
        article.doubt {
            h3 { (mark(if settled { Some(true) } else { None })) " " (first_line(&doubt.what)) }
            @if let Some(settled) = &doubt.settled { p { strong { "Settled: " } (first_line(settled)) } }
            @if let Some(decision) = contested { p { strong { (shown_line(&decision.made.who)) " finds the new output right" } @if !decision.made.reason.is_empty() { ": " (shown_line(&decision.made.reason)) } } }
            @if let Some(reason) = &doubt.contested { p { strong { "The author contests it: " } (first_line(reason)) } }
            @if !doubt.change.is_empty() { p.muted { "The input: " (first_line(&doubt.change)) } }
            @if let Some(text) = text { pre.log.input tabindex="0" { (shown(text)) } }
            @if !doubt.before.is_empty() || !doubt.after.is_empty() {
                div.pair {
                    div { h4 { "Output before" } pre.log tabindex="0" { (shown(&doubt.before)) } }
                    div { h4 { "Output after" } pre.log tabindex="0" { (shown(&doubt.after)) } }
                }
            }
            @if let (Some(input), false, true) = (&doubt.input, settled, view.run.viewer.decides) { (contest(view, input)) }
        }
    }
}

fn contest(view: &CandidateView, input: &str) -> Markup {
    html! {
        form.row method="post" action={ (view.path()) "/contest" } {
            input type="hidden" name="input" value=(input);
            label { "Reason " input name="reason" maxlength="4000" required placeholder="why the new output is right"; }
            button { "The new output is right" }
        }
    }
}

/// Writes the crash and the tests, each before and after the patch.
pub(super) fn before_and_after(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let baseline = &view.run.report.baseline;
    let povs: Vec<&Observed> = baseline
        .iter()
        .filter(|one| !one.name.starts_with("build") && one.name != "tests")
        .collect();
    let tests: Vec<&Observed> = baseline.iter().filter(|one| one.name == "tests").collect();
    let rung = |name: &str| attempt.rungs.iter().find(|rung| rung.name == name);
    html! {
        @if !povs.is_empty() { (pair(view, ("crash-pair", "The crash before and after"), &povs, rung("silent"))) }
        @if !tests.is_empty() { (pair(view, ("test-pair", "The tests before and after"), &tests, rung("tested"))) }
    }
}

fn pair(
    view: &CandidateView,
    (id, title): (&str, &str),
    before: &[&Observed],
    after: Option<&RungReport>,
) -> Markup {
    let run = &view.run.report.run;
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            div.pair {
                div {
                    h3 { "Before" }
                    @for one in before {
                        p { (shown_line(&one.name)) ": " (first_line(&one.text)) }
                        @if let Some(log) = &one.log { (lazy(&html! { "Log" }, &log_path(run, log), false)) }
                    }
                }
                div {
                    h3 { "After" }
                    @if let Some(rung) = after {
                        p { (mark(rung.holds)) " " (first_line(&rung.reason)) }
                        @if let Some(log) = &rung.log { (lazy(&html! { "Log" }, &log_path(run, log), false)) }
                    } @else { p.empty { "Not reached." } }
                }
            }
        }
    }
}
