//! Surroundings of the stack of a crash: what its functions call, who made
//! what they were given, who writes what they read, who calls them, and what
//! is like them. How much each counts is told here, what comes of it elsewhere.

use super::arguments::Origin;
use super::calls::{called, closeness, is_result, on_the_line, setting};
use super::{Weighed, identifiers_at, writers};
use crate::context::Wanted;
use crate::context::picks::sort;
use crate::engine::Engine;
use crate::error::or_nothing;
use crate::rank::is_aside;
use crate::slice::statements;
use crate::symbol::Symbol;
use crate::words::split_words;
use std::sync::Arc;

/// A function of at most this many lines only hands on.
const HANDS_ON: u32 = 6;

impl Weighed {
    /// Functions named like the crashing one do the same for a sister case,
    /// and share its flaws.
    fn kinship(&self, engine: &Engine, name: &str) -> f64 {
        let words = split_words(name);
        let same = words.iter().zip(&self.family).take_while(|(a, b)| a == b);
        let same = same.count();
        if same >= 2 && 2 * same >= self.family.len() {
            engine.ranking.crash.kin
        } else {
            1.0
        }
    }

    /// Adds what a function calls, calls near the crash before others.
    pub(super) fn follow(&mut self, engine: &Engine, caller: &Wanted, depth: u32) {
        if depth == 0 || caller.weight < 0.1 {
            return;
        }
        let Ok(text) = engine.text(&caller.symbol.path) else {
            return;
        };
        // Only of a function of the stack it is known which lines matter.
        let statements = if caller.lines.is_empty() {
            Arc::default()
        } else {
            statements(engine, &caller.symbol)
        };
        let touched = identifiers_at(&text, &caller.lines);
        let weights = &engine.ranking.crash;
        let mut found: Vec<Wanted> = Vec::new();
        for (callee, at) in engine.calls_from(&caller.symbol) {
            let Some(symbol) = called(engine, &statements, &callee, caller) else {
                continue;
            };
            if !symbol.kind.is_callable() || is_aside(&symbol.path) || symbol.id == caller.symbol.id
            {
                continue;
            }
            // What was really called stands on the stack, not its declaration.
            if symbol.body_line.is_none() && self.picks.has_body_of(&symbol.name) {
                continue;
            }
            let weight = caller.weight
                * weights.called
                * closeness(weights, caller, &symbol).max(on_the_line(weights, &at, &caller.lines))
                * setting(weights, &statements, (&callee, &touched))
                * self.kinship(engine, &symbol.name);
            let weight = weight.min(weights.most_called);
            let why = format!("called by {}", caller.symbol.name);
            found.push(Wanted::new(symbol, weight, why));
        }
        sort(&mut found);
        for callee in found.iter().take(8) {
            self.picks
                .add(&callee.symbol, callee.weight, &[], &callee.why);
            self.follow(engine, callee, depth - 1);
        }
    }

    /// Returns what made a value that a frame handed on to the crash; what only hands
    /// on stands for what it calls.
    pub(super) fn add_makers(&mut self, engine: &Engine, origin: &Origin<'_>) {
        let place = origin.place;
        let frame = Wanted {
            lines: place.line.into_iter().collect(),
            ..Wanted::new(place.symbol.clone(), 1.0, "")
        };
        let statements = statements(engine, &place.symbol);
        let Some(last) = place.line else { return };
        for (callee, _) in engine.calls_from(&place.symbol) {
            if !is_result(&statements, &callee, (&origin.names, last)) {
                continue;
            }
            let Some(mut maker) = called(engine, &statements, &callee, &frame) else {
                continue;
            };
            if maker.end_line - maker.start_line < HANDS_ON
                && let Some(made) = only_called(engine, &maker)
            {
                maker = made;
            }
            if maker.kind.is_callable() && !is_aside(&maker.path) {
                let why = format!("made what {} handed on", place.symbol.name);
                self.picks
                    .add(&maker, engine.ranking.crash.maker, &[], &why);
            }
        }
    }

    /// Returns who gave its value to what the line of a stack reads.
    pub(super) fn add_writers(&mut self, engine: &Engine, reader: &Wanted) {
        let Ok(text) = engine.text(&reader.symbol.path) else {
            return;
        };
        let weights = &engine.ranking.crash;
        for at in &reader.lines {
            for writer in writers::writers(engine, &text, &reader.symbol, *at) {
                let weight = reader.weight * weights.writer / writer.among as f64
                    * self.kinship(engine, &writer.symbol.name);
                let why = format!("writes {}", writer.name);
                let weight = weight.min(weights.most_called);
                self.picks.add(&writer.symbol, weight, &writer.lines, &why);
            }
        }
    }

    /// Returns who made what crashed: for a method of a class without a name the
    /// function that it stands in, for others their callers, those beside them
    /// before others. Callers that stand on a stack are there already.
    pub(super) fn add_surroundings(&mut self, engine: &Engine, tops: &[Wanted]) {
        let mut has_outer = false;
        for top in tops {
            let Some(outer) = outer_of(engine, &top.symbol) else {
                continue;
            };
            has_outer = true;
            let why = format!("holds {}", top.symbol.name);
            self.picks.add(
                &outer,
                engine.ranking.crash.most_called * top.weight,
                &[top.symbol.start_line],
                &why,
            );
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

    /// Returns who calls the crashing function has to be looked up.
    fn add_callers(&mut self, engine: &Engine, tops: &[Wanted]) {
        let Some(top) = tops.first() else { return };
        let callers = or_nothing(engine.index.callers(&top.symbol.name, 1, 40));
        let many = callers.len().max(1) as f64;
        let weights = &engine.ranking.crash;
        for call in callers {
            let Some(caller) = call.caller else { continue };
            let local = if caller.path == top.symbol.path {
                1.0
            } else {
                weights.caller_elsewhere
            };
            let weight = weights.caller * local / many.sqrt();
            let why = format!("calls {}", top.symbol.name);
            self.picks.add(&caller, weight, &call.lines, &why);
        }
    }
}

/// The function in which another stands: that of a class without a name, a
/// lambda's.
fn outer_of(engine: &Engine, symbol: &Symbol) -> Option<Symbol> {
    engine
        .symbols_in(&symbol.path)
        .into_iter()
        .filter(|other| other.kind.is_callable() && other.id != symbol.id)
        .filter(|other| other.encloses(symbol))
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
