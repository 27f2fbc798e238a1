//! Candidate: the verdict first, then the diff, the doubts, the crash and the tests
//! before and after, and the buttons of a decision.

mod evidence;

use crate::hunks;
use crate::layout::{badge, page};
use crate::run::{attempt_path, decided, decisions, open_rungs, prose, refuting};
use crate::text::{first_line, seconds, shown_line};
use crate::view::{CandidateView, DiffStyle, Viewer};
use maud::{Markup, html};
use patchwright_agent::report::AttemptReport;
use patchwright_agent::report_text;

/// Writes the page of a candidate; `None` when the run has no such attempt.
pub fn candidate(view: &CandidateView) -> Option<String> {
    let attempt = view.attempt()?;
    let content = html! {
        (head(view, attempt))
        div.columns {
            div.main {
                (evidence::refusal(view, attempt))
                (explanation(attempt))
                (change(view, attempt))
                (evidence::doubts(view, attempt))
                (evidence::before_and_after(view, attempt))
                (regression_test(attempt))
            }
            aside.side aria-label="Verdict and decision" {
                (decide(view, attempt))
                (evidence::ladder(view, attempt))
                (decisions(&view.decisions_here()))
            }
        }
    };
    let title = format!("attempt {} of {}", attempt.number, view.run.report.task);
    Some(page(&title, &view.run.viewer, None, &content))
}

impl CandidateView {
    fn attempt(&self) -> Option<&AttemptReport> {
        let mut attempts = self.run.report.attempts.iter();
        attempts.find(|attempt| attempt.number == self.number)
    }

    fn decisions_here(&self) -> Vec<patchwright_store::reviews::Decision> {
        let here = self.run.decisions.iter();
        here.filter(|decision| decision.made.attempt == self.number)
            .cloned()
            .collect()
    }

    fn path(&self) -> String {
        attempt_path(&self.run.report.run, self.number)
    }
}

fn head(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let run = &view.run.report;
    html! {
        p.crumbs {
            a href=(crate::layout::ROOT) { "Tasks" } " / "
            a href=(crate::layout::run_path(&run.run)) { (shown_line(&run.task)) }
            " / Attempt " (attempt.number)
            @if attempt.number > 1 { " · " a href=(attempt_path(&run.run, attempt.number - 1)) data-key="p" { "previous" } }
            @if (attempt.number as usize) < run.attempts.len() { " · " a href=(attempt_path(&run.run, attempt.number + 1)) data-key="n" { "next" } }
        }
        h1 { "Attempt " (attempt.number) " " (decided(&view.run.decisions, attempt.number)) }
        (verdict(view, attempt))
    }
}

/// Writes in one sentence why an attempt was refused, or how far it came.
fn verdict(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let open = open_rungs(attempt);
    let (class, told) = match refuting(attempt) {
        Some(rung) => (
            "bad",
            html! { strong { "Refused: " (shown_line(&rung.name)) } " — " (first_line(&rung.reason)) },
        ),
        None if attempt.rungs.is_empty() => (
            "fair",
            html! { strong { "Proposed" } " — nothing was run. Evaluate it to climb the ladder." },
        ),
        None if open.is_empty() => ("good", html! { strong { "Every rung holds" } }),
        None => (
            "fair",
            html! { strong { "Not refused" } " — open: " (shown_line(&open.join(", "))) },
        ),
    };
    let time: f64 = attempt.rungs.iter().map(|rung| rung.seconds).sum();
    html! {
        div class={ "banner " (class) } {
            p { (told) }
            p.muted {
                @if let Some(right) = attempt.p_right { "of 100 patches with evidence like this, about " (format!("{:.0}", 100.0 * right)) " are right · " }
                "evaluated in " (seconds(time)) " · cost of the run: " (report_text::money(&view.run.report))
            }
        }
    }
}

fn explanation(attempt: &AttemptReport) -> Markup {
    html! {
        @if let Some(text) = attempt.explanation.as_deref().filter(|text| !text.trim().is_empty()) {
            section aria-labelledby="why" { h2 #why { "The author's explanation" } (prose(text)) }
        }
    }
}

fn change(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let other = match view.style {
        DiffStyle::Split => DiffStyle::Unified,
        DiffStyle::Unified => DiffStyle::Split,
    };
    html! {
        section aria-labelledby="change" {
            div.title {
                h2 #change { "Change" }
                a.button href={ (view.path()) "?view=" (other.as_str()) "#change" } data-key="u" { "Show " (match other { DiffStyle::Split => "side by side", DiffStyle::Unified => "unified" }) }
            }
            (hunks::files(&attempt.diff, (view.source).then(|| view.path()).as_deref(), view.style))
        }
    }
}

fn regression_test(attempt: &AttemptReport) -> Markup {
    html! {
        @if let Some(test) = &attempt.test {
            section aria-labelledby="test" {
                h2 #test { "Regression test " @match (test.holds, test.strong) { (true, true) => { (badge("verified")) } (true, false) => { (badge("plausible")) } _ => { (badge("no_patch")) } } }
                p { (first_line(&test.reason)) }
                @if !test.diff.is_empty() { (hunks::files(&test.diff, None, DiffStyle::Unified)) }
            }
        }
    }
}

fn decide(view: &CandidateView, attempt: &AttemptReport) -> Markup {
    let Viewer {
        decides, starts, ..
    } = view.run.viewer;
    let at = view.path();
    html! {
        section.decide aria-labelledby="decide" {
            h2 #decide { "Decide" }
            @if decides {
                form.stack method="post" action={ (at) "/approve" } {
                    button.primary { "Approve" }
                }
                form.stack method="post" action={ (at) "/reject" } {
                    label { "Reason" textarea name="reason" rows="3" maxlength="4000" required placeholder="what is wrong with it; the model reads this" {} }
                    @if starts { label.check { input type="checkbox" name="revise" value="yes" checked; "start another attempt with this reason" } }
                    button.danger { "Reject" }
                }
            } @else { p.empty { "Your role allows no decisions." } }
            @if starts {
                form.stack method="post" action={ (at) "/evaluate" } {
                    button { @if attempt.rungs.is_empty() { "Evaluate" } @else { "Evaluate again" } }
                }
            }
            @if decides {
                form.stack method="post" action={ (at) "/export" } { button { "Export the diff" } }
            }
        }
    }
}

#[cfg(test)]
mod tests;
