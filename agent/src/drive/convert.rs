//! Between the plain structs of the libraries, which do not know each other.

use crate::record::CrashFrame;
use patchwright_crash::{ReportInWords, frames_of, read_leading, read_words};
use patchwright_patcher::Prepared;
use patchwright_retrieval::Request;
use patchwright_source::Role;
use patchwright_verdict::AttemptFacts;

/// Quoted lines of code that are looked for, and the length from which on one is distinctive.
const CODE_LINES: usize = 3;
const CODE_LENGTH: usize = 14;

/// Returns the request for a text that people wrote: a crash report with the words beside it,
/// or words alone.
pub fn request_of(text: &str, budget: usize) -> Request {
    let report = read_leading(text);
    let words = read_words(text).unwrap_or_default();
    Request {
        frames: report.as_ref().map(frames_of).unwrap_or_default(),
        named: named_in(&words),
        quoted: quoted_in(&words),
        text: report.map_or(text.to_owned(), |report| words.text + &report.purified),
        budget,
    }
}

/// The functions and places that a reporter names, in the form of frames.
fn named_in(words: &ReportInWords) -> Vec<CrashFrame> {
    let frame = |function: &str, file: Option<String>, line| CrashFrame {
        function: function.to_owned(),
        file,
        line,
        role: Role::Crash,
        depth: 0,
    };
    let names = words.functions.iter().chain(&words.names);
    let names = names.map(|name| frame(name, None, None));
    let places = words.files.iter().filter(|place| place.line.is_some());
    let places = places.map(|place| frame("", Some(place.file.clone()), place.line));
    names.chain(places).collect()
}

/// Some quoted lines of code, and the options in the form in which programs compare them.
fn quoted_in(words: &ReportInWords) -> Vec<String> {
    let is_code = |line: &&str| line.len() >= CODE_LENGTH && line.contains(['(', '=', ';', '[']);
    let lines = words.quoted.iter().flat_map(|text| text.lines());
    let lines = lines.map(str::trim).filter(is_code).take(CODE_LINES);
    let arguments = words.commands.iter().flat_map(|command| &command.arguments);
    let keys = arguments.filter(|word| !word.starts_with('-'));
    let keys = keys.filter_map(|word| Some(word.split_once('=')?.0));
    let options = words.options.iter().map(String::as_str).chain(keys);
    let names = options.map(|name| name.trim_start_matches('-'));
    // Shorter ones are anywhere.
    let names = names
        .filter(|name| name.len() > 3)
        .map(|name| format!("\"{name}"));
    lines.map(str::to_owned).chain(names).collect()
}

/// A placed patch as the evaluator wants it.
pub fn facts(prepared: Prepared) -> AttemptFacts {
    let errors = prepared.syntax_errors.iter();
    let errors = errors.map(|(path, error)| format!("{path}:{}: {}", error.line, error.what));
    let errors: Vec<String> = errors.collect();
    AttemptFacts {
        changes: prepared.changes,
        diff: prepared.diff,
        applies: Ok(()),
        parses: match errors.as_slice() {
            [] => Ok(()),
            errors => Err(errors.join("\n")),
        },
        touched: prepared.touched,
        ..AttemptFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::request_of;

    #[test]
    fn a_reporter_is_heard_beside_the_log() {
        let words = "Overflow in `fold_hyphens` (fold.c:12)\n\n$ ./fit --layers=2 a.txt\n";
        let log = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5020000d4cd3 at pc 0x1 bp 0x2 sp 0x3\n    #0 0x1 in line_fits /src/line.c:90:7\n";
        let request = request_of(&format!("{words}{log}"), 0);
        assert_eq!(request.frames.len(), 1, "{request:?}");
        assert_eq!(request.named[0].function, "fold_hyphens");
        assert_eq!(request.named[1].line, Some(12));
        assert_eq!(request.quoted, ["\"layers"]);
        assert!(request.text.starts_with("Overflow in"), "{}", request.text);
        assert!(
            request.text.contains("heap-buffer-overflow"),
            "{}",
            request.text
        );
        let alone = request_of(words, 0);
        assert!(alone.frames.is_empty() && alone.text == words, "{alone:?}");
    }
}
