//! Run as a story: crash, attempts with their verdicts, cost and time, and the events
//! in order.

use crate::hunks;
use crate::layout::{ROOT, badge, lazy, mark, page, run_path};
use crate::text::{counted, first_line, seconds, shown, shown_line};
use crate::view::{DiffStyle, RunView, is_live};
use maud::{Markup, html};
use patchwright_agent::report::{AttemptReport, RungReport};
use patchwright_agent::report_text;
use patchwright_store::reviews::{Decision, DecisionKind, Heading};

/// The rungs of the ladder, from the bottom.
pub(crate) const LADDER: [&str; 8] = [
    "applies",
    "parses",
    "builds",
    "silent",
    "tested",
    "robust",
    "same elsewhere",
    "reviewed",
];

/// Writes the page of a run.
pub fn run(view: &RunView) -> String {
    let id = &view.report.run;
    let live = is_live(&view.row).then(|| format!("{}/events?after={}", run_path(id), last(view)));
    let content = html! {
        (head(view))
        div.columns {
            div.main {
                (crash(view))
                (attempts(view))
                (patch(view))
                (crate::stages::chart(view))
                (story(view))
            }
            aside.side aria-label="About this run" { (facts(view)) (decisions(&view.decisions)) (actions(view)) }
        }
    };
    page(&view.report.task, &view.viewer, live.as_deref(), &content)
}

fn last(view: &RunView) -> i64 {
    view.story
        .last()
        .map_or(view.earlier, |heading| heading.number)
}

/// Writes title and verdict of a run.
pub(crate) fn head(view: &RunView) -> Markup {
    let report = &view.report;
    let title = view.title.as_deref().unwrap_or(&report.task);
    html! {
        p.crumbs { a href=(ROOT) { "Tasks" } " / " (shown_line(&report.task)) }
        h1 { (shown_line(title)) }
        p.verdict #verdict { (verdict(view)) }
        @if let Some((run, attempt, reason)) = &view.follows {
            p.note { "Goes on from " a href={ (run_path(run)) "/attempts/" (attempt) } { "attempt " (attempt) " of " (shown_line(run)) } ", which was rejected: " q { (shown_line(reason)) } }
        }
    }
}

fn verdict(view: &RunView) -> Markup {
    let word = match view.row.ending.as_str() {
        "" => view.row.state.as_str(),
        ending => ending,
    };
    html! { (badge(word)) " " span { (first_line(&view.report.detail)) } }
}

fn facts(view: &RunView) -> Markup {
    let report = &view.report;
    let cost = &report.cost;
    html! {
        dl.facts #facts {
            div { dt { "Run" } dd.mono { (shown_line(&report.run)) } }
            div { dt { "Begun" } dd { time datetime=(view.row.created) { (view.row.created.get(..16).unwrap_or_default().replace('T', " ")) " UTC" } } }
            div { dt { "Working time" } dd { (seconds(report.seconds.total)) } }
            div { dt { "Cost" } dd { (report_text::money(report)) } }
            div { dt { "Model" } dd { (counted(cost.calls as usize, "call")) ", " (cost.tokens_in + cost.tokens_out) " tokens" } }
            div { dt { "Rounds" } dd { (report.rounds) } }
            div { dt { "Answers" } dd { (shown_line(&report.answers)) } }
            div { dt { "Sandbox" } dd { @if let Some(sandbox) = &report.sandbox { (shown_line(&sandbox.isolation)) } @else { "–" } } }
        }
    }
}

fn crash(view: &RunView) -> Markup {
    let report = &view.report;
    html! {
        section.crash.live[is_live(&view.row)] #crash-part aria-labelledby="crash" {
            h2 #crash { "Crash" }
            @if let Some(crash) = &report.crash {
                p { strong { (shown_line(&crash.kind)) } @if let Some(function) = &crash.function { " in " code { (shown_line(function)) } }
                    @if let Some(file) = &crash.file { " at " code { (shown_line(file)) @if let Some(line) = crash.line { ":" (line) } } } }
            } @else { p.empty { "No crash was read yet." } }
            @for command in &report.baseline {
                @let told = html! { (mark(Some(command.good))) " " strong { (shown_line(&command.name)) } " " span.muted { (first_line(&command.text)) } };
                @if let Some(log) = &command.log {
                    (lazy(&told, &log_path(&report.run, log), false))
                } @else { p.flat { (told) } }
            }
        }
    }
}

/// Writes the address of a log.
pub(crate) fn log_path(run: &str, hash: &str) -> String {
    let hash: String = hash.chars().filter(char::is_ascii_hexdigit).collect();
    format!("{}/logs/{hash}", run_path(run))
}

fn attempts(view: &RunView) -> Markup {
    let live = is_live(&view.row);
    let room = if live { view.attempts_limit } else { 0 };
    html! {
        section aria-labelledby="attempts" {
            h2 #attempts { "Attempts" }
            div.scroll tabindex="0" role="region" aria-label="Table of attempts" {
                table.attempts {
                    thead { tr { th { "Attempt" } th { "Result" } th { "Ladder" } th.num { abbr title="of 100 patches with evidence like this, this many are right" { "Right of 100" } } th { "Decision" } } }
                    tbody #rows { (rows(view, room)) }
                }
            }
        }
    }
}

/// Writes the best patch, where there is one.
fn patch(view: &RunView) -> Markup {
    html! {
        @if let Some(best) = &view.report.best {
            section aria-labelledby="patch" {
                h2 #patch { "Patch of attempt " (best.number) }
                (hunks::files(&best.diff, None, DiffStyle::Unified))
                p { a.button href=(attempt_path(&view.report.run, best.number)) { "Read the evidence and decide" } }
            }
        }
    }
}

/// Writes the rows of all attempts, and empty ones up to `room`: a live run has a row
/// for each attempt that may still come, so that nothing moves when it does.
fn rows(view: &RunView, room: u32) -> Markup {
    let made = view.report.attempts.len();
    let most = made.max(room as usize);
    let waiting = if is_live(&view.row) {
        "not made yet"
    } else {
        "not made"
    };
    html! {
        @for attempt in &view.report.attempts { (row(view, attempt)) }
        @for number in made..most {
            tr.waiting { td { (number + 1) } td.result { (waiting) } td { span.ladder { @for _ in LADDER { span.mark.none { "·" } } } } td.num { "–" } td {} }
        }
        @if made == 0 && most == 0 { tr { td colspan="5" { "No attempt was made." } } }
    }
}

fn row(view: &RunView, attempt: &AttemptReport) -> Markup {
    let best = view
        .report
        .best
        .as_ref()
        .is_some_and(|best| best.number == attempt.number);
    let refuted = refuting(attempt);
    html! {
        tr {
            td { a href=(attempt_path(&view.report.run, attempt.number)) data-row { (attempt.number) @if best { span.sr { " the best" } } } @if best { span.best aria-hidden="true" { "★" } } }
            td.result {
                @if let Some(rung) = refuted { (shown_line(&rung.name)) ": " (first_line(&rung.reason)) }
                @else if attempt.rungs.is_empty() { "proposed, nothing was run" }
                @else {
                    "not refused"
                    @if !open_rungs(attempt).is_empty() { "; open: " (open_rungs(attempt).join(", ")) }
                }
            }
            td { (ladder(attempt)) }
            td.num { @if let Some(right) = attempt.p_right { (format!("{:.0}", 100.0 * right)) } @else { "–" } }
            td { (decided(&view.decisions, attempt.number)) }
        }
    }
}

/// Returns the rungs of an attempt that could not be climbed.
pub(crate) fn open_rungs(attempt: &AttemptReport) -> Vec<&str> {
    let rungs = attempt.rungs.iter();
    let open = rungs.filter(|rung| rung.holds.is_none());
    open.map(|rung| rung.name.as_str()).collect()
}

/// Writes the ladder of an attempt as a row of marks.
pub(crate) fn ladder(attempt: &AttemptReport) -> Markup {
    html! {
        span.ladder {
            @for name in LADDER {
                @match attempt.rungs.iter().find(|rung| rung.name == name) {
                    Some(rung) => { span title=(name) { (mark(rung.holds)) } }
                    None => { span.mark.none title=(name) { "·" } }
                }
            }
        }
    }
}

/// Returns the rung that refused an attempt.
pub(crate) fn refuting(attempt: &AttemptReport) -> Option<&RungReport> {
    attempt.rungs.iter().find(|rung| rung.holds == Some(false))
}

/// Writes the address of an attempt.
pub(crate) fn attempt_path(run: &str, number: u32) -> String {
    format!("{}/attempts/{number}", run_path(run))
}

/// Writes the last verdict of a person about an attempt.
pub(crate) fn decided(decisions: &[Decision], attempt: u32) -> Markup {
    let mut verdicts = decisions
        .iter()
        .filter(|one| one.made.attempt == attempt && one.made.kind.is_verdict());
    html! {
        @if let Some(last) = verdicts.next_back() {
            @if last.made.kind == DecisionKind::Approve { (badge("approved")) } @else { (badge("rejected")) }
        }
    }
}

/// Writes decisions in order.
pub(crate) fn decisions(decisions: &[Decision]) -> Markup {
    html! {
        section.decisions aria-labelledby="decisions" {
            h2 #decisions { "Decisions" }
            @if decisions.is_empty() { p.empty { "None yet." } }
            ol {
                @for decision in decisions {
                    li {
                        (first_line(&decision.made.sentence()))
                        @if let Some(next) = &decision.made.follow_up { " " a href={ (ROOT) "?text=" (crate::layout::escaped(next)) } { "follow-up" } }
                        div.id { (decision.time.get(..16).unwrap_or_default().replace('T', " ")) " UTC" }
                    }
                }
            }
        }
    }
}

fn actions(view: &RunView) -> Markup {
    html! {
        div #actions {
            @if view.cancelable && view.viewer.starts {
                form.stack method="post" action={ (run_path(&view.report.run)) "/cancel" } {
                    button.danger { "Cancel this run" }
                }
            }
        }
    }
}

fn story(view: &RunView) -> Markup {
    let run = &view.report.run;
    html! {
        section aria-labelledby="story" {
            h2 #story { "Story" }
            @if view.earlier > 0 {
                (lazy(&html! { (view.earlier) " earlier events" }, &format!("{}/story?before={}", run_path(run), first(view)), false))
            }
            ol.story #lines { @for heading in &view.story { (line(run, heading)) } }
        }
    }
}

fn first(view: &RunView) -> i64 {
    view.story
        .first()
        .map_or(i64::MAX, |heading| heading.number)
}

fn line(run: &str, heading: &Heading) -> Markup {
    let told = html! {
        time { (heading.time.get(11..19).unwrap_or_default()) }
        " " span.step { @if heading.lane > 1 { "lane " (heading.lane) " " } (shown_line(&heading.name)) }
        " " (first_line(&heading.summary))
    };
    html! { li class=(heading.kind) { (lazy(&told, &format!("{}/events/{}", run_path(run), heading.number), false)) } }
}

/// Writes one line of the story, as a fragment.
pub fn story_line(run: &str, heading: &Heading) -> String {
    line(run, heading).into_string()
}

/// Writes several lines of the story, as a fragment.
pub fn story_lines(run: &str, headings: &[Heading]) -> String {
    html! { ol.story { @for heading in headings { (line(run, heading)) } } }.into_string()
}

/// Writes the parts of a run's page that change while it runs, each by its id. The rows
/// that were there stay when the run ends.
pub fn changing_parts(view: &RunView) -> [(&'static str, String); 5] {
    [
        ("verdict", verdict(view).into_string()),
        ("crash-part", inner(&crash(view))),
        ("facts", inner(&facts(view))),
        ("rows", rows(view, view.attempts_limit).into_string()),
        ("actions", inner(&actions(view))),
    ]
}

/// Takes the outer element away.
fn inner(markup: &Markup) -> String {
    let text = &markup.0;
    let from = text.find('>').map_or(0, |at| at + 1);
    let to = text.rfind("</").unwrap_or(text.len());
    text.get(from..to).unwrap_or_default().to_owned()
}

/// Writes text of several lines as paragraphs that keep their breaks.
pub(crate) fn prose(text: &str) -> Markup {
    html! { div.prose { (shown(text.trim())) } }
}
