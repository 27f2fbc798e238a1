//! Content and end of each block of a reply. The level at which a block
//! was written is known to the scanner.

use super::{Item, Level, Scanner, in_code_span};
use crate::reply::patch::{self, Found};
use crate::reply::tag::{Tag, starts_line};
use crate::reply::words::{
    ANALYSIS, FILE, PATCH, PROBE, QUERIES, QUERY, QUOTED, THINKING, begins_edit, closes, is_among,
    opens,
};
use crate::reply::{fallback, queries};

/// After this many questions that are not closed no more are looked for.
const MOST_FAILURES: usize = 100;

impl Scanner<'_> {
    /// Reads the block that a tag begins; gives the index of the next tag.
    pub(super) fn block(&mut self, index: usize, tag: &Tag, level: Level, nested: bool) -> usize {
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
            let found = patch::read(self.text, self.tags, index, wrapped);
            if found.patch.edits.is_empty() && !found.incomplete {
                return self.patch_without_tags(index, tag, level, found);
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
        mut found: Found,
    ) -> usize {
        let last = if found.closed {
            found.next.checked_sub(1)
        } else {
            Some(found.next)
        };
        let last = last.and_then(|last| self.tags.get(last));
        let stop = last.map_or(self.text.len(), |tag| tag.start);
        let body = self.text.get(tag.end..stop).unwrap_or_default();
        let inner = fallback::read(body, tag.attribute(FILE));
        let next = found.next;
        if inner.edits.is_empty() && !inner.incomplete && !found.closed {
            self.barren = next;
            return index + 1;
        }
        found.incomplete = inner.incomplete;
        found.patch.edits = inner.edits;
        found.end = stop;
        self.push(tag.start, stop, level, Item::Patch(found));
        next
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
            .find(|(_, next)| is_among(&next.name, ANALYSIS))
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
}
