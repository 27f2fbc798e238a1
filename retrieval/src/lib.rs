//! Finds the code that matters: queries in, snippets out.
mod answer;
mod context;
mod memory;
mod pattern;
mod query;
mod rank;
mod rule;
mod settings;
mod snippet;
mod text;

pub use answer::{Answer, Miss};
pub use context::{Context, Request};
pub use memory::Memory;
pub use query::{KINDS, LineRange, Query, QueryError};
pub use rank::{Frame, Role};
pub use settings::{Settings, Weights};
pub use snippet::{Piece, Snippet, Tier};
