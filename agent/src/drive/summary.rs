//! A sentence about each outcome, for whoever reads the journal without having
//! been there.

use crate::record::{
    BaselineSummary, Located, Outcome, Rung, RungName, SignalRecord, lines_changed,
};
use std::collections::BTreeSet;

/// Characters of a text from outside that a sentence takes in.
const LONGEST: usize = 300;
/// State of a rung that nobody could climb.
const NOT_CLIMBED: &str = "was not climbed";

pub(super) fn kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Baseline(_) => "baseline",
        Outcome::Context(_) => "context",
        Outcome::Reply(_) => "ask",
        Outcome::Full(_) => "full",
        Outcome::Postponed(_) => "pause",
        Outcome::Waited => "wait",
        Outcome::Unanswered(_) => "unanswered",
        Outcome::Retrieved(_) => "retrieve",
        Outcome::Probed(_) => "probe",
        Outcome::Located(_) => "locate",
        Outcome::Climbed(_) => "climb",
        Outcome::Agreed(_) => "agree",
        Outcome::Minimized(_) => "minimize",
        Outcome::TestFiles(_) => "test_files",
        Outcome::Proved(_) => "prove",
        Outcome::Challenged(_) => "challenges",
        Outcome::Stopped { .. } => "stop",
    }
}

/// A sentence about an outcome.
pub fn sentence(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Baseline(summary) => baseline(summary),
        Outcome::Context(context) => format!(
            "{} characters of code go with the issue{}",
            context.text.len(),
            left_out(&context.signals)
        ),
        Outcome::Reply(reply) => format!(
            "{} answered {} tokens to {}, for {:.4} USD",
            reply.model, reply.usage.tokens_out, reply.usage.tokens_in, reply.usd
        ),
        Outcome::Full(full) => format!(
            "the conversation has about {} tokens and {} fit: it is told in short",
            full.tokens, full.fits
        ),
        Outcome::Postponed(postponed) => format!(
            "paused until {}: {}",
            postponed.until,
            head(&postponed.reason)
        ),
        Outcome::Waited => "the time has come".to_owned(),
        Outcome::Unanswered(missing) => {
            format!("goes on without an answer: {}", head(&missing.reason))
        }
        Outcome::Retrieved(answers) => format!(
            "{} queries found something, {} did not{}",
            answers.found,
            answers.missed,
            left_out(&answers.signals)
        ),
        Outcome::Probed(probed) => format!("{} probes answered", probed.answers.len()),
        Outcome::Located(placed) => located(placed),
        Outcome::Climbed(rung) => climbed(rung),
        Outcome::Agreed(record) => format!(
            "attempts that behave alike on {} inputs: {:?}",
            record.inputs, record.clusters
        ),
        Outcome::Minimized(record) if record.input.is_none() => {
            "no smaller input was sought: the crash is a hang or does not come every time"
                .to_owned()
        }
        Outcome::Minimized(record) => format!(
            "{} of the {} bytes of {} show the crash; {} inputs were run",
            record.bytes, record.original, record.pov, record.runs
        ),
        Outcome::TestFiles(files) => format!("{} characters of tests", files.text.len()),
        Outcome::Proved(record) => format!(
            "regression test {}: {}",
            if record.holds {
                "holds"
            } else {
                "does not hold"
            },
            head(&record.reason)
        ),
        Outcome::Challenged(challenged) => challenged.rung.in_words(NOT_CLIMBED),
        Outcome::Stopped { ending, .. } => format!("{}: {}", ending.kind, head(&ending.detail)),
    }
}

/// Tells what became of a rung; whether somebody reads the patch is decided behind the rules.
fn climbed(rung: &Rung) -> String {
    if rung.name == RungName::Reviewed && rung.holds == Some(true) {
        return format!("reviewed by rules: {}", rung.reason);
    }
    rung.in_words(NOT_CLIMBED)
}

/// The signals that gave nothing, and why: each reason once.
fn left_out(signals: &[SignalRecord]) -> String {
    let notes: BTreeSet<String> = signals.iter().filter_map(SignalRecord::note).collect();
    let notes = notes.iter().map(|note| format!("; {}", head(note)));
    notes.collect()
}

fn baseline(summary: &BaselineSummary) -> String {
    let first = summary.crashes.first();
    let seen = first
        .and_then(|crash| crash.text.lines().find(|line| !line.trim().is_empty()))
        .unwrap_or("no crash");
    format!(
        "the unpatched tree builds; seen here: {}; tests: {}",
        seen.trim(),
        summary.tests
    )
}

fn located(located: &Located) -> String {
    match located {
        Located::Placed(patch) => {
            let lines = lines_changed(&patch.diff);
            format!("every edit has its place; {lines} lines of diff")
        }
        Located::Refused { reasons } => {
            format!(
                "{} edits refused: {}",
                reasons.len(),
                head(&reasons.join("; "))
            )
        }
    }
}

/// Returns the beginning of a text from outside.
pub(super) fn head(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
