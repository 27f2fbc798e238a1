//! A crash whose report shows no frame of the product: the harness itself saw
//! what is wrong. The search starts from what the harness calls.

use crate::context::picks::Picks;
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::error::or_nothing;
use crate::rank::is_aside;
use crate::snippet::line;
use crate::symbol::Symbol;
use std::collections::{BTreeMap, VecDeque};

/// Limit on how many definitions are visited.
const VISITED: usize = 120;

/// Library calls that a kind of finding is about: functions that use them come first.
const SINKS: [(&[&str], &[&str]); 6] = [
    (
        &["outside", "traversal", "written", "path", "file"],
        &[
            "new File(",
            "FileOutputStream",
            "Files.",
            "fopen(",
            "open(",
            "Paths.get",
        ],
    ),
    (
        &["command", "exec"],
        &["exec(", "ProcessBuilder", "system(", "popen("],
    ),
    (&["sql"], &["executeQuery", "execute(", "prepareStatement"]),
    (
        &["ssrf", "request", "forgery"],
        &["openConnection", "new URL", "Socket("],
    ),
    (&["deserial"], &["readObject", "ObjectInputStream"]),
    (
        &["regex", "regular"],
        &["Pattern.compile", ".matches(", "replaceAll("],
    ),
];

/// The lines of a report that say what was found.
pub(crate) fn headline(text: &str) -> String {
    let said: Vec<&str> = text
        .lines()
        .filter(|line| {
            line.contains("Exception:")
                || line.contains("ERROR:")
                || line.contains("FuzzerSecurityIssue")
        })
        .filter_map(|line| line.rsplit_once(": ").map(|(_, said)| said))
        .collect();
    said.join("\n")
}

/// Adds what the harness leads to.
pub(super) fn add(engine: &Engine, located: &[Located], picks: &mut Picks) {
    let mut reached: BTreeMap<i64, (Symbol, u32)> = BTreeMap::new();
    let mut queue: VecDeque<(Symbol, u32)> = located
        .iter()
        .take(1)
        .map(|place| (place.symbol.clone(), 0))
        .collect();
    while let Some((symbol, hops)) = queue.pop_front() {
        if reached.len() >= VISITED {
            break;
        }
        if reached.contains_key(&symbol.id) {
            continue;
        }
        for next in called_from(engine, &symbol) {
            if !reached.contains_key(&next.id) {
                queue.push_back((next, hops + 1));
            }
        }
        reached.insert(symbol.id, (symbol, hops));
    }
    let sinks = sinks_of(engine, located);
    for (symbol, hops) in reached.into_values() {
        if is_aside(&symbol.path) || !symbol.kind.is_callable() {
            continue;
        }
        let mut weight = 0.5;
        let mut why = format!("{hops} calls from the harness");
        if let Some(sink) = sink_in(engine, &symbol, &sinks) {
            weight *= 1.9;
            why = format!("{why}; holds {sink}");
        }
        picks.add(&symbol, weight, &[], &why);
    }
    if let Some(place) = located.first() {
        let lines: Vec<u32> = place.line.into_iter().collect();
        picks.add(&place.symbol, 0.13, &lines, "the harness that found it");
    }
}

/// The functions that a function may call, in the nearest file that defines
/// them; for a constructor the methods of its class too, since the object is
/// made to be called back.
fn called_from(engine: &Engine, symbol: &Symbol) -> Vec<Symbol> {
    let calls = or_nothing(engine.index.callees(&symbol.qualified(), 1, 200));
    let mut found = Vec::new();
    for call in calls {
        if call
            .caller
            .as_ref()
            .is_none_or(|caller| caller.id != symbol.id)
        {
            continue;
        }
        let Some(nearest) = engine.meant(&call.callee, &symbol.path) else {
            continue;
        };
        let mut same = engine.named(&call.callee);
        same.retain(|other| other.path == nearest.path);
        found.extend(same);
    }
    found
}

/// The calls that a finding of this kind is done with.
fn sinks_of(engine: &Engine, located: &[Located]) -> Vec<&'static str> {
    let Some(place) = located.first() else {
        return Vec::new();
    };
    let (Some(number), Ok(text)) = (place.line, engine.text(&place.symbol.path)) else {
        return Vec::new();
    };
    let said = line(&text, number).to_lowercase();
    SINKS
        .iter()
        .filter(|(words, _)| words.iter().any(|word| said.contains(word)))
        .flat_map(|(_, calls)| calls.iter().copied())
        .collect()
}

fn sink_in(engine: &Engine, symbol: &Symbol, sinks: &[&'static str]) -> Option<&'static str> {
    let text = engine.text(&symbol.path).ok()?;
    let last = symbol.end_line.min(symbol.start_line + 400);
    (symbol.start_line..=last).find_map(|number| {
        let code = line(&text, number);
        sinks.iter().copied().find(|sink| code.contains(sink))
    })
}
