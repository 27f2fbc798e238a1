//! Second witnesses: memory errors and undefined behaviour that the build's own sanitizer does
//! not see.
//!
//! A patch can leave a memory error where AddressSanitizer is blind: in code that is compiled
//! without checks, in a function of the C library without an interceptor, or behind shadow
//! memory that it wrote itself. And a check against an overflow may overflow itself. So the
//! PoVs, their nearest mutants and some harmless inputs also run under Valgrind's memcheck
//! (Nethercote and Seward 2007) on a build without sanitizers, and on a build with
//! UndefinedBehaviorSanitizer. What only the patched program does there refutes the patch.
//! Java has no second witness, and a machine without Valgrind has only the other; the log says so.

use crate::attempt::{AttemptFacts, touched_functions};
use crate::given_inputs;
use crate::mutation::Mutator;
use crate::rung::replay_input;
use patchwright_crash::signature::{self, Change, plain_name};
use patchwright_crash::{CrashReport, Frame, Tool};
use patchwright_source::{Changes, Language};
use patchwright_target::TargetError;
use patchwright_target::runner::{BaselinePov, Build, Instrumentation, Pov, Replay, Target};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Time for one witness, its builds apart.
const TIME: Duration = Duration::from_secs(20);
/// Least and most time for one input under memcheck, which slows a program down 20 to 50 times
/// (Valgrind's manual).
const EACH: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(1));
const SLOWER: u32 = 50;
/// Harmless inputs that are run.
const HARMLESS: usize = 3;
/// Runs a command (`sh -eu`) under memcheck, with the programs that it starts. Interpreters are
/// left out: their own errors are none of the program's. The last line keeps the shell from
/// turning into the program, so that both say how they ended.
const MEMCHECK: &str = "exec valgrind --trace-children=yes '--trace-children-skip=*/python*,*/perl*,*/ruby*,*/node,*/java' --track-origins=yes --fullpath-after= --error-exitcode=86 --num-callers=24 sh -eu -c ";
/// The line with which Valgrind ends its watch over a process.
const WATCHED: &str = "== ERROR SUMMARY: ";

/// A tool that watches the program beside the build's own sanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Witness {
    Memcheck,
    Undefined,
}

/// An input on which a witness speaks against the patch.
#[derive(Debug)]
pub(crate) struct Testimony {
    pub(crate) input: Vec<u8>,
    pub(crate) reason: String,
    pub(crate) shown: String,
    pub(crate) crash: CrashReport,
}

/// The word of all witnesses.
#[derive(Debug, Default)]
pub(crate) struct Testimonies {
    pub(crate) against: Option<Testimony>,
    /// Inputs that a witness watched.
    pub(crate) watched: u64,
    /// A line about each witness.
    pub(crate) log: String,
}

/// The programs that are compared, and how inputs are run.
#[derive(Clone, Copy)]
pub(crate) struct Examination<'a> {
    pub(crate) target: &'a dyn Target,
    pub(crate) attempt: &'a AttemptFacts,
    pub(crate) pov: &'a Pov,
    pub(crate) before: &'a BaselinePov,
}

impl Examination<'_> {
    /// Hears all witnesses; ends with the first one that speaks against the patch.
    pub(crate) async fn hear(&self, seeds: &[Vec<u8>]) -> Result<Testimonies, TargetError> {
        let mut all = Testimonies::default();
        if self.target.task().language == Language::Java {
            return Ok(all);
        }
        let harmless = given_inputs::inputs(self.target.task(), self.pov)?;
        let harmless: Vec<Vec<u8>> = harmless.into_iter().map(|(_, bytes)| bytes).collect();
        for witness in [Witness::Undefined, Witness::Memcheck] {
            let mut inputs = seeds.to_vec();
            inputs.extend(harmless.iter().take(HARMLESS).cloned());
            inputs.extend(Mutator::nearest_first(seeds.to_vec()).take(witness.mutants()));
            let said = self.ask(witness, &inputs, &harmless).await?;
            all.watched += said.watched;
            all.log.push_str(&said.log);
            if said.against.is_some() {
                all.against = said.against;
                break;
            }
        }
        Ok(all)
    }

    async fn ask(
        &self,
        witness: Witness,
        inputs: &[Vec<u8>],
        harmless: &[Vec<u8>],
    ) -> Result<Testimonies, TargetError> {
        let mut said = Testimonies::default();
        let name = witness.name();
        let Some(build) = self.build(witness, &self.attempt.changes).await? else {
            let _ = writeln!(
                said.log,
                "{name} saw nothing: the program does not build for it"
            );
            return Ok(said);
        };
        let until = Instant::now() + TIME;
        for input in inputs {
            if Instant::now() > until {
                break;
            }
            let Some((reports, shown)) = self.run(witness, &build, input).await? else {
                continue;
            };
            said.watched += 1;
            for crash in reports
                .into_iter()
                .filter(|crash| self.matters(witness, crash))
            {
                if !self.is_known(witness, input, &crash, harmless).await? {
                    let reason = format!("{name}: {}", crash.summary);
                    said.against = Some(Testimony {
                        input: input.clone(),
                        reason,
                        shown,
                        crash,
                    });
                    return Ok(said);
                }
                let _ = writeln!(
                    said.log,
                    "not held against the patch, the unpatched program has it too: {name}: {}",
                    crash.summary
                );
            }
        }
        let _ = match said.watched {
            0 => writeln!(said.log, "{name} saw nothing: {}", witness.hint()),
            watched => writeln!(said.log, "{name} watched {watched} inputs"),
        };
        Ok(said)
    }

    async fn build(
        &self,
        witness: Witness,
        changes: &Changes,
    ) -> Result<Option<Build>, TargetError> {
        let added = match witness {
            Witness::Memcheck => Instrumentation::Plain,
            Witness::Undefined => {
                Instrumentation::Undefined(self.attempt.files().into_iter().cloned().collect())
            }
        };
        let name = self.target.task().build_of(self.pov);
        self.target.instrumented_build(changes, &name, &added).await
    }

    /// Runs an input under a witness; its reports and the log, none where it was not watched.
    async fn run(
        &self,
        witness: Witness,
        build: &Build,
        input: &[u8],
    ) -> Result<Option<(Vec<CrashReport>, String)>, TargetError> {
        let task = self.target.task();
        let command = self.pov.command.as_ref().or(task.commands.pov.as_ref());
        let Some(command) = command else {
            return Ok(None);
        };
        let usual = Duration::from_secs_f64(self.before.replay.execution.seconds.min(60.0));
        let pov = match witness {
            Witness::Memcheck => Pov {
                command: Some(format!("{MEMCHECK}{}", quoted(&format!("{command}\n:")))),
                timeout: Some((usual * SLOWER).clamp(EACH.0, EACH.1)),
                ..self.pov.clone()
            },
            Witness::Undefined => self.pov.clone(),
        };
        let replay = replay_input(self.target, build, &pov, input).await?;
        let text = replay.execution.text();
        Ok(witness
            .reports(&replay, &text)
            .map(|reports| (reports, text)))
    }

    /// Tells whether a report is about the program, and of a kind that this witness is asked
    /// for: what was never written matters where the patch uses or makes it, and undefined
    /// behaviour in lines that the patch wrote.
    fn matters(&self, witness: Witness, crash: &CrashReport) -> bool {
        let task = self.target.task();
        let mut frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
        match (witness, crash.kind.as_str()) {
            (_, "memory-leak" | "data-race" | "lock-leak" | "thread-error") => false,
            (Witness::Memcheck, "use-of-uninitialized-value") => {
                let touched = touched_functions(self.attempt);
                let touched: Vec<&str> = touched.iter().map(|name| last(name)).collect();
                frames.any(|frame| touched.contains(&last(&plain_name(&frame.function))))
            }
            (Witness::Memcheck, _) => frames.any(|frame| task.in_project(frame)),
            (Witness::Undefined, _) => frames.next().is_some_and(|frame| self.wrote(frame)),
        }
    }

    /// Tells whether the patch wrote the line of a frame.
    fn wrote(&self, frame: &Frame) -> bool {
        let path = self.target.task().tree_path(frame);
        let (Some(path), Some(line)) = (path, frame.line) else {
            return false;
        };
        let touched = self.attempt.touched.iter().filter(|one| one.path == path);
        let mut ranges = touched.flat_map(|one| &one.new);
        ranges.any(|(first, last)| (*first..=*last).contains(&line))
    }

    /// Tells whether the unpatched program has an error too, on the same input or on one that
    /// it accepts. The PoV's own error is never excused by itself.
    async fn is_known(
        &self,
        witness: Witness,
        input: &[u8],
        crash: &CrashReport,
        harmless: &[Vec<u8>],
    ) -> Result<bool, TargetError> {
        let Some(old) = self.build(witness, &Changes::default()).await? else {
            return Ok(false);
        };
        let pov = self.before.replay.crash.as_ref();
        let is_the_povs = pov.is_some_and(|pov| self.change(pov, crash) != Change::New);
        let same_input = (!is_the_povs).then(|| input.to_vec());
        for input in same_input.iter().chain(harmless.iter().take(HARMLESS)) {
            let Some((reports, _)) = self.run(witness, &old, input).await? else {
                continue;
            };
            let mut reports = reports.iter();
            if reports.any(|report| self.change(report, crash) == Change::Same) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn change(&self, earlier: &CrashReport, later: &CrashReport) -> Change {
        let task = self.target.task();
        signature::compare(earlier, later, &|frame| task.in_project(frame))
    }
}

impl Witness {
    fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "Valgrind's memcheck on a build without sanitizers",
            Self::Undefined => "UndefinedBehaviorSanitizer",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Memcheck => "it is not installed, or the program does not run under it",
            Self::Undefined => "no input ended in time",
        }
    }

    /// Mutants of the PoVs that are run; memcheck needs a second for each.
    fn mutants(self) -> usize {
        match self {
            Self::Memcheck => 4,
            Self::Undefined => 24,
        }
    }

    /// Returns its reports; none where it did not watch the program to its end.
    fn reports(self, replay: &Replay, text: &str) -> Option<Vec<CrashReport>> {
        match self {
            Self::Memcheck => (text.matches(WATCHED).count() > 1).then(|| errors(text)),
            Self::Undefined => {
                let crash = replay.crash.iter().cloned();
                let tool = Tool::UndefinedBehaviorSanitizer;
                Some(crash.filter(|crash| crash.tool == tool).collect())
            }
        }
    }
}

/// Returns the errors of a log of Valgrind: they stand apart by empty lines of its own.
fn errors(text: &str) -> Vec<CrashReport> {
    let mut errors = vec![String::new()];
    for line in text.lines() {
        let is_own = line.starts_with("==");
        if is_own && line.ends_with("== ") {
            errors.push(String::new());
        } else if let (true, Some(error)) = (is_own, errors.last_mut()) {
            let _ = writeln!(error, "{line}");
        }
    }
    let read = errors
        .iter()
        .filter_map(|error| patchwright_crash::parse(error));
    read.filter(|crash| crash.tool == Tool::Valgrind).collect()
}

/// Quotes a text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns the name of a function without its class and namespace.
fn last(function: &str) -> &str {
    function.rsplit(['.', ':']).next().unwrap_or(function)
}

#[cfg(test)]
mod tests;
