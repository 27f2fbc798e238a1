//! What a model may ask: reads one query, tolerantly, into a [`Query`].
//!
//! Splitting a whole reply into queries is done elsewhere, and so is answering
//! them. Reading never looks at the tree, so a query that reads well may still
//! find nothing.

mod range;
mod read;
#[cfg(test)]
mod tests;

pub use range::LineRange;
use read::{Reader, canonical_kind};
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

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
        /// What to find.
        text: String,
        /// Whether `text` is a regular expression instead of literal text.
        regex: bool,
        /// Only files whose path holds this.
        path: Option<String>,
    },
    /// Words, ranked.
    Search {
        /// The words.
        words: String,
    },
    /// A structural pattern with `$X` and `$$$`.
    Pattern {
        /// The pattern.
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
    References {
        /// The name.
        name: String,
    },
    /// Who calls a function.
    Callers {
        /// The function.
        name: String,
        /// How many calls away, 1 for direct callers.
        depth: u32,
    },
    /// What a function calls.
    Callees {
        /// The function.
        name: String,
        /// How many calls away, 1 for direct callees.
        depth: u32,
    },
    /// The shortest chain of calls from one function to another.
    Path {
        /// The caller at the start.
        from: String,
        /// The callee at the end.
        to: String,
    },
    /// What implements or extends a type or overrides a method.
    Implementations {
        /// The type or method.
        name: String,
    },
    /// Functions that look or are used alike.
    Similar {
        /// The function.
        name: String,
    },
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
        /// How many of its hits were shown.
        skip: usize,
    },
}

/// Why a query could not be read. The text is meant for the one who asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryError {
    /// No such kind.
    #[error("there is no query <{kind}>; the kinds are {}", KINDS.join(", "))]
    UnknownKind {
        /// The tag that was used.
        kind: String,
    },
    /// Nothing inside the tag.
    #[error("<{kind}> is empty; write what to look for between the tags")]
    Empty {
        /// The tag.
        kind: String,
    },
    /// More text than any query needs.
    #[error("<{kind}> holds {bytes} bytes; ask with at most {LONGEST_BODY}")]
    TooLong {
        /// The tag.
        kind: String,
        /// The length of the body.
        bytes: usize,
    },
    /// The body is not of the form that its kind needs.
    #[error("<{kind}> was not understood: {reason}")]
    Malformed {
        /// The tag.
        kind: String,
        /// What was expected.
        reason: String,
    },
}

impl Query {
    /// Reads one query from its tag, the text inside and the tag's attributes.
    ///
    /// # Example
    /// ```
    /// use patchwright_retrieval::Query;
    /// let query = Query::read("file", " src/a.c: L10 – L20 ", &[]).unwrap();
    /// assert_eq!(query.to_string(), "file: src/a.c:10-20");
    /// ```
    pub fn read(
        kind: &str,
        body: &str,
        attributes: &[(String, String)],
    ) -> Result<Self, QueryError> {
        let raw_kind = kind;
        let kind = canonical_kind(kind).ok_or_else(|| QueryError::UnknownKind {
            kind: raw_kind.chars().take(40).collect(),
        })?;
        if body.len() > LONGEST_BODY {
            return Err(QueryError::TooLong {
                kind: kind.to_owned(),
                bytes: body.len(),
            });
        }
        let reader = Reader {
            kind,
            body: body.trim(),
            attributes,
        };
        if body.contains('\0') {
            return Err(reader.malformed("it holds a NUL byte"));
        }
        if kind == "more" {
            return reader.more();
        }
        if reader.body.is_empty() {
            return Err(QueryError::Empty {
                kind: kind.to_owned(),
            });
        }
        reader.read()
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
            Self::Symbol { name }
            | Self::References { name }
            | Self::Implementations { name }
            | Self::Similar { name } => write!(f, "{kind}: {name}"),
            Self::File { path, lines } => {
                write!(f, "{kind}: {path}")?;
                let ranges: Vec<String> = lines.iter().map(ToString::to_string).collect();
                if ranges.is_empty() {
                    return Ok(());
                }
                write!(f, ":{}", ranges.join(","))
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
            Self::Search { words } => write!(f, "{kind}: {words}"),
            Self::Callers { name, depth } | Self::Callees { name, depth } => {
                write!(f, "{kind}: {name}")?;
                if *depth > 1 {
                    write!(f, " (depth {depth})")?;
                }
                Ok(())
            }
            Self::Path { from, to } => write!(f, "{kind}: {from} -> {to}"),
            Self::Flow { expression } => write!(f, "{kind}: {expression}"),
            Self::Sql { statement } => write!(f, "{kind}: {statement}"),
            Self::More { query } => write!(f, "{kind}: query {query}"),
            Self::Next { query, skip } => write!(f, "{query} (after the first {skip})"),
        }
    }
}
