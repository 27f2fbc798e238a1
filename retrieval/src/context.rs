//! The code that a request or a crash report calls for, without any query.
use crate::{Frame, Snippet};
use serde::{Deserialize, Serialize};

/// What context is wanted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// A request in words, or the text of a crash report.
    pub text: String,
    /// The frames of the crash report, when it is one.
    pub frames: Vec<Frame>,
    /// How many tokens the context may take.
    pub budget: usize,
}

/// The code that belongs to a request, packed to its budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// What the request was taken for: `BUG_FIX`, `REFACTOR`, ...
    pub intent: String,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// The size of the rendered text in tokens, at four characters each.
    pub tokens: usize,
    /// How long it took, the index already open.
    pub elapsed_ms: f64,
    /// The code, most important first.
    pub snippets: Vec<Snippet>,
}
