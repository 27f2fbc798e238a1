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

use crate::attempt::{last, touched_functions};
use crate::given_inputs;
use crate::memcheck;
use crate::mutation::Mutator;
use crate::rung::{Programs, replay_input};
use futures::future::join_all;
use patchwright_crash::plain_name;
use patchwright_crash::signature::Change;
use patchwright_crash::{CrashReport, Frame, Tool};
use patchwright_source::{Changes, Language, TreePath};
use patchwright_target::runner::{Build, Inputs, Instrumentation, Pov};
use patchwright_target::{Result, WorkTime};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// Time for one witness, its builds apart.
const TIME: Duration = Duration::from_secs(20);
/// The same where each input counts.
const LONG: Duration = Duration::from_mins(5);
/// Least and most time for one input under memcheck, which slows a program down 20 to 50 times
/// (Valgrind's manual).
const EACH: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(1));
const SLOWER: u32 = 50;
/// Harmless inputs that are run.
const HARMLESS: usize = 3;
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
    /// Inputs that a witness watched.
    pub(crate) watched: u64,
    /// A line about each witness.
    pub(crate) log: String,
}

/// Reports about a run, and its log.
type Seen = (Vec<CrashReport>, String);

/// A witness at work.
pub(crate) struct Watch<'a> {
    pub(crate) witness: Witness,
    pub(crate) programs: &'a Programs<'a>,
    /// Inputs that the unpatched program accepts.
    pub(crate) accepted: &'a [Vec<u8>],
    /// True where a failure among many inputs is known to show in the end of their process.
    pub(crate) shares: bool,
}

impl Testimonies {
    /// Hears all witnesses; returns the first failure that speaks against the patch.
    pub(crate) async fn hear(
        &mut self,
        programs: &Programs<'_>,
        (seeds, shares): (&[Vec<u8>], bool),
    ) -> Result<Option<Failure>> {
        let task = programs.target.task();
        let mut harmless = given_inputs::contents(task, programs.pov)?;
        harmless.truncate(HARMLESS);
        for witness in Witness::of(task.language).iter().copied() {
            let mut inputs = [seeds, &harmless].concat();
            inputs.extend(Mutator::nearest_first(seeds.to_vec()).take(witness.mutants()));
            let watch = Watch {
                witness,
                programs,
                accepted: &harmless,
                shares,
            };
            let against = self.ask(&watch, &inputs).await?;
            if against.is_some() {
                return Ok(against);
            }
        }
        Ok(None)
    }

    async fn ask(&mut self, watch: &Watch<'_>, inputs: &[Vec<u8>]) -> Result<Option<Failure>> {
        let (witness, programs) = (watch.witness, watch.programs);
        let name = witness.name();
        let Some(build) = watch.build(&programs.attempt.changes).await? else {
            let why = "the program does not build for it";
            let _ = writeln!(self.log, "{name} saw nothing: {why}");
            return Ok(None);
        };
        let passing = watch.passing(&build, inputs).await?;
        let left = inputs.iter().filter(|input| !passing.contains(input));
        let left: Vec<&Vec<u8>> = left.collect();
        let (known, until) = (self.watched, WorkTime::now() + TIME);
        self.watched += passing.len() as u64;
        let lanes = programs.task().limits.jobs.max(1) as usize;
        let chunks = left.chunks(lanes);
        for some in chunks.take_while(|_| WorkTime::now() <= until) {
            let runs = some.iter().map(|input| watch.replay(&build, input));
            for (input, seen) in some.iter().zip(join_all(runs).await) {
                let Some(seen) = seen? else {
                    continue;
                };
                self.watched += 1;
                let against = self.against(watch, input, seen).await?;
                if against.is_some() {
                    return Ok(against);
                }
            }
        }
        let _ = match self.watched - known {
            0 => writeln!(self.log, "{name} saw nothing: {}", witness.hint()),
            watched => writeln!(self.log, "{name} watched {watched} inputs"),
        };
        Ok(None)
    }

    /// Returns what a witness saw on an input that speaks against the patch; what the unpatched
    /// program does too is noted.
    async fn against(
        &mut self,
        watch: &Watch<'_>,
        input: &[u8],
        (reports, shown): Seen,
    ) -> Result<Option<Failure>> {
        let name = watch.witness.name();
        let reports = reports.into_iter();
        for crash in reports.filter(|crash| watch.matters(crash)) {
            if !watch.is_known(input, &crash).await? {
                return Ok(Some(Failure {
                    input: input.to_vec(),
                    reason: format!("{name}: {}", crash.summary),
                    shown,
                    crash: Some(crash),
                }));
            }
            let _ = writeln!(
                self.log,
                "not held against the patch, the unpatched program has it too: {name}: {}",
                crash.summary
            );
        }
        Ok(None)
    }
}

impl Watch<'_> {
    /// Returns the inputs on which the program errs, or the reason why that tells
    /// nothing. Those that there is no time for are left out.
    pub(crate) async fn errs<'i>(
        &self,
        build: &Build,
        inputs: &'i [Vec<u8>],
        time: Duration,
    ) -> Result<Result<Vec<&'i Vec<u8>>, &'static str>> {
        let errs = |seen: &Seen| seen.0.iter().any(|one| self.is_about_program(one));
        let controls = self.run(build, self.accepted, LONG).await?;
        if controls.len() < self.accepted.len() {
            return Ok(Err(self.witness.hint()));
        }
        if controls.iter().any(|(_, seen)| errs(seen)) {
            return Ok(Err("it errs on accepted inputs too, so that tells nothing"));
        }
        let seen = self.run(build, inputs, time).await?;
        let erring = seen.into_iter().filter(|(_, seen)| errs(seen));
        Ok(Ok(erring.map(|(input, _)| input).collect()))
    }

    /// Builds the changed program for the witness; nothing where that cannot be had.
    pub(crate) async fn build(&self, changes: &Changes) -> Result<Option<Build>> {
        let programs = self.programs;
        let task = programs.target.task();
        let added = match self.witness {
            Witness::Memcheck => Instrumentation::Plain,
            Witness::Undefined => {
                let crash = programs.crash().into_iter();
                let of_crash = crash.flat_map(|crash| task.files_of(crash));
                let mut files: BTreeSet<TreePath> = of_crash.collect();
                files.extend(programs.attempt.files().into_iter().cloned());
                Instrumentation::Undefined(files.into_iter().collect())
            }
        };
        let name = task.build_of(programs.pov);
        let build = programs.target.instrumented_build(changes, &name, &added);
        build.await
    }

    /// Runs inputs for as long as there is time; those are left out where the witness did not watch
    /// the program to its end.
    async fn run<'i>(
        &self,
        build: &Build,
        inputs: &'i [Vec<u8>],
        time: Duration,
    ) -> Result<Vec<(&'i Vec<u8>, Seen)>> {
        let until = WorkTime::now() + time;
        let mut seen = Vec::new();
        for input in inputs.iter().take_while(|_| WorkTime::now() <= until) {
            let one = self.replay(build, input).await?;
            seen.extend(one.map(|one| (input, one)));
        }
        Ok(seen)
    }

    /// Returns the inputs that pass in a process for many, where the PoV's command takes a folder of
    /// them: the start of memcheck takes a second.
    async fn passing<'i>(&self, build: &Build, inputs: &'i [Vec<u8>]) -> Result<Vec<&'i Vec<u8>>> {
        let Programs { target, before, .. } = self.programs;
        let (pov, command) = self.watched();
        let is_program = command.is_some_and(|command| memcheck::runs_program(command));
        if !self.shares || !pov.batch || !is_program {
            return Ok(Vec::new());
        }
        let how = Inputs::new(inputs.to_vec(), TIME, before.time_limit(SLOWER, EACH));
        let runs = target.run_inputs(build, &pov, &how).await?;
        let passing = runs.iter().filter(|run| run.ending.success());
        Ok(passing.filter_map(|run| inputs.get(run.index)).collect())
    }

    /// Returns the PoV as the witness watches it, and its usual command.
    fn watched(&self) -> (Pov, Option<&String>) {
        let mut pov = self.programs.pov.clone();
        let usual = self.programs.task().commands.pov.as_ref();
        let command = self.programs.pov.command.as_ref().or(usual);
        if self.witness == Witness::Memcheck {
            pov.command = command.map(|command| memcheck::command(command));
            pov.timeout = Some(self.programs.before.time_limit(SLOWER, EACH));
        }
        (pov, command)
    }

    /// Runs an input alone.
    async fn replay(&self, build: &Build, input: &[u8]) -> Result<Option<Seen>> {
        let (pov, Some(command)) = self.watched() else {
            return Ok(None);
        };
        let replay = replay_input(self.programs.target, build, &pov, input).await?;
        let text = replay.execution.text();
        let tree = self.programs.task().seen_tree();
        let is_undefined = |crash: &CrashReport| crash.tool == Tool::UndefinedBehaviorSanitizer;
        let reports = match self.witness {
            Witness::Memcheck => memcheck::errors(&text, command, &tree),
            Witness::Undefined => Some(Vec::from_iter(replay.crash.filter(is_undefined))),
        };
        Ok(reports.map(|reports| (reports, text)))
    }

    /// Tells whether a report is about the program, and no leak or race, which differ from run
    /// to run.
    fn is_about_program(&self, crash: &CrashReport) -> bool {
        let other = ["memory-leak", "data-race", "lock-leak", "thread-error"];
        let mut frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
        let task = self.programs.target.task();
        !other.contains(&crash.kind.as_str()) && frames.any(|frame| task.in_project(frame))
    }

    /// Tells whether a report is of a kind that the witness is asked for about a patch: what was
    /// never written matters where the patch uses or makes it, and undefined behaviour in lines
    /// that the patch wrote.
    fn matters(&self, crash: &CrashReport) -> bool {
        let mut frames = crash.stacks.iter().flat_map(|stack| &stack.frames);
        self.is_about_program(crash)
            && match (self.witness, crash.kind.as_str()) {
                (Witness::Memcheck, "use-of-uninitialized-value") => {
                    let touched = touched_functions(self.programs.attempt);
                    let touched: Vec<&str> = touched.iter().map(|name| last(name)).collect();
                    frames.any(|frame| touched.contains(&last(&plain_name(&frame.function))))
                }
                (Witness::Memcheck, _) => true,
                (Witness::Undefined, _) => frames.next().is_some_and(|frame| self.wrote(frame)),
            }
    }

    /// Tells whether the patch wrote the line of a frame.
    fn wrote(&self, frame: &Frame) -> bool {
        let path = self.programs.target.task().tree_path(frame);
        let place = path.zip(frame.line);
        place.is_some_and(|(path, line)| self.programs.attempt.wrote(path.as_str(), line))
    }

    /// Tells whether the unpatched program has an error too, on the same input or on one that
    /// it accepts. The PoV's own error is never excused by itself.
    async fn is_known(&self, input: &[u8], crash: &CrashReport) -> Result<bool> {
        let Some(old) = self.build(&Changes::default()).await? else {
            return Ok(false);
        };
        let (task, pov) = (self.programs.target.task(), self.programs.crash());
        let is_the_povs = pov.is_some_and(|pov| task.change(pov, crash) != Change::New);
        let same_input = (!is_the_povs).then(|| input.to_vec());
        let inputs = same_input.iter().chain(self.accepted).cloned();
        let inputs: Vec<Vec<u8>> = inputs.collect();
        let seen = self.run(&old, &inputs, LONG).await?;
        let mut reports = seen.iter().flat_map(|(_, (reports, _))| reports);
        Ok(reports.any(|report| task.change(report, crash) == Change::Same))
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
}

#[cfg(test)]
mod tests {
    use crate::attempt::AttemptFacts;
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use patchwright_source::{Touched, TreePath};
    use patchwright_target::runner::{Target, TargetTask};
    use patchwright_target::test_support::{self, PARSE, change, open, task};
    use std::fs;
    use std::path::Path;
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

    /// A `main` that takes a folder of inputs too.
    const OF_FOLDERS: &str = "#include <dirent.h>\n#include <stdio.h>\nint parse(const unsigned char *, long);\nstatic int one(const char *name) {\n  unsigned char b[64];\n  FILE *f = fopen(name, \"rb\");\n  if (!f) return 2;\n  long k = fread(b, 1, 64, f);\n  fclose(f);\n  printf(\"Running: %ld\\n\", k);\n  return parse(b, k) < 0;\n}\nint main(int n, char **v) {\n  DIR *all = opendir(v[1]);\n  if (!all) return one(v[1]);\n  char name[4096];\n  for (struct dirent *e; (e = readdir(all));)\n    if (e->d_name[0] != '.') {\n      snprintf(name, sizeof name, \"%s/%s\", v[1], e->d_name);\n      one(name);\n    }\n  closedir(all);\n  return 0;\n}\n";

    fn blind() -> String {
        BLIND.to_owned() + &PARSE.replace("memset(p, 1, b[0]);", "fill(p, b[0]);")
    }

    fn repaired() -> String {
        PARSE.replace("if (n < 2)", "if (n < 2 || b[0] > 8)")
    }

    #[tokio::test]
    async fn what_only_the_patched_program_does_under_a_second_witness_refutes_a_patch() {
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
        let folder = tempfile::tempdir().unwrap();
        let task = task(folder.path());
        let cases = [
            (blind(), Some("memcheck")),
            (by_stream, Some("memcheck")),
            (unwritten, Some("memcheck")),
            (wraps, Some("UndefinedBehaviorSanitizer")),
            (repaired(), None),
        ];
        check(task, folder.path(), cases).await;
    }

    #[tokio::test]
    async fn inputs_that_share_a_process_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        fs::write(task.tree.join("main.c"), OF_FOLDERS).unwrap();
        task.povs[0].batch = true;
        let cases = [(blind(), Some("memcheck")), (repaired(), None)];
        check(task, folder.path(), cases).await;

        // The end of its children does not show in that of the process.
        let folder = tempfile::tempdir().unwrap();
        let mut task = test_support::task(folder.path());
        let forks = OF_FOLDERS.replace(
            "one(name);",
            "if (!fork()) return one(name);\n      wait(0);",
        );
        let forks = "#include <sys/wait.h>\n#include <unistd.h>\n".to_owned() + &forks;
        fs::write(task.tree.join("main.c"), forks).unwrap();
        task.povs[0].batch = true;
        check(task, folder.path(), [(blind(), Some("memcheck"))]).await;
    }

    /// Climbs to *robust* with each text and says which witness is to be against it.
    async fn check<const N: usize>(
        mut task: TargetTask,
        folder: &Path,
        cases: [(String, Option<&str>); N],
    ) {
        task.limits.robust = Duration::from_secs(4);
        let harmless = folder.join("harmless.bin");
        fs::write(&harmless, [5, 1]).unwrap();
        task.harmless.push(harmless);
        let target = open(task, folder).await;
        let baseline = target.baseline().await.unwrap();
        let ladder = Ladder::new(&target, &baseline);
        for (text, against) in cases {
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
}
