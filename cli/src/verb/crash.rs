//! `patchwright crash`: a crash report, read and put in order.
//!
//! It reads a log, says what kind of crash it holds, where, and what makes it
//! the same as another one. It runs nothing and asks no model.

use crate::common::{Format, WrongInput};
use crate::crash_text::{as_json, as_text, in_tree};
use clap::Args;
use patchwright_source::{Tree, visible};
use std::io::{Read, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit status where no report is in the text.
const NOTHING: u8 = 1;

/// The most that is read, in bytes.
const MOST: u64 = 256 * 1024 * 1024;

/// Arguments of `patchwright crash`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CrashArguments {
    /// File with what the program printed; - is standard input
    #[arg(value_name = "LOG", default_value = "-")]
    pub log: PathBuf,
    /// Source tree: paths become those of the tree
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Reads a log and prints the crash report in it.
///
/// # Errors
/// The log or the tree cannot be read, or nothing can be printed.
pub(crate) fn run(arguments: &CrashArguments) -> anyhow::Result<ExitCode> {
    let text = read(arguments)?;
    let tree = arguments.repo.as_deref().map(Tree::open).transpose()?;
    let Some((report, signature)) = in_tree(&text, tree.as_ref()) else {
        writeln!(std::io::stderr(), "{}", visible(&nothing(arguments, &text)))?;
        return Ok(ExitCode::from(NOTHING));
    };
    let text = match arguments.format {
        Format::Json => format!("{:#}\n", as_json(&report, &signature)?),
        Format::Text => visible(&as_text(&report, &signature)).into_owned(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Where no report was found, and what one looks like.
fn nothing(arguments: &CrashArguments, text: &str) -> String {
    let place = if arguments.log.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        arguments.log.display().to_string()
    };
    if text.trim().is_empty() {
        return format!("{place} is empty: give what the program printed when it crashed");
    }
    if text.contains("\ngoroutine ") {
        return format!(
            "{place} holds a panic of Go: Go can be searched, but its crashes are not read yet"
        );
    }
    format!(
        "no crash report in {place}, of {} bytes: give all that the program printed, from the line that names the error \
         (\"ERROR: AddressSanitizer: ..\", \"runtime error: ..\", \"Exception in thread ..\") to the end of its stack",
        text.len()
    )
}

fn read(arguments: &CrashArguments) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    if arguments.log.as_os_str() == "-" {
        std::io::stdin().lock().take(MOST).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(&arguments.log)
            .and_then(|file| file.take(MOST).read_to_end(&mut bytes))
            .map_err(|error| {
                WrongInput(format!(
                    "the log {} cannot be read: {error}",
                    arguments.log.display()
                ))
            })?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
