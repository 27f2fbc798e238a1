//! Commands of a task: their folders, and their environment.
//!
//! Only what builds may write to the tree and the build's output. What is noted of a program
//! (how each input ended, what a debugger saw) lies in a folder of ours, and the program is
//! started by the shell function `judged`, below which that folder cannot be written to.

use super::LocalTarget;
use super::disguise::{Paths, assigned, fresh_name, quoted};
use super::scratch::CommandFolder;
use crate::workspace::{HOME, OUT, TREE, Workspace};
use crate::{Result, TargetError};
use patchwright_sandbox::contained_path::give_all;
use patchwright_sandbox::process::disk::FULL;
use patchwright_sandbox::process::{Captured, Execution};
use patchwright_sandbox::{Command, Place, Sandbox};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The scratch folder of one command.
const WORK: &str = "work";
/// The folder of its input.
const POV: &str = "pov";
/// The folder for what is noted of a program.
const NOTES: &str = "notes";
/// The folder that workspaces use in turn where paths cannot be mapped.
const SEAT: &str = "seat";

/// Where systems install it.
const VALGRIND: &str = "/usr/bin/valgrind";

/// Free bytes below which a failure is blamed on the disk: compilers remove incomplete
/// output, so some space is free again after their failure.
const LEAST_ROOM: u64 = 32 << 20;

/// A command line of the task, with its folders and limits.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) script: &'a str,
    pub(crate) arguments: &'a [OsString],
    pub(crate) workspace: &'a Workspace,
    pub(crate) build: &'a str,
    pub(crate) wall: Duration,
    pub(crate) idle: Option<Duration>,
    pub(crate) network: bool,
    pub(crate) pov: Option<&'a Path>,
    pub(crate) harness: Option<&'a str>,
    /// Variables besides those of every command.
    pub(crate) environment: &'a [(&'static str, String)],
    /// A host folder, `$NOTES`, for inputs and for what is noted of the program.
    pub(crate) notes: Option<&'a Path>,
    /// True where the tree, the build's output and the home may be written.
    pub(crate) writable: bool,
    /// True where the program is to find no variable of ours, and names that differ.
    pub(crate) hides: bool,
}

impl<'a> Job<'a> {
    pub(crate) fn new(script: &'a str, workspace: &'a Workspace, build: &'a str) -> Self {
        Self {
            script,
            arguments: &[],
            workspace,
            build,
            wall: Duration::from_mins(1),
            idle: None,
            network: false,
            pov: None,
            harness: None,
            environment: &[],
            notes: None,
            writable: false,
            hides: false,
        }
    }

    /// A command that changes its workspace: it builds, or runs in a copy that is thrown away.
    pub(crate) fn writing(script: &'a str, workspace: &'a Workspace, build: &'a str) -> Self {
        Self {
            writable: true,
            ..Self::new(script, workspace, build)
        }
    }
}

/// The folders and the environment that a command sees.
#[derive(Debug, Default)]
pub(super) struct CommandView {
    /// True where folders can be shown at their usual places.
    pub(super) maps_paths: bool,
    /// The tree first.
    pub(super) places: Vec<Place>,
    pub(super) environment: BTreeMap<String, OsString>,
    pub(super) paths: Paths,
}

impl CommandView {
    /// Shows a file or a folder under a variable, and returns its place.
    pub(super) fn show(
        &mut self,
        variable: &str,
        (host, usual): (PathBuf, PathBuf),
        writable: bool,
    ) -> PathBuf {
        let inside = if self.maps_paths { usual } else { host.clone() };
        let mut set = |name: &str, value: OsString| self.environment.insert(name.to_owned(), value);
        set(variable, inside.clone().into());
        // Where paths are not mapped it has no `/tmp` of its own, and Maven reads its home from the
        // accounts.
        if variable == "WORK" && !self.maps_paths {
            set("TMPDIR", inside.clone().into());
        } else if variable == "HOME" && !self.maps_paths {
            let mut option = OsString::from("-Duser.home=");
            option.push(&inside);
            set("MAVEN_OPTS", option);
        }
        self.places.push(Place {
            host,
            inside: inside.clone(),
            writable,
        });
        inside
    }

    /// Returns the place of the tree.
    pub(super) fn tree(&self) -> PathBuf {
        let tree = self.places.first();
        tree.map(|place| place.inside.clone()).unwrap_or_default()
    }
}

/// The variables of a task's command.
const VARIABLES: &str = "TREE OUT TASK WORK NOTES POV HARNESS SANITIZER JOBS";

impl LocalTarget {
    /// Runs one command of the task in a workspace.
    pub(crate) async fn command(&self, job: Job<'_>) -> Result<Execution> {
        if self.sandbox.maps_paths() {
            return self.command_at(&job, job.workspace.root()).await;
        }
        let _turn = self.seat.lock().await;
        let seat = Seated::take(job.workspace.root(), self.scratch.path().join(SEAT))?;
        self.command_at(&job, &seat.at).await
    }

    /// Returns bytes that a command wrote with the usual paths in them.
    pub(super) fn told(&self, notes: &Path, bytes: &[u8]) -> Vec<u8> {
        let mut paths = Paths::default();
        if self.sandbox.maps_paths() {
            paths.add(&self.home, "");
            paths.add(&self.home.join(NOTES), WORK);
            for usual in [WORK, POV] {
                paths.add(&self.home.join(self.names.of(notes, usual)), usual);
            }
        } else {
            paths.add(&self.scratch.path().join(SEAT), "");
            paths.add(notes, WORK);
        }
        paths.told(bytes)
    }

    async fn command_at(&self, job: &Job<'_>, root: &Path) -> Result<Execution> {
        if let Some(notes) = job.notes {
            give_all(notes)
                .map_err(|e| TargetError::io("a folder cannot be given away", notes, e))?;
        }
        let work = CommandFolder::create(if self.sandbox.maps_paths() {
            self.scratch.fresh(WORK)
        } else {
            root.join(WORK)
        })?;
        let task = self.shown_task().await?;
        let pov = job.pov.map(|pov| self.pov_in_a_folder(pov)).transpose()?;
        let mut seen = self.seen(job, root, work.path(), (task, pov.as_ref()));
        seen.places.extend(self.configuration().await?);
        seen.places.extend(self.without_valgrind(job));
        let script = self.script(job, &mut seen);
        let limits = &self.task.limits;
        let command = Command {
            script: &script,
            arguments: job.arguments,
            places: &seen.places,
            folder: &seen.tree(),
            environment: seen.environment,
            network: job.network,
            limits: limits.of_command(job.wall, job.idle),
            file_size: limits.file,
        };
        let mut execution = self.sandbox.run(command).await?;
        tell_paths(&mut execution.output, &seen.paths);
        check_room(&execution, self.scratch.path())?;
        Ok(execution)
    }

    /// Returns a PoV, and the folder in which it is seen where paths can be mapped: programs write
    /// beside their input.
    fn pov_in_a_folder(&self, pov: &Path) -> Result<(PathBuf, CommandFolder)> {
        let folder = CommandFolder::create(self.scratch.fresh("beside"))?;
        Ok((self.shown_pov(pov)?, folder))
    }

    /// Shows a command its folders, among them the user's own: the task's and the PoV.
    fn seen(
        &self,
        job: &Job<'_>,
        root: &Path,
        work: &Path,
        (task, pov): (PathBuf, Option<&(PathBuf, CommandFolder)>),
    ) -> CommandView {
        let mut view = CommandView {
            maps_paths: self.sandbox.maps_paths(),
            environment: self.variables(job),
            ..CommandView::default()
        };
        let usual = |name: &str| self.home.join(name);
        let name = |usual: &str| match job.notes {
            _ if !job.hides => usual.to_owned(),
            Some(notes) => self.names.of(notes, usual),
            None => fresh_name(),
        };
        let home = if view.maps_paths { &self.home } else { root };
        view.paths.add(home, "");
        let seen_as = self.task.seen_as.as_ref().map(PathBuf::from);
        let tree = seen_as.unwrap_or_else(|| usual(TREE));
        view.show("TREE", (root.join(TREE), tree), job.writable);
        view.show("OUT", (root.join(OUT), usual(OUT)), job.writable);
        view.show("HOME", (root.join(HOME), usual(HOME)), job.writable);
        if let Some(notes) = job.notes {
            let notes = view.show("NOTES", (notes.to_path_buf(), usual(NOTES)), true);
            view.paths.add(&notes, WORK);
        }
        let work = view.show("WORK", (work.to_path_buf(), usual(&name(WORK))), true);
        view.paths.add(&work, WORK);
        view.show("TASK", (task, usual("task")), false);
        if let Some((pov, beside)) = pov {
            let folder = usual(&name(POV));
            view.paths.add(&folder, POV);
            let inside = folder.join(pov.file_name().unwrap_or_default());
            if view.maps_paths {
                view.show("POV", (beside.path().to_path_buf(), folder), true);
            }
            view.show("POV", (pov.clone(), inside), false);
        }
        view
    }

    /// The variables that name no folder.
    fn variables(&self, job: &Job<'_>) -> BTreeMap<String, OsString> {
        let mut environment: BTreeMap<String, OsString> = BTreeMap::new();
        if let Some(variables) = self.task.builds.get(job.build) {
            environment.extend(variables.iter().map(|(k, v)| (k.clone(), v.into())));
        }
        // Without it a report of undefined behaviour names one line and no callers.
        let stacks = || OsString::from("print_stacktrace=1");
        let options = environment.entry("UBSAN_OPTIONS".to_owned());
        options.or_insert_with(stacks);
        let jobs = self.task.limits.jobs.to_string();
        for (name, value) in [
            ("HARNESS", job.harness.unwrap_or_default()),
            ("SANITIZER", job.build),
            ("JOBS", &jobs),
        ] {
            environment.insert(name.to_owned(), value.into());
        }
        let more = job.environment.iter();
        environment.extend(more.map(|(name, value)| ((*name).to_owned(), value.into())));
        environment
    }

    /// Nothing in the place of Valgrind, which runs no program that has one of these sanitizers built
    /// in: tests that find it use it, and all fail.
    fn without_valgrind(&self, job: &Job<'_>) -> Option<Place> {
        let mut flags = self.task.builds.get(job.build)?.values();
        let kinds = ["address", "hwaddress", "thread", "memory", "leak"];
        let sanitized = |flags: &String| {
            let mut words = flags.split(['=', ',', ' ']);
            flags.contains("-fsanitize=") && words.any(|word| kinds.contains(&word))
        };
        let names = |text: &OsStr| text.to_string_lossy().contains("valgrind");
        let asked = names(job.script.as_ref()) || job.arguments.iter().any(|word| names(word));
        let here = self.task.image.is_none() && self.sandbox.maps_paths();
        let fails = here && !asked && flags.any(sanitized) && Path::new(VALGRIND).exists();
        fails.then(|| Place {
            host: "/dev/null".into(),
            inside: VALGRIND.into(),
            writable: false,
        })
    }

    /// The system's configuration for commands, where paths are mapped.
    async fn configuration(&self) -> Result<Option<Place>> {
        if !self.sandbox.needs_configuration() {
            return Ok(None);
        }
        let made = self.configuration.get_or_try_init(|| async {
            Sandbox::configuration(self.scratch.path(), &self.home.join(HOME))
        });
        Ok(Some(made.await?.clone()))
    }

    /// The script with what it needs before it: the variables, where they are not exported, and
    /// where there are notes how a program is started. `$own` goes before a command that takes
    /// its input as `$1`.
    fn script(&self, job: &Job<'_>, seen: &mut CommandView) -> String {
        let judged = self.judged(seen);
        let (own, export) = if job.hides {
            (assigned(&mut seen.environment, VARIABLES), "")
        } else {
            (String::new(), "export POV; ")
        };
        if job.notes.is_none() {
            return own + job.script;
        }
        let given = quoted(&format!("{own}POV=$1; {export}shift\n"));
        format!("{own}{judged}own={given}\n{}", job.script)
    }

    /// The shell function that starts a program below which `$NOTES` cannot be written to, the
    /// one that does so for each input, and the words of the first in `$JUDGED` for a debugger.
    fn judged(&self, seen: &CommandView) -> String {
        let notes = seen.environment.get("NOTES");
        let writable = seen.places.iter().filter(|place| place.writable);
        let own = writable.map(|place| place.inside.as_path());
        let own: Vec<&Path> = own
            .filter(|path| Some(path.as_os_str()) != notes.map(OsString::as_os_str))
            .collect();
        let one = shell_words(&self.sandbox.keeping_to(&own));
        let each = shell_words(&self.sandbox.keeping_each_to(&own));
        format!(
            "JUDGED={}\njudged() {{ {one} \"$@\"; }}\njudged_each() {{ {each} \"$NOTES\" \"$@\"; }}\n",
            quoted(&one)
        )
    }
}

fn shell_words(words: &[OsString]) -> String {
    let words = words.iter().map(|word| quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

/// A workspace that was moved to the one real path, and is moved back when dropped.
struct Seated {
    home: PathBuf,
    at: PathBuf,
}

impl Seated {
    fn take(home: &Path, at: PathBuf) -> Result<Self> {
        std::fs::rename(home, &at)
            .map_err(|e| TargetError::io("a workspace could not take its seat", &at, e))?;
        Ok(Self {
            home: home.to_path_buf(),
            at,
        })
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        if let Err(error) = std::fs::rename(&self.at, &self.home) {
            tracing::warn!(%error, "a workspace could not leave its seat");
        }
    }
}

/// Returns an error where a command failed and the disk is full, which says nothing about a patch.
fn check_room(execution: &Execution, folder: &Path) -> Result<()> {
    if execution.ending.success() {
        return Ok(());
    }
    let room = rustix::fs::statvfs(folder)
        .map_err(|e| TargetError::io("the room on the disk cannot be read", folder, e.into()))?;
    // A file system that does not count its files reports 0 for both.
    let files_left = room.f_favail > 0 || room.f_files == 0;
    if room.f_bavail.saturating_mul(room.f_frsize) >= LEAST_ROOM && files_left {
        return Ok(());
    }
    Err(TargetError::machinery(FULL, folder.display().to_string()))
}

/// Puts the usual paths into the output.
fn tell_paths(output: &mut Captured, paths: &Paths) {
    let left_out = output.left_out();
    output.head = paths.told(&output.head);
    output.tail = paths.told(&output.tail);
    output.total = (output.head.len() + output.tail.len()) as u64 + left_out;
}
