//! `patchwright crash`: a crash report, read and put in order.
//!
//! It reads a log, says what kind of crash it holds, where, and what makes it
//! the same as another one. It runs nothing and asks no model.

use crate::common::{Format, read_named, tell, write_out};
use crate::crash_text::{as_json, as_text, in_tree, named_in_words, words_as_text};
use clap::Args;
use patchwright_crash::{CrashReport, ReportInWords, read_words};
use patchwright_source::{Tree, visible};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit status where no report is in the text.
const NOTHING: u8 = 1;

/// The most that is read, in bytes.
const MOST: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Args)]
pub(crate) struct CrashArguments {
    /// File with what the program printed; - is standard input
    #[arg(value_name = "LOG", default_value = "-")]
    pub log: PathBuf,
    /// Source tree: paths become those of the tree
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Print every report of the text, not only the one that shows most of the project
    #[arg(long)]
    pub all: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Reads a log and prints the crash report in it.
///
/// # Errors
/// The log or the tree cannot be read, or nothing can be printed.
pub(crate) fn run(arguments: &CrashArguments) -> anyhow::Result<ExitCode> {
    let bytes = read_named("log", &arguments.log, MOST)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let tree = arguments.repo.as_deref().map(Tree::open).transpose()?;
    let reports = in_tree(&text, tree.as_ref());
    let words = read_words(&text);
    let shown = if arguments.all { reports.len() } else { 1 };
    let text = match (arguments.format, &words) {
        (_, None) if reports.is_empty() => {
            tell(&visible(&nothing(arguments, &text)))?;
            return Ok(ExitCode::from(NOTHING));
        }
        (Format::Json, words) => in_json(&reports, words.as_ref(), arguments.all),
        (Format::Text, Some(words)) if reports.is_empty() => visible(&words_as_text(words)).into(),
        (Format::Text, words) => {
            let beside = words.as_ref().map(|words| beside(words, &reports));
            in_words(&reports, shown) + &beside.unwrap_or_default()
        }
    };
    write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The reporter's words beside a report; their kind, too, where the report says little of it.
fn beside(words: &ReportInWords, reports: &[(CrashReport, String)]) -> String {
    let first = reports.first().map(|(report, _)| report.kind.as_str());
    let vague = matches!(first, Some("stopped" | "crash" | "SEGV" | "ABRT"));
    let told = [first.unwrap_or_default(), "crash", "wrong-output"];
    let kind = words.kind.as_deref();
    let kind = kind.filter(|kind| vague && !told.contains(kind));
    let kind = kind.map(|kind| format!("kind       {kind}\n"));
    let named = kind.unwrap_or_default() + &named_in_words(words);
    format!("\nthe reporter's words\n{}", visible(&named))
}

/// The reports for programs: the first one, or an array of all. What the reporter says in
/// words goes with each, and stands alone where no tool's report does.
fn in_json(reports: &[(CrashReport, String)], words: Option<&ReportInWords>, all: bool) -> String {
    let values = reports.iter();
    let values = values.map(|(report, signature)| as_json(report, signature, words));
    let mut values: Vec<Value> = values.collect();
    if values.is_empty() {
        let kind = words.map(|words| &words.kind);
        values.push(json!({ "kind": kind, "confidence": "low", "words": words }));
    }
    let shown = if all {
        Value::from(values)
    } else {
        values.swap_remove(0)
    };
    format!("{shown:#}\n")
}

/// The first reports for people, with their number where the text holds several.
fn in_words(reports: &[(CrashReport, String)], shown: usize) -> String {
    let count = reports.len();
    let one = |(index, (report, signature)): (usize, &(CrashReport, String))| {
        let number = match count {
            1 => String::new(),
            _ => format!("{} of {count} reports in this text\n", index + 1),
        };
        format!("{number}{}", visible(&as_text(report, signature)))
    };
    let texts: Vec<String> = reports.iter().take(shown).enumerate().map(one).collect();
    texts.join("\n")
}

/// Where no report was found, and what one looks like.
fn nothing(arguments: &CrashArguments, text: &str) -> String {
    let place = match arguments.log.to_string_lossy() {
        log if log == "-" => "standard input".into(),
        log => log,
    };
    if text.trim().is_empty() {
        return format!("{place} is empty: give what the program printed when it crashed");
    }
    format!(
        "no crash report in {place}, of {} bytes: give all that the program printed, from the line that names the error \
         (\"ERROR: AddressSanitizer: ..\", \"runtime error: ..\", \"Exception in thread ..\") to the end of its stack",
        text.len()
    )
}

#[cfg(test)]
mod tests {
    use super::beside;
    use patchwright_crash::{read_pasted, read_words};

    #[test]
    fn a_kind_that_only_the_title_names_is_shown_beside_a_signal() {
        let stack = "Program received signal SIGSEGV, Segmentation fault.\n#0  0x07 in peel (n=6) at a.c:3\n";
        for (title, expected) in [
            ("Stack overflow in peel()", true),
            ("A crash in peel()", false),
        ] {
            let text = format!("{title}\n\n{stack}");
            let reports = read_pasted(&text).into_iter();
            let reports: Vec<_> = reports.map(|report| (report, String::new())).collect();
            let shown = beside(&read_words(&text).unwrap(), &reports);
            assert_eq!(
                shown.contains("kind       stack-overflow\n"),
                expected,
                "{shown}"
            );
            assert_eq!(shown.contains("kind "), expected, "{shown}");
        }
    }
}
