//! Rung *silent*: every PoV was really run on the patched program, and none crashes or hangs.
//!
//! That the program printed nothing bad is not enough: it must have started,
//! and said so where it said so before; the sanitizer must have been able to
//! speak; and the run must have come back from the harness ([`returned`]). A hang
//! is a failure of its own.

mod returned;

use super::feedback::FeedbackWriter;
use super::leak;
use crate::attempt::{AttemptFacts, Ground};
use crate::evidence::{Doubt, FoundInput, Rung, RungName};
use patchwright_crash::signature::Change;
use patchwright_crash::{CrashReport, Tool};
use patchwright_source::{Language, counted};
use patchwright_target::Result;
use patchwright_target::runner::{
    Baseline, BaselinePov, Build, Outcome, Pov, Replay, Target, asking_for_dumps, missing_banner,
};
use returned::Verdict;

/// PoVs whose exits are watched.
const WATCHED: usize = 4;

pub(crate) async fn climb(on: Ground<'_>) -> Result<Rung> {
    let (target, baseline, attempt) = on;
    let task = target.task();
    if task.povs.is_empty() {
        return Ok(Rung::new(RungName::Silent, None, "the task has no PoV"));
    }
    let mut replays = Replays::default();
    if let Some(failed) = replays.povs(on).await? {
        return Ok(failed);
    }
    if let Some(failed) = replays.found(on).await? {
        return Ok(failed);
    }
    let verdict = match replays.unwatched.take() {
        Some(why) if task.language == Language::Java => Verdict::Unseen(why),
        _ => vouched(on).await?,
    };
    let writer = FeedbackWriter::new(task, attempt);
    let mut result = result_of(verdict, baseline, &writer, &replays);
    let povs = task.povs.len() + attempt.found.len();
    result.doubts.extend(replays.doubts);
    Ok(result
        .count("povs", povs as u64)
        .count("runs", replays.runs)
        .log(replays.log))
}

/// The replays so far.
#[derive(Default)]
struct Replays {
    runs: u64,
    /// The output of the last run.
    log: String,
    /// Leaks of the unpatched program.
    doubts: Vec<Doubt>,
    /// Reason why no debugger watched one of them.
    unwatched: Option<String>,
    /// The declared exception by which one of them ended.
    answer: Option<String>,
}

impl Replays {
    /// Replays every PoV of the task as often as it has to be; the result of one
    /// that refutes the patch.
    async fn povs(&mut self, (target, baseline, attempt): Ground<'_>) -> Result<Option<Rung>> {
        let task = target.task();
        for (pov, before) in task.povs.iter().zip(&baseline.povs) {
            let build = super::builds::build(target, attempt, &task.build_of(pov)).await?;
            for _ in 0..before.repeat {
                let mut replay = replay_fairly(target, baseline, &build, (pov, before)).await?;
                self.runs += 1;
                if let Some(doubt) = leaks_as_before(target, pov, before, &replay).await? {
                    self.doubts.push(doubt);
                    self.log = replay.execution.text();
                    continue;
                }
                if let Some(reason) = refuted(target, pov, before, &replay) {
                    if replay.outcome == Outcome::Hung && replay.crash.is_none() {
                        replay.crash = target.stack_of_hang(&build, pov).await?;
                    }
                    let dumps = dumps(target, &build, pov, &replay).await?;
                    let writer = FeedbackWriter::new(task, attempt);
                    let failed = failed(&writer, reason, (before, replay), &dumps);
                    return Ok(Some(failed.count("runs", self.runs)));
                }
                self.log = replay.execution.text();
                self.unwatched = replay.unwatched.or(self.unwatched.take());
                self.answer = replay.answer.or(self.answer.take());
            }
        }
        Ok(None)
    }

    /// Replays the inputs that refuted earlier attempts.
    async fn found(&mut self, (target, baseline, attempt): Ground<'_>) -> Result<Option<Rung>> {
        let task = target.task();
        for (pov, before, input) in found((target, baseline, attempt)) {
            let build = super::builds::build(target, attempt, &task.build_of(pov)).await?;
            let replay = super::replay_input(target, &build, pov, input.blob.bytes()).await?;
            self.runs += 1;
            if replay.outcome.is_failure() {
                let reason = format!(
                    "an input made from {} that refuted an earlier attempt refutes this one too: {}",
                    pov.name(),
                    found_again(target, before, &replay)
                );
                let writer = FeedbackWriter::new(task, attempt);
                let failed = failed(&writer, reason, (before, replay), &[]);
                return Ok(Some(failed.count("runs", self.runs)));
            }
        }
        Ok(None)
    }
}

/// The result of runs without a crash, by what their silence is worth.
fn result_of(
    verdict: Verdict,
    baseline: &Baseline,
    writer: &FeedbackWriter<'_>,
    replays: &Replays,
) -> Rung {
    let steady = |pov: &BaselinePov| pov.crashes == pov.runs || pov.crashes == 0;
    let steady = baseline.povs.iter().all(steady);
    match verdict {
        Verdict::Returned => {
            let answer = replays.answer.as_ref().map(|answer| {
                format!("; the program answers by {answer}, which its methods declare")
            });
            let runs = counted(replays.runs, "run");
            let answer = answer.unwrap_or_default();
            let reason = format!("no crash in {runs} of the PoVs{answer}");
            Rung::new(RungName::Silent, Some(true), reason).settled(steady)
        }
        Verdict::Objection(reason) => {
            let lead = format!("The crash is silenced, not repaired: {reason}");
            let feedback = writer.log(&lead, &replays.log);
            Rung::new(RungName::Silent, Some(false), reason)
                .feedback(feedback)
                .settled(steady)
        }
        Verdict::Doubt(what) => {
            let reason = format!("no crash, but {what}");
            Rung::new(RungName::Silent, None, reason).doubts(vec![Doubt::new(what)])
        }
        Verdict::Unseen(why) => {
            let reason = format!("no crash, but it could not be seen how the run ended: {why}");
            Rung::new(RungName::Silent, None, reason)
        }
    }
}

/// Judges whether silence means anything: the sanitizer could have spoken, and
/// the runs came back from the harness.
async fn vouched((target, baseline, attempt): Ground<'_>) -> Result<Verdict> {
    let task = target.task();
    if task.language == Language::Java {
        return Ok(Verdict::Returned);
    }
    let mut verdict = Verdict::Returned;
    for (pov, before) in task.povs.iter().zip(&baseline.povs).take(WATCHED) {
        let name = task.build_of(pov);
        let Some(old) = baseline.builds.get(&name).filter(|_| before.reproduces()) else {
            continue;
        };
        let new = super::builds::build(target, attempt, &name).await?;
        let gained = new.gained_symbols(old);
        if let Some(hook) = gained.hooks.first() {
            let reason = format!("the patched program interferes with the sanitizer: {hook}");
            return Ok(Verdict::Objection(reason));
        }
        if let Some(name) = gained.unseen.first() {
            verdict = Verdict::Doubt(format!(
                "the patched program writes memory by {name}, which sanitizers may not check"
            ));
        }
        match returned::judge(target, (old, &new), (pov, before), attempt).await? {
            Verdict::Returned => {}
            Verdict::Objection(what) => {
                return Ok(Verdict::Objection(format!("{}: {what}", pov.name())));
            }
            open => verdict = open,
        }
    }
    Ok(verdict)
}

/// The result of a run that refutes the patch.
fn failed(
    writer: &FeedbackWriter<'_>,
    reason: String,
    (before, replay): (&BaselinePov, Replay),
    dumps: &[String],
) -> Rung {
    let feedback = feedback(writer, &reason, (before, &replay), dumps);
    Rung::new(RungName::Silent, Some(false), reason)
        .feedback(feedback)
        .log(replay.execution.text())
        .settled(replay.outcome == Outcome::Crashed)
        .crash(replay.crash.map(|crash| writer.kept(crash)))
}

/// Tells for each PoV of the target whether a patch stops it. A PoV that does not crash the
/// unpatched program here is not stopped by any patch.
pub async fn stopped(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<Vec<bool>> {
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

/// Returns a settled doubt where all that is wrong with a run is a leak that the unpatched
/// program has on the same input.
async fn leaks_as_before(
    target: &dyn Target,
    pov: &Pov,
    before: &BaselinePov,
    replay: &Replay,
) -> Result<Option<Doubt>> {
    let Some(leak) = &replay.crash else {
        return Ok(None);
    };
    let known = before.replay.crash.as_ref();
    if known.is_some_and(|known| known.tool == Tool::LeakSanitizer)
        || !leak::is_old(target, pov, known, replay).await?
    {
        return Ok(None);
    }
    Ok(Some(Doubt {
        settled: Some("the unpatched program leaks the same memory on this input".to_owned()),
        ..Doubt::new(format!("{}: {}", pov.name(), leak.summary))
    }))
}

/// Replays a PoV; where a time limit ends the patched program and did not end the unpatched
/// one, the machine may have been busy, and both are run again side by side.
async fn replay_fairly(
    target: &dyn Target,
    baseline: &Baseline,
    build: &Build,
    (pov, before): (&Pov, &BaselinePov),
) -> Result<Replay> {
    let replay = target.replay(build, pov).await?;
    let hung_before = before.replay.outcome == Outcome::Hung;
    let old = baseline.builds.get(&target.task().build_of(pov));
    let (Outcome::Hung, None, false, Some(old)) =
        (&replay.outcome, &replay.crash, hung_before, old)
    else {
        return Ok(replay);
    };
    let both = futures::future::join(target.replay(old, pov), target.replay(build, pov));
    both.await.1
}

/// Returns the inputs that refuted earlier attempts, each with the PoV that it is run like.
fn found((target, baseline, attempt): Ground<'_>) -> Vec<(&Pov, &BaselinePov, &FoundInput)> {
    let task = target.task();
    let like = |input: &FoundInput| {
        let pov = task.pov_like(&input.pov)?;
        let mut povs = task.povs.iter().zip(&baseline.povs);
        povs.find(|(other, _)| std::ptr::eq(*other, pov))
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
        Outcome::Exhausted(limit) => format!("{name} makes the program hit its {}", limit.text()),
        Outcome::NotRun(why) => format!("{name} was not really run: {why}"),
        Outcome::Silent if replay.answer.is_none() && reports_anyway(before, &text) => {
            format!("{name} still makes the sanitizer report a crash, and the program ends well")
        }
        Outcome::Silent => {
            let banner = missing_banner(&before.replay.execution.text(), &text)?;
            format!("{name} was not really run: the line {banner:?} that showed it is missing")
        }
    })
}

/// Tells whether a successful run printed a report that ends every program, such as the
/// report of a child process. UndefinedBehaviorSanitizer may be set to warn only.
fn reports_anyway(before: &BaselinePov, text: &str) -> bool {
    let ends = |report: CrashReport| report.tool != Tool::UndefinedBehaviorSanitizer;
    before.replay.crash.is_some() && patchwright_crash::parse(text).is_some_and(ends)
}

fn feedback(
    writer: &FeedbackWriter<'_>,
    reason: &str,
    (before, now): (&BaselinePov, &Replay),
    dumps: &[String],
) -> String {
    let text = now.execution.text();
    match (&now.outcome, &now.crash) {
        (Outcome::Hung, None) => writer.hang(reason, dumps, &text),
        (_, Some(crash)) => writer.crash(reason, before.replay.crash.as_ref(), crash),
        _ => writer.log(reason, &text),
    }
}

async fn dumps(
    target: &dyn Target,
    build: &Build,
    pov: &Pov,
    replay: &Replay,
) -> Result<Vec<String>> {
    let text = replay.execution.text();
    if replay.outcome != Outcome::Hung {
        return Ok(Vec::new());
    }
    let task = target.task();
    let command = pov.command.as_ref().or(task.commands.pov.as_ref());
    let (Some(command), Language::Java) = (command, task.language) else {
        return Ok(vec![text]);
    };
    let asking = asking_for_dumps(pov, command);
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

/// Compares the crash with the one of the baseline; none where one of them has no report.
fn change(target: &dyn Target, before: &BaselinePov, now: Option<&CrashReport>) -> Option<Change> {
    let before = before.replay.crash.as_ref()?;
    Some(target.task().change(before, now?))
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
mod cheat_tests;
#[cfg(test)]
mod tests;
