//! Queries that a model may ask, read tolerantly into a [`Query`].
//!
//! Splitting a whole reply into queries is done elsewhere, and so is answering
//! them. Reading never looks at the tree, so a query that reads well may still
//! find nothing.

mod read;
#[cfg(test)]
mod tests;

use itertools::Itertools;
use read::{Reader, canonical_kind};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest body that is taken, in bytes; no honest query comes near it.
const LONGEST_BODY: usize = 4_000;

/// The kinds of query, as their tags are written.
pub const KINDS: [&str; 15] = [
    "symbol",
    "file",
    "text",
    "search",
    "pattern",
    "rule",
    "references",
    "callers",
    "callees",
    "path",
    "implementations",
    "similar",
    "flow",
    "sql",
    "more",
];

/// One question about the tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Query {
    /// The definitions of a name.
    Symbol {
        /// Plain or qualified: `f`, `A::b`, `a.b.C.d`, `C#m`.
        name: String,
    },
    /// A file or some of its lines.
    File {
        /// As it was written; other machines' paths are rebased later.
        path: String,
        /// Empty for the whole file (or its outline).
        lines: Vec<LineRange>,
    },
    /// Text in any file.
    Text {
        /// The text to find.
        text: String,
        /// True when `text` is a regular expression instead of literal text.
        regex: bool,
        /// Only files whose path holds this.
        path: Option<String>,
    },
    /// Words, ranked.
    Search { words: String },
    /// A structural pattern with `$X` and `$$$`.
    Pattern {
        pattern: String,
        /// Only files whose path holds this.
        path: Option<String>,
    },
    /// Structural patterns combined by `any`, `all`, `not`, `inside`, `has`.
    Rule {
        /// The XML-like text inside the tag.
        rule: String,
        /// Only files whose path holds this.
        path: Option<String>,
    },
    /// The places that use a name.
    References { name: String },
    /// The callers of a function.
    Callers {
        name: String,
        /// Distance in calls, 1 for direct callers.
        depth: u32,
    },
    /// The callees of a function.
    Callees {
        name: String,
        /// Distance in calls, 1 for direct callees.
        depth: u32,
    },
    /// The shortest chain of calls from one function to another.
    Path {
        /// The caller at the start.
        from: String,
        /// The callee at the end.
        to: String,
    },
    /// The implementations of a type, or the overrides of a method.
    Implementations {
        /// The type or method.
        name: String,
    },
    /// Functions that look or are used alike.
    Similar { name: String },
    /// Where a value comes from and goes to.
    Flow {
        /// A variable, a field (`s->len`) or an expression, with an optional
        /// `function:` before it.
        expression: String,
    },
    /// Read-only SQL over the code database.
    Sql {
        /// One `SELECT`.
        statement: String,
    },
    /// The next hits of an earlier query.
    More {
        /// The number that the earlier answer carried.
        query: u32,
    },
    /// A query whose first hits are known; [`crate::Memory`] makes it from `More`.
    Next {
        /// The earlier query.
        query: Box<Query>,
        /// Number of its hits that were shown before.
        skip: usize,
    },
}

impl Query {
    /// Reads one query from its tag, the text inside and the tag's attributes. The error says to
    /// the one who asked why it could not be read.
    ///
    /// # Example
    /// ```
    /// use patchwright_retrieval::Query;
    /// let query = Query::read("file", " src/a.c: L10 – L20 ", &[]).unwrap();
    /// assert_eq!(query.to_string(), "file: src/a.c:10-20");
    /// ```
    pub fn read(kind: &str, body: &str, attributes: &[(String, String)]) -> Result<Self, String> {
        let Some(known) = canonical_kind(kind) else {
            let (kind, kinds) = (kind.chars().take(40).collect::<String>(), KINDS.join(", "));
            return Err(format!("there is no query <{kind}>; the kinds are {kinds}"));
        };
        let bytes = body.len();
        if bytes > LONGEST_BODY {
            return Err(format!(
                "<{known}> holds {bytes} bytes; ask with at most {LONGEST_BODY}"
            ));
        }
        let reader = Reader {
            kind: known,
            body: body.trim(),
            attributes,
        };
        if body.contains('\0') {
            return Err(reader.malformed("it holds a NUL byte"));
        }
        if known == "more" {
            return reader.more();
        }
        if reader.body.is_empty() {
            return Err(format!(
                "<{known}> is empty; write what to look for between the tags"
            ));
        }
        reader.read()
    }

    /// The query itself, and how many of its hits were shown before.
    pub(crate) fn and_skip(&self) -> (&Self, usize) {
        match self {
            Self::Next { query, skip } => (query, *skip),
            query => (query, 0),
        }
    }

    /// The tag of this kind of query.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Symbol { .. } => "symbol",
            Self::File { .. } => "file",
            Self::Text { .. } => "text",
            Self::Search { .. } => "search",
            Self::Pattern { .. } => "pattern",
            Self::Rule { .. } => "rule",
            Self::References { .. } => "references",
            Self::Callers { .. } => "callers",
            Self::Callees { .. } => "callees",
            Self::Path { .. } => "path",
            Self::Implementations { .. } => "implementations",
            Self::Similar { .. } => "similar",
            Self::Flow { .. } => "flow",
            Self::Sql { .. } => "sql",
            Self::More { .. } => "more",
            Self::Next { query, .. } => query.kind(),
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Symbol { name: body }
            | Self::References { name: body }
            | Self::Implementations { name: body }
            | Self::Similar { name: body }
            | Self::Search { words: body }
            | Self::Flow { expression: body }
            | Self::Sql { statement: body } => write!(f, "{kind}: {body}"),
            Self::File { path, lines } if lines.is_empty() => write!(f, "{kind}: {path}"),
            Self::File { path, lines } => {
                write!(f, "{kind}: {path}:{}", lines.iter().format(","))
            }
            Self::Text {
                text: body, path, ..
            }
            | Self::Pattern {
                pattern: body,
                path,
            }
            | Self::Rule { rule: body, path } => {
                write!(f, "{kind}: {body}")?;
                path.iter().try_for_each(|path| write!(f, " (in {path})"))
            }
            Self::Callers { name, depth } | Self::Callees { name, depth } => {
                write!(f, "{kind}: {name}")?;
                if *depth > 1 {
                    write!(f, " (depth {depth})")?;
                }
                Ok(())
            }
            Self::Path { from, to } => write!(f, "{kind}: {from} -> {to}"),
            Self::More { query } => write!(f, "{kind}: query {query}"),
            Self::Next { query, skip } => write!(f, "{query} (after the first {skip})"),
        }
    }
}

/// Lines `first` to `last`, both included, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    pub first: u32,
    /// The last line, never before the first.
    pub last: u32,
}

impl LineRange {
    /// Puts two line numbers in order; line 0 counts as line 1.
    pub fn new(a: u32, b: u32) -> Self {
        Self {
            first: a.min(b).max(1),
            last: a.max(b).max(1),
        }
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

/// Splits `path:10-20` and its many variants. What does not look like line
/// numbers stays part of the path.
pub(super) fn split_path_and_lines(body: &str) -> (String, Vec<LineRange>) {
    let body = body.replace(" to ", "-");
    let tail_start = body
        .char_indices()
        .rev()
        .take_while(|(_, character)| is_of_tail(*character))
        .last()
        .map_or(body.len(), |(at, _)| at);
    let tail = body.get(tail_start..).unwrap_or_default();
    let Some(boundary) = tail.find(|c: char| c == ':' || c == '#' || c.is_whitespace()) else {
        return (body.trim().to_owned(), Vec::new());
    };
    let (end, lines) = tail.split_at(boundary);
    let path = format!("{}{end}", body.get(..tail_start).unwrap_or_default());
    let path = path
        .trim()
        .trim_end_matches("lines")
        .trim_end_matches("line");
    let path = path.trim_end_matches([':', '#', ',', ' ']).to_owned();
    (path, read_ranges(lines))
}

fn is_of_tail(character: char) -> bool {
    character.is_ascii_digit()
        || character.is_whitespace()
        || "Ll-\u{2013}\u{2014}:,;.#".contains(character)
}

fn read_ranges(lines: &str) -> Vec<LineRange> {
    let segments: Vec<Vec<u32>> = lines
        .split([',', ';'])
        .map(segment_numbers)
        .filter(|numbers| !numbers.is_empty())
        .collect();
    if let [first, last] = segments.as_slice()
        && let ([first], [last]) = (first.as_slice(), last.as_slice())
    {
        // `10,20` is the range of sed and git.
        return vec![LineRange::new(*first, *last)];
    }
    let ranges = segments.iter().filter_map(|numbers| {
        let (first, last) = (numbers.first()?, numbers.last()?);
        Some(LineRange::new(*first, *last))
    });
    ranges.collect()
}

/// Returns what the digits of one segment say. A second number that is smaller and
/// stands behind a colon is a compiler's column, not a line.
fn segment_numbers(segment: &str) -> Vec<u32> {
    let found: Vec<u32> = segment
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u32::MAX))
        .collect();
    let segment = segment.trim_matches(|c: char| c == ':' || c == '#' || c.is_whitespace());
    match found.as_slice() {
        [line, column] if column < line && segment.contains(':') => vec![*line],
        _ => found,
    }
}
