//! Prefixes that loggers, build servers and trackers write in front of each line of a report.
//!
//! They have no list: what stands before a frame, in a line and in others with the same digits
//! left out, is a prefix, and is removed wherever it begins a line. A line alone shows no
//! prefix.

use patchwright_source::{Pattern, regex};
use regex::{Captures, Regex};
use std::collections::BTreeMap;

/// Bytes of the longest prefix, and the most of them in one text.
const MAX_PREFIX: usize = 160;
const MAX_PREFIXES: usize = 16;

/// The beginnings of what a report prints on a line of its own: frames, then headlines.
static ANCHOR: Pattern = Pattern::new(
    r"(?P<frame># [CVJjv]\s+\[|#\d{1,3}\s+(?:pc\s+)?(?:0x)?[0-9a-f]{4}|\bat (?:[\w$]+[./])+[\w$<>]+\((?:[\w$]+\.\w+(?::\d+)?|Native Method|Unknown Source)\)|\bat (?:[\w.$<>]+ )?\(?(?:file://)?[^\s()]+:\d+:\d+\)?$)|#  SIG[A-Z]+ \(0x|==\d+==(?:ERROR|WARNING)|(?:READ|WRITE) of size \d|\*\*\* \*\*\* |signal \d+ \(SIG|(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error)\b|Caused by: ",
);

/// Removes the prefixes from the lines of a text.
pub(super) fn without_prefixes<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    // Each form with the lines before which it stands, and whether one of them is a frame.
    let mut forms: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for line in lines.clone() {
        let Some(found) = ANCHOR.captures(line) else {
            continue;
        };
        let start = found.get(0).map_or(0, |found| found.start());
        let prefix = line.get(..start).unwrap_or_default().trim_end();
        if !prefix.is_empty() && prefix.len() <= MAX_PREFIX {
            let (count, framed) = forms.entry(form(prefix)).or_default();
            *count += 1;
            *framed |= found.name("frame").is_some();
        }
    }
    let known = forms
        .into_iter()
        .filter(|(_, (count, framed))| *count > 1 && *framed);
    let known = known.filter_map(|(form, _)| Regex::new(&form).ok());
    let known: Vec<Regex> = known.take(MAX_PREFIXES).collect();
    let without = |line: &'a str| {
        let ends = known.iter().filter_map(|form| Some(form.find(line)?.end()));
        ends.max().and_then(|end| line.get(end..)).unwrap_or(line)
    };
    lines.map(without).collect()
}

/// Returns the expression of a prefix: any digits for digits, any space for space.
fn form(prefix: &str) -> String {
    let pieces = regex!(r"(?P<digits>\s*[0-9]+)|(?P<space>\s+)|[^\s0-9]+");
    let form = pieces.replace_all(prefix, |found: &Captures<'_>| {
        if found.name("digits").is_some() {
            r"\s*\d+".to_owned()
        } else if found.name("space").is_some() {
            r"\s+".to_owned()
        } else {
            regex::escape(found.get(0).map_or("", |text| text.as_str()))
        }
    });
    format!("^{form} ?")
}

#[cfg(test)]
mod tests {
    use super::without_prefixes;

    #[test]
    fn what_stands_before_frames_is_a_prefix() {
        for (given, expected) in [
            (
                "I/x ( 1): signal 11 (SIGSEGV)\nI/x ( 1): #00 pc 00a5c2 a.so\nI/x (12):   #01 pc 00a5c3 a.so\nI/y: z",
                "signal 11 (SIGSEGV)\n#00 pc 00a5c2 a.so\n  #01 pc 00a5c3 a.so\nI/y: z",
            ),
            (
                "[1:2 Error]a.b.XError: no\n[1:2 Error]\tat a.b.C.d(C.java:5)\nat last",
                "a.b.XError: no\n\tat a.b.C.d(C.java:5)\nat last",
            ),
            // A line alone shows no prefix, and headlines alone show none.
            (
                "x: #0 0x55d0c0 in f\nWhat is a.b.XError\nWhat is a.b.YError",
                "x: #0 0x55d0c0 in f\nWhat is a.b.XError\nWhat is a.b.YError",
            ),
            (
                "    #0 0x55d0c0 in f\n    #1 0x55d0c1 in g",
                "    #0 0x55d0c0 in f\n    #1 0x55d0c1 in g",
            ),
        ] {
            assert_eq!(without_prefixes(given.lines()).join("\n"), expected);
        }
    }
}
