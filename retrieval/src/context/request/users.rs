//! Users of what a request is about: its callers for who asks for uses or renames, and the tests
//! that call it for who writes tests.

use crate::context::Wanted;
use crate::context::picks::Picks;
use crate::engine::Engine;
use crate::error::Result;
use crate::intent::Intent;
use crate::rank::is_aside;

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
        match intent {
            Intent::UsageExploration | Intent::Refactor => add_callers(engine, one, picks)?,
            Intent::TestWriting => add_tests(engine, one, picks)?,
            _ => {}
        }
    }
    Ok(())
}

/// Adds who calls it, product code first.
fn add_callers(engine: &Engine, one: &Wanted, picks: &mut Picks) -> Result<()> {
    let mut calls = engine.index.callers(&one.symbol.name, 1, USERS)?;
    calls.sort_by_key(|call| (is_aside(&call.path), call.path != one.symbol.path));
    let why = format!("calls {}", one.symbol.name);
    for (rank, call) in calls.into_iter().take(SHOWN_USERS).enumerate() {
        if let Some(caller) = call.caller {
            let weight = engine.ranking.request.user * (1.0 - rank as f64 / 10.0);
            picks.add_brief(&caller, (weight, USER_LINES), &call.lines, &why);
        }
    }
    Ok(())
}

/// Adds the tests that use it.
fn add_tests(engine: &Engine, one: &Wanted, picks: &mut Picks) -> Result<()> {
    let uses = engine.index.references(&one.symbol.name)?;
    let places = uses.into_iter().filter(|place| is_aside(&place.path));
    let tests = engine.functions_at(places.take(USERS).map(|place| (place.path, place.line)))?;
    let why = format!("a test that uses {}", one.symbol.name);
    for (rank, (test, lines)) in tests.into_iter().take(SHOWN_USERS).enumerate() {
        let weight = engine.ranking.request.user * (1.0 - rank as f64 / 10.0);
        picks.add_brief(&test, (weight, USER_LINES), &lines, &why);
    }
    Ok(())
}
