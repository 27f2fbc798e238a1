//! Stage: the workspace that a command of a built program runs in.
//!
//! Nothing that a program writes may reach another run: it could change the tests, the build or
//! the inputs that it is judged by. A PoV's command finds the build read-only. Tests write where
//! they are, and so do a few PoVs; these get a copy that is thrown away.

use super::command::Job;
use super::disguise::EXPORTED;
use super::scratch::CommandFolder;
use super::{LocalTarget, locked, test_reports};
use crate::runner::{BaselinePov, Build, Pov, measure, program_and_arguments};
use crate::workspace::Workspace;
use crate::{Result, TargetError};
use patchwright_sandbox::Execution;
use patchwright_source::regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// The needs of a PoV's command: without them it does not crash the unpatched program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Needs {
    #[default]
    Nothing,
    /// A script of it reads the variables.
    Variables,
    /// It writes to its tree, its output or its home.
    Writing,
}

impl Needs {
    /// Returns what is tried next.
    fn more(self) -> Option<Self> {
        match self {
            Self::Nothing => Some(Self::Variables),
            Self::Variables => Some(Self::Writing),
            Self::Writing => None,
        }
    }
}

/// The known needs of commands, by their text.
pub(super) type KnownNeeds = BTreeMap<String, Needs>;

/// Returns the needs of a command. One that holds a known one may have another program start it, which
/// hands only exported variables on; of any other nothing is known, and it gets all.
fn needs_of(known: &KnownNeeds, command: &str) -> Needs {
    if let Some(needs) = known.get(command) {
        return *needs;
    }
    let held = known.iter().filter(|(text, _)| command.contains(*text));
    let held = held.map(|(_, needs)| *needs).max();
    held.map_or(Needs::Writing, |needs| needs.max(Needs::Variables))
}

/// A workspace for one command; a copy is removed after it.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) workspace: Arc<Workspace>,
    build: &'a str,
    harness: Option<&'a str>,
    writable: bool,
    hides: bool,
}

impl Stage<'_> {
    /// Returns a command that runs here.
    pub(super) fn job<'a>(&'a self, script: &'a str) -> Job<'a> {
        Job {
            harness: self.harness,
            writable: self.writable,
            hides: self.hides,
            ..Job::new(script, &self.workspace, self.build)
        }
    }
}

/// A PoV on one build of a target.
#[derive(Debug, Clone, Copy)]
pub(super) struct PovRun<'a> {
    pub(super) target: &'a LocalTarget,
    pub(super) build: &'a Build,
    pub(super) pov: &'a Pov,
}

/// Variables besides those of every command.
pub(super) type Variables = [(&'static str, String)];

impl<'a> PovRun<'a> {
    /// Returns the command that runs the PoV.
    pub(super) fn command(self) -> Result<&'a str> {
        let own = self.pov.command.as_deref();
        own.or(self.target.task.commands.pov.as_deref())
            .ok_or_else(|| {
                let name = self.pov.name();
                TargetError::invalid(format!("there is no command that runs {name}"))
            })
    }

    /// Returns the words that start the program when its input is put behind them; none where
    /// the command needs a shell, whose start takes a fifth of the time of a small program.
    pub(super) fn program(self) -> Result<Option<&'a str>> {
        let command = self.command()?;
        let ends = [" \"$POV\"", " $POV"];
        let words = ends
            .iter()
            .find_map(|end| command.trim_end().strip_suffix(end));
        let needs = needs_of(&locked(&self.target.needs), command);
        let is_alone = |words: &&str| {
            let plain = regex!(r"^(?:[^$*?\[]|\$\{?[A-Z])*$").is_match(words);
            let knows_variables = needs != Needs::Nothing || words.contains("POV");
            plain && !knows_variables && program_and_arguments(words).is_some()
        };
        Ok(words.filter(is_alone))
    }

    /// Returns the stage for the command.
    pub(super) async fn stage(self) -> Result<Stage<'a>> {
        let needs = needs_of(&locked(&self.target.needs), self.command()?);
        let harness = self.pov.harness.as_deref();
        if needs == Needs::Writing {
            let copied = self.target.copied(self.build).await?;
            return Ok(Stage { harness, ..copied });
        }
        Ok(Stage {
            workspace: Arc::clone(self.build.place()?),
            build: &self.build.name,
            harness,
            writable: false,
            hides: needs == Needs::Nothing,
        })
    }

    /// Runs the command under a program that watches it, and returns the folder in which that one
    /// notes what it sees.
    pub(super) async fn watched(
        self,
        (script, program): (&str, &str),
        environment: &Variables,
        wall: Duration,
    ) -> Result<(CommandFolder, Execution)> {
        let (folder, stage) = (self.target.batch_folder()?, self.stage().await?);
        let arguments: [OsString; 2] = [self.command()?.into(), program.into()];
        let script = format!("{EXPORTED}{script}");
        let job = Job {
            wall,
            arguments: &arguments,
            environment,
            pov: Some(&self.pov.file),
            notes: Some(folder.path()),
            ..stage.job(&script)
        };
        let execution = self.target.command(job).await?;
        Ok((folder, execution))
    }

    /// Runs the PoV on the unpatched program with the least that it crashes with.
    pub(super) async fn measure(self) -> Result<BaselinePov> {
        let (needs, command) = (&self.target.needs, self.command()?);
        locked(needs).entry(command.to_owned()).or_default();
        loop {
            let measured = measure(self.target, self.build, self.pov).await?;
            let more = needs_of(&locked(needs), command).more();
            let Some(more) = more.filter(|_| !measured.reproduces()) else {
                return Ok(measured);
            };
            locked(needs).insert(command.to_owned(), more);
        }
    }
}

impl LocalTarget {
    /// Returns what runs a PoV on a build.
    pub(super) fn on<'a>(&'a self, build: &'a Build, pov: &'a Pov) -> PovRun<'a> {
        PovRun {
            target: self,
            build,
            pov,
        }
    }

    /// Returns a stage that may be written to and that nobody sees again.
    pub(super) async fn copied<'a>(&self, build: &'a Build) -> Result<Stage<'a>> {
        Ok(Stage {
            workspace: Arc::new(self.copy(build.place()?).await?),
            build: &build.name,
            harness: None,
            writable: true,
            hides: false,
        })
    }

    /// Returns the stage for the tests, without the reports of an earlier run.
    pub(super) async fn stage_of_tests<'a>(&self, build: &'a Build) -> Result<Stage<'a>> {
        let copied = self.copied(build).await?;
        test_reports::clear(&copied.workspace, &self.task.commands.reports)?;
        Ok(copied)
    }
}

#[cfg(test)]
mod tests {
    use super::{Needs, locked, needs_of};
    use crate::runner::Target;
    use crate::test_support::{open, task};
    use std::fs;

    #[tokio::test]
    async fn what_a_run_writes_reaches_no_other_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let write = r#"for f in "$TREE"/parse.c "$OUT"/prog "$HOME"/.profile "$TASK"/good.bin "$POV"; do (echo evil >"$f") 2>/dev/null && echo "wrote $f"; done"#;
        task.commands.pov = Some(format!("{write}; \"$OUT\"/prog \"$POV\""));
        task.commands.test = Some("grep -c evil parse.c || :; echo evil >>parse.c".to_owned());
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let pov = &target.task().povs[0];
        let text = baseline.povs[0].replay.execution.text();
        assert!(
            !text.contains("wrote") && baseline.povs[0].reproduces(),
            "{text}"
        );
        let build = &baseline.builds["address"];
        let command = target.on(build, pov).command().unwrap();
        assert_eq!(needs_of(&locked(&target.needs), command), Needs::Nothing);
        for _ in 0..2 {
            let tests = target.test(build).await.unwrap().unwrap();
            assert_eq!(tests.execution.text().trim(), "0");
        }
    }

    #[tokio::test]
    async fn a_program_alone_needs_no_shell() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(task(folder.path()), folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        for (command, needs, expected) in [
            (
                r#""$OUT"/prog -x "$POV""#,
                Needs::Nothing,
                Some(r#""$OUT"/prog -x"#),
            ),
            ("$OUT/prog $POV", Needs::Nothing, Some("$OUT/prog")),
            ("$OUT/prog $POV", Needs::Variables, None),
            ("$OUT/prog $POV -x", Needs::Nothing, None),
            ("$OUT/prog $POV $POV", Needs::Nothing, None),
            ("$OUT/prog $@ $POV", Needs::Nothing, None),
            ("$OUT/prog -o $WORK/o.$$ $POV", Needs::Nothing, None),
            ("$OUT/prog <$POV", Needs::Nothing, None),
            ("cd / && $OUT/prog $POV", Needs::Nothing, None),
        ] {
            locked(&target.needs).insert(command.to_owned(), needs);
            let mut pov = target.task().povs[0].clone();
            pov.command = Some(command.to_owned());
            let run = target.on(&baseline.builds["address"], &pov);
            assert_eq!(run.program().unwrap(), expected, "{command}");
        }
    }

    #[tokio::test]
    async fn a_pov_that_must_write_writes_to_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.commands.pov = Some(r#"echo x >log && "$OUT"/prog "$POV""#.to_owned());
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        assert!(baseline.povs[0].reproduces());
        let tree = baseline.builds["address"].place().unwrap().part("tree");
        assert!(!tree.join("log").exists() && fs::exists(tree.join("parse.c")).unwrap());
    }

    #[tokio::test]
    async fn a_program_may_write_beside_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.commands.pov = Some(r#"echo x >"$POV.out" && "$OUT"/prog "$POV""#.to_owned());
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        assert!(baseline.povs[0].reproduces());
        let needs = locked(&target.needs).values().copied().collect::<Vec<_>>();
        assert_eq!(needs, [Needs::Nothing]);
    }

    #[tokio::test]
    async fn a_run_finds_no_variable_and_no_path_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let look = r#"env | cut -d= -f1 | grep -xE 'TREE|OUT|WORK|TASK|POV|NOTES|JUDGED|HARNESS|SANITIZER|JOBS' || :; ls -d /patchwright 2>/dev/null || :; echo "${POV%/*}" | cksum; echo "$WORK" | cksum; "#;
        let own = task.commands.pov.clone().unwrap();
        task.commands.pov = Some(look.to_owned() + &own);
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let (build, pov) = (&baseline.builds["address"], &target.task().povs[0]);
        let mut seen = Vec::new();
        for _ in 0..2 {
            let replay = target.replay(build, pov).await.unwrap();
            assert!(replay.outcome.is_failure());
            let text = replay.execution.text();
            let lines: Vec<String> = text.lines().take(3).map(str::to_owned).collect();
            let sums = lines[..2].iter();
            let digits = |line: &String| line.starts_with(|c: char| c.is_ascii_digit());
            assert!(sums.clone().all(digits) && !digits(&lines[2]), "{text}");
            assert!(!text.contains(&target.home.display().to_string()), "{text}");
            seen.push((lines[0].clone(), lines[1].clone()));
        }
        assert!(seen[0].0 != seen[1].0 && seen[0].1 != seen[1].1, "{seen:?}");
    }

    #[tokio::test]
    async fn a_script_that_reads_variables_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        fs::write(folder.path().join("pov.sh"), r#""$OUT"/prog "$POV""#).unwrap();
        task.commands.pov = Some(r#"sh -u "$TASK"/pov.sh"#.to_owned());
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        assert!(baseline.povs[0].reproduces());
        let needs = locked(&target.needs).values().copied().collect::<Vec<_>>();
        assert_eq!(needs, [Needs::Variables]);
    }
}
