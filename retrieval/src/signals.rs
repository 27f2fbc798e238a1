//! Signals from outside, taken into the ranking of a request: a re-ranker,
//! embeddings, words that a model adds. Who is asked and how is the caller's
//! business; here orders are fused and remembered.
//!
//! A signal only ever changes the order of candidates, so an engine that was
//! told nothing answers as it always does.

#[cfg(test)]
mod tests;

use crate::answer::Answer;
use crate::context::{Context, Request, Wanted};
use crate::engine::Engine;
use crate::error::{RetrievalError, or_nothing};
use crate::snippet::{line, with_comment};
use crate::sql::{SqlAnswer, SqlLimits};
use crate::symbol::Symbol;
use crate::words::{meaningful, stems_of};
use patchwright_source::TreePath;
use std::collections::{BTreeMap, BTreeSet};

/// Limit on how many candidates are offered to the signals: what one call of a
/// re-ranker takes.
const CANDIDATES: usize = 64;
/// The most characters of one candidate; re-rankers read little more.
const LONGEST: usize = 2_000;
/// The lines of a candidate that are read for them.
const LINES: u32 = 60;
/// Limit on how many rows of an SQL answer are followed.
const ROWS: usize = 60;

/// A definition that may be what a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its number in the index.
    pub id: i64,
    /// Its name with its scope.
    pub name: String,
    /// `path:first-last`.
    pub place: String,
    /// Its comment and its first lines.
    pub text: String,
}

/// Candidates and how words alone rank them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Each candidate once.
    pub list: Vec<Candidate>,
    /// Orders of their numbers, best first: by the request's own words, and by
    /// these and further words when there are any.
    pub rankings: Vec<Vec<i64>>,
}

/// Something that shall be in a context.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The number of the definition.
    pub id: i64,
    /// Weight, 0 to 1.
    pub weight: f64,
    /// Why it is shown.
    pub why: String,
}

impl Engine {
    /// The definitions that words may mean. `further` words widen the choice.
    pub fn candidates(&self, words: &str, further: &str) -> Candidates {
        let mut rankings = vec![self.ids_for(words)];
        if !further.trim().is_empty() {
            rankings.push(self.ids_for(&format!("{words}\n{further}")));
        }
        let mut ids = fuse(&rankings);
        ids.truncate(CANDIDATES);
        let list = ids.iter().filter_map(|id| self.candidate(*id)).collect();
        self.forget_texts();
        Candidates { list, rankings }
    }

    /// The definitions around the hits of an answer, each once, in its order.
    pub fn candidates_in(&self, answer: &Answer) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let around = answer.snippets.iter().flat_map(|snippet| {
            // Hits that touch are one snippet with the names of all functions.
            let mut found: Vec<Symbol> = snippet
                .symbols
                .iter()
                .flat_map(|name| self.named(name))
                .filter(|symbol| symbol.path == snippet.path)
                .collect();
            if found.is_empty() {
                // A structural hit is shown with two lines before it.
                let hit = (snippet.start_line + 2).min(snippet.end_line);
                found.extend(self.around(&snippet.path, hit));
            }
            found
        });
        let found = around.filter(|symbol| seen.insert(symbol.id));
        let list = found
            .filter_map(|symbol| self.candidate(symbol.id))
            .collect();
        self.forget_texts();
        list
    }

    /// Answers one SELECT over the documented views.
    pub fn rows(&self, statement: &str) -> Result<SqlAnswer, RetrievalError> {
        self.index.sql(statement, SqlLimits::default())
    }

    /// The definitions that rows speak of: by path and line where the rows have
    /// them, else by name.
    pub fn definitions_in(&self, rows: &SqlAnswer) -> Vec<i64> {
        let column = |name: &str| rows.columns.iter().position(|column| column == name);
        let place = column("path").zip(column("line"));
        let mut found = Vec::new();
        for row in rows.rows.iter().take(ROWS) {
            let by_place = place.and_then(|(path, line)| {
                let path = TreePath::new(row.get(path)?).ok()?;
                self.around(&path, row.get(line)?.parse().ok()?)
            });
            let by_name = || {
                row.iter()
                    .filter(|cell| cell.len() > 1 && cell.parse::<f64>().is_err())
                    .find_map(|cell| self.named(cell).into_iter().next())
            };
            if let Some(symbol) = by_place.or_else(by_name)
                && !found.contains(&symbol.id)
            {
                found.push(symbol.id);
            }
        }
        found
    }

    /// The context made of chosen definitions, packed to the request's budget.
    pub fn context_of(&self, request: &Request, choices: &[Choice]) -> Context {
        let wanted = choices
            .iter()
            .filter_map(|choice| {
                let symbol = or_nothing(self.index.symbol(choice.id))?;
                Some(Wanted::new(symbol, choice.weight, &choice.why))
            })
            .collect();
        self.pack_chosen(request, wanted)
    }

    fn ids_for(&self, words: &str) -> Vec<i64> {
        let scored = self.by_words(&meaningful(words), CANDIDATES);
        scored.into_iter().map(|one| one.id).collect()
    }

    fn around(&self, path: &TreePath, line: u32) -> Option<Symbol> {
        or_nothing(self.index.enclosing_function(path, line))
            .or_else(|| or_nothing(self.index.enclosing(path, line)))
    }

    fn candidate(&self, id: i64) -> Option<Candidate> {
        let symbol = or_nothing(self.index.symbol(id))?;
        let text = self.text(&symbol.path).ok()?;
        let last = symbol.end_line.min(symbol.start_line.saturating_add(LINES));
        let mut shown = String::new();
        for number in with_comment(&text, symbol.start_line)..=last {
            shown.push_str(&line(&text, number));
            shown.push('\n');
        }
        Some(Candidate {
            id,
            name: symbol.qualified(),
            place: format!("{}:{}-{}", symbol.path, symbol.start_line, symbol.end_line),
            text: shown.chars().take(LONGEST).collect(),
        })
    }
}

/// Weight that says how little the first places of one ranking outweigh agreement of several
/// (reciprocal rank fusion, Cormack, Clarke and Büttcher 2009).
const DAMPING: f64 = 60.0;

/// Fuses rankings by reciprocal rank: what several rank high comes first, and
/// what only one knows comes in between.
///
/// # Example
/// ```
/// use patchwright_retrieval::fuse;
/// assert_eq!(fuse(&[vec![1, 2, 3], vec![2, 3, 4], vec![2, 1]]), [2, 1, 3, 4]);
/// ```
pub fn fuse(rankings: &[Vec<i64>]) -> Vec<i64> {
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    let mut seen: Vec<i64> = Vec::new();
    for ranking in rankings {
        let mut counted = BTreeSet::new();
        for (rank, id) in ranking.iter().enumerate() {
            if !counted.insert(*id) {
                continue;
            }
            let score = scores.entry(*id).or_insert_with(|| {
                seen.push(*id);
                0.0
            });
            *score += 1.0 / (DAMPING + 1.0 + rank as f64);
        }
    }
    let score = |id: &i64| scores.get(id).copied().unwrap_or_default();
    // Stable: of equals, the one that was named first.
    seen.sort_by(|a, b| score(b).total_cmp(&score(a)));
    seen
}

/// Orders candidates by the words of a request alone.
pub fn by_words(words: &str, candidates: &[Candidate]) -> Vec<i64> {
    let stems = meaningful(words);
    let hits = |text: &str| {
        let found = BTreeSet::from_iter(stems_of(text));
        stems.iter().filter(|stem| found.contains(*stem)).count()
    };
    let mut scored: Vec<(usize, i64)> = candidates
        .iter()
        .map(|one| (3 * hits(&one.name) + hits(&one.text), one.id))
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, id)| id).collect()
}
