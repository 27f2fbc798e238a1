//! Bench: a build of the unpatched tree that commands are tried on, and what is seen there.

use super::samples::{empty_like, files_in, folders_with};
use crate::crash_text::placed;
use patchwright_agent::drive::last_lines;
use patchwright_crash::signature::{self, Change};
use patchwright_crash::test_report::Status;
use patchwright_crash::{CrashReport, Frame, FrameOrigin, Tool};
use patchwright_source::{Tree, UNKNOWN_FUNCTION};
use patchwright_target::runner::measure;
use patchwright_target::{Build, Outcome, Pov, Replay, Target, TargetError, TestRun};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The time of one trial: of many programs, some wait for what never comes.
const TRIAL: Duration = Duration::from_secs(20);
/// Files of the tree that are compared with a PoV.
const SAMPLES: usize = 3;
/// Lines of a log that are told, and characters of one that is told beside others.
const LINES: usize = 12;
const WIDTH: usize = 120;

/// A build of the unpatched tree that commands are tried on.
pub(crate) struct Bench {
    pub(super) target: Arc<dyn Target>,
    pub(super) build: Build,
}

/// The result of a command that was tried on a PoV.
pub(crate) enum Seen {
    /// The crash, in words.
    Crash(String),
    /// A crash in doubt, as one that other inputs bring too: it may be the one, where there is no other.
    Doubtful { crash: String, why: &'static str },
    /// No crash, or another than the one that was reported.
    Nothing(String),
}

impl Seen {
    /// Returns what tells more.
    pub(super) fn or(self, later: Self) -> Self {
        match (&self, &later) {
            (Self::Doubtful { .. }, Self::Nothing(_)) => self,
            _ => later,
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(crash) => write!(f, "ok, it crashes: {crash}"),
            Self::Doubtful { crash, why } => write!(f, "in doubt, {why}: {crash}"),
            Self::Nothing(why) => write!(f, "{}", why.lines().next().unwrap_or_default()),
        }
    }
}

/// Why files are not harmless.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Harm {
    #[error("all leak memory")]
    Leaks,
    #[error("{0}")]
    Other(String),
}

impl Bench {
    /// Runs a command once on an input.
    pub(super) async fn run(&self, pov: &Pov) -> Result<Replay, String> {
        let mut pov = pov.clone();
        pov.timeout.get_or_insert(TRIAL);
        let replay = self.target.replay(&self.build, &pov).await;
        replay.map_err(|error| explain(&error))
    }

    async fn run_on(&self, pov: &Pov, file: &Path) -> Result<Replay, String> {
        let mut pov = pov.clone();
        pov.file = file.to_path_buf();
        self.run(&pov).await
    }

    /// Runs a command once on a PoV, and looks at the crash where there is one.
    pub(super) async fn try_on(
        &self,
        pov: &Pov,
        reported: Option<&CrashReport>,
    ) -> Result<Seen, String> {
        let replay = self.run(pov).await?;
        let no_hang = reported.is_some_and(|reported| !reported.is_hang());
        // A program that does not read the PoV may take long each time.
        if replay.outcome.is_failure() && !(no_hang && replay.outcome == Outcome::Hung) {
            let seen = self.look(pov, reported, &told(&replay)).await?;
            return Ok(match seen {
                Seen::Crash(crash) if replay.outcome != Outcome::Hung && self.waits(pov).await => {
                    let why = "it does not end on an empty input";
                    Seen::Doubtful { crash, why }
                }
                seen => seen,
            });
        }
        let (ending, last) = (&replay.execution.ending, replay.execution.text());
        let told = format!("no crash of {}: {ending}{}", pov.name(), last_words(&last));
        Ok(Seen::Nothing(told))
    }

    /// Measures a crash, and tells whether it is the one to repair: the reported one, or without a
    /// report one that neither an empty input nor inputs of the tree bring, as leaks and waiting do.
    async fn look(
        &self,
        pov: &Pov,
        reported: Option<&CrashReport>,
        first: &str,
    ) -> Result<Seen, String> {
        let seen = measure(self.target.as_ref(), &self.build, pov).await;
        let seen = seen.map_err(|error| explain(&error))?;
        let replay = &seen.replay;
        let often = format!("{} of {} runs", seen.crashes, seen.runs);
        let mut crash = told(replay);
        if seen.crashes < seen.runs {
            crash = format!("{crash}, in {often}");
        }
        if !replay.outcome.is_failure() {
            return Ok(Seen::Nothing(format!(
                "{first} once, and then a failure in {often}"
            )));
        }
        let lacks = |of: Option<&CrashReport>| of.is_some_and(lacks_class);
        if lacks(replay.crash.as_ref()) && !lacks(reported) {
            let lacking = format!("the class path is not all that it needs: {crash}");
            let why = "a class is not found";
            return Ok(reported.map_or(Seen::Doubtful { crash, why }, |_| Seen::Nothing(lacking)));
        }
        if let Some(reported) = reported {
            return Ok(self.compare(pov, replay, reported, crash).await);
        }
        let Some(why) = self.is_usual(pov, replay).await else {
            let why = "a leak may not be the input's";
            return Ok(if is_leak(replay) {
                Seen::Doubtful { crash, why }
            } else {
                Seen::Crash(crash)
            });
        };
        let noise = replay.outcome == Outcome::Hung || is_leak(replay);
        Ok(if noise {
            Seen::Nothing(format!("another crash, {why}: {crash}"))
        } else {
            Seen::Doubtful { crash, why }
        })
    }

    /// Tells whether a crash is the reported one.
    async fn compare(
        &self,
        pov: &Pov,
        replay: &Replay,
        reported: &CrashReport,
        crash: String,
    ) -> Seen {
        let tells = |stack: &patchwright_crash::Stack| !stack.frames.is_empty();
        let other = match &replay.crash {
            // A leak is beside any crash.
            Some(crash) => {
                let leaks = [reported, crash].map(|one| one.tool == Tool::LeakSanitizer);
                // Without a stack a report of undefined behaviour names a line, and no function.
                let tree = Tree::open(&self.target.task().tree).ok();
                let (reported, _) = placed(reported.clone(), tree.as_ref());
                let told = reported.stacks.iter().any(tells);
                leaks[0] != leaks[1] || told && differs(&reported, crash)
            }
            None => replay.outcome == Outcome::Hung && !reported.is_hang(),
        };
        if !other {
            return Seen::Crash(crash);
        }
        if !may_be(replay.crash.as_ref(), reported) {
            let why = "another crash, not the reported one";
            return Seen::Nothing(format!("{why}: {crash}"));
        }
        let usual = self.is_usual(pov, replay).await;
        let why = "the program has no symbols (is it linked with -s?)";
        match usual {
            Some(why) => Seen::Nothing(format!("another crash, {why}: {crash}")),
            None => Seen::Doubtful { crash, why },
        }
    }

    /// Tells whether a program that crashes on a PoV goes on for ever where nothing is to be read, as those
    /// do that people type into: a repaired one may not end on the PoV either.
    async fn waits(&self, pov: &Pov) -> bool {
        let Some(empty) = empty_like(pov) else {
            return false;
        };
        let replay = self.run_on(pov, empty.path()).await;
        replay.is_ok_and(|replay| replay.outcome == Outcome::Hung)
    }

    /// Says which other inputs bring the crash too.
    async fn is_usual(&self, pov: &Pov, seen: &Replay) -> Option<&'static str> {
        let ending = pov.file.extension().unwrap_or_default().to_string_lossy();
        let empty = empty_like(pov)?;
        if self.brings(pov, empty.path(), seen).await {
            return Some("an empty input brings it too");
        }
        let tree = &self.target.task().tree;
        let folder = folders_with(tree, &ending).into_iter().next()?;
        let mut samples = files_in(&tree.join(folder), &ending, std::slice::from_ref(&pov.file));
        samples.truncate(SAMPLES);
        for sample in &samples {
            if !self.brings(pov, sample, seen).await {
                return None;
            }
        }
        // One file may be an input of the same bug, or no input at all.
        (samples.len() > 1).then_some("the tree's own inputs bring it too")
    }

    /// Tells whether another input brings the crash that a PoV brings.
    async fn brings(&self, pov: &Pov, file: &Path, seen: &Replay) -> bool {
        let Ok(other) = self.run_on(pov, file).await else {
            return false;
        };
        match (&seen.crash, &other.crash) {
            (Some(seen), Some(other)) => seen.tool == other.tool && !differs(other, seen),
            (None, None) => other.outcome == seen.outcome && other.outcome.is_failure(),
            _ => false,
        }
    }

    /// Tells whether the program of a PoV accepts most of the first of some files; what it leaks is
    /// another matter.
    pub(super) async fn accepts(&self, pov: &Pov, files: &[PathBuf]) -> bool {
        let mut accepted = 0;
        for file in files.iter().take(SAMPLES) {
            let replay = self.run_on(pov, file).await;
            let accepts = |replay: Replay| replay.execution.ending.success() || is_leak(&replay);
            accepted += usize::from(replay.is_ok_and(accepts));
        }
        2 * accepted > files.len().min(SAMPLES)
    }

    /// Returns the files that do not crash the program of a PoV, or says why they are not harmless:
    /// most crash it, or all that do leak.
    pub(super) async fn harmless_of(
        &self,
        pov: &Pov,
        files: Vec<PathBuf>,
    ) -> Result<Vec<PathBuf>, Harm> {
        let (all, mut kept, mut leaking) = (files.len(), Vec::new(), 0);
        for file in files {
            let replay = self.run_on(pov, &file).await.map_err(Harm::Other)?;
            leaking += usize::from(is_leak(&replay));
            if !replay.outcome.is_failure() {
                kept.push(file);
            }
        }
        match all - kept.len() {
            _ if all == 0 => Err(Harm::Other("it holds only the PoVs".to_owned())),
            crashing if crashing > 0 && crashing == leaking => Err(Harm::Leaks),
            crashing if 2 * crashing > all => {
                Err(Harm::Other(format!("{crashing} of {all} crash")))
            }
            _ => Ok(kept),
        }
    }
}

fn is_leak(replay: &Replay) -> bool {
    let crash = replay.crash.as_ref();
    crash.is_some_and(|crash| crash.tool == Tool::LeakSanitizer)
}

/// Tells whether a program of Java ended for want of a class, as by a wrong class path.
fn lacks_class(crash: &CrashReport) -> bool {
    let kinds = ["ClassNotFoundException", "NoClassDefFoundError"];
    let kind = crash.kind.rsplit('.').next().unwrap_or_default();
    kinds.contains(&kind) && !crash.summary.contains("Could not initialize class")
}

/// Tells whether a crash that differs from the reported one may be it all the same: of its kind, in a program
/// of which no function is known.
fn may_be(seen: Option<&CrashReport>, reported: &CrashReport) -> bool {
    let is_named = |crash: &CrashReport| {
        let mut frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
        let own = |frame: &Frame| FrameOrigin::of(frame) != FrameOrigin::Runtime;
        crash.stacks.is_empty()
            || frames.any(|frame| frame.function != UNKNOWN_FUNCTION && own(frame))
    };
    seen.is_some_and(|crash| crash.kind == reported.kind && !is_named(crash))
}

pub(super) fn differs(earlier: &CrashReport, later: &CrashReport) -> bool {
    signature::compare(earlier, later, &|_| true) == Change::New
}

/// Returns the reason of a failure with the end of its log.
pub(super) fn explain(error: &TargetError) -> String {
    match error {
        TargetError::InvalidTask { log, .. } | TargetError::NotReproducible { log, .. } => {
            with_end(&error.to_string(), log)
        }
        TargetError::Sandbox(_) => error.to_string(),
    }
}

/// Words behind the reason of a failure that tell none.
const AFTERWARDS: [&str; 3] = [
    ": Leaving directory ",
    "collect2: error: ld returned ",
    "error: linker command failed ",
];

/// Returns a reason with the last lines of a log.
pub(super) fn with_end(reason: &str, log: &str) -> String {
    let lines = std::iter::once(reason.into()).chain(last_lines(log, LINES));
    lines.collect::<Vec<_>>().join("\n  | ")
}

/// Returns the last line of a log as the end of a sentence.
pub(super) fn last_words(log: &str) -> String {
    let last = last_lines(log, LINES);
    let mut last = last.iter().map(|line| line.trim());
    let last = last.rfind(|line| !AFTERWARDS.iter().any(|words| line.contains(words)));
    let Some(line) = last else {
        return String::new();
    };
    format!(": {}", line.chars().take(WIDTH).collect::<String>())
}

/// Returns the crash of a run, else how it ended.
fn told(replay: &Replay) -> String {
    match &replay.crash {
        Some(crash) => crash.summary.clone(),
        None => replay.execution.ending.to_string(),
    }
}

/// Tells whether LeakSanitizer ends tests for something else than what is to be repaired.
pub(super) fn is_leaking(run: &TestRun, known: Option<&CrashReport>) -> bool {
    let is_known = known.is_some_and(|report| report.tool == Tool::LeakSanitizer);
    !is_known && !run.execution.ending.success() && run.execution.text().contains("LeakSanitizer")
}

/// Tells what the tests did, or why they are no tests: none was run, or none passes by name.
/// Those that end by the crash to repair are tests: as long as they fail, *tested* stays open.
pub(super) fn tests_seen(run: &TestRun, known: Option<&CrashReport>) -> Result<String, String> {
    if let Some(nothing) = run.nothing_run() {
        return Err(format!("no test command: {nothing}"));
    }
    let report = run.report();
    let (passed, failed) = (report.count(Status::Passed), report.count(Status::Failed));
    let seconds = run.execution.seconds;
    let text = run.execution.text();
    let why = last_words(&text);
    // Tools that run tests put words of their own before each line of a report.
    let seen = patchwright_crash::read_leading(&text);
    let both = known.zip(seen);
    let crashes = both.is_some_and(|(known, seen)| !differs(known, &seen));
    match (run.execution.ending.success(), passed) {
        (true, 0) => Ok(format!(
            "the tests succeed in {seconds:.1} s, and none is named"
        )),
        (false, 0) if crashes => Ok(format!(
            "the tests crash as the PoV does, in {seconds:.1} s"
        )),
        (_, 0) if failed > 0 => Err(format!("none of {failed} tests passes{why}")),
        (_, 0) => Err(format!("it fails, and names no test{why}")),
        _ => Ok(format!(
            "{passed} tests pass, {failed} fail, in {seconds:.1} s"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Tree, differs, last_words, placed, tests_seen, with_end};
    use patchwright_crash::read_leading;
    use patchwright_sandbox::{Ending, Execution};
    use patchwright_target::TestRun;

    #[test]
    fn a_report_without_a_stack_is_known_by_the_function_of_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let code = "int t[4];\nint look(int i) {\n  return t[i];\n}\nint other(int i) {\n  return t[i];\n}\n";
        std::fs::write(folder.path().join("t.c"), code).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let told = |place: &str, stack: &str| {
            let error = "runtime error: index 5 out of bounds for type 'int[4]'";
            let report = read_leading(&format!("{place}: {error}\n{stack}")).unwrap();
            placed(report, Some(&tree)).0
        };
        let stack = "    #0 0x55d1 in look /patchwright/tree/t.c:3:30\n    #1 0x55d2 in main /patchwright/tree/t.c:9:3\n";
        let seen = told("t.c:3:30", stack);
        assert!(!differs(&told("t.c:3:25", ""), &seen));
        assert!(differs(&told("t.c:6:25", ""), &seen));
    }

    #[test]
    fn a_crash_without_symbols_may_be_the_reported_one() {
        let report = |frame: &str| {
            let head =
                "==1==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x1 at pc 0x2";
            read_leading(&format!(
                "{head}\nWRITE of size 9 at 0x1 thread T0\n    #0 0x55d1 {frame}\n"
            ))
            .unwrap()
        };
        let (placed, bare) = (
            report("in look /tree/t.c:3:30"),
            report(" (/out/tap+0x1234)"),
        );
        assert!(super::may_be(Some(&bare), &placed));
        assert!(!super::may_be(Some(&placed), &placed));
        assert!(!super::may_be(None, &placed));
    }

    #[test]
    fn a_wrong_class_path_is_no_crash_of_the_input() {
        for (kind, expected) in [
            ("java.lang.NoClassDefFoundError: org/acme/Log", true),
            ("java.lang.ClassNotFoundException: org.acme.Fold", true),
            (
                "java.lang.NoClassDefFoundError: Could not initialize class a.B",
                false,
            ),
            ("a.PluginClassNotFoundException: a", false),
        ] {
            let text = format!("Exception in thread \"main\" {kind}\n\tat a.B.c(B.java:1)\n");
            let report = read_leading(&text).unwrap();
            assert_eq!(super::lacks_class(&report), expected, "{kind}");
        }
    }

    #[test]
    fn what_failed_is_told_and_not_what_is_said_each_time() {
        let log = "\u{1b}[1;31m[ERROR]\u{1b}[m no javadoc\n[ERROR] \tat a.b.C.d(C.java:1)\n[ERROR] -> [Help 1]\n[ERROR] \n[ERROR] Re-run Maven using -X\n[ERROR] [Help 1] http://example.org\n\u{1b}[0m\n";
        assert_eq!(
            with_end("it fails", log),
            "it fails\n  | [ERROR] no javadoc"
        );
        assert_eq!(last_words(log), ": [ERROR] no javadoc");
        assert_eq!(with_end("it fails", ""), "it fails");
        assert_eq!(last_words("a\nmake: Leaving directory '/x'\n"), ": a");
        let linker =
            "ld: b.c: undefined reference to `f'\ncollect2: error: ld returned 1 exit status\n";
        assert_eq!(last_words(linker), ": ld: b.c: undefined reference to `f'");
    }

    #[test]
    fn tests_that_end_by_the_crash_of_the_pov_are_tests() {
        let crash_in = |function: &str| {
            format!(
                "t/009:2:  ==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x7ff18db158c0 at pc \
                 0x55f78b0a52b5 bp 0x7ffc11be6610 sp 0x7ffc11be6608\n\
                 t/009:2:  WRITE of size 1 at 0x7ff18db158c0 thread T0\n\
                 t/009:2:      #0 0x55f78b0a52b4 in {function} ../../src/read.c:176\n\
                 t/009:2:      #1 0x55f78b0a52b6 in of_{function} ../../src/tool.c:20\n\
                 11 successes, 1 failure\n"
            )
        };
        let run = |log: &str| TestRun {
            execution: Execution::reported(Ending::Exited(2), log.as_bytes(), 1.0, log.len()),
            reports: Vec::new(),
        };
        let reported = patchwright_crash::read_leading(&crash_in("one_code")).unwrap();
        let seen = |log: &str, reported| tests_seen(&run(log), reported);
        let told = seen(&crash_in("one_code"), Some(&reported)).unwrap();
        assert!(told.contains("crash as the PoV does, in 1.0 s"), "{told}");
        for (log, reported) in [
            (crash_in("one_code"), None),
            (crash_in("draw"), Some(&reported)),
            (
                "make: *** [Makefile:903: check] Error 1".to_owned(),
                Some(&reported),
            ),
        ] {
            seen(&log, reported).unwrap_err();
        }
    }
}
