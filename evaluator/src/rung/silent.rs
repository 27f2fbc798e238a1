//! *silent*: every PoV was really run on the patched program, and none crashes or hangs.
//!
//! That the program printed nothing bad is not enough: it must have started,
//! and said so where it said so before. A hang is a failure of its own.

use super::{excerpt, in_project};
use crate::crash::CrashReport;
use crate::ladder::{AttemptFacts, RungName, RungResult};
use crate::signature::{self, Change};
use crate::target::{Baseline, BaselinePov, Outcome, Pov, Replay, Target, missing_banner};
use crate::{Limit, TargetError};

pub(crate) async fn climb(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<RungResult, TargetError> {
    let task = target.task();
    if task.povs.is_empty() {
        return Ok(RungResult::new(
            RungName::Silent,
            None,
            "the task has no PoV",
        ));
    }
    let (mut runs, mut log) = (0, String::new());
    for (pov, before) in task.povs.iter().zip(&baseline.povs) {
        let build = super::builds::build(target, attempt, &task.build_of(pov)).await?;
        for _ in 0..before.repeat {
            let replay = target.replay(&build, pov).await?;
            runs += 1;
            let text = replay.execution.text();
            if let Some(result) = refuted(target, pov, before, &replay) {
                return Ok(result.count("runs", runs).log(text));
            }
            log = text;
        }
    }
    let povs = task.povs.len() as u64;
    let reason = format!("{povs} PoV(s) ran {runs} time(s) without a crash");
    Ok(RungResult::new(RungName::Silent, Some(true), reason)
        .count("povs", povs)
        .count("runs", runs)
        .log(log))
}

fn refuted(
    target: &dyn Target,
    pov: &Pov,
    before: &BaselinePov,
    replay: &Replay,
) -> Option<RungResult> {
    let name = pov.name();
    let text = replay.execution.text();
    let reason = match &replay.outcome {
        Outcome::Crashed => {
            let change = change(target, before, replay.crash.as_ref());
            format!("{name} still crashes: {}", in_words(change))
        }
        Outcome::Hung if before.replay.outcome == Outcome::Hung => format!("{name} still hangs"),
        Outcome::Hung => format!("{name} no longer crashes, but the program hangs"),
        Outcome::Exhausted(limit) => exhausted(&name, *limit),
        Outcome::NotRun(why) => format!("{name} was not really run: {why}"),
        Outcome::Silent => {
            let banner = missing_banner(&before.replay.execution.text(), &text)?;
            format!("{name} was not really run: the line {banner:?} that showed it is missing")
        }
    };
    let shown = replay.crash.as_ref().map_or(&text, |crash| &crash.purified);
    let feedback = excerpt(&reason, shown);
    Some(RungResult::new(RungName::Silent, Some(false), reason).feedback(feedback))
}

fn exhausted(name: &str, limit: Limit) -> String {
    format!("{name} makes the program hit its {}", limit.text())
}

/// How the crash relates to the one of the baseline; `None` where one of them has no report.
fn change(target: &dyn Target, before: &BaselinePov, now: Option<&CrashReport>) -> Option<Change> {
    let task = target.task();
    let before = before.replay.crash.as_ref()?;
    Some(signature::compare(before, now?, &|frame| {
        in_project(task, frame)
    }))
}

fn in_words(change: Option<Change>) -> &'static str {
    match change {
        Some(Change::Same) => "it is the same crash as before",
        Some(Change::Moved) => "the crash has moved",
        Some(Change::New) => "it is a new crash, not the one of before",
        None => "the program died without a report",
    }
}
