//! Value flow: where values come from and where they go, and what guards a line.
//!
//! Computed per function when it is first asked about, and kept: in memory, where slices are
//! cut from the same analysis, and in the database for SQL. Within a function assignments are
//! followed by order and blocks, between functions by parameters, results, arguments that are
//! written to, and names of fields and globals. No aliasing beyond `p = &x` is known;
//! `flow/tests.rs` says how right that is.

mod function;
mod guards;
mod models;
mod names;
mod place;
mod request;
mod search;
mod visit;

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::index::Index;
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::TreePath;
use place::Source;
use rusqlite::{Transaction, TransactionBehavior, params};
use search::Search;
use std::sync::Arc;

pub(crate) use function::Analysis;
pub use function::{GuardFact, GuardKind};

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
    pub fn flow(&self, place: &str, near: &[Symbol]) -> Result<Vec<FlowStep>> {
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

/// Limit on how many functions one SQL statement may have computed.
const FUNCTIONS: usize = 200;

/// Computes guards and flows of the functions that a statement names, when it
/// reads those views.
pub(crate) fn keep_for_sql(index: &Index, statement: &str) -> Result<()> {
    let lower = statement.to_ascii_lowercase();
    if !lower.contains("guards") && !lower.contains("flows") {
        return Ok(());
    }
    let mut functions = Vec::new();
    // The strings between single quotes.
    let literals = statement.split('\'').skip(1).step_by(2);
    for name in literals.filter(|literal| !literal.is_empty()) {
        functions.append(&mut index.definitions(name)?.symbols);
    }
    functions.retain(|symbol| symbol.kind.is_callable() || symbol.kind == SymbolKind::Macro);
    functions.truncate(FUNCTIONS);
    if functions.is_empty() {
        return Ok(());
    }
    let mut connection = index.private_connection()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for function in &functions {
        keep(&transaction, function, &index.analysis(function))?;
    }
    transaction.commit()?;
    Ok(())
}

fn keep(transaction: &Transaction<'_>, function: &Symbol, analysis: &Analysis) -> Result<()> {
    let new = transaction
        .prepare_cached("INSERT OR IGNORE INTO analysed VALUES (?1)")?
        .execute([function.id])?;
    if new == 0 {
        return Ok(());
    }
    let mut insert =
        transaction.prepare_cached("INSERT INTO guard VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for guard in &analysis.guards {
        insert.execute(params![
            function.id,
            guard.line,
            guard.end_line,
            guard.condition_line,
            guard.kind.as_str(),
            guard.condition
        ])?;
    }
    let mut insert = transaction.prepare_cached("INSERT INTO flow VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for edge in &analysis.edges {
        // That a callee might write is no flow yet.
        if matches!(edge.from.source, Source::Out(..)) {
            continue;
        }
        insert.execute(params![
            function.id,
            edge.line,
            edge.from.text,
            edge.to.text,
            edge.kind()
        ])?;
    }
    Ok(())
}
