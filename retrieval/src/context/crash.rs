//! Plan for a crash report: the functions of its stacks weighed by depth, what they had called
//! before, and who writes what they read, since the fix is often not in the top frame.

mod neighbours;
mod returned;
#[cfg(test)]
mod tests;
mod writers;

use crate::context::{FOLLOWED, Heads, Picks, Plan, Wanted};
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::error::Result;
use crate::rank::is_aside;
use crate::ranking::CrashWeights;
use crate::snippet::line;
use crate::symbol::Symbol;
use patchwright_source::{Role, Text};
use std::collections::BTreeSet;

pub(super) fn plan(engine: &Engine, located: &[Located]) -> Result<Plan> {
    let mut picks = Picks::default();
    for place in located {
        add_frame(engine, place, &mut picks)?;
    }
    let mut frames = picks.heaviest(usize::MAX);
    if located.iter().all(|place| place.is_harness) {
        // The harness itself saw what is wrong with what it called.
        for frame in &mut frames {
            frame.weight = 1.0;
        }
    }
    let tops = picks.heaviest(FOLLOWED);
    returned::add(engine, frames, &mut picks)?;
    for top in &tops {
        writers::add(engine, top, &mut picks)?;
    }
    let wanted = picks.heaviest(usize::MAX);
    Ok(Plan {
        intent: "BUG_FIX".to_owned(),
        confidence: 0.95,
        stack: stack_lines(located),
        heads: Heads {
            anywhere: anywhere(&wanted, engine.ranking.crash.elsewhere),
            functions: neighbours::of(engine, &wanted)?,
            most: engine.ranking.crash.named as usize,
        },
        wanted,
        // What the fix needs is nearly always among the first few functions.
        enough: engine.ranking.packing.enough,
    })
}

/// Returns the functions that are likely enough to be named whichever file they lie in.
fn anywhere(wanted: &[Wanted], least: f64) -> Vec<Symbol> {
    let likely = wanted.iter().filter(|one| {
        one.weight >= least && one.symbol.body_line.is_some() && !is_aside(&one.symbol.path)
    });
    likely.map(|one| one.symbol.clone()).collect()
}

/// The stack section: per stack its functions of the tree, from the top, by the
/// numbers that the report gives them.
pub(super) fn stack_lines(located: &[Located]) -> Vec<String> {
    let line = |place: &Located| {
        let symbol = &place.symbol;
        let line = place.line.unwrap_or(symbol.name_line);
        let mark = match symbol.name.as_str() {
            _ if !place.is_harness => "",
            "main" if !is_aside(&symbol.path) => " (entry of the program)",
            _ => " (harness)",
        };
        let (role, name) = (place.role.as_str(), symbol.qualified());
        let (depth, path) = (place.depth, &symbol.path);
        format!("{role} #{depth} {name} {path}:{line}{mark}")
    };
    located.iter().map(line).collect()
}

fn role_weight(weights: &CrashWeights, role: Role) -> f64 {
    match role {
        Role::Crash | Role::Freed => 1.0,
        Role::Allocated | Role::Stored => weights.allocated,
        _ => weights.other_stack,
    }
}

fn add_frame(engine: &Engine, place: &Located, picks: &mut Picks) -> Result<()> {
    let symbol = &place.symbol;
    let weights = &engine.ranking.crash;
    let down = weights.next_frame.powf(f64::from(place.rank));
    let mut weight = role_weight(weights, place.role) * down;
    let hands_on = matches!(place.role, Role::Freed | Role::Allocated) && place.is_wrapper;
    // A short function that many call: an allocator's wrapper, an accessor.
    let is_common = length(symbol) <= 15.0 && engine.is_called_everywhere(&symbol.name)?;
    if place.is_harness || hands_on || is_common {
        weight *= weights.common;
    }
    let at = place.line.map(|line| format!(", at line {line}"));
    let (role, at) = (place.role.as_str(), at.unwrap_or_default());
    let why = format!("{role} stack #{}{at}", place.depth);
    picks.add(symbol, weight, place.line.as_slice(), &why);
    if !place.is_harness && !hands_on && place.role != Role::Created {
        picks.keep(symbol.id);
    }
    Ok(())
}

fn length(symbol: &Symbol) -> f64 {
    f64::from(symbol.end_line - symbol.start_line + 1)
}

/// The names on some lines, keywords and very short ones apart.
pub(super) fn identifiers_at(text: &Text, lines: &[u32]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for number in lines {
        let code = line(text, *number);
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_name = |word: &&str| word.starts_with(|c: char| !c.is_ascii_digit());
        found.extend(words.filter(is_name).map(str::to_owned));
    }
    found
}
