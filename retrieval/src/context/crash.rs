//! Plan for a crash report: the functions of its stacks weighed by
//! depth, and what they call and are called by, since the fix is often not in
//! the top frame.

mod arguments;
mod around;
mod call_neighbourhood;
mod calls;
#[cfg(test)]
mod tests;
mod writers;

use crate::context::picks::Picks;
use crate::context::{FOLLOWED, Plan};
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::ranking::CrashWeights;
use crate::snippet::line;
use crate::symbol::Symbol;
use crate::words::split_words;
use patchwright_source::Role;
use patchwright_source::Text;
use std::collections::BTreeSet;

/// Limit on how many further functions are named: of 8, 16 and 24 the fewest found as
/// much as the most, and each costs a line.
const NAMED: usize = 10;

pub(super) fn plan(engine: &Engine, located: &[Located]) -> Plan {
    let mut weighed = Weighed {
        family: located
            .first()
            .map(|place| split_words(&place.symbol.name))
            .unwrap_or_default(),
        ..Weighed::default()
    };
    let top = located.iter().find(|place| place.role == Role::Crash);
    let weights = &engine.ranking.crash;
    for place in located {
        let is_elsewhere = top.is_some_and(|top| top.symbol.path != place.symbol.path);
        let share = if place.rank > 1 && is_elsewhere {
            weights.frame_elsewhere
        } else {
            1.0
        };
        weighed.add_frame(engine, place, share);
    }
    for origin in arguments::origins(engine, located) {
        weighed.add_makers(engine, &origin);
    }
    let tops = weighed.picks.heaviest(FOLLOWED);
    for top in &tops {
        weighed.follow(engine, top, 2);
    }
    for top in &tops {
        weighed.add_writers(engine, top);
    }
    weighed.add_surroundings(engine, &tops);
    let wanted = weighed.picks.into_wanted();
    let heads = call_neighbourhood::functions_near(engine, located, &wanted);
    Plan {
        intent: "BUG_FIX".to_owned(),
        confidence: 0.95,
        stack: stack_lines(located),
        wanted,
        heads,
        most_heads: NAMED,
        // What the fix needs is nearly always among the first few functions.
        enough: engine.ranking.packing.enough,
    }
}

/// The stack section: per stack its functions of the tree, from the top, by the
/// numbers that the report gives them.
pub(super) fn stack_lines(located: &[Located]) -> Vec<String> {
    let mut lines = Vec::new();
    for place in located {
        let symbol = &place.symbol;
        let line = place.line.unwrap_or(symbol.name_line);
        let mark = if place.is_harness { " (harness)" } else { "" };
        lines.push(format!(
            "{} #{} {} {}:{line}{mark}",
            place.role.name(),
            place.depth,
            symbol.qualified(),
            symbol.path
        ));
    }
    lines
}

fn role_weight(weights: &CrashWeights, role: Role) -> f64 {
    match role {
        Role::Crash => 1.0,
        Role::Freed => weights.freed,
        Role::Allocated | Role::Stored => weights.allocated,
        _ => weights.other_stack,
    }
}

/// Functions with their weights, by number.
#[derive(Default)]
struct Weighed {
    picks: Picks,
    /// The words of the crashing function's name.
    family: Vec<String>,
}

impl Weighed {
    fn add_frame(&mut self, engine: &Engine, place: &Located, share: f64) {
        let symbol = &place.symbol;
        let weights = &engine.ranking.crash;
        let down = weights.next_frame.powf(f64::from(place.rank));
        let mut weight = share * role_weight(weights, place.role) * down;
        if place.is_harness {
            weight *= weights.common;
        }
        let hands_on = matches!(place.role, Role::Freed | Role::Allocated) && place.is_wrapper;
        if hands_on || is_common(engine, symbol) {
            weight *= weights.common;
        }
        let lines: Vec<u32> = place.line.into_iter().collect();
        let why = match place.line {
            Some(line) => format!("{} stack, at line {line}", place.role.name()),
            None => format!("{} stack", place.role.name()),
        };
        self.picks.add(symbol, weight, &lines, &why);
    }
}

/// A short function that many call: an allocator's wrapper, an accessor.
fn is_common(engine: &Engine, symbol: &Symbol) -> bool {
    symbol.end_line - symbol.start_line < 15 && engine.is_called_everywhere(&symbol.name)
}

/// The names on some lines, keywords and very short ones apart.
pub(super) fn identifiers_at(text: &Text, lines: &[u32]) -> BTreeSet<String> {
    lines
        .iter()
        .flat_map(|number| {
            line(text, *number)
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}
