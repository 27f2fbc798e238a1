//! Stored flow: guards and flows of functions, written into the database for SQL.

use crate::error::RetrievalError;
use crate::flow::function::Analysis;
use crate::flow::place::Source;
use crate::index::Index;
use crate::symbol::{Symbol, SymbolKind};
use rusqlite::{Transaction, TransactionBehavior, params};

/// Limit on how many functions one SQL statement may have computed.
const FUNCTIONS: usize = 200;

/// Computes guards and flows of the functions that a statement names, when it
/// reads those views.
pub(crate) fn keep_for_sql(index: &Index, statement: &str) -> Result<(), RetrievalError> {
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

fn keep(
    transaction: &Transaction<'_>,
    function: &Symbol,
    analysis: &Analysis,
) -> Result<(), RetrievalError> {
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
