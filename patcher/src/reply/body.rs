//! The text between two tags: where it ends, and what belongs to it.
//!
//! Code is raw, so it can hold anything, even the tag that would end it. A
//! closing tag counts where the next thing is one that can follow it.

use super::tag::{Tag, starts_line};
use patchwright_source::regex;

/// Number of tags ahead in which an end is looked for; bounds the time for replies that
/// never close anything.
const LOOK_AHEAD: usize = 1_000;

/// Longest distance between a closing tag and the next one, in bytes.
const LONGEST_FILLER: usize = 4_096;

/// End of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// At its closing tag.
    Closed,
    /// The closing tag is missing, but something follows that ends it.
    Implied,
    /// The text is over.
    Missing,
}

/// A body's place, and the index of the first tag after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) stop: usize,
    pub(crate) end: End,
    pub(crate) next: usize,
}

/// A question about a tag.
pub(crate) type Question<'a> = &'a dyn Fn(&Tag) -> bool;

/// Finds the end of the body that the tag at `open` begins. `may_follow` tells whether a tag may
/// follow the closing one, `ends` whether one that begins a line ends a body that was never closed.
pub(crate) fn find_end(
    text: &str,
    tags: &[Tag],
    open: usize,
    (may_follow, ends): (Question<'_>, Question<'_>),
) -> Span {
    let start = tags.get(open).map_or(text.len(), |tag| tag.end);
    let name = tags.get(open).map_or("", |tag| tag.name.as_str());
    let mut depth = 0_usize;
    let mut first_close = None;
    let mut implied = None;
    let mut unbalanced = None;
    let ahead = tags.iter().enumerate().skip(open + 1).take(LOOK_AHEAD);
    for (index, tag) in ahead {
        let named = tag.name == name;
        if named && !tag.closing && !tag.empty && starts_line(text, tag.start) {
            depth += 1;
        } else if named && tag.closing {
            first_close.get_or_insert(index);
            let fits = followed(text, tags, index, may_follow);
            if fits && depth == 0 {
                return Span {
                    start,
                    stop: tag.start,
                    end: End::Closed,
                    next: index + 1,
                };
            }
            if fits && implied.is_none() {
                unbalanced.get_or_insert(index);
            }
            depth = depth.saturating_sub(1);
        } else if ends(tag) && starts_line(text, tag.start) && implied.is_none() {
            implied = Some(index);
        }
    }
    let implied_first = matches!((implied, first_close), (Some(end), Some(close)) if end < close);
    let closing = unbalanced.or(first_close).filter(|_| !implied_first);
    let (index, end) = match (closing, implied) {
        (Some(index), _) => (index, End::Closed),
        (None, Some(index)) => (index, End::Implied),
        (None, None) => (tags.len(), End::Missing),
    };
    Span {
        start,
        stop: tags.get(index).map_or(text.len(), |tag| tag.start),
        end,
        next: index + usize::from(end == End::Closed),
    }
}

/// Returns true when what follows a closing tag is what may follow it: a fitting tag, or
/// the end of the text.
fn followed(text: &str, tags: &[Tag], index: usize, may_follow: Question<'_>) -> bool {
    let Some(tag) = tags.get(index) else {
        return false;
    };
    let rest = text.get(tag.end..).unwrap_or_default();
    let rest = rest
        .get(..rest.floor_char_boundary(LONGEST_FILLER))
        .unwrap_or(rest);
    // Whitespace, comments and lines that open or close a fence.
    let filler = regex!(r"^(?:\s*(?:(?s:<!--.*?-->)|(?:```|~~~)[^\n]*))*\s*").find(rest);
    let next_at = tag.end + filler.map_or(0, |filler| filler.end());
    match tags.get(index + 1) {
        Some(next) if next.start == next_at => may_follow(next),
        _ => next_at >= text.len(),
    }
}

/// Takes the wrapping off a body: the line ends beside the tags, and a Markdown
/// fence around all of it (not for `markup` files, whose own text a fence may be).
pub(crate) fn clean(raw: &str, markup: bool) -> String {
    let text = strip_edges(raw);
    let inner = if markup { None } else { strip_fence(text) };
    inner.unwrap_or(text).to_owned()
}

/// Drops the rest of the line of the opening tag and the indentation of the
/// closing one, if these are blank.
fn strip_edges(raw: &str) -> &str {
    let raw = match raw.split_once('\n') {
        Some((first, rest)) if first.trim().is_empty() => rest,
        _ => raw,
    };
    match raw.rsplit_once('\n') {
        Some((rest, last)) if last.trim().is_empty() => rest,
        None if raw.trim().is_empty() => "",
        _ => raw,
    }
}

fn strip_fence(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let mark = ["```", "~~~"]
        .into_iter()
        .find(|mark| trimmed.starts_with(mark))?;
    let (_, rest) = trimmed.split_once('\n')?;
    let (inner, last) = match rest.rsplit_once('\n') {
        Some((inner, last)) => (inner, last),
        None => ("", rest),
    };
    let closes = last.trim().starts_with(mark) && last.trim().chars().all(|c| mark.contains(c));
    closes.then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn takes_the_wrapping_off() {
        for (given, expected) in [
            ("\n    a;\n  ", "    a;"),
            ("a;", "a;"),
            ("\n\n  a;\n\n", "\n  a;\n"),
            ("\n```c\n  a;\n```\n", "  a;"),
            ("\n~~~\na;\n~~~", "a;"),
            ("\n", ""),
            ("", ""),
            ("  \n  ", ""),
            ("\n```c\na;\n", "```c\na;"),
        ] {
            assert_eq!(clean(given, false), expected, "{given:?}");
        }
        assert_eq!(clean("\n```\nx\n```\n", true), "```\nx\n```");
    }
}
