//! Run as a story: crash, attempts with their verdicts, cost and time, and the events
//! in order.

use crate::hunks;
use crate::template::{render, run_path, values};
use crate::view::{DiffStyle, RunView, is_live};
use minijinja::{Error, Value, context};
use patchwright_agent::report_text;
use patchwright_store::reviews::{Decision, Heading};

/// The width of the longest stage's bar.
const WIDEST: f64 = 300.0;
/// Seconds of the shortest stage that is shown.
const SHORTEST: f64 = 0.05;

/// Writes the page of a run.
///
/// # Errors
/// The template does not fit the values, as below.
pub fn run(view: &RunView) -> Result<String, Error> {
    let live = is_live(&view.row.state);
    let room = if live { view.attempts_limit } else { 0 };
    let last = view.story.last();
    let last = last.map_or(view.earlier, |heading| heading.number);
    let events = live.then(|| format!("{}/events?after={last}", run_path(&view.report.run)));
    let best = view.report.best.as_ref();
    let patch = best.map(|best| hunks::files(&best.diff, None, DiffStyle::Unified));
    let page = context! { events, patch, stages => stages(view), ..values_of(view, room) };
    render("run.html", page)
}

/// Returns what all parts of a run's page show. There are rows for `room` attempts: a live run has
/// one for each attempt that may still come, so that nothing moves when it does.
pub(crate) fn values_of(view: &RunView, room: u32) -> Value {
    context! {
        heading => view.report.task.as_str(),
        live => is_live(&view.row.state),
        cost => report_text::money(&view.report),
        decisions => view.decisions.iter().map(decision).collect::<Vec<_>>(),
        room,
        ..values(view)
    }
}

fn decision(decision: &Decision) -> Value {
    context! { sentence => decision.made.sentence(), ..values(decision) }
}

/// Returns the stages that took time or money, each with the width of its bar.
fn stages(view: &RunView) -> Vec<Value> {
    let longest = view.stages.iter().map(|stage| stage.1).fold(0.1, f64::max);
    let stages = view.stages.iter();
    let shown = stages.filter(|(_, seconds, usd)| *seconds >= SHORTEST || *usd > 0.0);
    let bars = shown.map(|(name, seconds, usd)| {
        let width = (WIDEST * seconds / longest).max(1.0);
        context! { name, seconds, usd, width }
    });
    bars.collect()
}

/// Writes lines of the story, for the end of those that are there.
pub fn story(run: &str, headings: &[Heading]) -> Result<String, Error> {
    render("story.html", context! { run, story => values(&headings) })
}

/// Writes a list of lines of the story.
pub fn story_lines(run: &str, headings: &[Heading]) -> Result<String, Error> {
    let lines = context! { run, story => values(&headings) };
    render("story_lines.html", lines)
}

/// Writes the parts of a run's page that change while it runs, each by its id. The rows
/// that were there stay when the run ends.
pub fn changing_parts(view: &RunView) -> Result<[(&'static str, String); 5], Error> {
    let values = values_of(view, view.attempts_limit);
    let part = |name: &str| render(&format!("run/{name}.html"), values.clone());
    Ok([
        ("verdict", part("verdict")?),
        ("crash-part", part("crash")?),
        ("facts", part("facts")?),
        ("rows", part("rows")?),
        ("actions", part("actions")?),
    ])
}
