//! Trials of a draft: each runs the commands of a task in the sandbox, as a repair
//! would, and tells what came of it.

use super::{Draft, Remarks, crash_in_words};
use crate::display::Display;
use crate::init::build_systems::Proposal;
use patchwright_agent::record::Ending;
use patchwright_agent::task;
use patchwright_agent::task::{Pov, TaskFile};
use patchwright_config::Settings;
use patchwright_crash::signature::{self, Change};
use patchwright_crash::test_report::Status;
use patchwright_crash::{CommandLine, CrashReport, read_words};
use patchwright_source::{Language, counted};
use patchwright_target::{Baseline, Build, Target, TargetError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Programs of a build that are tried with a PoV.
const PROGRAMS: usize = 12;
/// Files that are tried as harmless inputs, of one folder.
const HARMLESS: usize = 40;
/// Lines of a log that are told.
const LINES: usize = 12;
/// Runs drafts on this machine.
#[derive(Debug)]
pub(crate) struct Trials<'a> {
    /// The settings: sandbox, limits, cache.
    pub settings: &'a Settings,
    /// The folder of the task file.
    pub folder: PathBuf,
    /// Where progress is told.
    pub display: &'a Display,
    /// The crash that was reported.
    pub report: Option<CrashReport>,
}

/// A proposal that builds.
pub(crate) struct Built {
    pub(crate) draft: Draft,
    pub(crate) proposal: Proposal,
    /// Its programs, as words of a command.
    pub(crate) programs: Vec<String>,
    /// False where the flags of the sanitizer reached no program.
    sanitized: bool,
}

/// The remark on a build that is not sanitized.
const UNREACHED: &str = "\nNo program of it holds a sanitizer: CFLAGS did not reach the compiler. Give a build that passes \
                         them on with --build.";

/// Why a baseline does not stand.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// No PoV crashes.
    #[error("{0}")]
    NoCrash(String),
    /// Something else, with the end of its log.
    #[error("{0}")]
    Other(String),
}

/// Runs the baseline of a target.
async fn observed(target: &dyn Target) -> Result<Arc<Baseline>, Failure> {
    target.baseline().await.map_err(|error| match error {
        TargetError::NotReproducible { .. } => Failure::NoCrash(error.to_string()),
        error => Failure::Other(explain(&error)),
    })
}

/// Returns the crash of the first PoV, where it has a report.
fn crash_of(baseline: &Baseline) -> Option<&CrashReport> {
    baseline.povs.first()?.replay.crash.as_ref()
}

/// Options whose value is a file that is written.
const OUTPUTS: [&str; 4] = ["-o", "--out", "--output", "--outfile"];
/// Ways to feed a PoV to a program.
const FEEDS: [&str; 2] = [" \"$POV\"", " <\"$POV\""];

impl Trials<'_> {
    /// Runs the baseline of a task.
    async fn baseline(&self, keys: &TaskFile) -> Result<Arc<Baseline>, Failure> {
        let target = self.target(keys).await?;
        observed(target.as_ref()).await
    }

    /// Prepares the commands of a task; its builds are there as long as the target is.
    async fn target(&self, keys: &TaskFile) -> Result<Arc<dyn Target>, Failure> {
        let origin = self.folder.join("task.toml");
        let task = task::from_file(keys.clone(), &self.folder, &origin);
        let task = task.map_err(|error| Failure::Other(error.to_string()))?;
        let in_words = |ending: Ending| Failure::Other(ending.detail);
        let (_, target) = patchwright_run::ground(&task, self.settings)
            .await
            .map_err(in_words)?;
        Ok(target)
    }

    /// Returns the first proposal that builds what is needed: programs, with a sanitizer where the
    /// build was given its flags. Where none has the sanitizer, the first with programs.
    pub(crate) async fn build(&self, keys: &TaskFile, proposals: &[Proposal]) -> Option<Built> {
        let mut without = None;
        for proposal in proposals {
            self.display
                .line(&format!("{}: trying {}", proposal.system, proposal.build));
            let built = match self.try_build(keys, proposal).await {
                Ok(built) => built,
                Err(reason) => {
                    self.display.line(&format!("  it failed: {reason}"));
                    continue;
                }
            };
            let compiled = keys.language != Language::Java.to_string();
            if compiled && built.programs.is_empty() && !proposal.named {
                self.display.line("  it builds, and makes no program");
                continue;
            }
            self.display
                .line(&format!("  ok {}", built.draft.remarks.build));
            if built.sanitized || proposal.named {
                return Some(built);
            }
            without.get_or_insert(built);
        }
        without
    }

    async fn try_build(&self, keys: &TaskFile, proposal: &Proposal) -> Result<Built, Failure> {
        let mut keys = keys.clone();
        keys.commands.prepare.clone_from(&proposal.prepare);
        keys.commands.build.clone_from(&proposal.build);
        let mut listing = keys.clone();
        listing.pov.clear();
        let target = self.target(&listing).await?;
        let baseline = observed(target.as_ref()).await?;
        let builds = || baseline.builds.values();
        let programs: Vec<String> = builds().flat_map(Build::programs).collect();
        let seconds: f64 = builds().map(|build| build.execution.seconds).sum();
        let flagged = keys.builds.values();
        let flagged = flagged
            .flatten()
            .any(|(_, value)| value.contains("-fsanitize="));
        let sanitized = !flagged || programs.is_empty() || builds().any(Build::has_sanitizer);
        let count = counted(programs.len() as u64, "program");
        let (system, unreached) = (&proposal.system, if sanitized { "" } else { UNREACHED });
        let build = format!("{system}: built here in {seconds:.1} s; {count} found{unreached}");
        let remarks = Remarks {
            build,
            ..Remarks::default()
        };
        Ok(Built {
            draft: Draft { keys, remarks },
            proposal: proposal.clone(),
            programs,
            sanitized,
        })
    }

    /// Finds the command that makes the PoV crash: the report's own command, else programs in
    /// the order in which they are likely, those that the crash report names first.
    pub(crate) async fn find_pov(
        &self,
        draft: &mut Draft,
        programs: &[String],
        log: Option<&str>,
    ) -> bool {
        for command in reported(programs, log).into_iter().take(PROGRAMS) {
            if self.try_pov(draft, &command).await {
                return true;
            }
        }
        for program in likely(programs, log).into_iter().take(PROGRAMS) {
            for feed in FEEDS {
                let command = format!("{program}{feed}");
                if self.try_pov(draft, &command).await {
                    return true;
                }
            }
        }
        false
    }

    /// Tries a command for the PoVs; keeps it in the draft where it crashes.
    pub(crate) async fn try_pov(&self, draft: &mut Draft, command: &str) -> bool {
        let mut keys = draft.keys.clone();
        keys.commands.pov = Some(command.to_owned());
        let seen = self.baseline(&keys).await;
        let (crashes, told) = match &seen {
            Ok(baseline) => {
                let crash = crash_in_words(baseline).unwrap_or_default();
                match self.is_another(&keys, baseline).await {
                    Some(why) => (None, format!("another crash, {why}: {crash}")),
                    None => (Some(crash.clone()), format!("ok, it crashes: {crash}")),
                }
            }
            Err(reason) => {
                let reason = reason.to_string();
                (None, reason.lines().next().unwrap_or_default().to_owned())
            }
        };
        self.display.line(&format!("PoV: {command}: {told}"));
        let Some(crash) = crashes else {
            return false;
        };
        draft.remarks.pov = format!("crashes here: {crash}");
        draft.keys = keys;
        true
    }

    /// Says why a crash that was seen is not the one to repair: it is not the reported one, or,
    /// without a report, an empty input brings it too (above all a leak).
    async fn is_another(&self, keys: &TaskFile, seen: &Baseline) -> Option<&'static str> {
        let seen = crash_of(seen)?;
        let differs = |earlier| signature::compare(earlier, seen, &|_| true) == Change::New;
        if let Some(report) = &self.report {
            let tells = report.stacks.iter().any(|stack| !stack.frames.is_empty());
            return (tells && differs(report)).then_some("not the reported one");
        }
        let ending = keys.pov.first()?.file.extension();
        let ending = ending.map(|ending| format!(".{}", ending.to_string_lossy()));
        let mut named = tempfile::Builder::new();
        let empty = named
            .suffix(ending.as_deref().unwrap_or_default())
            .tempfile();
        let empty = empty.ok()?;
        let mut keys = keys.clone();
        keys.pov = vec![Pov {
            file: empty.path().to_path_buf(),
            ..Pov::default()
        }];
        let on_empty = self.baseline(&keys).await.ok()?;
        (!differs(crash_of(&on_empty)?)).then_some("an empty input brings it too")
    }

    /// Finds the first test command that runs tests that pass.
    pub(crate) async fn find_tests(&self, draft: &mut Draft, proposal: &Proposal) -> bool {
        for command in &proposal.tests {
            self.display.line(&format!("tests: trying {command}"));
            let mut keys = draft.keys.clone();
            keys.pov.clear();
            keys.commands.test = Some(command.clone());
            keys.commands.reports.clone_from(&proposal.reports);
            let baseline = self.baseline(&keys).await;
            let seen = baseline.map_err(|reason| reason.to_string());
            match seen.and_then(|baseline| tests_seen(&baseline)) {
                Ok(seen) => {
                    self.display.line(&format!("  ok {seen}"));
                    draft.remarks.test = seen;
                    draft.keys.commands.test = Some(command.clone());
                    draft.keys.commands.reports.clone_from(&proposal.reports);
                    return true;
                }
                Err(reason) => self.display.line(&format!("  {reason}")),
            }
        }
        false
    }

    /// Finds a folder of the tree with files of the PoV's kind that the program accepts,
    /// and names them by a glob.
    pub(crate) async fn find_harmless(&self, draft: &mut Draft, tree: &Path) -> bool {
        if draft.keys.commands.pov.is_none() {
            return false;
        }
        let Some(extension) = draft.keys.pov.first().and_then(|pov| {
            let name = pov.file.extension()?.to_str()?;
            Some(name.to_owned())
        }) else {
            return false;
        };
        let Some(root) = draft.keys.source.path.clone() else {
            return false;
        };
        for folder in folders_with(tree, &extension) {
            let glob = Path::new(&root)
                .join(&folder)
                .join(format!("*.{extension}"));
            let glob = glob.display().to_string();
            if self.try_harmless(draft, &glob, tree.join(&folder)).await {
                return true;
            }
        }
        false
    }

    async fn try_harmless(&self, draft: &mut Draft, glob: &str, folder: PathBuf) -> bool {
        self.display
            .line(&format!("harmless inputs: trying {glob}"));
        let mut keys = draft.keys.clone();
        keys.commands.test = None;
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let same_kind = |path: &PathBuf| path.extension() == Path::new(glob).extension();
        let files = files.map(|entry| entry.path()).filter(same_kind);
        let povs = draft.keys.pov.iter();
        let own: Vec<PathBuf> = povs.map(|pov| self.folder.join(&pov.file)).collect();
        let files: Vec<PathBuf> = files
            .filter(|file| !own.contains(file))
            .take(HARMLESS)
            .collect();
        keys.pov = files
            .iter()
            .map(|file| Pov {
                file: file.clone(),
                ..Pov::default()
            })
            .collect();
        let refusal = match self.baseline(&keys).await {
            _ if files.is_empty() => Some("it holds only the PoVs".to_owned()),
            Ok(baseline) => {
                let crashing = baseline.povs.iter().filter(|pov| pov.reproduces());
                let (crashing, all) = (crashing.count(), files.len());
                Some(format!("{crashing} of {all} crash"))
            }
            Err(Failure::NoCrash(_)) => None,
            Err(Failure::Other(reason)) => Some(reason),
        };
        if let Some(refusal) = refusal {
            self.display.line(&format!("  {refusal}"));
            return false;
        }
        let count = files.len();
        self.display
            .line(&format!("  ok {count} files, none crashes"));
        draft.remarks.harmless = format!("{count} files were run here; none crashes");
        draft.keys.inputs.harmless = vec![glob.to_owned()];
        true
    }
}

/// Returns the reason of a failure with the end of its log.
fn explain(error: &TargetError) -> String {
    let (TargetError::InvalidTask { log, .. } | TargetError::NotReproducible { log, .. }) = error
    else {
        return error.to_string();
    };
    let lines: Vec<&str> = log.trim_end().lines().collect();
    let from = lines.len().saturating_sub(LINES);
    let last = lines.get(from..).unwrap_or_default().join("\n  | ");
    if last.is_empty() {
        error.to_string()
    } else {
        format!("{error}\n  | {last}")
    }
}

/// Tells what the tests did, or why they are no tests: none was run, or none passes by name.
fn tests_seen(baseline: &Baseline) -> Result<String, String> {
    let run = baseline.tests.as_ref().ok_or("it did not run")?;
    if let Some(nothing) = run.nothing_run() {
        return Err(format!("no test command: {nothing}"));
    }
    let report = run.report();
    let (passed, failed) = (report.count(Status::Passed), report.count(Status::Failed));
    let seconds = run.execution.seconds;
    match (run.execution.ending.success(), passed) {
        (true, 0) => Ok(format!(
            "the command succeeds in {seconds:.1} s; it names no tests"
        )),
        (_, 0) => Err("it fails, and names no test".to_owned()),
        _ => Ok(format!(
            "{passed} tests pass, {failed} fail, in {seconds:.1} s"
        )),
    }
}

/// Returns the commands of a report that run a program of the build, with the PoV in place of
/// the file that they read.
fn reported(programs: &[String], log: Option<&str>) -> Vec<String> {
    let words = log.and_then(read_words).unwrap_or_default();
    let built = |name: &str| {
        let mut programs = programs.iter();
        programs
            .find(|program| program.trim_end_matches('"').rsplit(['/', '"']).next() == Some(name))
    };
    let commands = words.commands.iter();
    let commands = commands.filter_map(|command| with_pov(built(command.name())?, command));
    commands.collect()
}

/// Writes a command of a report for a program: the file that it reads last becomes the PoV.
fn with_pov(program: &str, command: &CommandLine) -> Option<String> {
    let arguments = &command.arguments;
    let is_read = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| arguments.get(before));
        let written = before.is_some_and(|word| OUTPUTS.contains(&word.as_str()));
        let word = arguments.get(*at).map(String::as_str);
        !written && command.files().any(|file| Some(file) == word)
    };
    let file = (0..arguments.len()).rev().find(is_read);
    let file = file.filter(|_| command.input.is_none());
    let mut line = program.to_owned();
    for (at, word) in arguments.iter().enumerate() {
        line.push(' ');
        if Some(at) == file {
            line.push_str("\"$POV\"");
        } else {
            line.push_str(&shlex::try_quote(word).ok()?);
        }
    }
    if file.is_none() {
        let [named, piped] = FEEDS;
        line.push_str(if command.input.is_some() {
            piped
        } else {
            named
        });
    }
    Some(line)
}

/// Orders programs: those whose frames the log shows, those that it names, harnesses, and then by
/// the length of their path.
fn likely<'a>(programs: &'a [String], log: Option<&str>) -> Vec<&'a str> {
    let log = log.unwrap_or_default();
    let in_name = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
    let words: BTreeSet<&str> = log.split(|c| !in_name(c)).collect();
    let rank = |program: &&str| {
        let name = program.rsplit('/').next().unwrap_or(program);
        let named = words.contains(name) || words.contains(format!("{name}.c").as_str());
        let harness = ["fuzz", "harness"].iter().any(|word| name.contains(word));
        let shown = log.contains(&format!("/{name}+0x"));
        (
            !shown,
            !(named && name.len() >= NAME),
            !harness,
            program.len(),
        )
    };
    let mut ordered: Vec<&str> = programs.iter().map(String::as_str).collect();
    ordered.sort_by_key(rank);
    ordered
}

/// Shorter names of programs are words of any text.
const NAME: usize = 4;

/// Folders of a tree that hold files with an extension, those with the most first.
fn folders_with(tree: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(tree) = patchwright_source::Tree::open(tree) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in tree.files() {
        if file.extension() == Some(extension) {
            *counts.entry(PathBuf::from(file.folder())).or_default() += 1;
        }
    }
    let mut folders: Vec<(PathBuf, usize)> = counts.into_iter().collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    folders.into_iter().map(|(folder, _)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::{likely, reported};

    #[test]
    fn commands_of_the_report_are_tried_with_the_pov() {
        let programs = ["\"$TREE\"/recode".to_owned(), "\"$OUT\"/tool".to_owned()];
        for (log, expected) in [
            (
                "$ /home/u/build/recode --to jpc -O rate=10 --input poc_min -o a.jpc",
                "\"$TREE\"/recode --to jpc -O 'rate=10' --input \"$POV\" -o a.jpc",
            ),
            ("$ ./tool -q < poc", "\"$OUT\"/tool -q <\"$POV\""),
            ("$ ./tool -f 'a b;c'", "\"$OUT\"/tool -f 'a b;c' \"$POV\""),
        ] {
            assert_eq!(reported(&programs, Some(log)), [expected]);
        }
        assert!(reported(&programs, Some("$ ./other poc")).is_empty());
    }

    #[test]
    fn programs_of_the_report_are_tried_first() {
        let programs = [
            "\"$OUT\"/a",
            "\"$OUT\"/build/tools/gif2rgb",
            "\"$OUT\"/build/x_fuzzer",
        ]
        .map(str::to_owned);
        let log = "    #0 0x1 in f (/home/a/build/gif2rgb+0x11)";
        let named = likely(&programs, Some("found by x_fuzzer with a PoC"));
        assert_eq!(named.first(), Some(&"\"$OUT\"/build/x_fuzzer"));
        let order = likely(&programs, Some(log));
        assert_eq!(
            order,
            [
                "\"$OUT\"/build/tools/gif2rgb",
                "\"$OUT\"/build/x_fuzzer",
                "\"$OUT\"/a"
            ]
        );
    }
}
