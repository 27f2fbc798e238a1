//! Relatives of the first definition of a request: what it calls in its file, briefly. Beyond that
//! the model asks when it needs more.

use crate::context::Wanted;
use crate::context::picks::Picks;
use crate::engine::Engine;
use crate::symbol::Symbol;

/// Weight of a called function.
const CALLED: f64 = 0.22;
/// Limit on how many of them are taken.
const FEW: usize = 2;
/// Limit on how many calls of a function are looked up.
const CALLS: usize = 40;
/// Lines of each that are shown.
const LINES: usize = 8;

/// Adds the functions of the same file that the first of what was chosen calls, the least called
/// first: what everybody calls says little.
pub(super) fn add(engine: &Engine, primary: &[Wanted], picks: &mut Picks) {
    let Some(first) = primary.first().filter(|one| one.symbol.kind.is_callable()) else {
        return;
    };
    let own = &first.symbol;
    let calls = engine.calls_from(own).into_iter().take(CALLS);
    let mut called: Vec<(usize, Symbol)> = calls
        .filter_map(|(name, _)| engine.meant(&name, &own.path))
        .filter(|callee| callee.id != own.id && callee.kind.is_callable())
        .filter(|callee| callee.path == own.path)
        .map(|callee| (engine.caller_files(&callee.name, CALLS).len(), callee))
        .collect();
    called.sort_by_key(|(callers, callee)| (*callers, callee.start_line));
    let why = format!("called by {}", own.name);
    for (_, callee) in called.iter().take(FEW) {
        picks.add_brief(callee, (CALLED, LINES), &[], &why);
    }
}
