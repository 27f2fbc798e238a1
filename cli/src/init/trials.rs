//! Trials of a draft: the tree is built once, and commands run on this build in the sandbox, as a
//! repair would run them. Each trial tells what came of it.

use super::bench::{Bench, Seen, explain, is_leaking, tests_seen, with_end};
use super::build_systems::missing_tool;
use super::feeds::{FEEDS, likely, options, reported};
use super::harnesses::{Harness, harnesses};
use super::java;
use super::{Draft, Remarks};
use crate::display::Display;
use crate::init::proposal::Proposal;
use patchwright_agent::task;
use patchwright_agent::task::TaskFile;
use patchwright_config::Settings;
use patchwright_crash::CrashReport;
use patchwright_source::{Changes, Language, counted};
use patchwright_target::runner::ALLOW_LEAKS;
use patchwright_target::{BuildKind, Pov, Replay, TestRun};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Programs of a build that are tried with a PoV.
const PROGRAMS: usize = 12;
/// Options of one program that are tried.
const OPTIONS: usize = 16;

/// Runs drafts on this machine.
#[derive(Debug)]
pub(crate) struct Trials<'a> {
    /// The settings: sandbox, limits, cache.
    pub settings: &'a Settings,
    /// The folder of the task file.
    pub folder: PathBuf,
    /// Where progress is told.
    pub display: &'a Display,
    /// The text that was reported, and the report in it.
    pub log: Option<String>,
    pub report: Option<CrashReport>,
}

/// A proposal that builds, with the draft and the build that the trials go on with.
pub(crate) struct Built {
    pub(crate) draft: Draft,
    /// The draft as far as it was seen to work, whatever is tried next.
    pub(crate) settled: Draft,
    pub(crate) proposal: Proposal,
    /// Its programs, as words of a command.
    pub(crate) programs: Vec<String>,
    pub(super) bench: Bench,
    /// False where the flags of the sanitizer reached no program.
    sanitized: bool,
}

/// The remark on a build that is not sanitized.
const UNREACHED: &str = "\nNo program of it holds a sanitizer: CFLAGS did not reach the compiler. Give a build that passes \
                         them on with --build.";

impl Built {
    /// Replaces draft and build; returns those before.
    fn go_on_with(&mut self, draft: Draft, bench: Bench) -> (Draft, Bench) {
        (
            std::mem::replace(&mut self.draft, draft),
            std::mem::replace(&mut self.bench, bench),
        )
    }
}

impl Trials<'_> {
    pub(crate) fn tell(&self, line: &str) {
        self.display.line(line);
    }

    /// Builds the tree of a task with its commands.
    async fn bench(&self, keys: &TaskFile) -> Result<Bench, String> {
        let mut keys = keys.clone();
        keys.pov.clear();
        let origin = self.folder.join("task.toml");
        let task = task::from_file(keys, &self.folder, &origin);
        let task = task.map_err(|error| error.to_string())?;
        let ground = patchwright_run::ground(&task, self.settings).await;
        let (_, target) = ground.map_err(|ending| ending.detail)?;
        let name = target.task().main_build();
        let unchanged = Changes::default();
        let built = target.build(&unchanged, &name, BuildKind::Clean).await;
        let build = built.map_err(|error| explain(&error))?;
        if !build.succeeded() {
            let ending = &build.execution.ending;
            let said = with_end(&ending.to_string(), &build.execution.text());
            return Err(format!("the build ends with {said}"));
        }
        Ok(Bench { target, build })
    }

    /// Returns the first proposal that builds what is needed: programs, with a sanitizer where the
    /// build was given its flags. Those that fail are tried without their tests, behind all others.
    /// Where none has the sanitizer, the first with programs; where none has programs, the first
    /// beside which harnesses of the tree wait. The error lists the tools that were missing.
    pub(crate) async fn build(
        &self,
        keys: &TaskFile,
        proposals: &[Proposal],
    ) -> Result<Built, Vec<String>> {
        let (mut without, mut library, mut missing) = (None, None, Vec::new());
        let mut waiting = VecDeque::from(proposals.to_vec());
        while let Some(proposal) = &waiting.pop_front() {
            self.tell(&format!("{}: trying {}", proposal.system, proposal.build));
            let built = match self.try_build(keys, proposal).await {
                Ok(built) => built,
                Err(reason) => {
                    self.tell(&format!("  it failed: {reason}"));
                    let other = self.build_otherwise(keys, proposal, &reason).await;
                    let Some(built) = other else {
                        missing.extend(missing_tool(&reason).map(str::to_owned));
                        waiting.extend(proposal.without_tests());
                        let newer = |one: Proposal| one.newer(&reason).unwrap_or(one);
                        waiting = waiting.into_iter().map(newer).collect();
                        continue;
                    };
                    built
                }
            };
            if !built.draft.is_java() && built.programs.is_empty() && !proposal.named {
                self.tell("  it builds, and makes no program");
                library.get_or_insert(built);
                continue;
            }
            self.tell(&format!("  ok {}", built.draft.remarks.build));
            if built.sanitized || proposal.named {
                return Ok(built);
            }
            without.get_or_insert(built);
        }
        let waits = |built: &Built| !harnesses(&built.bench.target.task().tree, &[]).is_empty();
        without.or(library.filter(waits)).ok_or(missing)
    }

    /// Builds what can be built here, where a build of all fails: with newer tools, or the programs
    /// that do not need what is missing.
    async fn build_otherwise(
        &self,
        keys: &TaskFile,
        proposal: &Proposal,
        reason: &str,
    ) -> Option<Built> {
        let other = if let Some(newer) = proposal.newer(reason) {
            newer
        } else {
            let going = proposal.keeping_going()?;
            self.tell("  what of it builds here? trying without what fails");
            let built = self.try_build(keys, &going).await.ok()?;
            proposal.only(&built.programs)?
        };
        self.tell(&format!("{}: trying {}", other.system, other.build));
        let built = self.try_build(keys, &other).await;
        let told = |reason: &String| self.tell(&format!("  it failed: {reason}"));
        built.inspect_err(told).ok()
    }

    async fn try_build(&self, keys: &TaskFile, proposal: &Proposal) -> Result<Built, String> {
        let mut keys = keys.clone();
        keys.commands.prepare.clone_from(&proposal.prepare);
        keys.commands.build.clone_from(&proposal.build);
        let mut tried = keys.clone();
        tried.commands.test = proposal.tests.first().cloned();
        tried.commands.reports.clone_from(&proposal.reports);
        let bench = self.bench(&tried).await?;
        let programs = bench.build.programs();
        let seconds = bench.build.execution.seconds;
        let mut variables = keys.builds.values().flatten();
        let flagged = variables.any(|(_, value)| value.contains("-fsanitize="));
        let sanitized = !flagged || programs.is_empty() || bench.build.has_sanitizer();
        let found = if keys.language == Language::Java.to_string() {
            // Its classes are no programs.
            String::new()
        } else {
            format!("; {} found", counted(programs.len() as u64, "program"))
        };
        let (system, unreached) = (&proposal.system, if sanitized { "" } else { UNREACHED });
        let build = format!("{system}: built here in {seconds:.1} s{found}{unreached}");
        let remarks = Remarks {
            build,
            ..Remarks::default()
        };
        let draft = Draft { keys, remarks };
        Ok(Built {
            settled: draft.clone(),
            draft,
            proposal: proposal.clone(),
            programs,
            bench,
            sanitized,
        })
    }

    /// Finds the command that makes the PoV crash: a harness whose source the report shows, else the
    /// report's own command, else programs in the order in which they are likely, those that the crash
    /// report names first. Then the other harnesses that wait for a driver, programs of tests that it
    /// does not name, and options that a program tells of when it is called with none.
    pub(crate) async fn find_pov(&self, built: &mut Built) -> bool {
        let (programs, log) = (built.programs.clone(), self.log.as_deref());
        let (mut likely, mut tests) = likely(&programs, log);
        likely.truncate(PROGRAMS);
        tests.truncate(PROGRAMS - likely.len());
        let tree = &built.bench.target.task().tree;
        let others = if built.draft.is_java() {
            java::ways(tree, self.report.as_ref(), log)
        } else {
            harnesses(tree, &programs)
        };
        let shown = |harness: &Harness| log.is_some_and(|log| harness.is_shown(log));
        let (shown, others): (Vec<_>, Vec<_>) = others.into_iter().partition(shown);
        let fed = |program: &&str| FEEDS.map(|feed| Harness::program(format!("{program}{feed}")));
        let mut reported = reported(&programs, log, &self.folder);
        reported.truncate(PROGRAMS);
        let mut ways = shown;
        ways.extend(reported.into_iter().map(Harness::program));
        ways.extend(likely.iter().flat_map(fed).chain(others));
        ways.extend(tests.iter().flat_map(fed));
        let mut doubtful = None;
        if self.try_ways(built, ways, &mut doubtful).await {
            return true;
        }
        for program in likely.into_iter().chain(tests) {
            let usage = self.usage(built, program).await.unwrap_or_default();
            let with = |option: &str| Harness::program(format!("{program} {option} \"$POV\""));
            let ways = options(&usage).into_iter().take(OPTIONS).map(with);
            if self.try_ways(built, ways.collect(), &mut doubtful).await {
                return true;
            }
        }
        if built.draft.is_java() && self.log.is_none() {
            self.tell("PoV: a trace shows which method to call: give it with --crash");
            return false;
        }
        let Some((way, crash)) = doubtful else {
            return false;
        };
        let feed = &way.feed;
        self.tell(&format!("PoV: no other crash was found: {feed}: {crash}"));
        self.take(built, &way, &crash).await
    }

    /// Tries ways until one crashes; notes the first with a crash that other inputs bring too.
    async fn try_ways(
        &self,
        built: &mut Built,
        ways: Vec<Harness>,
        doubtful: &mut Option<(Harness, String)>,
    ) -> bool {
        for way in ways {
            let ours = self.place(&way);
            let seen = self.crash(built, &way.command()).await;
            self.tell(&format!("PoV: {way}: {seen}"));
            match seen {
                Seen::Crash(crash) if self.take(built, &way, &crash).await => return true,
                Seen::Doubtful { crash, why } if doubtful.is_none() => {
                    *doubtful = Some((way, format!("{crash}; {why}")));
                }
                _ => {}
            }
            remove(ours);
        }
        false
    }

    /// Writes the files of a way beside the task; returns those that were not there.
    fn place(&self, way: &Harness) -> Vec<PathBuf> {
        let beside = way.beside.iter();
        let files = beside.map(|(name, text)| (self.folder.join(name), text));
        let ours =
            files.filter(|(path, text)| !path.exists() && std::fs::write(path, text).is_ok());
        ours.map(|(path, _)| path).collect()
    }

    /// Keeps a way in the draft. Where the build does not make its harness, it does from then on.
    async fn take(&self, built: &mut Built, way: &Harness, crash: &str) -> bool {
        if way.link.is_empty() {
            built.draft.keep(&way.feed, crash);
            return true;
        }
        let ours = self.place(way);
        let mut made = built.draft.clone();
        let build = &mut made.keys.commands.build;
        *build = format!("{build} && {}", way.link);
        let remark = format!("; {} is called by a file beside this one", way.name);
        made.remarks.build.push_str(&remark);
        self.tell("  building the tree again, with this harness");
        if let Ok(bench) = self.bench(&made.keys).await {
            let without = built.go_on_with(made, bench);
            if self.try_given(built, &way.feed).await {
                return true;
            }
            (built.draft, built.bench) = without;
        }
        remove(ours);
        false
    }

    /// Returns what a program tells when it is called without arguments, and of its help.
    async fn usage(&self, built: &Built, program: &str) -> Option<String> {
        let command = format!("{program} || :; {program} --help");
        Some(self.run_first(built, &command).await?.execution.text())
    }

    /// Runs a command on the first PoV.
    async fn run_first(&self, built: &Built, command: &str) -> Option<Replay> {
        let pov = self.povs(built, command).into_iter().next()?;
        built.bench.run(&pov).await.ok()
    }

    /// The PoVs of a task, each run by this command.
    pub(super) fn povs(&self, built: &Built, command: &str) -> Vec<Pov> {
        let povs = built.draft.keys.pov.iter().map(|pov| Pov {
            file: self.folder.join(&pov.file),
            harness: pov.harness.clone(),
            command: Some(command.to_owned()),
            ..Pov::default()
        });
        povs.collect()
    }

    /// Tries a command for the PoVs; keeps it in the draft where it crashes.
    pub(super) async fn try_pov(&self, built: &mut Built, command: &str) -> Seen {
        let seen = self.crash(built, command).await;
        self.tell(&format!("PoV: {command}: {seen}"));
        if let Seen::Crash(crash) = &seen {
            built.draft.keep(command, crash);
        }
        seen
    }

    /// Tries a command that is known to be the one.
    pub(crate) async fn try_given(&self, built: &mut Built, command: &str) -> bool {
        let seen = self.try_pov(built, command).await;
        if let Seen::Doubtful { crash, why } = &seen {
            built.draft.keep(command, &format!("{crash}; {why}"));
        }
        !matches!(seen, Seen::Nothing(_))
    }

    /// Returns the crash of the first PoV that crashes.
    async fn crash(&self, built: &Built, command: &str) -> Seen {
        let mut last = Seen::Nothing("there is no PoV".to_owned());
        for pov in self.povs(built, command) {
            let seen = built.bench.try_on(&pov, self.report.as_ref()).await;
            match seen {
                Ok(seen) => last = last.or(seen),
                Err(reason) => return Seen::Nothing(reason),
            }
            if matches!(last, Seen::Crash(_)) {
                break;
            }
        }
        last
    }

    /// Finds the first test command that runs tests that pass; without a search for leaks where
    /// these end tests of the unpatched program.
    pub(crate) async fn find_tests(&self, built: &mut Built, proposal: &Proposal) -> bool {
        let command = built.draft.keys.commands.pov.clone().unwrap_or_default();
        let own = self.run_first(built, &command).await;
        let own = own.as_ref().and_then(|replay| replay.crash.as_ref());
        let known = self.report.as_ref().or(own);
        for command in &proposal.tests {
            self.tell(&format!("tests: trying {command}"));
            let mut command = command.clone();
            let mut run = self.run_tests(built, &command, proposal).await;
            if run.as_ref().is_ok_and(|run| is_leaking(run, known)) {
                self.tell("  LeakSanitizer ends tests; trying without looking for leaks");
                command = format!("{ALLOW_LEAKS}; {command}");
                run = self.run_tests(built, &command, proposal).await;
            }
            match run.and_then(|run| tests_seen(&run, known)) {
                Ok(seen) => {
                    self.tell(&format!("  ok {seen}"));
                    built.draft.remarks.test = seen;
                    let commands = &mut built.draft.keys.commands;
                    commands.test = Some(command);
                    commands.reports.clone_from(&proposal.reports);
                    return true;
                }
                Err(reason) => self.tell(&format!("  {reason}")),
            }
        }
        false
    }

    /// Finds tests that the build system makes only where an option asks for them.
    pub(crate) async fn find_tests_by_options(
        &self,
        built: &mut Built,
        proposals: &[Proposal],
    ) -> bool {
        let own = built.proposal.clone();
        let asks = |other: &&Proposal| other.system == own.system && other.adds_tests_to(&own);
        let Some(other) = proposals.iter().find(asks) else {
            return false;
        };
        let mut made = built.draft.clone();
        let build = &mut made.keys.commands.build;
        *build = build.replacen(&own.build, &other.build, 1);
        self.tell(&format!("{}: trying {}", other.system, other.build));
        let bench = match self.bench(&made.keys).await {
            Ok(bench) => bench,
            Err(reason) => {
                self.tell(&format!("  it failed: {reason}"));
                return false;
            }
        };
        let without = built.go_on_with(made, bench);
        let mut found = self.find_tests(built, other).await;
        if let Some(command) = built.draft.keys.commands.pov.clone() {
            found = found && self.try_given(built, &command).await;
        }
        if !found {
            (built.draft, built.bench) = without;
        }
        found
    }

    /// Runs a test command; on a build of its own where the bench is that of another one.
    async fn run_tests(
        &self,
        built: &Built,
        command: &str,
        proposal: &Proposal,
    ) -> Result<TestRun, String> {
        let mut keys = built.draft.keys.clone();
        keys.commands.test = Some(command.to_owned());
        keys.commands.reports.clone_from(&proposal.reports);
        let own;
        let bench = if built.bench.target.task().commands.test == keys.commands.test {
            &built.bench
        } else {
            own = self.bench(&keys).await?;
            &own
        };
        let run = bench.target.test(&bench.build).await;
        let run = run.map_err(|error| explain(&error))?;
        run.ok_or_else(|| "it did not run".to_owned())
    }
}

/// Removes files that were written beside the task for nothing.
fn remove(files: Vec<PathBuf>) {
    for path in files {
        let _ = std::fs::remove_file(path);
    }
}
