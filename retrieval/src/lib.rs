//! Finds the code that matters: queries in, snippets out.

mod answer;
mod context;
mod engine;
mod error;
mod flow;
mod index;
mod intent;
mod language;
mod memory;
mod pattern;
mod query;
mod rank;
mod relations;
mod rule;
mod search;
mod settings;
mod signals;
mod snippet;
mod symbol;
mod text;
mod words;

pub use answer::{Answer, Miss};
pub use context::{Card, Context, DEFAULT_BUDGET, Form, Request};
pub use engine::Engine;
pub use error::RetrievalError;
pub use flow::{Direction, FlowKind, FlowRequest, FlowStep, GuardFact, GuardKind};
pub use index::files::FileRow;
pub use index::{Index, IndexLimits, IndexReport};
pub use memory::Memory;
pub use query::{KINDS, LineRange, Query, QueryError};
pub use rank::{Frame, Role};
pub use relations::{Found, Nearest, Nearness, QualifiedName, Similar, SqlAnswer, SqlLimits};
pub use settings::{Settings, Weights};
pub use signals::{Candidate, Candidates, Choice, by_words, fuse};
pub use snippet::{Piece, Snippet, Tier};
pub use symbol::{Call, Import, Symbol, SymbolKind, Use, UseKind};
