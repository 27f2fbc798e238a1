//! Tags in text that is not XML: found by name, read with tolerance.
//!
//! Only the names that a reply may hold are looked for, so that `a<b && c>d`
//! and `vector<int>` stay code. What a tag means is decided elsewhere.

use crate::unescape::unescape;
use patchwright_source::regex;

/// Longest tag, in bytes; anything longer is no tag.
const LONGEST_TAG: usize = 512;

/// More tags than this are not read; five thousand edits have a third of it.
const MOST_TAGS: usize = 100_000;

/// A tag with its place in the text.
#[derive(Debug, Clone)]
pub(crate) struct Tag {
    /// The name in lower case, `-` written as `_`.
    pub(crate) name: String,
    /// True when it is `</name>`.
    pub(crate) closing: bool,
    /// True when it is `<name/>`.
    pub(crate) empty: bool,
    /// The text between the name and the end.
    pub(crate) attributes: Vec<(String, String)>,
    /// The offset of the `<`.
    pub(crate) start: usize,
    /// The offset behind the `>`.
    pub(crate) end: usize,
}

impl Tag {
    /// Reads the tag at an offset that holds a `<`.
    pub(crate) fn at(text: &str, start: usize) -> Option<Self> {
        let window = text.get(start..)?;
        let window = window.get(..window.floor_char_boundary(LONGEST_TAG))?;
        let form = regex!(r"^<[ \t]*(/[ \t]*)?([A-Za-z][A-Za-z0-9_-]{0,31})[\s/>]");
        let found = form.captures(window)?;
        let closing = found.get(1).is_some();
        let name = found.get(2)?;
        let rest = window.get(name.end()..)?;
        let length = end_of_attributes(rest)?;
        let inside = rest.get(..length)?;
        let (inside, empty) = match inside.trim_end().strip_suffix('/') {
            Some(inside) => (inside, !closing),
            None => (inside, false),
        };
        Some(Self {
            name: name.as_str().to_ascii_lowercase().replace('-', "_"),
            closing,
            empty,
            attributes: read_attributes(inside),
            start,
            end: start + name.end() + length + 1,
        })
    }

    /// The value of the first attribute that has one of these names.
    pub(crate) fn attribute(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| {
            let mut attributes = self.attributes.iter();
            let (_, value) = attributes.find(|(key, _)| key == name)?;
            Some(value.as_str())
        })
    }
}

/// The tags of a text whose names are wanted, in order.
pub(crate) fn tags(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<Tag> {
    let mut found: Vec<Tag> = Vec::new();
    for (start, _) in text.match_indices('<') {
        let marker = text
            .get(..start)
            .is_some_and(|before| before.ends_with('<'));
        if marker || found.last().is_some_and(|last| start < last.end) {
            continue;
        }
        if found.len() >= MOST_TAGS {
            break;
        }
        if let Some(tag) = Tag::at(text, start).filter(|tag| wanted(&tag.name)) {
            found.push(tag);
        }
    }
    found
}

/// Returns true when nothing but indentation, or the mark of a list or a quotation,
/// stands before an offset on its line.
pub(crate) fn starts_line(text: &str, at: usize) -> bool {
    line_before(text, at, 80).is_some_and(|line| {
        line.chars()
            .all(|character| " \t-*>.)0123456789".contains(character))
    })
}

/// Returns the text before an offset on its line, unless that is longer than
/// `limit` bytes: nobody's line is, and looking further back takes time.
pub(crate) fn line_before(text: &str, at: usize, limit: usize) -> Option<&str> {
    let bytes = text.as_bytes().get(..at)?;
    let window = bytes.get(at.saturating_sub(limit + 1)..)?;
    match window.iter().rposition(|byte| *byte == b'\n') {
        Some(found) => text.get(at - window.len() + found + 1..at),
        None if window.len() == at => text.get(..at),
        None => None,
    }
}

/// Returns the offset of the `>`: outside of quotes if these are balanced, otherwise
/// the first one. `None` where another `<` comes first.
fn end_of_attributes(rest: &str) -> Option<usize> {
    let balanced = regex!(r#"^(?:[^"'<>]|"[^"\n]*"|'[^'\n]*')*"#)
        .find(rest)?
        .end();
    let end = match rest.as_bytes().get(balanced) {
        Some(b'<') => return None,
        Some(b'>') => balanced,
        _ => rest.find(['>', '<', '\n'])?,
    };
    rest.get(end..)?.starts_with('>').then_some(end)
}

/// Reads `key="value"`, also with other quotes or none. Attributes are parted by whitespace, and
/// by commas at times; a value without quotes reaches to the next whitespace.
fn read_attributes(inside: &str) -> Vec<(String, String)> {
    let form = regex!(
        r#"[\s,=]*(?P<key>[^\s=,][^\s=]*)\s*(?:=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|`(?P<back>[^`]*)`|(?P<bare>\S*)))?"#
    );
    let mut attributes = Vec::new();
    for found in form.captures_iter(inside) {
        let group = |name: &str| found.name(name).map(|group| group.as_str());
        let quoted = group("double").or(group("single")).or(group("back"));
        let bare = || Some(group("bare")?.trim_matches(['"', '\'', '`', ',']));
        let value = quoted.or_else(bare).unwrap_or_default();
        let key = group("key").unwrap_or_default();
        let key = key.to_ascii_lowercase().replace('-', "_");
        attributes.push((key, unescape(value.trim()).into_owned()));
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::{Tag, tags};
    use proptest::prelude::*;

    #[test]
    fn reads_sloppy_attributes() {
        for (given, file, lines) in [
            (r#"<edit file="a.c" lines="1-2">"#, "a.c", "1-2"),
            ("<EDIT file='a.c' Lines='1-2'>", "a.c", "1-2"),
            ("<edit file=a.c lines=1-2>", "a.c", "1-2"),
            ("<edit file=a.c lines=1-2/>", "a.c", "1-2"),
            ("< edit file = \"a.c\" , lines = 1-2 >", "a.c", "1-2"),
            ("<edit\n  file=\"a.c\"\n  lines=\"1-2\"\n>", "a.c", "1-2"),
            (r#"<edit file="a&amp;b>.c" lines=1>"#, "a&b>.c", "1"),
            ("<edit file=\"a.c lines=1-2>", "a.c", "1-2"),
        ] {
            let tag = Tag::at(given, 0).unwrap();
            assert_eq!(tag.name, "edit", "{given}");
            assert_eq!(tag.attribute(&["file"]), Some(file), "{given}");
            assert_eq!(tag.attribute(&["lines"]), Some(lines), "{given}");
            assert_eq!(tag.end, given.len(), "{given}");
        }
    }

    #[test]
    fn leaves_code_alone() {
        for given in ["<edit", "<edit < 3>", "<1>", "a", "<>", "<edit.x>", "</>"] {
            assert!(Tag::at(given, 0).is_none(), "{given}");
        }
        assert!(tags("a <b> <i> x<y>", |name| name == "edit").is_empty());
        assert!(tags("<<<<<<< SEARCH\na->b\n", |name| name == "search").is_empty());
    }

    proptest! {
        #[test]
        fn never_panics(text in "[<>/a-z =\"'\\\\`\u{201c}\u{20ac}\n-]{0,60}") {
            for tag in tags(&text, |_| true) {
                prop_assert!(text.get(tag.start..tag.end).is_some());
            }
        }
    }
}
