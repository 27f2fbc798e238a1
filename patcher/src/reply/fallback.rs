//! Formats that models fall back to: SEARCH/REPLACE blocks and diffs.

use super::range::read_path;
use crate::diff::parse_diff;
use crate::{Edit, Rule};
use patchwright_source::regex;

/// Number of lines above a block in which its file may be named.
const PATH_DISTANCE: usize = 3;

/// Edits that were found, and whether the text ended within one.
#[derive(Debug, Default)]
pub(crate) struct Fallback {
    pub(crate) edits: Vec<Edit>,
    pub(crate) incomplete: bool,
}

/// Reads SEARCH/REPLACE blocks, or else a diff. `file` is the file of what
/// names none.
pub(crate) fn read(text: &str, file: Option<&str>) -> Fallback {
    let lines: Vec<&str> = text.lines().collect();
    let file = file.filter(|file| !file.is_empty());
    if lines.iter().any(|line| is_search(line)) {
        return read_blocks(&lines, file);
    }
    let fences = fences(&lines);
    let fenced = fences.iter().filter(|fence| looks_like_diff(fence.body));
    let mut edits: Vec<Edit> = Vec::new();
    let mut any = false;
    for fence in fenced {
        any = true;
        // A diff without a header is of the file of the one before.
        let last = edits.last().map(|edit| edit.file().to_owned());
        let named = fence.file.clone().or(last);
        let body = fence.body.join("\n");
        edits.extend(parse_diff(&body, false, named.as_deref().or(file)));
    }
    if !any && looks_like_diff(&lines) {
        // Prose may stand before it.
        let first = lines.iter().position(|line| is_header(line)).unwrap_or(0);
        let diff = lines.get(first..).unwrap_or_default().join("\n");
        edits = parse_diff(&diff, false, file);
    }
    Fallback {
        edits,
        incomplete: false,
    }
}

fn is_header(line: &str) -> bool {
    regex!(r"^(?:diff --git |--- |Index: |\*\*\* Begin Patch|\*\*\* Update File|@@)").is_match(line)
}

fn looks_like_diff(lines: &[&str]) -> bool {
    let has = |head: &str| lines.iter().any(|line| line.starts_with(head));
    let begins = regex!(r"^(?:@@|diff --git |\*\*\* Begin Patch|\*\*\* Update File: )");
    lines.iter().any(|line| begins.is_match(line)) || (has("--- ") && has("+++ "))
}

/// A Markdown fence.
struct Fence<'a> {
    /// The file that is named above it.
    file: Option<String>,
    body: &'a [&'a str],
}

fn fences<'a>(lines: &'a [&'a str]) -> Vec<Fence<'a>> {
    let is_mark = |line: &&str| line.trim_start().starts_with("```");
    let marks: Vec<usize> = (0..lines.len())
        .filter(|at| lines.get(*at).is_some_and(is_mark))
        .collect();
    marks
        .chunks(2)
        .filter_map(|pair| {
            let start = *pair.first()?;
            let end = pair.get(1).copied().unwrap_or(lines.len());
            Some(Fence {
                file: named_above(lines, start),
                body: lines.get(start + 1..end).unwrap_or_default(),
            })
        })
        .collect()
}

fn is_search(line: &str) -> bool {
    regex!(r"^\s*<{5,9}\s*(?:SEARCH|ORIGINAL|OLD)").is_match(line)
}

fn is_replace(line: &str) -> bool {
    regex!(r"^\s*>{5,9}\s*(?:REPLACE|UPDATED|NEW)").is_match(line)
}

fn read_blocks(lines: &[&str], file: Option<&str>) -> Fallback {
    let mut found = Fallback::default();
    let mut current = file.map(str::to_owned);
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        if !is_search(line) {
            index += 1;
            continue;
        }
        let marks = 1 + usize::from(line.trim().starts_with("< "));
        let in_marker = line.split_whitespace().nth(marks).and_then(path_in);
        let named = in_marker.or_else(|| named_above(lines, index));
        current = named.or(current);
        let body = lines.get(index + 1..).unwrap_or_default();
        let Some(length) = body.iter().position(|line| is_replace(line)) else {
            found.incomplete = true;
            break;
        };
        let body = body.get(..length).unwrap_or_default();
        found
            .edits
            .push(block(body, current.clone().unwrap_or_default()));
        index += length + 2;
    }
    found
}

/// One block between its outer marks.
fn block(body: &[&str], file: String) -> Edit {
    let is_divider = |(_, line): &(usize, &&str)| regex!(r"^={5,9}\s*$").is_match(line);
    let mut dividers = body.iter().enumerate().filter(is_divider);
    let (first, second) = (dividers.next(), dividers.next());
    let (Some((at, _)), None) = (first, second) else {
        return Edit::Unsupported {
            file,
            what: "a SEARCH/REPLACE block must have exactly one line '======='; \
                   send it as <edit> with <original> and <replacement>"
                .to_owned(),
            rule: Rule::Incomplete,
        };
    };
    let original = body.get(..at).unwrap_or_default();
    let replacement = body.get(at + 1..).unwrap_or_default();
    if original.iter().all(|line| line.trim().is_empty()) {
        return Edit::Create {
            file,
            text: replacement.join("\n"),
            latin1: false,
            unterminated: false,
        };
    }
    Edit::Replace {
        file,
        lines: None,
        original: Some(original.join("\n")),
        replacement: Some(replacement.join("\n")),
    }
}

/// The path in one of the lines above a block, or in the info of its fence.
fn named_above(lines: &[&str], index: usize) -> Option<String> {
    let above = lines.get(index.saturating_sub(PATH_DISTANCE)..index)?;
    let mut above = above.iter().rev().take_while(|line| !is_replace(line));
    let named = above.find_map(|line| path_in(line));
    named.or_else(|| path_in(lines.get(index)?.trim().strip_prefix("```")?))
}

/// The path that a line consists of, after its decoration is taken off.
fn path_in(line: &str) -> Option<String> {
    let line = line.trim();
    let line = line.strip_prefix("```").unwrap_or(line);
    let decoration = |edge: char| "#*`:\"'() ".contains(edge);
    let mut line = line.trim_matches(decoration);
    for prefix in ["File", "file", "Path", "path", "In", "in"] {
        if let Some(rest) = line.strip_prefix(prefix)
            && rest.starts_with([':', ' '])
        {
            line = rest.trim_matches(decoration);
        }
    }
    let word = line.rsplit([' ', ':']).next().filter(|word| {
        let before = line.len() - word.len();
        before <= 12
    })?;
    let is_path = !word.is_empty()
        && word.len() < 300
        && word.contains(['.', '/'])
        && !word.ends_with(['.', '/'])
        && word
            .chars()
            .all(|next| next.is_alphanumeric() || "._/-+@~\\".contains(next));
    is_path.then(|| read_path(word).0)
}

#[cfg(test)]
mod tests {
    use super::{path_in, read};
    use crate::Edit;

    #[test]
    fn finds_the_path() {
        for (given, expected) in [
            ("src/a.c", Some("src/a.c")),
            ("**src/a.c**", Some("src/a.c")),
            ("### `src/a.c`", Some("src/a.c")),
            ("File: src/a.c", Some("src/a.c")),
            ("```c src/a.c", Some("src/a.c")),
            ("```c:src/a.c", Some("src/a.c")),
            ("```c", None),
            ("This is the fix.", None),
            ("", None),
        ] {
            assert_eq!(path_in(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn reads_blocks() {
        let text = "src/a.c\n```c\n<<<<<<< SEARCH\nint a;\n=======\nint b;\n>>>>>>> REPLACE\n```\n\
                    <<<<<<< SEARCH\nint c;\n=======\n>>>>>>> REPLACE\n";
        let found = read(text, None);
        assert!(!found.incomplete);
        let expected = [("int a;", "int b;"), ("int c;", "")];
        assert_eq!(found.edits.len(), expected.len());
        for (edit, (old, new)) in found.edits.iter().zip(expected) {
            let Edit::Replace {
                file,
                original,
                replacement,
                ..
            } = edit
            else {
                panic!("{edit:?}");
            };
            assert_eq!(file, "src/a.c");
            assert_eq!(original.as_deref(), Some(old));
            assert_eq!(replacement.as_deref(), Some(new));
        }
        assert!(read("a.c\n<<<<<<< SEARCH\nint a;\n=======\nint", None).incomplete);
    }

    #[test]
    fn refuses_a_block_with_two_dividers() {
        let text = "a.rst\n<<<<<<< SEARCH\nTitle\n=======\nx\n=======\ny\n>>>>>>> REPLACE\n";
        assert!(matches!(
            read(text, None).edits.as_slice(),
            [Edit::Unsupported { .. }]
        ));
    }
}
