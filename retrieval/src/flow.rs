//! Value flow: where values come from and where they go, and what guards a line.
//!
//! Computed per function when it is first asked about, and kept: in memory, where slices are
//! cut from the same analysis, and in the database for SQL. Within a function assignments are
//! followed by order and blocks, between functions by parameters, results, arguments that are
//! written to, and names of fields and globals. No aliasing beyond `p = &x` is known;
//! `flow/tests.rs` says how right that is.

mod function;
mod guards;
mod keep;
mod models;
mod names;
mod place;
mod request;
mod search;
mod visit;

#[cfg(test)]
mod tests;

use crate::error::RetrievalError;
use crate::index::Index;
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::TreePath;
use search::Search;
use std::sync::Arc;

pub(crate) use function::Analysis;
pub use function::{GuardFact, GuardKind};
pub(crate) use keep::keep_for_sql;

/// Which way a value is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Backwards, to where it comes from.
    Origin,
    /// Forwards, to where it goes.
    Use,
}

/// One step of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowStep {
    pub path: TreePath,
    /// The line of the step.
    pub line: u32,
    /// The function in which it lies, with its scope.
    pub function: String,
    /// Source of the value, as written.
    pub from: String,
    /// Destination, as written; `return`, or `f(#2)` for an argument.
    pub to: String,
    /// The way in which the value moves: `assign`, `argument`, `return`, `result`, `out`, `index` or `check`.
    pub kind: &'static str,
    /// True when the step leads to the asked place or from it.
    pub direction: Direction,
    /// Distance in steps.
    pub depth: u32,
}

impl Index {
    /// Where the value of a place comes from and goes to. The place is an
    /// expression (`png_ptr->zbuf_size`, `total`), one of a function (`f: n`,
    /// `n in f`), or a function (its result). A plain variable is looked for
    /// in the functions `near`, then among globals and fields. Origins come
    /// first, then uses; each nearest first.
    pub fn flow(&self, place: &str, near: &[Symbol]) -> Result<Vec<FlowStep>, RetrievalError> {
        let seeds = self.seeds(place, near)?;
        let mut steps = Vec::new();
        for direction in [Direction::Origin, Direction::Use] {
            steps.append(&mut Search::run(self, direction, &seeds)?);
        }
        Ok(steps)
    }

    /// The flow in one symbol; computed once.
    pub(crate) fn analysis(&self, symbol: &Symbol) -> Arc<Analysis> {
        let analysis = self.computed(symbol.id, || Ok(self.analyse(symbol)));
        // Analysing never fails: what is not understood is left out.
        analysis.unwrap_or_default()
    }

    fn analyse(&self, symbol: &Symbol) -> Analysis {
        let Ok(text) = self.tree().read(&symbol.path) else {
            return Analysis::default();
        };
        let code = text.bytes().get(symbol.bytes(&text)).unwrap_or_default();
        let mut analysis = visit::analyse(symbol, code);
        if symbol.kind != SymbolKind::Macro && !symbol.kind.is_callable() {
            // The declaration of a global or field declares nothing local.
            analysis.locals.clear();
        }
        analysis
    }
}
