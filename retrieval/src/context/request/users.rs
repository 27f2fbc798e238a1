//! Users of what a request is about: its callers and the tests that call it.
//! The intent's shares of the budget say how much of them is wanted: a
//! large one shows their code, a small one a card each, none nothing.

use crate::context::budget::Part;
use crate::context::picks::Picks;
use crate::context::{Form, Mention, Wanted};
use crate::engine::Engine;
use crate::error::or_nothing;
use crate::intent::Shares;
use crate::rank::is_aside;
use crate::symbol::Call;

/// Limit on how many callers and tests are looked at.
const USERS: usize = 60;
/// Lines of each of them.
const USER_LINES: usize = 16;
/// Limit on how many of them are shown.
const SHOWN_USERS: usize = 6;
/// Least weight of a definition whose users are looked up.
const MATTERS: f64 = 0.6;
/// From this share on, in hundredths, users come as code.
const AS_CODE: u32 = 30;
/// The share that brings one card.
const PER_CARD: u32 = 10;

/// Adds callers and tests as far as the shares want them.
pub(super) fn add(
    engine: &Engine,
    primary: &[Wanted],
    shares: Shares,
    (picks, mentions): (&mut Picks, &mut Vec<Mention>),
) {
    let primary: Vec<&Wanted> = primary.iter().filter(|one| one.weight >= MATTERS).collect();
    for one in &primary {
        if shares.callers >= AS_CODE {
            add_callers(engine, one, picks);
        }
        if shares.tests >= AS_CODE {
            add_tests(engine, one, picks);
        }
    }
    let cards = |share: u32| match share {
        AS_CODE.. => 0,
        share => share.div_ceil(PER_CARD) as usize,
    };
    // Cards are few: only those of what the request is about first of all.
    let Some(first) = primary.first() else { return };
    let wanted = (cards(shares.callers), cards(shares.tests));
    if wanted != (0, 0) {
        mention(engine, first, wanted, mentions);
    }
}

/// Returns who calls it, product code first.
fn add_callers(engine: &Engine, one: &Wanted, picks: &mut Picks) {
    let calls = in_order(engine, one).into_iter();
    for (rank, call) in calls.take(SHOWN_USERS).enumerate() {
        if let Some(caller) = call.caller {
            let weight = 0.34 - 0.03 * rank as f64;
            let why = format!("calls {}", one.symbol.name);
            let said = (&call.lines[..], why.as_str());
            picks.add_to(Part::Callers, &caller, (weight, USER_LINES), said);
        }
    }
}

fn in_order(engine: &Engine, one: &Wanted) -> Vec<Call> {
    let mut calls = or_nothing(engine.index.callers(&one.symbol.name, 1, USERS));
    calls.sort_by_key(|call| (is_aside(&call.path), call.path != one.symbol.path));
    calls
}

/// The tests that use it.
fn add_tests(engine: &Engine, one: &Wanted, picks: &mut Picks) {
    let uses = or_nothing(engine.index.references(&one.symbol.name));
    let tests = uses
        .iter()
        .filter(|place| is_aside(&place.path))
        .take(USERS);
    let mut shown = 0_u32;
    for place in tests {
        if shown as usize >= SHOWN_USERS {
            break;
        }
        let around = engine.index.enclosing_function(&place.path, place.line);
        if let Some(test) = or_nothing(around) {
            shown += 1;
            let why = format!("a test that uses {}", one.symbol.name);
            let weight = 0.4 - 0.03 * f64::from(shown);
            let said = (&[place.line][..], why.as_str());
            picks.add_to(Part::Tests, &test, (weight, USER_LINES), said);
        }
    }
}

/// Mentions so many callers and tests.
fn mention(
    engine: &Engine,
    one: &Wanted,
    (callers, tests): (usize, usize),
    mentions: &mut Vec<Mention>,
) {
    let name = &one.symbol.name;
    let mut left = [
        (Part::Callers, callers, format!("calls {name}")),
        (Part::Tests, tests, format!("a test of {name}")),
    ];
    for call in in_order(engine, one) {
        let Some(caller) = call.caller.filter(|caller| caller.id != one.symbol.id) else {
            continue;
        };
        let wanted = usize::from(is_aside(&caller.path));
        if let Some((part, left, why)) = left.get_mut(wanted)
            && *left > 0
        {
            *left -= 1;
            mentions.push(Mention {
                symbol: caller,
                part: *part,
                fullest: Form::Compact,
                why: why.clone(),
            });
        }
    }
}
