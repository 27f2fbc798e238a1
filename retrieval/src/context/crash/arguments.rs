//! Origins of arguments: where on its way down the stack the value was made that the crashing line
//! reads: a parameter is followed to the caller's argument, and that to the
//! caller's own parameter, as long as it is nothing but a name.

use super::writers::{STATEMENT, read_names, words};
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::snippet::line;
use patchwright_source::Role;
use patchwright_source::Text;
use std::collections::BTreeSet;

/// Lines that the head of a function may take.
const HEAD: u32 = 12;
/// Frames that an argument is followed through.
const FRAMES: usize = 12;

/// A frame in which a value was made that reached the crashing line.
pub(super) struct Origin<'l> {
    pub(super) place: &'l Located,
    /// Names of the arguments at the call.
    pub(super) names: BTreeSet<String>,
}

/// The frames in which values were made that reached the crashing line as
/// arguments, nearest first.
pub(super) fn origins<'l>(engine: &Engine, located: &'l [Located]) -> Vec<Origin<'l>> {
    let stack: Vec<&Located> = located
        .iter()
        .filter(|place| place.role == Role::Crash && place.line.is_some())
        .take(FRAMES)
        .collect();
    let Some((top, at)) = stack.first().and_then(|top| Some((*top, top.line?))) else {
        return Vec::new();
    };
    let Ok(text) = engine.text(&top.symbol.path) else {
        return Vec::new();
    };
    let taken = parameters(&text, top);
    let mut read = read_names(&text, &top.symbol, at);
    read.retain(|name| taken.contains(name));
    if read.is_empty() && throws(&line(&text, at)) {
        // What is thrown at the end says that none of the cases was met.
        read.clone_from(&taken);
    }
    let mut found: Vec<Origin<'_>> = Vec::new();
    for name in read {
        let Some((hops, names)) = handed_on(engine, &stack, &name) else {
            continue;
        };
        let Some(place) = stack.get(hops).filter(|place| !place.is_harness) else {
            continue;
        };
        match found.iter_mut().find(|one| one.place == *place) {
            Some(known) => known.names.extend(names),
            None => found.push(Origin { place, names }),
        }
    }
    found
}

fn throws(code: &str) -> bool {
    let code = code.trim_start();
    ["throw ", "raise "]
        .iter()
        .any(|word| code.starts_with(word))
}

/// Returns how many frames down the value of a parameter of the top was made, and the
/// names that its expression has there.
fn handed_on(engine: &Engine, stack: &[&Located], name: &str) -> Option<(usize, BTreeSet<String>)> {
    let mut names = BTreeSet::from([name.to_owned()]);
    for (hops, pair) in stack.windows(2).enumerate() {
        // The last frame hands on what came from outside.
        let [callee, caller] = pair else { break };
        let text = engine.text(&callee.symbol.path).ok()?;
        let taken = parameters(&text, callee);
        let Some(index) = taken.iter().position(|one| names.contains(one)) else {
            return (hops > 0).then_some((hops, names));
        };
        let text = engine.text(&caller.symbol.path).ok()?;
        let code = statement(&text, caller.line?);
        let given = arguments_of(&code, &callee.symbol.name)?;
        let given = given.get(index)?;
        names = words(given).map(|(word, _)| word.to_owned()).collect();
        // What is more than a name was made here.
        if names.len() != 1 || given.contains('(') {
            return Some((hops + 1, names));
        }
    }
    None
}

/// The names of a function's parameters, the object of a method apart.
fn parameters(text: &Text, place: &Located) -> Vec<String> {
    let symbol = &place.symbol;
    let head: Vec<String> = (symbol.name_line..=symbol.end_line.min(symbol.name_line + HEAD))
        .map(|number| line(text, number))
        .collect();
    let list = arguments_of(&head.join(" "), &symbol.name).unwrap_or_default();
    let names = list.iter().filter_map(|one| {
        let declared = one.split(['=', '[']).next().unwrap_or_default();
        let declared = if declared.contains("::") {
            declared
        } else {
            // `name: type`
            declared.split(':').next().unwrap_or_default()
        };
        words(declared).last().map(|(word, _)| word.to_owned())
    });
    names
        .filter(|name| name != "self" && name != "cls")
        .collect()
}

/// A statement from its first line on.
fn statement(text: &Text, at: u32) -> String {
    let lines: Vec<String> = (at..at + STATEMENT)
        .map(|number| line(text, number))
        .collect();
    lines.join(" ")
}

/// Returns what stands between the brackets after a name, at the commas.
fn arguments_of(code: &str, name: &str) -> Option<Vec<String>> {
    let called = words(code).find_map(|(word, place)| {
        let rest = code.get(place + word.len()..)?.trim_start();
        (word == name).then_some(rest.strip_prefix('(')?)
    })?;
    let (mut depth, mut list) = (0_u32, vec![String::new()]);
    for c in called.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                return Some(list.iter().map(|one| one.trim().to_owned()).collect());
            }
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                list.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    None
}
