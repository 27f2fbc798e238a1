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

use crate::attempt::{AttemptFacts, last, touched_functions};
use crate::given_inputs;
use crate::mutation::Mutator;
use crate::rung::replay_input;
use futures::future::join_all;
use patchwright_crash::signature::{Change, plain_name};
use patchwright_crash::{CrashReport, Frame, Tool};
use patchwright_source::{Changes, Language, TreePath};
use patchwright_target::runner::{
    BaselinePov, Build, Instrumentation, Pov, Replay, Target, program_and_arguments,
};
use patchwright_target::{Result, WorkTime, quoted};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// Time for one witness, its builds apart.
const TIME: Duration = Duration::from_secs(20);
/// Least and most time for one input under memcheck, which slows a program down 20 to 50 times
/// (Valgrind's manual).
const EACH: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(1));
const SLOWER: u32 = 50;
/// Harmless inputs that are run.
const HARMLESS: usize = 3;
/// Runs a command under memcheck, with the programs that it starts. Interpreters are left out:
/// their own errors are none of the program's.
const MEMCHECK: &str = "exec valgrind --trace-children=yes '--trace-children-skip=*/python*,*/perl*,*/ruby*,*/node,*/java' --track-origins=yes --fullpath-after= --error-exitcode=86 --num-callers=24 ";
/// The line with which Valgrind ends its watch over a process.
const WATCHED: &str = "== ERROR SUMMARY: ";

/// A tool that watches the program beside the build's own sanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Witness {
    Undefined,
    Memcheck,
}

/// An input on which the patched program fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) input: Vec<u8>,
    pub(crate) reason: String,
    pub(crate) shown: String,
    pub(crate) crash: Option<CrashReport>,
}

/// The word of all witnesses.
#[derive(Debug, Default)]
pub(crate) struct Testimonies {
    /// A failure that speaks against the patch.
    pub(crate) against: Option<Failure>,
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
    pub(crate) async fn hear(&self, seeds: &[Vec<u8>]) -> Result<Testimonies> {
        let mut all = Testimonies::default();
        let harmless = given_inputs::inputs(self.target.task(), self.pov)?;
        let harmless: Vec<Vec<u8>> = harmless.into_iter().map(|(_, bytes)| bytes).collect();
        for witness in Witness::of(self.target.task().language).iter().copied() {
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
    ) -> Result<Testimonies> {
        let mut said = Testimonies::default();
        let name = witness.name();
        let Some(build) = self.build(witness, &self.attempt.changes).await? else {
            let _ = writeln!(
                said.log,
                "{name} saw nothing: the program does not build for it"
            );
            return Ok(said);
        };
        let until = WorkTime::now() + TIME;
        let lanes = self.target.task().limits.jobs.max(1) as usize;
        for some in inputs
            .chunks(lanes)
            .take_while(|_| WorkTime::now() <= until)
        {
            let runs = some.iter().map(|input| self.run(witness, &build, input));
            for (input, seen) in some.iter().zip(join_all(runs).await) {
                let Some(seen) = seen? else {
                    continue;
                };
                said.watched += 1;
                let known = &mut said.log;
                said.against = self
                    .against(witness, (input, seen), harmless, known)
                    .await?;
                if said.against.is_some() {
                    return Ok(said);
                }
            }
        }
        let _ = match said.watched {
            0 => writeln!(said.log, "{name} saw nothing: {}", witness.hint()),
            watched => writeln!(said.log, "{name} watched {watched} inputs"),
        };
        Ok(said)
    }

    /// Returns what a witness saw on an input that speaks against the patch; what the unpatched
    /// program does too is noted in `known`.
    async fn against(
        &self,
        witness: Witness,
        (input, (reports, shown)): (&[u8], (Vec<CrashReport>, String)),
        harmless: &[Vec<u8>],
        known: &mut String,
    ) -> Result<Option<Failure>> {
        let name = witness.name();
        let reports = reports.into_iter();
        for crash in reports.filter(|crash| self.matters(witness, crash)) {
            if !self.is_known(witness, input, &crash, harmless).await? {
                return Ok(Some(Failure {
                    input: input.to_vec(),
                    reason: format!("{name}: {}", crash.summary),
                    shown,
                    crash: Some(crash),
                }));
            }
            let _ = writeln!(
                known,
                "not held against the patch, the unpatched program has it too: {name}: {}",
                crash.summary
            );
        }
        Ok(None)
    }

    /// Builds the unpatched program for a witness; nothing where that cannot be had.
    pub(crate) async fn unpatched(&self, witness: Witness) -> Result<Option<Build>> {
        self.build(witness, &Changes::default()).await
    }

    /// Returns the places of the inputs on which the program errs under a witness, or the reason
    /// why that tells nothing. Those that there is no time for are left out.
    pub(crate) async fn errs(
        &self,
        witness: Witness,
        build: &Build,
        (accepted, inputs): (&[Vec<u8>], &[&[u8]]),
        time: Duration,
    ) -> Result<Result<Vec<usize>, &'static str>> {
        let until = WorkTime::now() + time;
        for input in accepted {
            match self.run(witness, build, input).await? {
                None => return Ok(Err(witness.hint())),
                Some((reports, _)) if reports.iter().any(|one| self.is_about_program(one)) => {
                    return Ok(Err("it errs on accepted inputs too, so that tells nothing"));
                }
                Some(_) => {}
            }
        }
        let mut erring = Vec::new();
        for (place, input) in inputs.iter().enumerate() {
            if WorkTime::now() > until {
                break;
            }
            let seen = self.run(witness, build, input).await?;
            let mut reports = seen.iter().flat_map(|(reports, _)| reports);
            if reports.any(|report| self.is_about_program(report)) {
                erring.push(place);
            }
        }
        Ok(Ok(erring))
    }

    async fn build(&self, witness: Witness, changes: &Changes) -> Result<Option<Build>> {
        let task = self.target.task();
        let added = match witness {
            Witness::Memcheck => Instrumentation::Plain,
            Witness::Undefined => {
                let crash = self.before.replay.crash.iter();
                let of_crash = crash.flat_map(|crash| task.files_of(crash));
                let mut files: BTreeSet<TreePath> = of_crash.collect();
                files.extend(self.attempt.files().into_iter().cloned());
                Instrumentation::Undefined(files.into_iter().collect())
            }
        };
        let name = task.build_of(self.pov);
        self.target.instrumented_build(changes, &name, &added).await
    }

    /// Runs an input under a witness; its reports and the log, none where it was not watched.
    async fn run(
        &self,
        witness: Witness,
        build: &Build,
        input: &[u8],
    ) -> Result<Option<(Vec<CrashReport>, String)>> {
        let task = self.target.task();
        let command = self.pov.command.as_ref().or(task.commands.pov.as_ref());
        let Some(command) = command else {
            return Ok(None);
        };
        let pov = match witness {
            Witness::Memcheck => Pov {
                command: Some(under_memcheck(command)),
                timeout: Some(self.before.time_limit(SLOWER, EACH)),
                ..self.pov.clone()
            },
            Witness::Undefined => self.pov.clone(),
        };
        let replay = replay_input(self.target, build, &pov, input).await?;
        let text = replay.execution.text();
        Ok(witness
            .reports(command, &replay, &text)
            .map(|reports| (reports, text)))
    }

    /// Tells whether a report is about the program, and no leak or race, which differ from run
    /// to run.
    fn is_about_program(&self, crash: &CrashReport) -> bool {
        let other = ["memory-leak", "data-race", "lock-leak", "thread-error"];
        let mut frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
        !other.contains(&crash.kind.as_str())
            && frames.any(|frame| self.target.task().in_project(frame))
    }

    /// Tells whether a report is of a kind that this witness is asked for about a patch: what was
    /// never written matters where the patch uses or makes it, and undefined behaviour in lines
    /// that the patch wrote.
    fn matters(&self, witness: Witness, crash: &CrashReport) -> bool {
        let mut frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
        self.is_about_program(crash)
            && match (witness, crash.kind.as_str()) {
                (Witness::Memcheck, "use-of-uninitialized-value") => {
                    let touched = touched_functions(self.attempt);
                    let touched: Vec<&str> = touched.iter().map(|name| last(name)).collect();
                    frames.any(|frame| touched.contains(&last(&plain_name(&frame.function))))
                }
                (Witness::Memcheck, _) => true,
                (Witness::Undefined, _) => frames.next().is_some_and(|frame| self.wrote(frame)),
            }
    }

    /// Tells whether the patch wrote the line of a frame.
    fn wrote(&self, frame: &Frame) -> bool {
        let path = self.target.task().tree_path(frame);
        let place = path.zip(frame.line);
        place.is_some_and(|(path, line)| self.attempt.wrote(path.as_str(), line))
    }

    /// Tells whether the unpatched program has an error too, on the same input or on one that
    /// it accepts. The PoV's own error is never excused by itself.
    async fn is_known(
        &self,
        witness: Witness,
        input: &[u8],
        crash: &CrashReport,
        harmless: &[Vec<u8>],
    ) -> Result<bool> {
        let Some(old) = self.unpatched(witness).await? else {
            return Ok(false);
        };
        let (task, pov) = (self.target.task(), self.before.replay.crash.as_ref());
        let is_the_povs = pov.is_some_and(|pov| task.change(pov, crash) != Change::New);
        let same_input = (!is_the_povs).then(|| input.to_vec());
        for input in same_input.iter().chain(harmless.iter().take(HARMLESS)) {
            let Some((reports, _)) = self.run(witness, &old, input).await? else {
                continue;
            };
            let mut reports = reports.iter();
            if reports.any(|report| task.change(report, crash) == Change::Same) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Witness {
    /// Returns the witnesses for programs of a language, the faster one first.
    pub(crate) fn of(language: Language) -> &'static [Self] {
        match language {
            Language::Java => &[],
            _ => &[Self::Undefined, Self::Memcheck],
        }
    }

    pub(crate) fn name(self) -> &'static str {
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
    fn reports(self, command: &str, replay: &Replay, text: &str) -> Option<Vec<CrashReport>> {
        match self {
            Self::Memcheck => {
                let shells = usize::from(!runs_program(command));
                (text.matches(WATCHED).count() > shells).then(|| errors(text))
            }
            Self::Undefined => {
                let crash = replay.crash.iter().cloned();
                let tool = Tool::UndefinedBehaviorSanitizer;
                Some(crash.filter(|crash| crash.tool == tool).collect())
            }
        }
    }
}

/// Returns a command under memcheck. One that needs a shell has it watched too, which takes as
/// long again; the last line keeps the shell from turning into the program, so that both say how
/// they ended.
fn under_memcheck(command: &str) -> String {
    if runs_program(command) {
        format!("{MEMCHECK}{command}")
    } else {
        format!("{MEMCHECK}sh -eu -c {}", quoted(&format!("{command}\n:")))
    }
}

/// Tells whether a command is one program of the build and its arguments.
fn runs_program(command: &str) -> bool {
    program_and_arguments(command).is_some()
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

#[cfg(test)]
mod tests {
    use super::errors;
    use crate::attempt::AttemptFacts;
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use patchwright_source::{Touched, TreePath};
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{PARSE, change, open, task};
    use std::fs;
    use std::time::Duration;

    /// Replaces the write past the end by code that no sanitizer checks.
    const BLIND: &str = "__attribute__((no_address_safety_analysis, noinline)) static void fill(char *to, unsigned long n) {\n  volatile unsigned long most = n;\n  for (unsigned long i = 0; i < most; i++) ((volatile char *)to)[i] = 1;\n}\n";

    fn attempt(text: &str) -> AttemptFacts {
        let lines = u32::try_from(text.lines().count()).unwrap();
        AttemptFacts {
            changes: change("parse.c", text.to_owned()),
            touched: vec![Touched {
                path: TreePath::new("parse.c").unwrap(),
                old: vec![(1, 1)],
                new: vec![(1, lines)],
            }],
            ..AttemptFacts::default()
        }
    }

    #[tokio::test]
    async fn what_only_the_patched_program_does_under_a_second_witness_refutes_a_patch() {
        let blind = BLIND.to_owned() + &PARSE.replace("memset(p, 1, b[0]);", "fill(p, b[0]);");
        let by_stream = "#include <stdio.h>\n".to_owned()
            + &PARSE.replace(
                "memset(p, 1, b[0]);",
                "char text[256]; memset(text, 1, 256); FILE *to = fmemopen(p, b[0] + 1, \"w\"); setvbuf(to, 0, _IONBF, 0); fwrite(text, 1, b[0], to); fclose(to);",
            );
        let unwritten = "#include <stdio.h>\n".to_owned()
            + &PARSE.replace(
                "memset(p, 1, b[0]);",
                "if (b[0] == 1) p[0] = 1; if (p[0] == 7) puts(\"seven\");",
            );
        let wraps = PARSE.replace(
            "if (n < 2)",
            "int most = 2147483647 - 150;\n  if (n < 2 || most + b[0] < most || b[0] > 8)",
        );
        let repaired = PARSE.replace("if (n < 2)", "if (n < 2 || b[0] > 8)");

        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.robust = Duration::from_secs(4);
        let harmless = folder.path().join("harmless.bin");
        fs::write(&harmless, [5, 1]).unwrap();
        task.harmless.push(harmless);
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let ladder = Ladder::new(&target, &baseline);
        for (text, against) in [
            (blind, Some("memcheck")),
            (by_stream, Some("memcheck")),
            (unwritten, Some("memcheck")),
            (wraps, Some("UndefinedBehaviorSanitizer")),
            (repaired, None),
        ] {
            let attempt = attempt(&text);
            let result = ladder.climb(&attempt, &[], RungName::Robust).await.unwrap();
            assert_eq!(result.holds, Some(against.is_none()), "{text}: {result:#?}");
            assert_eq!(result.found.len(), usize::from(against.is_some()));
            match against {
                Some(witness) => assert!(result.reason.contains(witness), "{result:#?}"),
                None => assert!(
                    result
                        .log
                        .text()
                        .contains("memcheck on a build without sanitizers watched")
                        && result.counts["inputs under a second witness"] > 8,
                    "{result:#?}"
                ),
            }
        }
    }

    #[test]
    fn errors_of_valgrind_are_read_one_by_one() {
        let log = "==7== Memcheck, a memory error detector\n==7== \n==7== Invalid write of size 1\n==7==    at 0x1: f (/a/b.c:3)\n==7==  Address 0x4 is 0 bytes after a block of size 8 alloc'd\n==7==    at 0x2: malloc (vg_replace_malloc.c:381)\n==7==    by 0x3: g (/a/b.c:9)\nsaid by the program\n==7== \n==7== Conditional jump or move depends on uninitialised value(s)\n==7==    at 0x5: h (/a/b.c:12)\n==7== \n==7== ERROR SUMMARY: 2 errors from 2 contexts\n";
        let kinds: Vec<String> = errors(log).into_iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            ["heap-buffer-overflow", "use-of-uninitialized-value"]
        );
    }
}
