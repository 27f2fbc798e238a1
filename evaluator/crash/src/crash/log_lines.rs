//! Log lines: a log split into lines without control characters and of bounded length.
//!
//! Terminal colours, carriage returns and overlong lines are handled here once for
//! all readers of reports. Logs beyond a limit lose their middle.

use patchwright_source::regex;
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

    /// The last line that is not empty.
    pub(crate) fn last(&self) -> Option<&str> {
        let mut lines = self.lines.iter().rev().map(AsRef::as_ref);
        lines.find(|line: &&str| !line.trim().is_empty())
    }

    /// The lines from here on, at most `limit` of them.
    pub(crate) fn from(&self, index: usize, limit: usize) -> impl Iterator<Item = &str> {
        self.lines.iter().skip(index).take(limit).map(AsRef::as_ref)
    }

    /// Finds something in the nearest of the lines before this one; returns its number too.
    pub(crate) fn find_above<'l, T>(
        &'l self,
        index: usize,
        limit: usize,
        find: impl Fn(&'l str) -> Option<T>,
    ) -> Option<(usize, T)> {
        let mut above = self.before(index, limit).enumerate();
        above.find_map(|(distance, line)| Some((index - 1 - distance, find(line)?)))
    }

    /// The lines before this one, nearest first, at most `limit` of them.
    pub(crate) fn before(&self, index: usize, limit: usize) -> impl Iterator<Item = &str> {
        let before = self.lines.get(..index).unwrap_or(&self.lines);
        before.iter().rev().take(limit).map(AsRef::as_ref)
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
    let end = line.floor_char_boundary(MAX_LINE);
    visible(line.get(..end).unwrap_or(line))
}

/// Returns what a terminal would leave of a line.
pub(crate) fn visible(line: &str) -> Cow<'_, str> {
    // What a carriage return overwrote was progress, not text.
    let line = line.trim_end_matches('\r');
    let line = line.rsplit_once('\r').map_or(line, |(_, last)| last);
    strip_colours(line)
}

/// Drops terminal control sequences: CSI with parameters up to a final byte in `@`..`~`, OSC with a
/// text up to BEL or ESC, and those of one character.
pub(crate) fn strip_colours(line: &str) -> Cow<'_, str> {
    let sequence = regex!(r"(?s)\x1b(?:\[[^@-~]*[@-~]?|\][^\x07\x1b]*[\x07\x1b]?\\?|.)?");
    sequence.replace_all(line, "")
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
