//! Target task: the tree, commands, PoVs and limits of a task. The target finds out
//! whether they work.

use patchwright_crash::signature::{self, Change};
use patchwright_crash::{CrashReport, Frame};
use patchwright_record::{Commands, Pov};
use patchwright_sandbox::Image;
use patchwright_sandbox::process::Limits;
use patchwright_source::{Language, TreePath};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The folder inside the sandbox that holds the folders of a command.
pub const INSIDE: &str = "/patchwright";

/// Files of a crash that are looked at: those of its innermost frames.
const MOST_FILES: usize = 6;

/// One thing to repair, as far as commands need to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetTask {
    /// The pristine source tree on this host; it is copied, never written.
    pub tree: PathBuf,
    /// `$TASK`: the folder of the task file, shown read-only.
    pub task_folder: PathBuf,
    /// The language that it is written in.
    pub language: Language,
    /// The image that commands run in; this machine's own programs without one.
    pub image: Option<Image>,
    /// The command lines.
    pub commands: Commands,
    /// The builds by name, each with its variables. Empty: one build without a name.
    pub builds: BTreeMap<String, BTreeMap<String, String>>,
    /// The inputs that make it crash.
    pub povs: Vec<Pov>,
    /// Harmless inputs, which the unpatched program accepts: files on this host.
    pub harmless: Vec<PathBuf>,
    /// The path at which commands see the tree, instead of the usual one.
    pub seen_as: Option<String>,
    pub limits: CommandLimits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLimits {
    /// Wall time of `prepare` and `fetch`.
    pub prepare: Duration,
    /// Wall time of one build.
    pub build: Duration,
    /// Wall time of one PoV.
    pub pov: Duration,
    /// Wall time of the tests.
    pub test: Duration,
    /// Resident memory of all processes of a command together, in bytes.
    pub memory: u64,
    /// Processes of a command at one time.
    pub processes: u64,
    /// Bytes of output that are kept, half of them from the head, half from the tail.
    pub output: usize,
    /// Bytes of the largest file a command may write.
    pub file: u64,
    /// Bytes a command may write in all.
    pub disk: u64,
    /// `$JOBS`: parallel jobs of a build.
    pub jobs: u32,
    /// Wall time of the rung *robust*.
    pub robust: Duration,
    /// Wall time of the rung *same elsewhere*.
    pub same: Duration,
    /// Inputs that *robust* has to run before it holds.
    pub executions: u64,
    /// The most inputs that *same elsewhere* compares, and as many that are aimed at the patch.
    pub compared: u64,
    /// Inputs that have to reach what a patch touches before *same elsewhere* holds.
    pub reached: u64,
}

impl CommandLimits {
    /// Returns the limits of a command with these times.
    pub(crate) fn of_command(&self, wall: Duration, idle: Option<Duration>) -> Limits {
        Limits {
            wall,
            idle,
            memory: self.memory,
            processes: self.processes,
            output: self.output,
            disk: self.disk,
        }
    }
}

impl TargetTask {
    /// Returns the build that a PoV runs on.
    pub fn build_of(&self, pov: &Pov) -> String {
        pov.build.clone().unwrap_or_else(|| self.main_build())
    }

    /// Returns the PoV of this name; the first where there is none, so that no input that
    /// was made from one is left out.
    pub fn pov_like(&self, name: &str) -> Option<&Pov> {
        let named = self.povs.iter().find(|pov| pov.name() == name);
        named.or_else(|| self.povs.first())
    }

    /// Returns the build that the tests run on.
    pub fn main_build(&self) -> String {
        self.povs
            .first()
            .and_then(|pov| pov.build.clone())
            .or_else(|| self.builds.keys().next().cloned())
            .unwrap_or_default()
    }

    /// Returns the builds that are used, the main one first.
    pub fn used_builds(&self) -> Vec<String> {
        let mut names = vec![self.main_build()];
        for name in self.povs.iter().map(|pov| self.build_of(pov)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the path at which commands see the tree.
    pub fn seen_tree(&self) -> String {
        let usual = || format!("{INSIDE}/tree");
        self.seen_as.clone().unwrap_or_else(usual)
    }

    /// Returns the file of a frame by its path in the tree.
    pub fn tree_path(&self, frame: &Frame) -> Option<TreePath> {
        let file = frame.file.as_deref()?;
        let below = file.strip_prefix(&self.seen_tree());
        let path = TreePath::new(below.map_or(file, |rest| rest.trim_start_matches('/'))).ok()?;
        self.tree.join(path.as_str()).is_file().then_some(path)
    }

    /// Returns the files of a crash, innermost first.
    pub fn files_of(&self, crash: &CrashReport) -> Vec<TreePath> {
        let mut found: Vec<TreePath> = Vec::new();
        let stack = crash.main_stack().into_iter();
        for frame in stack.flat_map(|stack| &stack.frames) {
            let path = self.tree_path(frame);
            found.extend(path.filter(|path| !found.contains(path)));
        }
        found.truncate(MOST_FILES);
        found
    }

    /// Compares two crashes of the project.
    pub fn change(&self, earlier: &CrashReport, later: &CrashReport) -> Change {
        signature::compare(earlier, later, &|frame| self.in_project(frame))
    }

    /// Tells whether a frame lies in the tree: by the path at which commands
    /// see it, or by a file that is there.
    pub fn in_project(&self, frame: &Frame) -> bool {
        let Some(file) = frame.file.as_deref() else {
            return false;
        };
        match file.strip_prefix(&self.seen_tree()) {
            Some(rest) => rest.starts_with('/'),
            None => TreePath::new(file).is_ok_and(|path| self.tree.join(path.as_str()).is_file()),
        }
    }
}

/// Splits a command line that is one program of the build with its arguments:
/// `"$OUT"/name "$POV"`. Any other one needs a shell.
pub fn program_and_arguments(command: &str) -> Option<(&str, &str)> {
    if command.contains([';', '|', '&', '<', '>', '\n', '`', '(', ')', '#', '\\']) {
        return None;
    }
    let rest = ["\"$OUT\"/", "\"${OUT}\"/", "$OUT/", "\"$OUT/"]
        .iter()
        .find_map(|start| command.trim().strip_prefix(start))?;
    let (program, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
    let program = program.trim_end_matches('"');
    let usual = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    (!program.is_empty() && program.chars().all(usual)).then_some((program, arguments))
}

#[cfg(test)]
mod tests {
    use super::program_and_arguments;

    #[test]
    fn takes_plain_command_lines_apart() {
        for (command, expected) in [
            ("\"$OUT\"/harness \"$POV\"", Some(("harness", "\"$POV\""))),
            ("$OUT/bin/x -a $POV", Some(("bin/x", "-a $POV"))),
            ("\"$OUT/x\" y", Some(("x", "y"))),
            ("\"$OUT\"/x <\"$POV\"", None),
            ("cd x && \"$OUT\"/x", None),
            ("\"$OUT\"/x # \"$POV\"", None),
            ("java -jar x", None),
            ("\"$OUT\"/$HARNESS", None),
        ] {
            assert_eq!(program_and_arguments(command), expected, "{command}");
        }
    }
}
