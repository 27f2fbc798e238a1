//! Weight of a call in a function of the stack: by where
//! the called function lies, and by what the call sets.

use crate::context::Wanted;
use crate::engine::Engine;
use crate::ranking::CrashWeights;
use crate::slice::{Call, Statements};
use crate::symbol::Symbol;
use std::collections::BTreeSet;

/// Limit on how many functions may have a name that is to mean one in another file.
const FEW_NAMESAKES: usize = 4;

/// Returns how closely a called function belongs to its caller.
pub(super) fn closeness(weights: &CrashWeights, caller: &Wanted, callee: &Symbol) -> f64 {
    if callee.path == caller.symbol.path {
        1.0
    } else if callee.path.folder() == caller.symbol.path.folder() {
        weights.called_in_folder
    } else {
        weights.called_elsewhere
    }
}

/// The function that a call means: on a line of a stack the one whose class is
/// named like what it is called on, else the nearest.
pub(super) fn called(
    engine: &Engine,
    statements: &Statements,
    callee: &str,
    caller: &Wanted,
) -> Option<Symbol> {
    let mut calls = calls_of(statements, callee);
    let on_the_line = calls.find(|call| caller.lines.iter().any(|at| call.is_at(*at)));
    let object = on_the_line.and_then(|call| call.receiver.as_deref());
    if let Some(object) = object.filter(|object| object.len() > 2) {
        let object = object.to_lowercase();
        let mut named = engine.named(callee);
        named.retain(|symbol| symbol.kind.is_callable() && is_called_like(&symbol.scope, &object));
        if let [only] = named.as_slice() {
            return Some(only.clone());
        }
    }
    let meant = engine.meant(callee, &caller.symbol.path)?;
    let is_certain = || engine.has_few_namesakes(callee, FEW_NAMESAKES);
    (meant.path == caller.symbol.path || is_certain()).then_some(meant)
}

/// The calls of a function by its name.
fn calls_of<'s>(statements: &'s Statements, callee: &str) -> impl Iterator<Item = &'s Call> {
    let calls = statements.calls.iter();
    calls.filter(move |call| call.name == callee)
}

fn is_called_like(scope: &str, object: &str) -> bool {
    let class = scope.rsplit(['.', ':', '$']).next().unwrap_or_default();
    let class = class.to_lowercase();
    !class.is_empty() && (class.contains(object) || object.contains(&class))
}

/// Returns what is called on the very line that a stack names made what was handed on
/// there, wherever it is defined.
pub(super) fn on_the_line(weights: &CrashWeights, calls: &[u32], lines: &[u32]) -> f64 {
    if calls.iter().any(|at| lines.contains(at)) {
        weights.called_on_line
    } else {
        0.0
    }
}

/// Returns how much more a call counts that sets what the crashing line uses.
pub(super) fn setting(
    weights: &CrashWeights,
    statements: &Statements,
    (callee, touched): (&str, &BTreeSet<String>),
) -> f64 {
    let mut sets = calls_of(statements, callee).flat_map(|call| &call.sets);
    if sets.any(|name| touched.contains(name)) {
        weights.sets
    } else {
        1.0
    }
}

/// Returns whether one of these names gets the result of a call that stands before a line.
pub(super) fn is_result(
    statements: &Statements,
    callee: &str,
    (names, last): (&BTreeSet<String>, u32),
) -> bool {
    let mut calls = calls_of(statements, callee).filter(|call| call.first <= last);
    calls.any(|call| call.sets.iter().any(|name| names.contains(name)))
}
