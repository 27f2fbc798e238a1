//! Rung *silent*: every PoV was really run on the patched program, and none crashes or hangs.
//!
//! That the program printed nothing bad is not enough: it must have started,
//! and said so where it said so before; the sanitizer must have been able to
//! speak; and the run must have come back from the harness ([`returned`]). A hang
//! is a failure of its own.

mod returned;

use super::feedback::FeedbackWriter;
use super::{Programs, Way, leak, ways};
use crate::attempt::{AttemptFacts, Ground};
use crate::evidence::{Doubt, Rung, RungName};
use patchwright_crash::signature::Change;
use patchwright_crash::{CrashReport, Tool};
use patchwright_source::{Language, counted};
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, BaselinePov, Outcome, Replay, Target, missing_banner};
use returned::Verdict;

/// PoVs whose exits are watched.
const WATCHED: usize = 4;

pub(crate) async fn climb(on: Ground<'_>) -> Result<Rung> {
    let (target, _, attempt) = on;
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
    let mut result = replays.result(verdict, on);
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
    async fn povs(&mut self, on: Ground<'_>) -> Result<Option<Rung>> {
        for way in ways(on.0, on.1)? {
            let programs = Programs::build(on, way).await?;
            for _ in 0..programs.before.repeat {
                let mut replay = programs.replay_fairly().await?;
                self.runs += 1;
                if let Some(doubt) = programs.leaks_as_before(&replay).await? {
                    self.doubts.push(doubt);
                    self.log = replay.execution.text();
                    continue;
                }
                if let Some(reason) = programs.refuted(&replay) {
                    let mut reason = reason;
                    if programs.hangs_anyway(&replay).await? {
                        reason.push_str(", and so does the unpatched program on an empty input: where the command never ends by itself, name another (commands.pov)");
                    }
                    if replay.outcome == Outcome::Hung && replay.crash.is_none() {
                        let hang = on.0.stack_of_hang(&programs.new, programs.pov);
                        replay.crash = hang.await?;
                    }
                    let failed = programs.failed(reason, replay);
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
    async fn found(&mut self, on: Ground<'_>) -> Result<Option<Rung>> {
        let (target, baseline, attempt) = on;
        let ways = ways(target, baseline)?;
        for input in &attempt.found {
            let pov = target.task().pov_like(&input.pov);
            let like = |(other, ..): &&Way<'_>| pov.is_some_and(|pov| std::ptr::eq(*other, pov));
            let Some(way) = ways.iter().find(like) else {
                continue;
            };
            let programs = Programs::build(on, *way).await?;
            let replay = programs.replay(&programs.new, input.blob.bytes()).await?;
            self.runs += 1;
            if replay.outcome.is_failure() {
                let what = match replay.outcome {
                    Outcome::Crashed => programs.in_words(&replay),
                    Outcome::Hung => "the program hangs".to_owned(),
                    _ => "the program hits a limit".to_owned(),
                };
                let reason = format!(
                    "an input made from {} that refuted an earlier attempt refutes this one too: {what}",
                    programs.pov.name()
                );
                let failed = programs.failed(reason, replay);
                return Ok(Some(failed.count("runs", self.runs)));
            }
        }
        Ok(None)
    }

    /// Returns the result of runs without a crash, by what their silence is worth.
    fn result(&self, verdict: Verdict, (target, baseline, attempt): Ground<'_>) -> Rung {
        let steady = |pov: &BaselinePov| pov.crashes == pov.runs || pov.crashes == 0;
        let steady = baseline.povs.iter().all(steady);
        let rung = |holds, reason: String| Rung::new(RungName::Silent, holds, reason);
        match verdict {
            Verdict::Returned => {
                let answer = self.answer.as_ref().map(|answer| {
                    format!("; the program answers by {answer}, which its callers are told of")
                });
                let runs = counted(self.runs, "run");
                let answer = answer.unwrap_or_default();
                let reason = format!("no crash in {runs} of the PoVs{answer}");
                rung(Some(true), reason).settled(steady)
            }
            Verdict::Objection(reason) => {
                let writer = FeedbackWriter::new(target.task(), attempt);
                let lead = format!("The crash is silenced, not repaired: {reason}");
                let feedback = writer.log(&lead, &self.log);
                rung(Some(false), reason).feedback(feedback).settled(steady)
            }
            Verdict::Doubt(what) => {
                rung(None, format!("no crash, but {what}")).doubts(vec![Doubt::new(what)])
            }
            Verdict::Unseen(why) => {
                let reason = format!("no crash, but it could not be seen how the run ended: {why}");
                rung(None, reason)
            }
        }
    }
}

/// Judges whether silence means anything: the sanitizer could have spoken, and
/// the runs came back from the harness.
async fn vouched(on: Ground<'_>) -> Result<Verdict> {
    let (target, baseline, _) = on;
    if target.task().language == Language::Java {
        return Ok(Verdict::Returned);
    }
    let mut verdict = Verdict::Returned;
    let ways = ways(target, baseline)?.into_iter().take(WATCHED);
    for way in ways.filter(|way| way.1.reproduces()) {
        let programs = Programs::build(on, way).await?;
        let gained = programs.new.gained_symbols(programs.old);
        if let Some(hook) = gained.hooks.first() {
            let reason = format!("the patched program interferes with the sanitizer: {hook}");
            return Ok(Verdict::Objection(reason));
        }
        if let Some(name) = gained.unseen.first() {
            verdict = Verdict::Doubt(format!(
                "the patched program writes memory by {name}, which sanitizers may not check"
            ));
        }
        match returned::judge(&programs).await? {
            Verdict::Returned => {}
            Verdict::Objection(what) => {
                let name = programs.pov.name();
                return Ok(Verdict::Objection(format!("{name}: {what}")));
            }
            open => verdict = open,
        }
    }
    Ok(verdict)
}

/// Tells for each PoV of the target whether a patch stops it. A PoV that does not crash the
/// unpatched program here is not stopped by any patch.
pub async fn stopped(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<Vec<bool>> {
    let mut stopped = Vec::new();
    for way in ways(target, baseline)? {
        let mut stops = way.1.reproduces();
        if stops {
            let programs = Programs::build((target, baseline, attempt), way).await?;
            stops = programs.new.succeeded();
            let mut left = programs.before.repeat;
            while stops && left > 0 {
                let replay = target.replay(&programs.new, programs.pov).await?;
                stops = programs.refuted(&replay).is_none();
                left -= 1;
            }
        }
        stopped.push(stops);
    }
    Ok(stopped)
}

impl Programs<'_> {
    /// Returns the result of a run that refutes the patch.
    fn failed(&self, reason: String, replay: Replay) -> Rung {
        let writer = FeedbackWriter::new(self.target.task(), self.attempt);
        let text = replay.execution.text();
        let feedback = writer.run(&reason, self.crash(), (replay.crash.as_ref(), &text));
        Rung::new(RungName::Silent, Some(false), reason)
            .feedback(feedback)
            .log(text)
            .settled(replay.outcome == Outcome::Crashed)
            .crash(replay.crash.map(|crash| writer.kept(crash)))
    }

    /// Returns a settled doubt where all that is wrong with a run is a leak that the unpatched
    /// program has on the same input.
    async fn leaks_as_before(&self, replay: &Replay) -> Result<Option<Doubt>> {
        let (pov, known) = (self.pov, self.crash());
        let Some(leak) = &replay.crash else {
            return Ok(None);
        };
        if known.is_some_and(|known| known.tool == Tool::LeakSanitizer)
            || !leak::is_old(self, pov, replay).await?
        {
            return Ok(None);
        }
        let settled = "the unpatched program leaks the same memory on this input";
        Ok(Some(Doubt {
            settled: Some(settled.to_owned()),
            ..Doubt::new(format!("{}: {}", pov.name(), leak.summary))
        }))
    }

    /// Replays the PoV; where a time limit ends the patched program and did not end the unpatched
    /// one, the machine may have been busy, and both are run again side by side.
    async fn replay_fairly(&self) -> Result<Replay> {
        let replay = self.target.replay(&self.new, self.pov).await?;
        let hung_before = self.before.replay.outcome == Outcome::Hung;
        if replay.outcome != Outcome::Hung || replay.crash.is_some() || hung_before {
            return Ok(replay);
        }
        let old = self.target.replay(self.old, self.pov);
        let both = futures::future::join(old, self.target.replay(&self.new, self.pov));
        both.await.1
    }

    /// Tells whether a run hangs that has another end before the patch, by a command that does not end
    /// on an empty input either: a program that people type into may read on at the end of its input.
    async fn hangs_anyway(&self, replay: &Replay) -> Result<bool> {
        let hung = |replay: &Replay| replay.outcome == Outcome::Hung && replay.crash.is_none();
        if !hung(replay) || self.before.replay.outcome == Outcome::Hung {
            return Ok(false);
        }
        Ok(hung(&self.replay(self.old, b"").await?))
    }

    /// Returns the reason why a run refutes the patch.
    fn refuted(&self, replay: &Replay) -> Option<String> {
        let (name, before) = (self.pov.name(), &self.before.replay);
        let text = replay.execution.text();
        Some(match &replay.outcome {
            Outcome::Crashed => format!("{name} still crashes: {}", self.in_words(replay)),
            Outcome::Hung if before.outcome == Outcome::Hung => format!("{name} still hangs"),
            Outcome::Hung => {
                let seconds = replay.execution.seconds;
                format!(
                    "{name} no longer crashes, but the program hangs (no end in {seconds:.0} s)"
                )
            }
            Outcome::Exhausted(limit) => {
                format!("{name} makes the program hit its {}", limit.text())
            }
            Outcome::NotRun(why) => format!("{name} was not really run: {why}"),
            Outcome::Silent if replay.answer.is_none() && self.reports_anyway(&text) => {
                format!(
                    "{name} still makes the sanitizer report a crash, and the program ends well"
                )
            }
            Outcome::Silent => {
                let banner = missing_banner(&before.execution.text(), &text)?;
                format!("{name} was not really run: the line {banner:?} that showed it is missing")
            }
        })
    }

    /// Tells whether a successful run printed a report that ends every program, such as the
    /// report of a child process. UndefinedBehaviorSanitizer may be set to warn only.
    fn reports_anyway(&self, text: &str) -> bool {
        let ends = |report: CrashReport| report.tool != Tool::UndefinedBehaviorSanitizer;
        self.crash().is_some() && patchwright_crash::parse(text).is_some_and(ends)
    }

    /// Compares the crash of a run with the PoV's.
    fn in_words(&self, replay: &Replay) -> String {
        let Some((known, now)) = self.crash().zip(replay.crash.as_ref()) else {
            return "the program died without a report".to_owned();
        };
        match self.target.task().change(known, now) {
            Change::Same => "it is the same crash as before".to_owned(),
            Change::Moved => "the crash has moved".to_owned(),
            Change::New => format!("it is a new crash, not the one of before: {}", now.summary),
        }
    }
}

#[cfg(test)]
mod c_tests;
#[cfg(test)]
mod cheat_tests;
#[cfg(test)]
mod tests;
