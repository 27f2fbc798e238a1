//! Views: everything that a page shows, as plain values.

use patchwright_agent::report::Report;
use patchwright_agent::words;
use patchwright_store::reviews::{DayFigures, Decision, Heading, ListFilter, ListPage, ListedTask};
use serde::Serialize;

/// The person who looks at a page, and what they may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Viewer {
    /// The name of their token, or of the user of this machine.
    pub name: String,
    /// True when they may approve, reject and contest.
    pub decides: bool,
    /// True when they may start and cancel work.
    pub starts: bool,
    /// True when they came with a cookie that they can give back.
    pub signed_in: bool,
}

/// The list of tasks.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ListView {
    /// The person who looks.
    pub viewer: Viewer,
    pub filter: ListFilter,
    /// The rows.
    pub page: ListPage,
    /// Number of rows of each ending, and of each state of those without one.
    pub counts: Vec<(String, String, i64)>,
    /// The time now, UTC, for the age of a row.
    pub now: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// The person who looks.
    pub viewer: Viewer,
    pub row: ListedTask,
    /// The title of its task.
    pub title: Option<String>,
    /// The report so far.
    pub report: Report,
    /// The largest number of attempts.
    pub attempts_limit: u32,
    /// The last headings of its events, oldest first.
    pub story: Vec<Heading>,
    /// Number of events before them.
    pub earlier: i64,
    /// Seconds and cost of each kind of step.
    pub stages: Vec<(String, f64, f64)>,
    /// True when somebody who may can cancel it from here.
    pub cancelable: bool,
    /// Decisions of people.
    pub decisions: Vec<Decision>,
    /// The run and attempt that it goes on from, with the reason.
    pub follows: Option<(String, u32, String)>,
}

#[derive(Debug, Clone)]
pub struct CandidateView {
    pub run: RunView,
    pub number: u32,
    /// Form of the diff.
    pub style: DiffStyle,
    /// True when the source can be shown around the diff.
    pub source: bool,
    /// The inputs of doubts as text, by their hashes.
    pub inputs: Vec<(String, String)>,
}

/// The form of a diff.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiffStyle {
    /// Before and after beside each other.
    #[default]
    Split,
    /// One column.
    Unified,
}

/// Plots over all runs.
#[derive(Debug, Clone, Default)]
pub struct PlotsView {
    /// The person who looks.
    pub viewer: Viewer,
    pub days: Vec<DayFigures>,
    /// Pairs of P(right) and the decision: true for approved.
    pub judged: Vec<(f64, bool)>,
}

words!(DiffStyle: Split "split", Unified "unified");

/// Tells whether something may still happen to a run.
pub fn is_live(state: &str) -> bool {
    matches!(state, "queued" | "running" | "paused" | "unfinished")
}
