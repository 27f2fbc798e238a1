//! Origins of arguments: where on its way down the stack the value was made that the crashing line
//! reads: a parameter is followed to the caller's argument, and that to the
//! caller's own parameter, as long as it is nothing but a name.

use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::slice::{names_read, statements};
use patchwright_source::Role;
use std::collections::BTreeSet;

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
    let statements = statements(engine, &top.symbol);
    let mut read = names_read(&statements, at);
    read.retain(|name| statements.parameters.contains(name));
    if read.is_empty() {
        // A line that reads none of them was reached because of one.
        let decide = statements.parameters.iter();
        let decide = decide.filter(|name| statements.conditions().any(|read| read == *name));
        read.extend(decide.cloned());
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

/// Returns how many frames down the value of a parameter of the top was made, and the
/// names that its expression has there.
fn handed_on(engine: &Engine, stack: &[&Located], name: &str) -> Option<(usize, BTreeSet<String>)> {
    let mut names = BTreeSet::from([name.to_owned()]);
    for (hops, pair) in stack.windows(2).enumerate() {
        // The last frame hands on what came from outside.
        let [callee, caller] = pair else { break };
        let taken = statements(engine, &callee.symbol);
        let Some(index) = taken.parameters.iter().position(|one| names.contains(one)) else {
            return (hops > 0).then_some((hops, names));
        };
        let line = caller.line?;
        let calling = statements(engine, &caller.symbol);
        let call = calling
            .calls
            .iter()
            .find(|call| call.name == callee.symbol.name && call.is_at(line))?;
        let given = call.arguments.get(index)?;
        names = given.names.iter().cloned().collect();
        // What is more than a name was made here.
        if names.len() != 1 || given.calls {
            return Some((hops + 1, names));
        }
    }
    None
}
