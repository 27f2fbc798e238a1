//! Users of what a request is about: its callers for who asks for uses or renames, and the tests
//! that call it for who writes tests.

use crate::context::{Picks, Wanted};
use crate::engine::Engine;
use crate::error::Result;
use crate::intent::Intent;
use crate::rank::is_aside;
use crate::symbol::Symbol;

/// Limit on how many callers and tests are looked at.
const USERS: usize = 60;
/// Lines of each of them.
const USER_LINES: usize = 16;
/// Limit on how many of them are shown.
const SHOWN_USERS: usize = 6;

/// Adds callers and tests where the intent asks for them.
pub(super) fn add(
    engine: &Engine,
    primary: &[Wanted],
    intent: Intent,
    picks: &mut Picks,
) -> Result<()> {
    let matters = engine.ranking.packing.matters;
    for one in primary.iter().filter(|one| one.weight >= matters) {
        let name = &one.symbol.name;
        let (users, why) = match intent {
            Intent::UsageExploration | Intent::Refactor => {
                (callers(engine, one)?, format!("calls {name}"))
            }
            Intent::TestWriting => (tests(engine, one)?, format!("a test that uses {name}")),
            _ => return Ok(()),
        };
        for (rank, (user, lines)) in users.into_iter().take(SHOWN_USERS).enumerate() {
            let weight = engine.ranking.request.user * (1.0 - rank as f64 / 10.0);
            if let Some(user) = user {
                picks.add_brief(&user, (weight, USER_LINES), &lines, &why);
            }
        }
    }
    Ok(())
}

/// A function that uses something, where its place is in one, and its lines that do.
type User = (Option<Symbol>, Vec<u32>);

/// Those who call it, product code first.
fn callers(engine: &Engine, one: &Wanted) -> Result<Vec<User>> {
    let mut calls = engine.index.callers(&one.symbol.name, 1, USERS)?;
    calls.sort_by_key(|call| (is_aside(&call.path), call.path != one.symbol.path));
    let callers = calls.into_iter().map(|call| (call.caller, call.lines));
    Ok(callers.collect())
}

/// The tests that use it.
fn tests(engine: &Engine, one: &Wanted) -> Result<Vec<User>> {
    let uses = engine.index.references(&one.symbol.name)?;
    let places = uses.into_iter().filter(|place| is_aside(&place.path));
    let tests = engine.functions_at(places.take(USERS).map(|place| (place.path, place.line)))?;
    let tests = tests.into_iter().map(|(test, lines)| (Some(test), lines));
    Ok(tests.collect())
}
