//! Weight of a call in a function of the stack: by where
//! the called function lies, and by what the call sets.

use crate::context::Wanted;
use crate::engine::Engine;
use crate::snippet::line;
use crate::symbol::Symbol;
use patchwright_source::Text;
use std::collections::BTreeSet;

/// Weight of a call that sets what the crashing line uses.
const SETS: f64 = 1.6;
/// Limit on how many functions may have a name that is to mean one in another file.
const FEW_NAMESAKES: usize = 4;
/// Weight that says how much a call on the very line counts as close at least.
const ON_THE_LINE: f64 = 0.6;

/// Returns how closely a called function belongs to its caller.
pub(super) fn closeness(caller: &Wanted, callee: &Symbol) -> f64 {
    if callee.path == caller.symbol.path {
        1.0
    } else if callee.path.folder() == caller.symbol.path.folder() {
        0.45
    } else {
        0.25
    }
}

/// The function that a call means: on a line of a stack the one whose class is
/// named like what it is called on, else the nearest.
pub(super) fn called(
    engine: &Engine,
    text: &Text,
    (callee, calls): (&str, &[u32]),
    caller: &Wanted,
) -> Option<Symbol> {
    let on_the_line = calls.iter().find(|at| caller.lines.contains(at));
    if let Some(at) = on_the_line
        && let Some(object) = called_on(&line(text, *at), callee)
    {
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

/// `object` of `object.callee(`, lower case.
fn called_on(code: &str, callee: &str) -> Option<String> {
    let (before, _) = code.split_once(&format!("{callee}("))?;
    let before = before.strip_suffix("->").or(before.strip_suffix('.'))?;
    let name: Vec<char> = before
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let name: String = name.into_iter().rev().collect();
    (name.len() > 2).then(|| name.to_lowercase())
}

fn is_called_like(scope: &str, object: &str) -> bool {
    let class = scope.rsplit(['.', ':', '$']).next().unwrap_or_default();
    let class = class.to_lowercase();
    !class.is_empty() && (class.contains(object) || object.contains(&class))
}

/// Returns what is called on the very line that a stack names made what was handed on
/// there, wherever it is defined.
pub(super) fn on_the_line(calls: &[u32], lines: &[u32]) -> f64 {
    if calls.iter().any(|at| lines.contains(at)) {
        ON_THE_LINE
    } else {
        0.0
    }
}

/// Returns how much more a call counts that sets what the crashing line uses.
pub(super) fn setting(
    text: &Text,
    (callee, calls): (&str, &[u32]),
    touched: &BTreeSet<String>,
) -> f64 {
    let sets = calls.iter().any(|at| {
        let code = line(text, *at);
        let mut set = set_by(&code, callee);
        set.any(|name| touched.contains(name))
    });
    if sets { SETS } else { 1.0 }
}

/// Returns whether one of these names is the result of a call.
pub(super) fn is_result(code: &str, callee: &str, names: &BTreeSet<String>) -> bool {
    let (before, _) = code.split_once(callee).unwrap_or_default();
    let (target, _) = before.rsplit_once('=').unwrap_or_default();
    let mut set = target.split(|c: char| !c.is_alphanumeric() && c != '_');
    set.any(|name| names.contains(name))
}

/// The names that a line with a call may give a new value: what stands before
/// the `=`, and what is passed by address.
fn set_by<'c>(code: &'c str, callee: &str) -> impl Iterator<Item = &'c str> {
    let (before, after) = code.split_once(callee).unwrap_or(("", code));
    let assigned = before.rsplit_once('=').map_or("", |(names, _)| names);
    let by_address = after.split('&').skip(1);
    std::iter::once(assigned)
        .chain(by_address.map(|rest| rest.split([',', ')']).next().unwrap_or_default()))
        .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|name| !name.is_empty())
}
