//! Memory of a conversation: what was shown, what failed, and the text that a model
//! reads for a round of answers.
//!
//! It looks nothing up. It lives as long as the conversation it speaks of and
//! is saved with it; when old messages are dropped, [`Memory::forget`] them.

use crate::engine::Engine;
use crate::snippet::{Piece, number_pieces};
use crate::{Answer, Context, Miss, Query, Snippet};
use itertools::Itertools;
use patchwright_source::TreePath;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A snippet of at most this many lines is shown whole when some of its lines
/// are new: holes in so short a text cost more than they save.
const SHOWN_WHOLE: usize = 24;
/// The most lines between two new ones that are shown again.
const HOLE: usize = 2;

/// The code that a conversation has been shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Lines by file, each with the round in which it was shown.
    seen: BTreeMap<TreePath, Vec<Shown>>,
    failed: BTreeMap<String, Failure>,
    asked: Vec<Asked>,
    #[serde(default)]
    cards: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Failure {
    round: u32,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Asked {
    round: u32,
    query: Query,
    shown: usize,
}

impl Engine {
    /// Answers the queries of one round side by side. `more` goes on from what
    /// the memory knows, and what failed before is not looked up again.
    pub fn answer_round(&self, memory: &Memory, queries: &[Query]) -> Vec<Answer> {
        queries
            .par_iter()
            .map(|query| {
                let query = memory.expand(query);
                memory
                    .known_failure(&query)
                    .unwrap_or_else(|| self.answer(&query))
            })
            .collect()
    }
}

impl Memory {
    /// Turns `more` into the next hits of the query that it names by its number
    /// in the last round; other queries stay as they are.
    pub fn expand(&self, query: &Query) -> Query {
        let Query::More { query: number } = query else {
            return query.clone();
        };
        let last = self.asked.last().map(|asked| asked.round);
        let mut of_round = self.asked.iter().filter(|one| Some(one.round) == last);
        let index = (*number as usize).checked_sub(1);
        let earlier = index.and_then(|index| of_round.nth(index));
        let Some(Asked { query, shown, .. }) = earlier else {
            return query.clone();
        };
        let (query, skip) = query.and_skip();
        Query::Next {
            query: Box::new(query.clone()),
            skip: skip + shown,
        }
    }

    /// The answer to a query that is known to fail, so that nobody looks again.
    pub fn known_failure(&self, query: &Query) -> Option<Answer> {
        Some(Answer::missed(query, self.failed_before(query)?))
    }

    fn failed_before(&self, query: &Query) -> Option<Miss> {
        let Failure { round, reason } = self.failed.get(&query.to_string())?.clone();
        Some(Miss::FailedBefore { round, reason })
    }

    fn note_shown(&mut self, round: u32, snippet: &Snippet) {
        let ranges = snippet.ranges().into_iter();
        let shown = ranges.map(|(first, last)| Shown { first, last, round });
        let file = self.seen.entry(snippet.path.clone()).or_default();
        file.extend(shown);
    }

    /// The text of a context, without what the conversation was told before:
    /// new lines are shown, snippets without any left out. What is rendered counts as
    /// shown.
    pub fn render_context(&mut self, round: u32, context: &Context) -> String {
        let mut fresh = context.clone();
        for snippet in &mut fresh.snippets {
            if let Some((pieces, told)) = self.left_of(round, snippet) {
                let note = match snippet.note.take() {
                    Some(note) => format!("{note}; {told}"),
                    None => told,
                };
                snippet.note = Some(note);
                snippet.pieces = pieces;
            }
        }
        // The stack names what was shown before.
        fresh.snippets.retain(|snippet| !snippet.pieces.is_empty());
        fresh
            .definitions
            .retain(|card| self.cards.insert(format!("{} {}", card.place, card.name)));
        for snippet in &context.snippets {
            self.note_shown(round, snippet);
        }
        fresh.render_code()
    }

    /// Returns what is left to show of a snippet of which lines were shown before, and the words
    /// for the others; nothing where it is shown whole.
    fn left_of(&self, round: u32, snippet: &Snippet) -> Option<(Vec<Piece>, String)> {
        let (pieces, before) = self.fresh(snippet);
        let before = when(before?, round);
        let left: usize = pieces.iter().map(|piece| piece.lines.len()).sum();
        if left == snippet.line_count() {
            return None;
        }
        if pieces.is_empty() {
            return Some((pieces, before));
        }
        let told = format!("the lines missing here were {before}");
        (snippet.line_count() > SHOWN_WHOLE).then_some((pieces, told))
    }

    /// Forgets what was shown before a round, because those messages are gone.
    /// Failures are kept: the tree does not change.
    pub fn forget(&mut self, before: u32) {
        self.seen.retain(|_, file| {
            file.retain(|shown| shown.round >= before);
            !file.is_empty()
        });
    }

    /// Forgets everything but the questions and their numbers, for a reader who
    /// may have lost what was said, about a tree that may have changed.
    pub fn keep_questions(&mut self) {
        *self = Self {
            asked: std::mem::take(&mut self.asked),
            ..Self::default()
        };
    }

    /// The text that the model reads: per query its hits with place and
    /// numbered lines, a reference to what was shown before, or plainly that
    /// nothing was found and why. What is rendered counts as shown.
    pub fn render(&mut self, round: u32, answers: &[Answer]) -> String {
        let mut out = String::new();
        for answer in answers {
            self.asked.push(Asked {
                round,
                query: answer.query.clone(),
                shown: answer.shown,
            });
            let of_round = self.asked.iter().filter(|one| one.round == round);
            let number = of_round.count();
            let _ = writeln!(out, "### query {number} {}", one_line(&answer.query));
            self.render_answer(&mut out, round, number, answer);
            out.push('\n');
        }
        out
    }

    fn render_answer(&mut self, out: &mut String, round: u32, number: usize, answer: &Answer) {
        for note in &answer.notes {
            let _ = writeln!(out, "note: {note}");
        }
        if let Some(miss) = &answer.miss {
            let repeated = self.failed_before(&answer.query);
            let _ = writeln!(out, "{}", repeated.as_ref().unwrap_or(miss));
            if !matches!(miss, Miss::FailedBefore { .. } | Miss::Stopped(_)) {
                let reason = miss.to_string();
                let failed = self.failed.entry(answer.query.to_string());
                failed.or_insert(Failure { round, reason });
            }
            return;
        }
        for line in &answer.listing {
            let _ = writeln!(out, "{line}");
        }
        for snippet in &answer.snippets {
            self.render_snippet(out, round, snippet);
        }
        let shown = answer.shown + answer.query.and_skip().1;
        if answer.shown > 0 && answer.total > shown {
            let _ = writeln!(
                out,
                "{} more of {} hits: <more query=\"{number}\"/>",
                answer.total - shown,
                answer.total
            );
        }
    }

    fn render_snippet(&mut self, out: &mut String, round: u32, snippet: &Snippet) {
        let head = format!("{}{}", snippet.place(), about(snippet));
        let text = match self.left_of(round, snippet) {
            Some((pieces, told)) if pieces.is_empty() => {
                let _ = writeln!(out, "{head}: {told}");
                return;
            }
            Some((pieces, told)) => {
                format!("({told})\n{}", number_pieces(&pieces, snippet.sparse))
            }
            None => snippet.numbered(),
        };
        let _ = write!(out, "{head}\n{text}");
        self.note_shown(round, snippet);
    }

    /// The lines of a snippet that were not shown, and the last round in which
    /// some of the others were.
    fn fresh(&self, snippet: &Snippet) -> (Vec<Piece>, Option<u32>) {
        let Some(file) = self.seen.get(&snippet.path) else {
            return (snippet.pieces.clone(), None);
        };
        let round_of = |line: u32| {
            file.iter()
                .filter(|shown| (shown.first..=shown.last).contains(&line))
                .map(|shown| shown.round)
                .max()
        };
        let mut fresh: Vec<Piece> = Vec::new();
        let mut before = None;
        for piece in &snippet.pieces {
            let mut seen: Vec<(u32, &String)> = Vec::new();
            for (number, line) in (piece.start_line..).zip(&piece.lines) {
                if let Some(round) = round_of(number) {
                    before = before.max(Some(round));
                    seen.push((number, line));
                    continue;
                }
                // A word for a hole of few lines is as long as they are.
                let hole = std::mem::take(&mut seen);
                let within = fresh.last().is_some_and(|piece| {
                    hole.len() <= HOLE && piece.end_line() + 1 == number - hole.len() as u32
                });
                for (number, line) in hole.into_iter().filter(|_| within) {
                    push_line(&mut fresh, number, line);
                }
                push_line(&mut fresh, number, line);
            }
        }
        (fresh, before)
    }
}

fn when(before: u32, round: u32) -> String {
    match before {
        before if before == round => "shown above in this round".to_owned(),
        0 => "shown with the issue".to_owned(),
        before => format!("shown in round {before}"),
    }
}

fn about(snippet: &Snippet) -> String {
    let mut about = String::new();
    if !snippet.symbols.is_empty() {
        let _ = write!(about, " [{}]", snippet.symbols.join(", "));
    }
    if let Some(note) = &snippet.note {
        let _ = write!(about, " ({note})");
    }
    about
}

fn one_line(query: &Query) -> String {
    let mut words = query.to_string().split_whitespace().join(" ");
    if words.chars().count() > 200 {
        words = words.chars().take(200).collect::<String>() + " ...";
    }
    words
}

/// Lines of a file that were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    first: u32,
    last: u32,
    round: u32,
}

fn push_line(pieces: &mut Vec<Piece>, number: u32, line: &str) {
    match pieces.last_mut() {
        Some(open) if open.end_line() + 1 == number => open.lines.push(line.to_owned()),
        _ => pieces.push(Piece {
            start_line: number,
            lines: vec![line.to_owned()],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;
    use crate::{Answer, Context, Miss, Query, Snippet};
    use patchwright_source::{Text, TreePath};

    fn query(kind: &str, body: &str) -> Query {
        Query::read(kind, body, &[]).unwrap()
    }

    fn answer(query: &Query, ranges: &[(u32, u32)], total: usize) -> Answer {
        let content: String = (1..=90).fold(String::new(), |all, n| all + &format!("code {n}\n"));
        let path = TreePath::new("src/a.c").unwrap();
        let snippet = Snippet::cut(&path, &Text::new(content.into()), ranges, false)
            .unwrap()
            .with_symbols(["f".to_owned()])
            .with_note("function");
        Answer {
            snippets: vec![snippet],
            total,
            shown: 1,
            ..Answer::new(query)
        }
    }

    #[test]
    fn shows_hits_with_place_and_numbers() {
        let mut memory = Memory::default();
        let text = memory.render(1, &[answer(&query("symbol", "f"), &[(9, 11)], 3)]);
        assert_eq!(
            text,
            "### query 1 symbol: f\nsrc/a.c:9-11 [f] (function)\n 9: code 9\n10: code 10\n11: code 11\n\
         2 more of 3 hits: <more query=\"1\"/>\n\n"
        );
    }

    #[test]
    fn refers_to_what_was_shown() {
        let mut memory = Memory::default();
        let f = query("symbol", "f");
        memory.render(1, &[answer(&f, &[(9, 11)], 1)]);
        let again = memory.render(2, &[answer(&query("symbol", "g"), &[(10, 11)], 1)]);
        assert!(
            again.contains("src/a.c:10-11 [f] (function): shown in round 1"),
            "{again}"
        );
        assert!(!again.contains("code 10"));
        let same_round =
            memory.render(2, &[answer(&f, &[(40, 80)], 1), answer(&f, &[(41, 70)], 1)]);
        assert!(
            same_round.contains("shown above in this round"),
            "{same_round}"
        );
        let part = memory.render(3, &[answer(&f, &[(35, 85)], 1)]);
        assert!(
            part.contains("the lines missing here were shown in round 2"),
            "{part}"
        );
        assert!(
            part.contains("35: code 35") && !part.contains("code 50"),
            "{part}"
        );
        memory.forget(3);
        let forgotten = memory.render(4, &[answer(&f, &[(9, 11)], 1)]);
        assert!(forgotten.contains("10: code 10"), "{forgotten}");
    }

    #[test]
    fn a_failure_is_told_once_and_then_by_its_round() {
        let mut memory = Memory::default();
        let nowhere = query("symbol", "nowhere");
        let miss = Miss::NotFound {
            what: "no symbol nowhere".to_owned(),
            nearest: vec!["now_here".to_owned()],
        };
        let missed = Answer::missed(&nowhere, miss);
        let first = memory.render(1, std::slice::from_ref(&missed));
        assert!(
            first.contains("nothing found: no symbol nowhere; nearest: now_here"),
            "{first}"
        );
        let known = memory.known_failure(&nowhere).unwrap();
        let second = memory.render(2, &[known]);
        assert!(
            second.contains("it failed in round 1: nothing found"),
            "{second}"
        );
        assert!(memory.known_failure(&query("symbol", "f")).is_none());
        let third = memory.render(3, &[missed]);
        assert!(third.contains("it failed in round 1"), "{third}");
    }

    #[test]
    fn more_goes_on_where_the_earlier_query_stopped() {
        let mut memory = Memory::default();
        memory.render(1, &[answer(&query("text", "x"), &[(1, 2)], 3)]);
        let next = memory.expand(&query("more", "1"));
        assert_eq!(next.to_string(), "text: x (after the first 1)");
        memory.render(2, &[answer(&next, &[(5, 6)], 3)]);
        let last = memory.expand(&query("more", "1"));
        assert_eq!(last.to_string(), "text: x (after the first 2)");
        let unknown = memory.expand(&query("more", "77"));
        assert_eq!(unknown, query("more", "77"));
    }

    #[test]
    fn survives_being_saved() {
        let mut memory = Memory::default();
        memory.render(1, &[answer(&query("symbol", "f"), &[(9, 11)], 1)]);
        let saved = serde_json::to_string(&memory).unwrap();
        assert_eq!(serde_json::from_str::<Memory>(&saved).unwrap(), memory);
    }

    #[test]
    fn a_second_context_refers_to_the_first() {
        let context = Context {
            snippets: answer(&query("symbol", "f"), &[(9, 60)], 1).snippets,
            ..Context::default()
        };
        let mut memory = Memory::default();
        let first = memory.render_context(0, &context);
        assert!(first.contains("30: code 30"), "{first}");
        let second = memory.render_context(2, &context);
        assert_eq!(second, "");
    }
}
