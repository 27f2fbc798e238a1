//! What a crash report calls for: the functions of its stacks weighed by
//! depth, and what they call and are called by, since the fix is often not in
//! the top frame.

mod arguments;
mod calls;
#[cfg(test)]
mod tests;
mod writers;

use super::{Part, Plan, Wanted};
use crate::engine::Engine;
use crate::engine::frames::{Located, is_wrapper};
use crate::engine::lookup::or_nothing;
use crate::intent::Intent;
use crate::rank::{Role, is_aside};
use crate::snippet::line;
use crate::symbol::Symbol;
use crate::words::split_words;
use arguments::Origin;
use calls::{called, closeness, is_result, nearness, on_the_line};
use patchwright_source::Text;
use std::collections::{BTreeMap, BTreeSet};

/// How much the next function down a stack matters, against the one above.
const DECAY: f64 = 0.62;
/// How much harness code matters: it feeds the input and is seldom wrong.
const HARNESS: f64 = 0.05;
/// How much allocators and other small functions that everybody calls matter.
const COMMON: f64 = 0.25;
/// How much a function matters that stands on one stack several times.
const DISPATCHER: f64 = 0.4;
/// More often than that: what an exception and its cause went through both
/// stands on the stack twice.
const AGAIN: usize = 2;
/// How much deep frames of other files than the crash's matter.
const ELSEWHERE: f64 = 0.8;
/// From this many callers on, a short function counts as such.
const COMMON_CALLERS: usize = 20;
/// How much more a function matters that is named like the crashing one.
const SISTER: f64 = 1.5;
/// How much a called function matters, against its caller.
const CALLEE: f64 = 0.42;
/// How much one counts at most.
const MOST_CALLED: f64 = 0.55;
/// How much the only function counts that writes what a line of a stack reads,
/// against the reader; of several each less.
const WRITER: f64 = 0.35;
/// How much a function counts that made what a frame handed on to the crash.
const MAKER: f64 = 0.35;
/// A function of at most this many lines only hands on.
const HANDS_ON: u32 = 6;
/// How many functions of the stacks are asked what they read.
const READERS: usize = 3;
/// How many functions of the stacks are followed into what they call.
const FOLLOWED: usize = 4;
/// How much the function counts that a method without a class name stands in.
const OUTER: f64 = 0.7;
/// More callers than these are everybody.
const FEW_CALLERS: f64 = 6.0;
/// How much functions like the one that freed the memory count, how alike they
/// must be, and how many there are.
const LIKE: f64 = 0.5;
const LIKE_SISTERS: f64 = 0.3;
const SISTERS: usize = 4;
/// Tokens after which only what matters much is still taken: what the fix
/// needs is nearly always among the first few functions.
const ENOUGH: usize = 2_200;

pub(super) fn plan(engine: &Engine, located: &[Located]) -> Plan {
    let mut weighed = Weighed {
        family: located
            .first()
            .map(|place| split_words(&place.symbol.name))
            .unwrap_or_default(),
        ..Weighed::default()
    };
    let top = located.iter().find(|place| place.role == Role::Crash);
    for place in located {
        let again = located
            .iter()
            .filter(|other| other.symbol.id == place.symbol.id && other.role == place.role)
            .count();
        let mut share = 1.0;
        // A dispatcher stands on the stack again and again, far from the cause.
        if again > AGAIN && place.rank > 1 {
            share *= DISPATCHER;
        }
        if place.rank > 1 && top.is_some_and(|top| top.symbol.path != place.symbol.path) {
            share *= ELSEWHERE;
        }
        weighed.add_frame(engine, place, share);
    }
    for origin in arguments::origins(engine, located) {
        weighed.add_makers(engine, &origin);
    }
    let tops = weighed.heaviest(FOLLOWED);
    for top in &tops {
        weighed.follow(engine, top, 2);
    }
    for top in tops.iter().take(READERS) {
        weighed.add_writers(engine, top);
    }
    weighed.add_surroundings(engine, &tops);
    weighed.add_sisters(engine, located);
    Plan {
        intent: "BUG_FIX".to_owned(),
        confidence: 0.95,
        stack: stack_lines(located),
        wanted: weighed.into_wanted(),
        heads: Vec::new(),
        enough: ENOUGH,
        // The stack brings what is called and who calls as code.
        mentions: Vec::new(),
        shares: Intent::BugFix.shares(),
        with_documents: false,
    }
}

/// The stack section: per stack its functions of the tree, from the top.
pub(super) fn stack_lines(located: &[Located]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut number = 0;
    let mut role = Role::Crash;
    for place in located {
        number = if place.role == role { number } else { 0 };
        role = place.role;
        let symbol = &place.symbol;
        let line = place.line.unwrap_or(symbol.name_line);
        let mark = if place.is_harness { " (harness)" } else { "" };
        lines.push(format!(
            "{} #{number} {} {}:{line}{mark}",
            word(role),
            symbol.qualified(),
            symbol.path
        ));
        number += 1;
    }
    lines
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Crash => "crash",
        Role::Freed => "freed",
        Role::Allocated => "allocated",
        Role::Stored => "stored",
        Role::Created => "created",
    }
}

fn role_weight(role: Role) -> f64 {
    match role {
        Role::Crash => 1.0,
        // A use after free is made where the memory was freed too early.
        Role::Freed => 0.9,
        Role::Allocated | Role::Stored => 0.5,
        Role::Created => 0.2,
    }
}

/// Functions with their weights, by number.
#[derive(Default)]
struct Weighed {
    functions: BTreeMap<i64, Wanted>,
    /// The words of the crashing function's name.
    family: Vec<String>,
}

impl Weighed {
    fn add(&mut self, symbol: &Symbol, weight: f64, lines: &[u32], why: &str) {
        let wanted = self.functions.entry(symbol.id).or_insert_with(|| Wanted {
            symbol: symbol.clone(),
            weight: 0.0,
            lines: Vec::new(),
            body: 0,
            part: Part::Snippets,
            why: why.to_owned(),
        });
        if weight > wanted.weight {
            // Standing on two stacks says more than standing on one.
            weight.clone_into(&mut wanted.weight);
            why.clone_into(&mut wanted.why);
        }
        for line in lines {
            if !wanted.lines.contains(line) {
                wanted.lines.push(*line);
            }
        }
    }

    fn add_frame(&mut self, engine: &Engine, place: &Located, share: f64) {
        let symbol = &place.symbol;
        let mut weight = share * role_weight(place.role) * DECAY.powf(f64::from(place.rank));
        if place.is_harness {
            weight *= HARNESS;
        }
        let hands_on = matches!(place.role, Role::Freed | Role::Allocated) && is_wrapper(place);
        if hands_on || is_common(engine, symbol) {
            weight *= COMMON;
        }
        let lines: Vec<u32> = place.line.into_iter().collect();
        let why = match place.line {
            Some(line) => format!("{} stack, at line {line}", word(place.role)),
            None => format!("{} stack", word(place.role)),
        };
        self.add(symbol, weight, &lines, &why);
    }

    /// Functions named like the crashing one do the same for a sister case,
    /// and share its flaws.
    fn kinship(&self, name: &str) -> f64 {
        let words = split_words(name);
        let same = words.iter().zip(&self.family).take_while(|(a, b)| a == b);
        let same = same.count();
        if same >= 2 && 2 * same >= self.family.len() {
            SISTER
        } else {
            1.0
        }
    }

    fn heaviest(&self, count: usize) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = self.functions.values().cloned().collect();
        sort(&mut all);
        all.truncate(count);
        all
    }

    fn has_body_of(&self, name: &str) -> bool {
        self.functions
            .values()
            .any(|one| one.symbol.name == name && one.symbol.body_line.is_some())
    }

    /// Adds what a function calls, calls near the crash before others.
    fn follow(&mut self, engine: &Engine, caller: &Wanted, depth: u32) {
        if depth == 0 || caller.weight < 0.1 {
            return;
        }
        let Ok(text) = engine.text(&caller.symbol.path) else {
            return;
        };
        let touched = identifiers_at(&text, &caller.lines);
        let mut found: Vec<Wanted> = Vec::new();
        for (callee, at) in engine.calls_from(&caller.symbol) {
            let Some(symbol) = called(engine, &text, (&callee, &at), caller) else {
                continue;
            };
            if !symbol.kind.is_callable() || is_aside(&symbol.path) || symbol.id == caller.symbol.id
            {
                continue;
            }
            // What was really called stands on the stack, not its declaration.
            if symbol.body_line.is_none() && self.has_body_of(&symbol.name) {
                continue;
            }
            let weight = caller.weight
                * CALLEE
                * closeness(engine, caller, &symbol).max(on_the_line(&at, &caller.lines))
                * nearness(&text, (&callee, &at), &caller.lines, &touched)
                * self.kinship(&symbol.name);
            let weight = weight.min(MOST_CALLED);
            found.push(Wanted {
                why: format!("called by {}", caller.symbol.name),
                symbol,
                weight,
                lines: Vec::new(),
                body: 0,
                part: Part::Snippets,
            });
        }
        sort(&mut found);
        for callee in found.iter().take(8) {
            self.add(&callee.symbol, callee.weight, &[], &callee.why);
            self.follow(engine, callee, depth - 1);
        }
    }

    /// What made a value that a frame handed on to the crash; what only hands
    /// on stands for what it calls.
    fn add_makers(&mut self, engine: &Engine, origin: &Origin<'_>) {
        let (place, Ok(text)) = (origin.place, engine.text(&origin.place.symbol.path)) else {
            return;
        };
        let frame = Wanted {
            symbol: place.symbol.clone(),
            weight: 1.0,
            lines: place.line.into_iter().collect(),
            body: 0,
            part: Part::Snippets,
            why: String::new(),
        };
        for (callee, mut at) in engine.calls_from(&place.symbol) {
            at.retain(|at| place.line.is_some_and(|last| *at <= last));
            if !at
                .iter()
                .any(|at| is_result(&line(&text, *at), &callee, &origin.names))
            {
                continue;
            }
            let Some(mut maker) = called(engine, &text, (&callee, &at), &frame) else {
                continue;
            };
            if maker.end_line - maker.start_line < HANDS_ON
                && let Some(made) = only_called(engine, &maker)
            {
                maker = made;
            }
            if maker.kind.is_callable() && !is_aside(&maker.path) {
                let why = format!("made what {} handed on", place.symbol.name);
                self.add(&maker, MAKER, &[], &why);
            }
        }
    }

    /// Who gave its value to what the line of a stack reads.
    fn add_writers(&mut self, engine: &Engine, reader: &Wanted) {
        let Ok(text) = engine.text(&reader.symbol.path) else {
            return;
        };
        for at in &reader.lines {
            for writer in writers::writers(engine, &text, &reader.symbol, *at) {
                let weight = reader.weight * WRITER / writer.among as f64
                    * self.kinship(&writer.symbol.name);
                let why = format!("writes {}", writer.name);
                self.add(&writer.symbol, weight.min(MOST_CALLED), &writer.lines, &why);
            }
        }
    }

    /// Who made what crashed: for a method of a class without a name the
    /// function that it stands in, for others their callers, those beside them
    /// before others. Callers that stand on a stack are there already.
    fn add_surroundings(&mut self, engine: &Engine, tops: &[Wanted]) {
        let mut has_outer = false;
        for top in tops {
            let Some(outer) = outer_of(engine, &top.symbol) else {
                continue;
            };
            has_outer = true;
            let why = format!("holds {}", top.symbol.name);
            self.add(&outer, OUTER * top.weight, &[top.symbol.start_line], &why);
            let made = Wanted {
                symbol: outer,
                ..top.clone()
            };
            self.add_callers(engine, &[made]);
        }
        if !has_outer {
            self.add_callers(engine, tops);
        }
    }

    /// Functions like the one that freed or made the memory do the same for
    /// other cases, and are wrong the same way.
    fn add_sisters(&mut self, engine: &Engine, located: &[Located]) {
        let made = located
            .iter()
            .filter(|place| place.role == Role::Freed && !place.is_harness)
            .find(|place| !is_wrapper(place));
        let Some(made) = made else { return };
        for similar in or_nothing(engine.index.similar(&made.symbol, SISTERS)) {
            let near = similar.symbol.path == made.symbol.path;
            if near && similar.likeness >= LIKE_SISTERS {
                let why = format!("like {}", made.symbol.name);
                self.add(&similar.symbol, LIKE * similar.likeness, &[], &why);
            }
        }
    }

    /// Who calls the crashing function has to be looked up.
    fn add_callers(&mut self, engine: &Engine, tops: &[Wanted]) {
        let Some(top) = tops.first() else { return };
        let callers = or_nothing(engine.index.callers(&top.symbol.name, 1, 40));
        let many = callers.len().max(1) as f64;
        let on_a_stack = tops.iter().skip(1).any(|one| !one.lines.is_empty());
        for call in callers {
            let Some(caller) = call.caller else { continue };
            // Beside a whole stack only the nearest are worth their lines.
            if on_a_stack && (caller.path != top.symbol.path || many > FEW_CALLERS) {
                continue;
            }
            let local = if caller.path == top.symbol.path {
                1.0
            } else {
                0.5
            };
            let weight = 0.35 * local / many.sqrt();
            let why = format!("calls {}", top.symbol.name);
            self.add(&caller, weight, &call.lines, &why);
        }
    }

    fn into_wanted(self) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = self.functions.into_values().collect();
        sort(&mut all);
        all
    }
}

fn sort(wanted: &mut [Wanted]) {
    wanted.sort_by(|a, b| {
        b.weight
            .total_cmp(&a.weight)
            .then_with(|| a.symbol.path.cmp(&b.symbol.path))
            .then(a.symbol.start_line.cmp(&b.symbol.start_line))
    });
}

/// The function in which another stands: that of a class without a name, a
/// lambda's.
fn outer_of(engine: &Engine, symbol: &Symbol) -> Option<Symbol> {
    engine
        .symbols_in(&symbol.path)
        .into_iter()
        .filter(|other| other.kind.is_callable() && other.id != symbol.id)
        .filter(|other| other.holds(symbol.start_line) && other.holds(symbol.end_line))
        .max_by_key(|other| other.start_line)
}

/// The last function that one calls which only hands on.
fn only_called(engine: &Engine, symbol: &Symbol) -> Option<Symbol> {
    let calls = engine.calls_from(symbol);
    let last = calls.iter().max_by_key(|(_, at)| at.iter().max())?;
    engine
        .meant(&last.0, &symbol.path)
        .filter(|one| one.kind.is_callable() && one.id != symbol.id)
}

/// A short function that many call: an allocator's wrapper, an accessor.
fn is_common(engine: &Engine, symbol: &Symbol) -> bool {
    symbol.end_line - symbol.start_line < 15
        && engine.caller_files(&symbol.name, COMMON_CALLERS).len() >= COMMON_CALLERS
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
