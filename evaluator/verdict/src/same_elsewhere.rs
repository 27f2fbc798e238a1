//! Rung *same elsewhere*: the patched program behaves as before on harmless inputs.
//!
//! `docs/behaviour.md` defines behaviour, and the inputs on which it is compared. *Given*
//! inputs are fine today: the task's own, files of the tree that look like the PoV, of a Java
//! program what its tests read and pass on (`test_calls`), and mutants of these that the
//! unpatched program accepts; a difference refutes, but for a mutant that the patched program
//! turns away and that is shown to be malformed as the PoV is, or on which another witness sees the
//! unpatched program err. *Derived* ones are
//! mutants of a PoV that do not crash: a difference is settled by experiment or stays a doubt
//! (`doubts`), and an open doubt leaves the rung open. Inputs *aimed* at the patch's own numbers
//! (`sources`) count as what they were made from does; those that the project's own fuzzer finds
//! are derived ones. Those on which the unpatched program errs are not compared
//! (`erring`), and numbers that differ from run to run are no difference (`noise`).

mod branches;
mod challenge;
mod decisions;
mod departure;
mod doubts;
mod erring;
mod noise;
mod outputs;
mod pool;
mod pseudo_tested;
mod reach;
mod runs;
mod sources;
mod test_calls;
mod turned;
mod values;

pub use challenge::{CONTROLS_LEAVE_OPEN, CONTROLS_REACH, ChallengeInput, Challenged, challenge};
pub(crate) use doubts::shown;

use crate::attempt::{AttemptFacts, Ground, name_of_frame, touched_in_baseline};
use crate::evidence::{Doubt, Rung, RungName};
use crate::rung::feedback::FeedbackWriter;
use crate::rung::{Programs, Way, first_way};
use doubts::Differing;
use patchwright_sandbox::process::Ending;
use patchwright_source::{TreePath, counted};
use patchwright_target::Result;
use patchwright_target::runner::{BaselinePov, Coverage, TargetTask, TestRun};
use pool::ComparedInput;
use reach::{AtPatch, Reach};
use runs::Clock;
use std::collections::BTreeSet;
use std::time::Duration;
use values::SEEN;

/// The most inputs of one comparison.
const CHUNK: usize = 96;
/// Inputs whose reasons stand in the log.
const MOST_NOTES: usize = 200;
/// Reason why nothing can be run.
const NO_WAY: &str = "no PoV reproduces, so it is not known how inputs are run";
/// Functions of a crash that are watched where no function is touched.
const CRASHED: usize = 3;
/// Count of the outcomes of the patch's branches that nothing accounts for.
pub const OPEN_BRANCHES: &str = "branches not accounted for";
/// Count of the accepted inputs that are missing at the patched lines; there only where
/// nothing else leaves the rung open.
pub const MISSING_REACH: &str = "inputs missing at the patched lines";
/// Words in front of what keeps *same elsewhere* open beside its doubts.
pub const BESIDES: &str = "; besides, ";
/// Count of an open rung: 1 where it holds once its differences are settled, else 0.
pub const OPEN_FOR_DIFFERENCES: &str = "open for its differences alone";

pub(crate) async fn climb(on: Ground<'_>) -> Result<Rung> {
    let Some(way) = first_way(on.0, on.1)? else {
        return Ok(Rung::new(RungName::SameElsewhere, None, NO_WAY));
    };
    let mut comparison = Comparison::new(on, way).await?;
    comparison.test_calls().await?;
    if let Some(difference) = comparison.all_outputs().await? {
        return Ok(comparison.refuted(&difference));
    }
    comparison.measure_reach().await?;
    if let Some(difference) = comparison.values().await? {
        return Ok(comparison.refuted(&difference));
    }
    if let Some(difference) = comparison.aimed().await? {
        return Ok(comparison.refuted(&difference));
    }
    if let Some(difference) = comparison.searched().await? {
        return Ok(comparison.refuted(&difference));
    }
    comparison.settle_differences().await?;
    comparison.ask_about_erring().await?;
    comparison.settle_reach().await?;
    comparison.turn_conditions().await?;
    Ok(comparison.held())
}

/// Returns the functions whose values are compared: those that the attempt touches and that
/// the unpatched program has too; where there are none (a table, a macro, a new function),
/// those of the crash.
fn watched(task: &TargetTask, before: &BaselinePov, attempt: &AttemptFacts) -> Result<Vec<String>> {
    let touched = touched_in_baseline(attempt, &task.tree)?;
    if !touched.is_empty() {
        return Ok(touched);
    }
    let stacks = before.replay.crash.iter().flat_map(|crash| &crash.stacks);
    let frames = stacks.flat_map(|stack| &stack.frames);
    let mut crashed: Vec<String> = Vec::new();
    for frame in frames.filter(|frame| task.in_project(frame)) {
        let name = name_of_frame(&frame.function, task.language);
        if crashed.len() < CRASHED && !name.is_empty() && !crashed.contains(&name) {
            crashed.push(name);
        }
    }
    Ok(crashed)
}

struct Comparison<'a> {
    programs: Programs<'a>,
    functions: Vec<String>,
    writer: FeedbackWriter<'a>,
    pool: pool::InputPool,
    /// Digests of the unpatched program's outputs.
    outputs_seen: BTreeSet<u64>,
    /// Numbers that the unpatched program prints otherwise in each run.
    noise: noise::Noise,
    /// Inputs that were not compared, each with the reason.
    notes: Vec<String>,
    /// Experiments on the unpatched program and what came of them, for the log.
    experiments: Vec<String>,
    /// Mutants of the PoVs that make the unpatched program crash.
    crashing: Vec<ComparedInput>,
    /// Inputs whose outputs were the same.
    compared: Vec<ComparedInput>,
    /// Those of them that reached a touched function.
    reaching: Vec<ComparedInput>,
    /// Mutants of given inputs that only the patched program turns away and
    /// that nothing is known of yet.
    turned_away: Vec<Differing>,
    clock: Clock,
    /// The counts, the doubts about differences that refute nothing, and the answers of the patched
    /// program to inputs that crash the unpatched one.
    result: Rung,
    /// Derived inputs on which the programs differ.
    differing: Vec<Differing>,
    /// Inputs and tests that run the patched lines; none where it could not be counted.
    reach: Option<Reach>,
    /// Inputs that were aimed at the patch, whatever became of them.
    tried: Vec<Vec<u8>>,
    /// Seconds that one input of the last comparison took; none before the first.
    seconds_each: Option<f64>,
    /// The unpatched program leaks memory on given inputs: no leak is looked for.
    leaks_allowed: bool,
    /// The tests of the unpatched program.
    tests: Option<&'a TestRun>,
    /// Calls while the tests ran that end as before and say something.
    telling_calls: u64,
    /// The lines of the patch that the tests were seen to run.
    tests_coverage: Option<Coverage>,
    /// Reason why no value could be read.
    values_unseen: Option<String>,
    /// Reasons why it could not be seen which inputs reach the patch.
    unseen: Vec<String>,
    /// The count that a part of the comparison fell short of for lack of time.
    missed: Option<String>,
}

impl<'a> Comparison<'a> {
    async fn new(on: Ground<'a>, way: Way<'a>) -> Result<Self> {
        let (target, baseline, attempt) = on;
        let task = target.task();
        Ok(Self {
            programs: Programs::build(on, way).await?,
            functions: watched(task, way.1, attempt)?,
            writer: FeedbackWriter::new(task, attempt),
            pool: pool::InputPool::gather(task, way.0)?,
            outputs_seen: BTreeSet::new(),
            noise: noise::Noise::default(),
            notes: Vec::new(),
            experiments: Vec::new(),
            crashing: Vec::new(),
            compared: Vec::new(),
            reaching: Vec::new(),
            turned_away: Vec::new(),
            clock: Clock::start(task.limits.same),
            result: Rung::new(RungName::SameElsewhere, None, ""),
            differing: Vec::new(),
            reach: None,
            tried: Vec::new(),
            seconds_each: None,
            leaks_allowed: false,
            tests: baseline.tests.as_ref(),
            telling_calls: 0,
            tests_coverage: None,
            values_unseen: None,
            unseen: Vec::new(),
            missed: None,
        })
    }

    fn count(&mut self, what: &str, number: u64) {
        *self.result.counts.entry(what.to_owned()).or_default() += number;
    }

    /// Returns the wall time of the tests of the unpatched program.
    fn tests_time(&self) -> Option<Duration> {
        let seconds = self.tests?.execution.seconds.min(600.0);
        Some(Duration::from_secs_f64(seconds))
    }

    fn counted(&self, what: &str) -> u64 {
        self.result.counts.get(what).copied().unwrap_or(0)
    }

    /// Keeps the reason why an input was not compared, for the log.
    fn note(&mut self, input: &str, why: &str) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(format!("{input}: {why}"));
        }
    }

    /// Returns who found the patched program's answer to an input right, and why.
    fn accepted(&self, one: &Differing) -> Option<String> {
        let [_, answer] = one.answers();
        let mut accepted = self.programs.attempt.accepted.iter();
        let found = accepted.find(|known| {
            let is_any = known.answer.is_empty() || known.answer == answer;
            is_any && known.blob.bytes() == one.input.bytes
        })?;
        Some(found.reason.clone())
    }

    fn refuted(&self, one: &Differing) -> Rung {
        let reason = format!("{}: {}", one.input.name, one.what);
        let [before, after] = one.answers();
        let shown = format!("--- without the patch\n{before}\n+++ with the patch\n{after}");
        let lead = format!(
            "The patched program behaves differently on an input that does not crash the unpatched program.\n{reason}"
        );
        let mut runs = [&one.before, &one.after].into_iter();
        let limited = runs.any(|run| matches!(run.ending, Ending::Limit(_)));
        self.rung(Some(false), reason)
            .feedback(lead)
            .log(shown)
            .doubts(vec![self.doubt(one)])
            .settled(!limited)
    }

    /// Creates a result with the counts, doubts and answers so far.
    fn rung(&self, holds: Option<bool>, reason: String) -> Rung {
        Rung {
            holds,
            reason,
            ..self.result.clone()
        }
    }

    /// Returns the verdict as it is when every difference is settled, and its reason.
    fn apart_from_differences(&self) -> (Option<bool>, String) {
        let calls = self.telling_calls;
        if self.compared.is_empty() && calls == 0 {
            return (None, self.nothing_compared());
        }
        if let Some(missed) = &self.missed {
            return (None, missed.clone());
        }
        let (holds, why) = self.reached_enough();
        let inputs = self.compared.len();
        if holds == Some(true) && self.shows_nothing() {
            let unseen = self.values_unseen.as_deref();
            let why = format!(
                "{inputs} inputs end as before, but the program shows nothing of what it reads: {}",
                unseen.unwrap_or("no value of a touched function that says something was seen")
            );
            return (None, why);
        }
        let of_tests = match calls {
            0 => String::new(),
            calls => format!(" and {} of the tests", counted(calls, "call")),
        };
        let reason = format!("{inputs} inputs{of_tests} behave as before; {why}");
        (holds, reason)
    }

    /// Tells whether all inputs were answered alike, and no value says that they were understood.
    fn shows_nothing(&self) -> bool {
        let ends: BTreeSet<bool> = self.compared.iter().map(|input| input.refused).collect();
        let is_silent = self.is_silent() && ends.len() < 2;
        is_silent && self.telling_calls + self.counted(SEEN) == 0
    }

    /// Returns the reason why no input could be compared.
    fn nothing_compared(&self) -> String {
        let why = match self.counted("not comparable") {
            0 => "there is no input that both programs could be compared on".to_owned(),
            tried => format!(
                "on all {tried} inputs that were tried the unpatched program errs or answers otherwise each time, so nothing could be compared"
            ),
        };
        format!("{why}; files that are fine today can be given as [inputs] harmless")
    }

    /// Judges by the floor whether enough of the compared inputs reach what the patch touches.
    fn reached_enough(&self) -> (Option<bool>, String) {
        let floor = self.programs.task().limits.reached;
        if let Some(reach) = &self.reach {
            let (count, place) = (reach.reached, reach::place(&reach.all));
            let mut reached = format!("{count} of those counted run {place}");
            if reach.tests == Some(AtPatch::Run) {
                reached.push_str(", and the tests do");
            }
            return match reach.missing(floor.saturating_sub(self.calls_there())) {
                None => (Some(true), reached),
                Some(missing) => (None, missing),
            };
        }
        let Some(count) = self.result.counts.get("reached a touched function") else {
            let why = self.unseen.join("; ");
            let reason = format!("which functions they reach could not be seen: {why}");
            return (None, reason);
        };
        let floor = floor.max(1);
        let reached = format!("{count} of those looked at reach a touched function");
        if *count >= floor {
            return (Some(true), reached);
        }
        let reason = format!("{reached}, and at least {floor} have to (limits.reached)");
        (None, reason)
    }

    /// Returns the doubts, what is known of the patch's branches, and the inputs that could
    /// not be compared.
    fn log(&self) -> String {
        let doubts = self.result.doubts.iter().map(ToString::to_string);
        let doubts: Vec<String> = doubts.collect();
        let reach = self.reach.as_ref();
        let open = reach.map_or(&[][..], |reach| &reach.unaccounted);
        let reasons = reach.map_or(&[][..], |reach| &reach.reasons);
        let mut log = String::new();
        let parts: [(&str, &[String]); 5] = [
            ("for the critic", &doubts),
            ("experiment", &self.experiments),
            ("branch not accounted for", open),
            ("branch", reasons),
            ("not compared", &self.notes),
        ];
        for (what, told) in parts {
            log.extend(told.iter().map(|one| format!("{what}: {one}\n")));
        }
        log
    }

    /// Returns a branch of the patch, told as `path:line (why)`, with the code of its line.
    fn with_code(&self, branch: &str) -> String {
        let code = || {
            let (place, _) = branch.split_once(" (")?;
            let (path, line) = place.rsplit_once(':')?;
            let changes = &self.programs.attempt.changes;
            let text = changes.new_content(&TreePath::new(path).ok()?)?;
            let text = String::from_utf8_lossy(text);
            let line = line.parse::<usize>().ok()?.checked_sub(1)?;
            Some(text.lines().nth(line)?.trim().to_owned())
        };
        code().map_or_else(|| branch.to_owned(), |code| format!("{branch}: {code}"))
    }

    /// Returns the result when nothing refuted the patch.
    fn held(&self) -> Rung {
        let open = self.result.doubts.iter().filter(|doubt| doubt.is_open());
        let open: Vec<&Doubt> = open.collect();
        let (apart, why) = self.apart_from_differences();
        let turned_away = self.turned_away.len();
        let mut result = if turned_away > 0 {
            let reason = format!(
                "{turned_away} mutants of given inputs are turned away by the patched program alone, and there was no time to see whether they are malformed (limits.same)"
            );
            self.rung(None, reason)
        } else if let Some(first) = open.first() {
            let besides = format!("{BESIDES}{why}");
            let besides = Some(besides).filter(|_| apart.is_none());
            let reason = format!(
                "{} that no experiment settles, for a model, a critic or a person to decide: {}{}",
                counted(open.len() as u64, "doubt"),
                first.what,
                besides.unwrap_or_default()
            );
            let for_them_alone = u64::from(apart == Some(true));
            self.rung(None, reason)
                .count(OPEN_FOR_DIFFERENCES, for_them_alone)
        } else {
            let is_missing = apart.is_none() && !self.compared.is_empty() && self.missed.is_none();
            let is_missing = is_missing && !self.shows_nothing();
            let mut result = self.rung(apart, why);
            if let Some(reach) = self.reach.as_ref().filter(|_| is_missing) {
                let floor = self.programs.task().limits.reached;
                result = result.count(MISSING_REACH, floor.saturating_sub(reach.reached));
            }
            result
        };
        let branches = self.reach.iter().flat_map(|reach| &reach.unaccounted);
        result.conditions = branches.map(|branch| self.with_code(branch)).collect();
        result.log(self.log())
    }
}

#[cfg(test)]
mod doubt_tests;
#[cfg(test)]
mod tests;
