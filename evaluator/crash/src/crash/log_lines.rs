//! Log lines: a log split into lines without control characters and of bounded length.
//!
//! Terminal colours, carriage returns and overlong lines are handled here once for
//! all readers of reports. Logs beyond a limit lose their middle.

use std::borrow::Cow;

/// The bytes of a log that are read, half of them from each end. A thousand times
/// the size of a usual report; reports stand near the end of a log.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The longest line that is kept, in bytes. Names of C++ templates reach some
/// thousands.
pub(super) const MAX_LINE: usize = 16 * 1024;

/// A log's lines.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    lines: Vec<Cow<'a, str>>,
}

impl<'a> Log<'a> {
    /// Splits a text into lines.
    pub(crate) fn new(text: &'a str) -> Self {
        let (head, tail) = ends(text, MAX_BYTES);
        let lines = head.lines().chain(tail.lines()).map(clean).collect();
        Self { lines }
    }

    pub(crate) fn lines(&self) -> &[Cow<'a, str>] {
        &self.lines
    }

    /// The line with this number, counted from zero.
    pub(crate) fn line(&self, index: usize) -> Option<&str> {
        self.lines.get(index).map(AsRef::as_ref)
    }

    /// The lines from here on, at most `limit` of them.
    pub(crate) fn from(&self, index: usize, limit: usize) -> impl Iterator<Item = &str> {
        self.lines.iter().skip(index).take(limit).map(AsRef::as_ref)
    }

    /// The lines before this one, nearest first, at most `limit` of them.
    pub(crate) fn before(&self, index: usize, limit: usize) -> impl Iterator<Item = &str> {
        let end = index.min(self.lines.len());
        self.lines
            .get(end.saturating_sub(limit)..end)
            .unwrap_or_default()
            .iter()
            .rev()
            .map(AsRef::as_ref)
    }
}

/// The first and the last bytes of a text, together at most `limit`.
pub(crate) fn ends(text: &str, limit: usize) -> (&str, &str) {
    if text.len() <= limit {
        return (text, "");
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    (
        text.get(..head).unwrap_or_default(),
        text.get(tail..).unwrap_or_default(),
    )
}

fn clean(line: &str) -> Cow<'_, str> {
    let line = line
        .get(..line.floor_char_boundary(MAX_LINE))
        .unwrap_or(line);
    // What a carriage return overwrote was progress, not text.
    let line = line.trim_end_matches('\r');
    let line = line.rsplit_once('\r').map_or(line, |(_, last)| last);
    strip_colours(line)
}

/// Drops terminal control sequences.
pub fn strip_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            kept.push(character);
            continue;
        }
        match characters.next() {
            // CSI: parameters up to a final byte in `@`..`~`.
            Some('[') => while characters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // OSC: a text up to BEL or ESC.
            Some(']') => {
                while characters
                    .next()
                    .is_some_and(|c| c != '\u{7}' && c != '\u{1b}')
                {}
                characters.next_if_eq(&'\\');
            }
            _ => {}
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::{Log, MAX_BYTES, strip_colours};

    #[test]
    fn strips_what_only_a_terminal_understands() {
        for (given, expected) in [
            ("plain", "plain"),
            ("\u{1b}[1m\u{1b}[31m==1==ERROR\u{1b}[0m", "==1==ERROR"),
            ("\u{1b}]8;;file:///a\u{7}link\u{1b}]8;;\u{1b}\\", "link"),
            ("cut\u{1b}[", "cut"),
            ("cut\u{1b}", "cut"),
        ] {
            assert_eq!(strip_colours(given), expected, "{given:?}");
        }
    }

    #[test]
    fn keeps_both_ends_of_a_huge_log() {
        let text = format!("first\n{}\nlast\r\n", "x\n".repeat(MAX_BYTES));
        let log = Log::new(&text);
        assert_eq!(log.line(0), Some("first"));
        assert_eq!(log.line(log.lines().len() - 1), Some("last"));
        assert_eq!(log.before(1, 5).collect::<Vec<_>>(), ["first"]);
    }

    #[test]
    fn keeps_what_stays_on_the_screen() {
        assert_eq!(Log::new("10%\r50%\rdone\r\n").line(0), Some("done"));
    }
}
