//! Candidate: the verdict first, then the diff, the doubts, the crash and the tests
//! before and after, and the buttons of a decision.

use crate::hunks;
use crate::run::values_of;
use crate::template::{render, run_path, values};
use crate::view::{CandidateView, DiffStyle};
use minijinja::{Error, Value, context};
use patchwright_agent::record::Observed;
use patchwright_agent::report::DoubtReport;
use patchwright_store::reviews::DecisionKind;

#[cfg(test)]
mod tests;

/// Writes the page of a candidate; `None` when the run has no such attempt.
///
/// # Errors
/// The template does not fit the values.
pub fn candidate(view: &CandidateView) -> Result<Option<String>, Error> {
    let report = &view.run.report;
    let mut attempts = report.attempts.iter();
    let Some(attempt) = attempts.find(|attempt| attempt.number == view.number) else {
        return Ok(None);
    };
    let path = format!("{}/attempts/{}", run_path(&report.run), view.number);
    let around = view.source.then_some(path.as_str());
    let observed = |of: fn(&str) -> bool| -> Vec<Value> {
        let baseline = report.baseline.iter();
        let found = baseline.filter(|one: &&Observed| of(&one.name));
        found.map(values).collect()
    };
    let doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
    let test = attempt.test.as_ref();
    let page = context! {
        heading => format!("attempt {} of {}", attempt.number, report.task),
        change => hunks::files(&attempt.diff, around, view.style),
        test_change => test.map(|test| hunks::files(&test.diff, None, DiffStyle::Unified)),
        doubts => doubts.map(|one| doubt(view, one)).collect::<Vec<_>>(),
        povs => observed(|name| !name.starts_with("build") && name != "tests"),
        tests => observed(|name| name == "tests"),
        style => view.style.as_str(),
        attempt => values(attempt),
        path,
        ..values_of(&view.run, 0)
    };
    render("candidate.html", page).map(Some)
}

/// Returns a doubt with its input as text, and the decision of whoever contests it.
fn doubt(view: &CandidateView, doubt: &DoubtReport) -> Value {
    let mut decisions = view.run.decisions.iter().rev();
    let contested = decisions.find(|one| {
        one.made.kind == DecisionKind::Contest
            && one.made.attempt == view.number
            && one.made.input == doubt.input
    });
    let mut inputs = view.inputs.iter();
    let text = inputs.find(|(hash, _)| Some(hash) == doubt.input.as_ref());
    context! {
        decision => contested.map(|one| values(&one.made)),
        text => text.map(|(_, text)| text),
        ..values(doubt)
    }
}
