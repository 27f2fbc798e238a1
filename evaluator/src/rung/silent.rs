//! *silent*: every PoV was really run on the patched program, and none crashes or hangs.
//!
//! That the program printed nothing bad is not enough: it must have started,
//! and said so where it said so before. A hang is a failure of its own.

use super::feedback::FeedbackWriter;
use crate::attempt::AttemptFacts;
use crate::crash::CrashReport;
use crate::evidence::{FoundInput, RungName, RungResult};
use crate::runner::{Baseline, BaselinePov, Build, Outcome, Pov, Replay, Target, missing_banner};
use crate::signature::{self, Change};
use crate::{Limit, TargetError};
use patchwright_source::Language;
use std::time::Duration;

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
            if let Some(reason) = refuted(target, pov, before, &replay) {
                let dumps = dumps(target, &build, pov, &replay).await?;
                let writer = FeedbackWriter::new(task, attempt);
                let feedback = feedback(&writer, &reason, (before, &replay), &dumps);
                return Ok(failed(reason, feedback, replay).count("runs", runs));
            }
            log = replay.execution.text();
        }
    }
    for (pov, before, input) in found(target, baseline, attempt) {
        let build = super::builds::build(target, attempt, &task.build_of(pov)).await?;
        let replay = super::replay_input(target, &build, pov, &input.bytes).await?;
        runs += 1;
        if replay.outcome.is_failure() {
            let reason = format!(
                "an input made from {} that refuted an earlier attempt refutes this one too: {}",
                pov.name(),
                found_again(target, before, &replay)
            );
            let writer = FeedbackWriter::new(task, attempt);
            let feedback = feedback(&writer, &reason, (before, &replay), &[]);
            return Ok(failed(reason, feedback, replay).count("runs", runs));
        }
    }
    let povs = (task.povs.len() + attempt.found.len()) as u64;
    let reason = format!("{povs} PoV(s) ran {runs} time(s) without a crash");
    let steady = |pov: &BaselinePov| pov.crashes == pov.runs || pov.crashes == 0;
    Ok(RungResult::new(RungName::Silent, Some(true), reason)
        .count("povs", povs)
        .count("runs", runs)
        .log(log)
        .settled(baseline.povs.iter().all(steady)))
}

/// The result of a run that refutes the patch.
fn failed(reason: String, feedback: String, replay: Replay) -> RungResult {
    RungResult::new(RungName::Silent, Some(false), reason)
        .feedback(feedback)
        .log(replay.execution.text())
        .settled(replay.outcome == Outcome::Crashed)
        .crash(replay.crash)
}

/// Which of the target's PoVs a patch stops, one answer for each. A PoV that
/// does not crash the unpatched program here is stopped by nothing.
pub async fn stopped(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<Vec<bool>, TargetError> {
    let task = target.task();
    let mut stopped = Vec::new();
    for (pov, before) in task.povs.iter().zip(&baseline.povs) {
        let mut stops = before.reproduces();
        if stops {
            let build = super::builds::build(target, attempt, &task.build_of(pov)).await?;
            stops = build.succeeded();
            for _ in 0..if stops { before.repeat } else { 0 } {
                let replay = target.replay(&build, pov).await?;
                if refuted(target, pov, before, &replay).is_some() {
                    stops = false;
                    break;
                }
            }
        }
        stopped.push(stops);
    }
    Ok(stopped)
}

/// The inputs that refuted earlier attempts, each with the PoV that it is run like.
fn found<'a>(
    target: &'a dyn Target,
    baseline: &'a Baseline,
    attempt: &'a AttemptFacts,
) -> Vec<(&'a Pov, &'a BaselinePov, &'a FoundInput)> {
    let povs = target.task().povs.iter().zip(&baseline.povs);
    let like = |input: &FoundInput| {
        let mut povs = povs.clone();
        povs.find(|(pov, _)| pov.name() == input.pov)
    };
    let found = attempt.found.iter();
    found
        .filter_map(|input| like(input).map(|(pov, before)| (pov, before, input)))
        .collect()
}

fn found_again(target: &dyn Target, before: &BaselinePov, replay: &Replay) -> &'static str {
    match replay.outcome {
        Outcome::Crashed => in_words(change(target, before, replay.crash.as_ref())),
        Outcome::Hung => "the program hangs",
        _ => "the program hits a limit",
    }
}

fn refuted(
    target: &dyn Target,
    pov: &Pov,
    before: &BaselinePov,
    replay: &Replay,
) -> Option<String> {
    let name = pov.name();
    let text = replay.execution.text();
    Some(match &replay.outcome {
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
    })
}

fn feedback(
    writer: &FeedbackWriter<'_>,
    reason: &str,
    (before, now): (&BaselinePov, &Replay),
    dumps: &[String],
) -> String {
    let text = now.execution.text();
    match (&now.outcome, &now.crash) {
        (Outcome::Hung, _) => writer.hang(reason, dumps, &text),
        (_, Some(crash)) => writer.crash(reason, before.replay.crash.as_ref(), crash),
        _ => writer.log(reason, &text),
    }
}

/// Runs a Java PoV that hangs once more and asks the JVM a few times what its
/// threads are doing. The dumps go to the output of the JVM itself.
const ASK_FOR_DUMPS: &str = r#"
patchwright_pov & patchwright_job=$!
sleep 4
for patchwright_round in 1 2 3; do
  for patchwright_process in /proc/[0-9]*; do
    if grep -qx java "$patchwright_process/comm" 2>/dev/null; then
      kill -QUIT "${patchwright_process#/proc/}" 2>/dev/null || :
    fi
  done
  sleep 1
done
kill -KILL "$patchwright_job" 2>/dev/null || :
"#;

/// Time for the dumps: the waits between them, and a machine that is busy.
const DUMPS_TIME: Duration = Duration::from_secs(30);

async fn dumps(
    target: &dyn Target,
    build: &Build,
    pov: &Pov,
    replay: &Replay,
) -> Result<Vec<String>, TargetError> {
    let text = replay.execution.text();
    if replay.outcome != Outcome::Hung {
        return Ok(Vec::new());
    }
    let task = target.task();
    let command = pov.command.as_ref().or(task.commands.pov.as_ref());
    let (Some(command), Language::Java) = (command, task.language) else {
        return Ok(vec![text]);
    };
    let asking = Pov {
        timeout: Some(DUMPS_TIME),
        command: Some(format!(
            "patchwright_pov() {{\n{command}\n}}\n{ASK_FOR_DUMPS}"
        )),
        ..pov.clone()
    };
    let text = target.replay(build, &asking).await?.execution.text();
    let dumps: Vec<String> = text
        .split("Full thread dump")
        .skip(1)
        .map(|dump| format!("Full thread dump{dump}"))
        .collect();
    Ok(if dumps.is_empty() {
        vec![replay.execution.text()]
    } else {
        dumps
    })
}

fn exhausted(name: &str, limit: Limit) -> String {
    format!("{name} makes the program hit its {}", limit.text())
}

/// How the crash relates to the one of the baseline; `None` where one of them has no report.
fn change(target: &dyn Target, before: &BaselinePov, now: Option<&CrashReport>) -> Option<Change> {
    let task = target.task();
    let before = before.replay.crash.as_ref()?;
    Some(signature::compare(before, now?, &|frame| {
        task.in_project(frame)
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

#[cfg(test)]
mod c_tests;
#[cfg(test)]
mod tests;
