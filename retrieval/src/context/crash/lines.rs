//! Which lines of a long function matter to a crash elsewhere: those that name
//! what the crashing line names. It reads lines, not syntax.

use super::identifiers_at;
use crate::engine::Engine;
use crate::snippet::line;
use crate::symbol::Symbol;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How many lines are chosen.
const LINES: usize = 3;
/// Lines nearer to each other than this are seen together.
const APART: u32 = 7;
/// A function that names nothing of it is shown from its beginning on.
const BEGINNING: u32 = 8;
/// Lines of a function that are looked at.
const LOOKED_AT: usize = 2_000;
/// Words in the names of what is sized, grown or allocated: memory errors are
/// made where these are wrong.
const SIZES: [&str; 5] = ["alloc", "size", "len", "capacity", "grow"];

/// The lines of a function that name most of what the crashing lines touch.
pub(super) fn that_matter(
    engine: &Engine,
    symbol: &Symbol,
    touched: &BTreeSet<String>,
) -> Vec<u32> {
    let Ok(text) = engine.text(&symbol.path) else {
        return Vec::new();
    };
    let first = symbol.body_line.unwrap_or(symbol.name_line) + 1;
    let mut found: Vec<(usize, u32)> = (first..symbol.end_line)
        .take(LOOKED_AT)
        .filter_map(|number| {
            let names = identifiers_at(&text, &[number]);
            // One letter means something else in each function.
            let shared = names.iter().filter(|name| name.len() > 1);
            let count = shared.filter(|name| touched.contains(*name)).count();
            let code = line(&text, number);
            let sizes = SIZES.iter().any(|word| code.contains(word));
            (count > 0).then_some((2 * count + usize::from(sizes), number))
        })
        .collect();
    found.sort_by_key(|(count, number)| (Reverse(*count), *number));
    let mut lines: Vec<u32> = Vec::new();
    for (_, number) in found {
        if lines.len() < LINES && lines.iter().all(|one| one.abs_diff(number) >= APART) {
            lines.push(number);
        }
    }
    if lines.is_empty() {
        lines.push(first + BEGINNING);
    }
    lines.sort_unstable();
    lines
}
