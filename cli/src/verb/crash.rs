//! `patchwright crash`: a crash report, read and put in order.
//!
//! It reads a log, says what kind of crash it holds, where, and what makes it
//! the same as another one. It runs nothing and asks no model.

use crate::common::{Format, WrongInput};
use crate::crash_text::{as_text, in_tree};
use clap::Args;
use patchwright_evaluator::CrashReport;
use patchwright_source::{Tree, visible};
use serde_json::{Value, json};
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

/// The report's own form, and the signature as one string.
fn as_json(report: &CrashReport, signature: &str) -> serde_json::Result<Value> {
    Ok(json!({
        "tool": report.tool,
        "kind": report.kind,
        "cwe": report.cwe,
        "access": report.access,
        "stacks": serde_json::to_value(&report.stacks)?,
        "signature": signature,
        "summary": report.summary,
        "purified": report.purified,
    }))
}

#[cfg(test)]
mod tests {
    use super::as_json;
    use patchwright_evaluator::crash::parse;

    const REPORT: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001a at pc 0x1 bp 0x2 sp 0x3\n\
        WRITE of size 4 at 0x60200000001a thread T0\n    #0 0x1 in fill /src/a.c:17:3\n    #1 0x2 in main /src/a.c:40\n\n\
        0x60200000001a is located 0 bytes after 10-byte region [0x602000000010,0x60200000001a)\n\
        allocated by thread T0 here:\n    #0 0x1 in malloc (/out/x+0x1)\n    #1 0x2 in make /src/a.c:9\n\nSUMMARY: x\n";

    #[test]
    fn the_json_form_stays() {
        let report = parse(REPORT).unwrap();
        let signature = report.signature(&|_| false).to_string();
        let value = as_json(&report, &signature).unwrap();
        assert_eq!(value["tool"], "AddressSanitizer");
        assert_eq!(value["kind"], "heap-buffer-overflow");
        assert_eq!(value["cwe"], "CWE-122");
        assert_eq!(value["access"]["operation"], "write");
        assert_eq!(value["access"]["size"], 4);
        assert_eq!(value["access"]["distance"], 0);
        assert_eq!(value["signature"], "heap-buffer-overflow | fill | main");
        let frame = &value["stacks"][0]["frames"][0];
        assert_eq!(value["stacks"][0]["role"], "crash");
        assert_eq!(value["stacks"][1]["role"], "allocated");
        assert_eq!(
            frame.to_string(),
            r#"{"function":"fill","file":"/src/a.c","line":17,"column":3}"#
        );
        assert!(
            value["summary"]
                .as_str()
                .unwrap()
                .contains("in fill /src/a.c:17:3")
        );
    }
}
