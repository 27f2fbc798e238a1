//! Calls that ran before a crash and returned: a check that is missing off the stack is mostly
//! missing there.
//!
//! A walk from the frames along their calls, the likeliest first. What was called before the
//! frame's line, and shortly before, counts most; what follows the line can have run only in an
//! earlier round of a loop. Each further call away counts less.

use super::identifiers_at;
use crate::context::{Picks, Wanted};
use crate::engine::Engine;
use crate::error::Result;
use crate::rank::is_aside;
use crate::ranking::CrashWeights;
use crate::symbol::{Call, Symbol};
use std::collections::BTreeSet;

/// Limit on how many functions are asked what they call.
const ASKED: usize = 40;
/// Limit on how many calls away from the stack a function may be.
const HOPS: u32 = 3;
/// A weight below which nothing is shown or named.
pub(super) const LEAST: f64 = 0.01;

/// Adds what the functions of a stack called, and what those called.
pub(super) fn add(engine: &Engine, frames: Vec<Wanted>, picks: &mut Picks) -> Result<()> {
    // Functions whose calls are to be looked at, each with how many calls away it is.
    let mut open: Vec<(Wanted, u32)> = frames.into_iter().map(|frame| (frame, 0)).collect();
    let mut asked = BTreeSet::new();
    while let Some(at) = heaviest(&open) {
        if asked.len() >= ASKED {
            break;
        }
        let (caller, hops) = open.swap_remove(at);
        if !asked.insert(caller.symbol.id) {
            continue;
        }
        for callee in called_by(engine, &caller)? {
            let symbol = &callee.symbol;
            // What was really called stands on the stack, not its declaration.
            if symbol.body_line.is_none() && picks.has_body_of(&symbol.name) {
                continue;
            }
            let is_news = picks.weight_of(symbol.id) < callee.weight;
            picks.add(symbol, callee.weight, &[], &callee.why);
            if is_news && hops + 1 < HOPS {
                open.push((callee, hops + 1));
            }
        }
    }
    Ok(())
}

/// The place of the function that weighs most.
fn heaviest(open: &[(Wanted, u32)]) -> Option<usize> {
    let order = |(one, _): &(Wanted, u32), (other, _): &(Wanted, u32)| {
        let by_weight = one.weight.total_cmp(&other.weight);
        by_weight.then(other.symbol.id.cmp(&one.symbol.id))
    };
    let heaviest = open.iter().enumerate().max_by(|a, b| order(a.1, b.1));
    heaviest.map(|(at, _)| at)
}

/// The functions that one calls, each with what it weighs.
fn called_by(engine: &Engine, caller: &Wanted) -> Result<Vec<Wanted>> {
    let weights = &engine.ranking.crash;
    let set_for_the_line = set_for(engine, caller);
    let mut calls: Vec<(u32, Wanted)> = Vec::new();
    for call in engine.index.calls_in(&caller.symbol)? {
        // What only its name says is believed where nothing else has the name.
        let is_sure = !call.by_name || engine.is_only_function(&call.callee)?;
        let since = since(&call, &caller.lines);
        let Some(symbol) = call.target.filter(|_| is_sure) else {
            continue;
        };
        let is_own = symbol.id == caller.symbol.id;
        let leaves = is_aside(&symbol.path) && !is_aside(&caller.symbol.path);
        if is_own || !symbol.kind.is_callable() || leaves {
            continue;
        }
        let mut weight = caller.weight * closeness(weights, caller, &symbol);
        if set_for_the_line.contains(&call.callee) {
            weight *= weights.sets;
        }
        if since.is_none() {
            weight *= weights.later;
        }
        let why = format!("called by {}", caller.symbol.name);
        let callee = Wanted::new(symbol, weight, why);
        calls.push((since.unwrap_or(u32::MAX), callee));
    }
    calls.sort_by_key(|(since, callee)| (*since, callee.symbol.id));
    if !caller.lines.is_empty() {
        for (place, (_, callee)) in calls.iter_mut().enumerate() {
            callee.weight *= (place as f64 + 1.0).powf(-weights.recency);
        }
    }
    let mut callees = Vec::new();
    for (_, callee) in calls {
        let mut called_back = called_back(engine, &callee)?;
        callees.push(callee);
        callees.append(&mut called_back);
    }
    callees.retain(|callee| callee.weight >= LEAST);
    Ok(callees)
}

/// The methods of the object that a call makes, which may be made to be called back; of several
/// each less.
fn called_back(engine: &Engine, made: &Wanted) -> Result<Vec<Wanted>> {
    let makes = &made.symbol;
    if !makes.scope.ends_with(&makes.name) {
        return Ok(Vec::new());
    }
    let class = engine.parent_of(makes)?;
    let Some(class) = class.filter(|class| class.name == makes.name) else {
        return Ok(Vec::new());
    };
    let mut methods = engine.index.members(&class)?;
    methods.retain(|one| one.kind.is_callable() && one.name != class.name);
    let weight = made.weight * engine.ranking.crash.called / methods.len().max(1) as f64;
    let why = format!("a method of {}, which is made", class.name);
    let methods = methods.into_iter();
    let called = methods.map(|method| Wanted::new(method, weight, &why));
    Ok(called.collect())
}

/// Returns how many lines before those of the stack a call stands; none where it stands behind
/// them. In a function that has returned, each call may have been the last.
fn since(call: &Call, lines: &[u32]) -> Option<u32> {
    if lines.is_empty() {
        return Some(0);
    }
    let pairs = call.lines.iter();
    let pairs = pairs.flat_map(|at| lines.iter().filter_map(|line| line.checked_sub(*at)));
    pairs.min()
}

/// The names of the calls that set what the lines of a frame name.
fn set_for(engine: &Engine, frame: &Wanted) -> BTreeSet<String> {
    let Ok(text) = engine.text(&frame.symbol.path) else {
        return BTreeSet::new();
    };
    let touched = identifiers_at(&text, &frame.lines);
    if touched.is_empty() {
        return BTreeSet::new();
    }
    let statements = engine.index.analysis(&frame.symbol);
    let calls = statements.calls.iter();
    calls
        .filter(|call| call.sets.iter().any(|name| touched.contains(name)))
        .map(|call| call.name.clone())
        .collect()
}

/// Returns how closely a called function belongs to its caller.
fn closeness(weights: &CrashWeights, caller: &Wanted, callee: &Symbol) -> f64 {
    if is_aside(&callee.path) {
        1.0
    } else if callee.path == caller.symbol.path || is_aside(&caller.symbol.path) {
        // A harness lies apart from what it calls.
        weights.called
    } else if callee.path.folder() == caller.symbol.path.folder() {
        weights.called * weights.called_in_folder
    } else {
        weights.called * weights.called_elsewhere
    }
}
