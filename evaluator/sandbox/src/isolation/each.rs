//! One program for each file of a folder, started from inside the sandbox.
//!
//! A shell and a copy of ourselves for every input would cost several times what the input
//! itself does. So one process stays: it opens what the program prints into, has a thread give
//! up what [`landlock::keep_to`] takes, starts the program from there, and prints how it ended.
//! Each input has a domain of its own, and none of them reaches this process, which can be
//! neither traced nor written to.
//!
//! It knows nothing of time: whoever started the command watches the lines that come.

use super::landlock;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

/// The folder of the inputs, the one for what is kept of the program's output, and the file
/// that it prints into.
const INPUTS: &str = "in";
const KEPT: &str = "out";
const OUTPUT: &str = "output";
/// The word by which the output of inputs that end well is kept too.
const ALL: &str = "all";
/// The number that a shell adds to that of a signal.
const SIGNALLED: i32 = 128;

/// Runs the program once for each input, in the order of their names, with the input's path as
/// its last argument; prints a line with the name and the status, as a shell tells it, for each.
pub(super) fn each(arguments: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let mut words = arguments.iter();
    let own: Vec<PathBuf> = { words.by_ref() }
        .take_while(|word| *word != "--")
        .map(PathBuf::from)
        .collect();
    let [notes, keep, program @ ..] = words.as_slice() else {
        return Err("no folder of inputs was given".into());
    };
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let notes = Path::new(notes);
    let mut inputs: Vec<PathBuf> = fs::read_dir(notes.join(INPUTS))?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    inputs.sort();
    let output = notes.join(OUTPUT);
    for input in inputs {
        let name = input.file_name().unwrap_or_default();
        let status = start(program, &input, &own, &output)?.wait()?;
        if !status.success() || keep == ALL {
            fs::rename(&output, notes.join(KEPT).join(name))?;
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
    own: &[PathBuf],
    output: &Path,
) -> Result<Child, Box<dyn Error>> {
    let (program, arguments) = program.split_first().ok_or("no program was given")?;
    let output = File::create(output)?;
    let errors = output.try_clone()?;
    let started = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            landlock::keep_to(own).map_err(|error| error.to_string())?;
            let mut command = Command::new(program);
            command.args(arguments).arg(input).stdin(Stdio::null());
            command.stdout(output).stderr(errors);
            command.spawn().map_err(|error| error.to_string())
        });
        thread.join()
    });
    Ok(started.map_err(|_| "the thread that starts programs ended")??)
}

fn as_shell(status: ExitStatus) -> i32 {
    let signal = status.signal().map(|signal| SIGNALLED + signal);
    status.code().or(signal).unwrap_or(SIGNALLED)
}
