//! Answer to one query: what it found, or why it found nothing.
//!
//! Plain data. Finding is the engine's business, showing it to a model that of
//! [`crate::Memory`].

use crate::Query;
use crate::error::RetrievalError;
use crate::rank::Order;
use crate::snippet::{Lines, Snippet, Tier, merge_ranges};
use itertools::Itertools;
use patchwright_source::{SourceError, TreePath};
use std::collections::BTreeMap;

/// The answer to one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub query: Query,
    /// The hits, in the fixed order.
    pub snippets: Vec<Snippet>,
    /// Precision of the hits.
    pub tier: Tier,
    /// Lines that are no code: a call tree, rows of a table.
    pub listing: Vec<String>,
    /// Why there is no hit.
    pub miss: Option<Miss>,
    /// Remarks: how a pattern was relaxed, how many hits were left out.
    pub notes: Vec<String>,
    /// Number of all hits.
    pub total: usize,
    /// Number of hits shown here.
    pub shown: usize,
    /// Limit on the hits that are shown, beside that of the settings.
    pub(crate) most: usize,
}

/// The answer to a query, or why it has none.
pub(crate) type Answered = Result<Answer, Miss>;

impl Answer {
    pub(crate) fn new(query: &Query) -> Self {
        Self {
            query: query.clone(),
            snippets: Vec::new(),
            tier: Tier::Low,
            listing: Vec::new(),
            miss: None,
            notes: Vec::new(),
            total: 0,
            shown: 0,
            most: usize::MAX,
        }
    }

    pub(crate) fn missed(query: &Query, miss: Miss) -> Self {
        Self {
            miss: Some(miss),
            ..Self::new(query)
        }
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Why a query has no hit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Miss {
    /// Nothing of this name or text is in the tree.
    #[error("nothing found: {what}{}", listed(nearest))]
    NotFound {
        /// The text that was looked for, and the place.
        what: String,
        /// Names that are near by letters or by words.
        nearest: Vec<String>,
    },
    /// More hits than can be told apart, with a way to narrow the query.
    #[error("too many hits ({count}): {advice}")]
    TooMany { count: usize, advice: String },
    /// The pattern, rule, expression or statement cannot be read, as its parser says.
    #[error("not understood: {0}")]
    Bad(String),
    /// The path leads out of the tree.
    #[error("outside the tree: {0}")]
    Outside(String),
    /// The file is there and cannot be shown.
    #[error("cannot be shown: {0}")]
    Unreadable(String),
    /// The same query was asked before and found nothing, for the reason of then.
    #[error("not looked up again, it failed in round {round}: {reason}")]
    FailedBefore { round: u32, reason: String },
    /// It took too long or too much.
    #[error("stopped: {0}")]
    Stopped(String),
}

fn listed(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        nearest => format!("; nearest: {}", nearest.join(", ")),
    }
}

impl Miss {
    /// Nothing is found, and nothing is near.
    pub(crate) fn nothing(what: impl Into<String>) -> Self {
        Self::NotFound {
            what: what.into(),
            nearest: Vec::new(),
        }
    }
}

impl From<RetrievalError> for Miss {
    fn from(error: RetrievalError) -> Self {
        match error {
            RetrievalError::Sql(reason) => Self::Bad(reason),
            error => Self::Stopped(error.to_string()),
        }
    }
}

impl From<SourceError> for Miss {
    fn from(error: SourceError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// One place that was hit, before any line is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) path: TreePath,
    pub(crate) ranges: Vec<Lines>,
    /// Lines whose surroundings are named once the hit is shown; for hits that
    /// are only counted nobody looks.
    pub(crate) inside: Vec<Lines>,
    pub(crate) symbols: Vec<String>,
    pub(crate) note: Option<String>,
    /// Single lines far apart, shown without a mark for each gap.
    pub(crate) sparse: bool,
    pub(crate) order: Order,
}

/// Joins hits whose lines overlap, keeps the best place in the order.
pub(crate) fn merge_hits(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(|a, b| a.order.cmp(&b.order));
    let mut by_file: BTreeMap<TreePath, Vec<Hit>> = BTreeMap::new();
    for hit in hits {
        let seen = by_file.entry(hit.path.clone()).or_default();
        let mut others = seen.iter_mut();
        match others.find(|other| overlap(&other.ranges, &hit.ranges)) {
            Some(other) => absorb(other, hit),
            None => seen.push(hit),
        }
    }
    let merged = by_file.into_values().flatten();
    merged.sorted_by(|a, b| a.order.cmp(&b.order)).collect()
}

fn absorb(into: &mut Hit, hit: Hit) {
    into.ranges.extend(hit.ranges);
    into.ranges = merge_ranges(std::mem::take(&mut into.ranges));
    into.inside.extend(hit.inside);
    for symbol in hit.symbols {
        into.add_symbol(symbol);
    }
    if let Some(note) = hit.note {
        into.add_note(&note);
    }
}

impl Hit {
    /// Adds a name, once.
    pub(crate) fn add_symbol(&mut self, symbol: String) {
        if !self.symbols.contains(&symbol) {
            self.symbols.push(symbol);
        }
    }

    /// Adds a remark, once.
    pub(crate) fn add_note(&mut self, note: &str) {
        let mine = self.note.get_or_insert_default();
        if !mine.contains(note) {
            if !mine.is_empty() {
                mine.push_str("; ");
            }
            mine.push_str(note);
        }
    }
}

fn overlap(a: &[Lines], b: &[Lines]) -> bool {
    let mut pairs = a.iter().cartesian_product(b);
    pairs.any(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
}
