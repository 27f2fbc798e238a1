//! The story of a run as Markdown, for a colleague who was not there.

use super::template::render;
use patchwright_agent::journal::{Event, EventKind};
use patchwright_agent::record::Outcome;
use patchwright_agent::report::Report;
use patchwright_agent::report_text::money;
use patchwright_agent::template::Error;
use patchwright_patcher::reply;
use serde_json::{Value, json};

/// Tells a run.
pub(crate) fn story(
    title: Option<&str>,
    report: &Report,
    events: &[Event],
) -> Result<String, Error> {
    let is_step = |event: &&Event| event.kind != EventKind::Intent;
    let steps = events.iter().filter(is_step);
    let values = json!({
        "report": report,
        "title": title.unwrap_or(&report.task),
        "steps": steps.map(step).collect::<Vec<_>>(),
        "money": money(report),
    });
    render("story.md", &values)
}

/// Returns one step: what came of it, and what the model said.
fn step(event: &Event) -> Value {
    let outcome = event.body.get("outcome").cloned().unwrap_or_default();
    let said = match serde_json::from_value(outcome) {
        Ok(Outcome::Reply(record)) => Some(said(&record.text)),
        _ => None,
    };
    json!({
        "said": said,
        "time": event.time.get(11..19).unwrap_or(&event.time),
        "lane": event.lane,
        "name": &event.name,
        "summary": &event.summary,
    })
}

fn said(reply: &str) -> String {
    let read = reply::read(reply, false);
    let queries = read.queries.iter();
    let queries = queries.map(|query| format!("asks: {} {}", query.kind, query.body.trim()));
    let explanation = read.patch.and_then(|patch| patch.explanation);
    let sent = explanation.map(|why| format!("sends a patch: {}", why.trim()));
    let parts = read.analysis.into_iter().chain(queries).chain(sent);
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return reply.trim().to_owned();
    }
    parts.join("\n")
}
