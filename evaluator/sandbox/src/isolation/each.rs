//! One program for each file of a folder, started from inside the sandbox.
//!
//! A shell and a copy of ourselves for every input would cost several times what the input
//! itself does. So one process stays: it opens what the program prints into, has a thread give
//! up what [`landlock::keep_to`] takes, starts the program from there, and prints how it ended.
//! Each input has a domain of its own, and none of them reaches this process, which can be
//! neither traced nor written to.
//!
//! It knows nothing of time: whoever started the command watches the lines that come.

use super::enter::{before_program, handed_on};
use super::landlock;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

/// The folder of the inputs, and the one for what is kept of the program's output.
const INPUTS: &str = "in";
const KEPT: &str = "out";

/// Runs the program once for each input, in the order of their names, with the input's path as
/// its last argument; prints a line with the name and the status, as a shell tells it, for each.
pub(super) fn each(arguments: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let (own, rest) = before_program(arguments);
    let [notes, keep, program @ ..] = rest else {
        return Err("no folder of inputs was given".into());
    };
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    run((program, own), Path::new(notes), keep == "all")
}

fn run(
    (program, own): (&[OsString], &[OsString]),
    notes: &Path,
    keeps_all: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut inputs: Vec<PathBuf> = fs::read_dir(notes.join(INPUTS))?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    inputs.sort();
    let output = notes.join("output");
    for input in inputs {
        let name = input.file_name().unwrap_or_default();
        let mut child = start(program, &input, own, File::create_new(&output)?)?;
        let status = child.wait()?;
        // What an input left running goes on printing into a file that is no other input's.
        if !status.success() || keeps_all {
            fs::rename(&output, notes.join(KEPT).join(name))?;
        } else {
            fs::remove_file(&output)?;
        }
        let mut told = std::io::stdout().lock();
        writeln!(told, "{} {}", name.display(), as_shell(status))?;
        told.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts the program from a thread that keeps to its own folders; what it prints goes to a
/// file that it cannot open.
fn start(
    program: &[OsString],
    input: &Path,
    own: &[OsString],
    output: File,
) -> Result<Child, Box<dyn Error>> {
    let (program, arguments) = program.split_first().ok_or("no program was given")?;
    let started = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            landlock::keep_to(own).map_err(|error| error.to_string())?;
            let start = |mut command: Command| {
                command.args(arguments).arg(input).stdin(Stdio::null());
                command
                    .stdout(output.try_clone()?)
                    .stderr(output.try_clone()?);
                // Some shells tell a program how it was called: as in the run of a PoV.
                if handed_on("_").is_some() {
                    command.env("_", program);
                }
                command.spawn()
            };
            // A shell runs what names no interpreter, and tells of what cannot be run.
            let started = start(Command::new(program)).or_else(|_| {
                let mut shell = Command::new("sh");
                shell.args(["-c", "exec \"$@\"", "sh"]).arg(program);
                start(shell)
            });
            started.map_err(|error| error.to_string())
        });
        thread.join()
    });
    Ok(started.map_err(|_| "the thread that starts programs ended")??)
}

/// The status of a shell: 128 and the number for a signal.
fn as_shell(status: ExitStatus) -> i32 {
    let signal = || 128 + status.signal().unwrap_or_default();
    status.code().unwrap_or_else(signal)
}

#[cfg(test)]
mod tests {
    use super::{INPUTS, KEPT, run};
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// The first input leaves a process behind that goes on printing while the second one runs.
    const LEAVES: &str = "case $1 in */0) (for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo forged; done) & ;; *) sleep 0.5; echo own; exit 1 ;; esac";

    #[test]
    fn what_an_input_leaves_running_prints_into_no_other_output() {
        let notes = tempfile::tempdir().unwrap();
        for part in [INPUTS, KEPT] {
            fs::create_dir(notes.path().join(part)).unwrap();
        }
        for name in ["0", "1"] {
            fs::write(notes.path().join(INPUTS).join(name), "").unwrap();
        }
        let program = ["sh", "-c", LEAVES, "sh"].map(OsString::from);
        run((&program, &[]), notes.path(), false).unwrap();
        let kept = notes.path().join(KEPT);
        assert_eq!(fs::read_to_string(kept.join("1")).unwrap(), "own\n");
        assert!(!kept.join("0").exists());
    }

    #[test]
    fn a_shell_starts_what_names_no_interpreter_and_tells_of_what_is_not_there() {
        for (name, content, expected) in [
            (
                "script",
                Some("echo \"of a shell: $(cat \"$1\")\"\nexit 1\n"),
                "of a shell: words\n",
            ),
            ("missing", None, "not found"),
        ] {
            let notes = tempfile::tempdir().unwrap();
            for part in [INPUTS, KEPT] {
                fs::create_dir(notes.path().join(part)).unwrap();
            }
            fs::write(notes.path().join(INPUTS).join("0"), "words").unwrap();
            let program = notes.path().join(name);
            if let Some(content) = content {
                fs::write(&program, content).unwrap();
                fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            }
            run((&[program.into()], &[]), notes.path(), false).unwrap();
            let output = fs::read_to_string(notes.path().join(KEPT).join("0")).unwrap();
            assert!(output.contains(expected), "{output}");
        }
    }
}
