//! The blocks of a reply in their order, and whether each is meant or quoted.
//!
//! A reply may think before it answers, quote an example in a fence, or draft
//! a patch inside its analysis. Every block gets the level at which it was
//! written; [`super::read`] takes the plainest.

use super::patch::{Found, PatchReader};
use super::queries::{self, Questions};
use super::tag::{Tag, floor, line_before, starts_line, tags};
use super::words::{
    ANALYSIS, PATCH, PROBE, QUERIES, QUERY, QUOTED, THINKING, begins_edit, closes, is_known, opens,
};
use std::collections::BTreeSet;

/// How plainly a block was written.
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

/// After this many questions that are not closed no more are looked for.
const MOST_FAILURES: usize = 100;

/// A line of prose is shorter than this, in bytes.
const LONGEST_LINE: usize = 2_000;

/// Words that introduce a fence as something that is not the answer.
const EXAMPLE_WORDS: [&str; 14] = [
    "for example",
    "e.g.",
    "an example",
    "example of",
    "as an example",
    "would look like",
    "previous patch was",
    "previous attempt was",
    "previous patch:",
    "previous attempt:",
    "previously i ",
    "i sent:",
    "the format is",
    "format looks like",
];

/// Finds the blocks of a reply.
pub(crate) fn scan(text: &str) -> Scan {
    let tags = tags(text, is_known);
    let begin = thinking_end(text, &tags);
    let mut scanner = Scanner {
        text,
        tags: &tags,
        at: begin,
        fence: None,
        loose: false,
        unclosed: BTreeSet::new(),
        barren: 0,
        open_comment: false,
        has_queries: tags.iter().any(|tag| opens(tag, QUERIES)),
        failures: 0,
        first_block: None,
        hidden: vec![(0, begin)],
        analysis: Vec::new(),
        items: Vec::new(),
    };
    let first = tags.partition_point(|tag| tag.start < begin);
    scanner.run(first, tags.len(), None);
    let visible = scanner.visible();
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
    let ends = [
        "```",
        "~~~",
        "--- ",
        "diff --git ",
        "<<<<<<< ",
        "*** Begin Patch",
    ];
    let lines = prose.lines();
    let lines = lines.take_while(|line| !ends.iter().any(|end| line.trim_start().starts_with(end)));
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
            let next = ahead.iter().find(|tag| PATCH.contains(&tag.name.as_str()));
            let inside = in_patch && next.is_some_and(|tag| tag.closing);
            return if inside { 0 } else { tag.end };
        }
        if PATCH.contains(&tag.name.as_str()) && starts_line(text, tag.start) {
            in_patch = !tag.closing;
        }
    }
    0
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    level: Level,
}

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
    /// Whether no comment ends any more.
    open_comment: bool,
    /// How many questions outside of a block were not closed.
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
        if line_start > 0
            && !self
                .text
                .get(..line_start)
                .is_some_and(|t| t.ends_with('\n'))
        {
            line_start += between
                .find('\n')
                .map_or(between.len(), |length| length + 1);
        }
        while line_start < to {
            let rest = self.text.get(line_start..).unwrap_or_default();
            let line = rest.split('\n').next().unwrap_or_default();
            self.toggle_fence(line, line_start);
            line_start += line.len() + 1;
        }
        self.at = to;
        None
    }

    fn toggle_fence(&mut self, line: &str, start: usize) {
        let line = line.trim();
        let Some(mark) = line.chars().next().filter(|mark| "`~".contains(*mark)) else {
            return;
        };
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        match self.fence {
            Some(open) if open.mark == mark && length >= open.length && info.is_empty() => {
                self.fence = None;
            }
            None if length >= 3 && !info.contains('`') => {
                let level = if introduces_example(self.text.get(..start).unwrap_or_default()) {
                    Level::Ignored
                } else {
                    Level::Quoted
                };
                self.fence = Some(Fence {
                    mark,
                    length,
                    level,
                });
            }
            _ => {}
        }
    }

    /// Reads the block that a tag begins; gives the index of the next tag.
    fn block(&mut self, index: usize, tag: &Tag, level: Level, nested: bool) -> usize {
        if opens(tag, THINKING) || opens(tag, QUOTED) {
            return self.aside(index, tag);
        }
        if opens(tag, ANALYSIS) && !nested {
            return self.read_analysis(index, tag, level);
        }
        if opens(tag, QUERIES) {
            return self.read_queries(index, tag, level);
        }
        let at_start = starts_line(self.text, tag.start);
        let single = opens(tag, PROBE) || (opens(tag, QUERY) && !self.has_queries && at_start);
        if single && self.failures < MOST_FAILURES {
            if let Some((questions, end)) = queries::read_single(self.text, tag) {
                self.push(tag.start, end, level, Item::Questions(questions));
                return index + 1;
            }
            self.failures += 1;
        }
        let wrapped = opens(tag, PATCH);
        if (wrapped && index >= self.barren) || (begins_edit(tag) && at_start) {
            let found = PatchReader::new(self.text, self.tags).read(index, wrapped);
            if found.patch.edits.is_empty() && !found.torn {
                return self.patch_without_tags(index, tag, level, &found);
            }
            let (next, end) = (found.next, found.end);
            self.push(tag.start, end, level, Item::Patch(found));
            return next;
        }
        index + 1
    }

    /// A patch that holds no tags may hold a diff or SEARCH/REPLACE blocks.
    fn patch_without_tags(
        &mut self,
        index: usize,
        tag: &Tag,
        level: Level,
        found: &Found,
    ) -> usize {
        let stop = if found.closed {
            found
                .next
                .checked_sub(1)
                .and_then(|last| self.tags.get(last))
                .map(|tag| tag.start)
        } else {
            self.tags.get(found.next).map(|tag| tag.start)
        };
        let body = self
            .text
            .get(tag.end..stop.unwrap_or(self.text.len()))
            .unwrap_or_default();
        let inner = super::fallback::read(body, tag.attribute(&["file", "path"]));
        if inner.edits.is_empty() && !inner.torn && !found.closed {
            self.barren = found.next;
            return index + 1;
        }
        let mut whole = Found {
            closed: found.closed,
            torn: inner.torn,
            next: found.next,
            end: stop.unwrap_or(self.text.len()),
            ..Found::default()
        };
        whole.patch.explanation.clone_from(&found.patch.explanation);
        whole.patch.edits = inner.edits;
        self.push(tag.start, whole.end, level, Item::Patch(whole));
        found.next
    }

    /// Skips thinking and quotations.
    fn aside(&mut self, index: usize, tag: &Tag) -> usize {
        let known = self.unclosed.contains(&tag.name);
        let reach = if known { 0 } else { self.tags.len() };
        let mut rest = self.tags.iter().enumerate().skip(index + 1).take(reach);
        let closing = rest.find(|(_, next)| next.closing && next.name == tag.name);
        if let Some((closing, next)) = closing {
            self.hidden.push((tag.start, next.end));
            self.at = next.end;
            return closing + 1;
        }
        self.unclosed.insert(tag.name.clone());
        self.loose |= opens(tag, THINKING);
        index + 1
    }

    fn read_analysis(&mut self, index: usize, tag: &Tag, level: Level) -> usize {
        let rest = self.tags.iter().enumerate().skip(index + 1);
        let closing = rest
            .clone()
            .filter(|(_, next)| !in_code_span(self.text, next))
            .find(|(_, next)| ANALYSIS.contains(&next.name.as_str()))
            .filter(|(_, next)| next.closing);
        let ends = |next: &Tag| opens(next, PATCH) || opens(next, QUERIES) || opens(next, PROBE);
        let (next, end) = match closing {
            Some((closing, next)) => (closing, next.start),
            None => rest
                .clone()
                .find(|(_, next)| ends(next) && starts_line(self.text, next.start))
                .map_or((self.tags.len(), self.text.len()), |(at, next)| {
                    (at, next.start)
                }),
        };
        let text = self.text.get(tag.end..end).unwrap_or_default().trim();
        if !text.is_empty() && level != Level::Ignored {
            self.analysis.push(text.to_owned());
        }
        self.first_block.get_or_insert(tag.start);
        self.at = tag.end;
        let fence = self.fence;
        self.run(index + 1, next, Some(Level::Quoted.max(level)));
        self.fence = fence;
        self.at = self.at.max(end);
        next
    }

    fn read_queries(&mut self, index: usize, tag: &Tag, level: Level) -> usize {
        let rest = self.tags.iter().enumerate().skip(index + 1);
        let ends = |next: &Tag| opens(next, PATCH) || opens(next, ANALYSIS) || opens(next, QUERIES);
        let found = rest.clone().find(|(_, next)| {
            closes(next, QUERIES) || (ends(next) && starts_line(self.text, next.start))
        });
        let (next, stop, closed) = match found {
            Some((at, next)) if next.closing => (at + 1, next.start, true),
            Some((at, next)) => (at, next.start, true),
            None => (self.tags.len(), self.text.len(), false),
        };
        let block = self.text.get(tag.end..stop).unwrap_or_default();
        let questions = queries::read(block, closed);
        self.push(tag.start, stop, level, Item::Questions(questions));
        next
    }

    fn push(&mut self, start: usize, end: usize, level: Level, item: Item) {
        self.first_block.get_or_insert(start);
        self.at = end.max(self.at);
        if level != Level::Ignored {
            self.items.push((level, item));
        }
    }

    fn visible(&self) -> String {
        prose_of(self.text, 0, self.text.len(), &self.hidden)
    }
}

/// A range of the text without what is hidden.
fn prose_of(text: &str, from: usize, to: usize, hidden: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let mut at = from;
    for (start, end) in hidden {
        if *start >= to {
            break;
        }
        out.push_str(text.get(at..(*start).max(at)).unwrap_or_default());
        at = at.max(*end);
    }
    out.push_str(text.get(at..to.max(at)).unwrap_or_default());
    out.trim().to_owned()
}

/// Whether a tag stands between backticks on its line.
fn in_code_span(text: &str, tag: &Tag) -> bool {
    let Some(line) = line_before(text, tag.start, LONGEST_LINE) else {
        return false;
    };
    let after = text.get(tag.start..).unwrap_or_default();
    let after = after.get(..floor(after, LONGEST_LINE)).unwrap_or(after);
    let rest = after.split('\n').next().unwrap_or_default();
    line.matches('`').count() % 2 == 1 && rest.contains('`')
}

/// Whether the last sentence of a text announces an example.
fn introduces_example(before: &str) -> bool {
    let Some(line) = before
        .lines()
        .rev()
        .take(5)
        .find(|line| !line.trim().is_empty())
    else {
        return false;
    };
    let line = line.to_ascii_lowercase();
    let sentence = line.trim().trim_end_matches([':', '.']);
    let last = sentence.rsplit(". ").next().unwrap_or(sentence);
    let with_colon = format!("{last}:");
    EXAMPLE_WORDS.iter().any(|words| with_colon.contains(words))
}
