//! The blocks of a reply in their order, and whether each is meant or quoted.
//!
//! A reply may think before it answers, quote an example in a fence, or draft
//! a patch inside its analysis. Every block gets the level at which it was
//! written; [`super::read`] takes the plainest. What a block holds is read in
//! [`blocks`].

mod blocks;
mod fence;

use super::patch::Found;
use super::queries::Questions;
use super::tag::{Tag, starts_line, tags};
use super::words::{PATCH, QUERIES, THINKING, closes, is_among, is_known, opens};
use fence::{Fence, in_code_span};
use patchwright_source::regex;
use std::collections::BTreeSet;

/// Plainness of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// As part of the answer.
    Plain,
    /// Inside a fence or an analysis: an answer only if there is no other.
    Quoted,
    /// After thinking began that was never closed.
    Loose,
    /// In a fence that is introduced as an example.
    Ignored,
}

/// A block that asks for something to be done.
#[derive(Debug)]
pub(crate) enum Item {
    Questions(Questions),
    Patch(Found),
}

/// All blocks of a reply.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) items: Vec<(Level, Item)>,
    pub(crate) analysis: Option<String>,
    /// The reply without its thinking.
    pub(crate) visible: String,
}

/// Prose of fewer words is an announcement, not an analysis.
const SHORTEST_ANALYSIS: usize = 4;

/// Finds the blocks of a reply.
pub(crate) fn scan(text: &str) -> Scan {
    let tags = tags(text, is_known);
    let begin = thinking_end(text, &tags);
    let mut scanner = Scanner {
        text,
        tags: &tags,
        at: begin,
        has_queries: tags.iter().any(|tag| opens(tag, QUERIES)),
        hidden: vec![(0, begin)],
        ..Scanner::default()
    };
    let first = tags.partition_point(|tag| tag.start < begin);
    scanner.run(first, tags.len(), None);
    let visible = prose_of(text, 0, text.len(), &scanner.hidden);
    let analysis = if scanner.analysis.is_empty() {
        let end = scanner.first_block.unwrap_or(text.len());
        analysis_in(&prose_of(text, begin, end, &scanner.hidden))
    } else {
        Some(scanner.analysis.join("\n\n"))
    };
    Scan {
        items: scanner.items,
        analysis,
        visible,
    }
}

/// The prose before the first block, if it is more than a word or two: no
/// fence, no diff.
fn analysis_in(prose: &str) -> Option<String> {
    let ends = regex!(r"^\s*(?:```|~~~|--- |diff --git |<<<<<<< |\*\*\* Begin Patch)");
    let lines = prose.lines().take_while(|line| !ends.is_match(line));
    let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    (text.split_whitespace().count() >= SHORTEST_ANALYSIS).then_some(text)
}

/// Some models' replies begin inside of their thinking: the first thing is its
/// closing tag. Gives where the answer begins.
fn thinking_end(text: &str, tags: &[Tag]) -> usize {
    let mut in_patch = false;
    for (index, tag) in tags.iter().enumerate() {
        if opens(tag, THINKING) {
            return 0;
        }
        if closes(tag, THINKING) {
            let ahead = tags.get(index + 1..).unwrap_or_default();
            let next = ahead.iter().find(|tag| is_among(&tag.name, PATCH));
            let inside = in_patch && next.is_some_and(|tag| tag.closing);
            return if inside { 0 } else { tag.end };
        }
        if is_among(&tag.name, PATCH) && starts_line(text, tag.start) {
            in_patch = !tag.closing;
        }
    }
    0
}

#[derive(Default)]
struct Scanner<'a> {
    text: &'a str,
    tags: &'a [Tag],
    at: usize,
    fence: Option<Fence>,
    loose: bool,
    has_queries: bool,
    /// Names of asides that are known not to be closed any more.
    unclosed: BTreeSet<String>,
    /// Up to this tag there is no edit in any patch.
    barren: usize,
    /// True when no comment ends any more.
    open_comment: bool,
    /// Number of questions outside of a block that were not closed.
    failures: usize,
    first_block: Option<usize>,
    hidden: Vec<(usize, usize)>,
    analysis: Vec<String>,
    items: Vec<(Level, Item)>,
}

impl Scanner<'_> {
    /// Goes through the tags of a range; `within` is the level of what
    /// surrounds it.
    fn run(&mut self, from: usize, to: usize, within: Option<Level>) {
        let mut index = from;
        while index < to {
            let Some(tag) = self.tags.get(index) else {
                return;
            };
            if tag.start < self.at {
                index += 1;
                continue;
            }
            if let Some(end) = self.advance(tag.start) {
                self.at = end;
                continue;
            }
            if self.fence.is_none() && in_code_span(self.text, tag) {
                index += 1;
                continue;
            }
            let level = self.level().max(within.unwrap_or(Level::Plain));
            let next = self.block(index, tag, level, within.is_some());
            index = next.max(index + 1);
        }
    }

    fn level(&self) -> Level {
        let surrounding = if self.loose {
            Level::Loose
        } else {
            Level::Plain
        };
        self.fence
            .map_or(surrounding, |fence| fence.level.max(surrounding))
    }

    /// Follows the fences up to an offset; gives the end of a comment that
    /// covers it.
    fn advance(&mut self, to: usize) -> Option<usize> {
        let between = self.text.get(self.at..to).unwrap_or_default();
        if let Some(offset) = between.rfind("<!--").filter(|_| !self.open_comment) {
            let start = self.at + offset;
            let length = self.text.get(start..).and_then(|rest| rest.find("-->"));
            self.open_comment = length.is_none();
            if let Some(end) = length
                .map(|length| start + length + 3)
                .filter(|end| *end > to)
            {
                return Some(end);
            }
        }
        let mut line_start = self.at;
        let before = self.text.get(..line_start).unwrap_or_default();
        if line_start > 0 && !before.ends_with('\n') {
            line_start += between
                .find('\n')
                .map_or(between.len(), |length| length + 1);
        }
        while line_start < to {
            let rest = self.text.get(line_start..).unwrap_or_default();
            let line = rest.split('\n').next().unwrap_or_default();
            let before = self.text.get(..line_start).unwrap_or_default();
            self.fence = fence::after(self.fence, line, before);
            line_start += line.len() + 1;
        }
        self.at = to;
        None
    }

    fn push(&mut self, start: usize, end: usize, level: Level, item: Item) {
        self.first_block.get_or_insert(start);
        self.at = end.max(self.at);
        if level != Level::Ignored {
            self.items.push((level, item));
        }
    }
}

/// A range of the text without what is hidden.
fn prose_of(text: &str, from: usize, to: usize, hidden: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let mut at = from;
    for (start, end) in hidden.iter().take_while(|(start, _)| *start < to) {
        out.push_str(text.get(at..(*start).max(at)).unwrap_or_default());
        at = at.max(*end);
    }
    out.push_str(text.get(at..to.max(at)).unwrap_or_default());
    out.trim().to_owned()
}
