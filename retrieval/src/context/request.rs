//! What a request in words calls for: what it names exactly, what it nearly
//! names, what speaks of the same things, and who uses that.

mod exact;
mod harness;
mod likely;
mod related;

pub(crate) use harness::headline;

use super::crash::stack_lines;
use super::{Plan, Wanted};
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::engine::lookup::or_nothing;
use crate::intent::{Intent, detect, is_to_do, said_by_intent};
use crate::rank::is_aside;
use crate::symbol::Symbol;
use crate::words::{meaningful, split_words, stem};
use std::collections::BTreeMap;

/// Tokens after which only what matters much is still taken. Answers get
/// worse with length, and a request names few things.
const ENOUGH: usize = 800;
/// The same when a harness saw what is wrong: much may have led there.
const ENOUGH_FROM_HARNESS: usize = 2_700;
/// How many of what was chosen are followed to what belongs to them.
const FOLLOWED: usize = 5;
/// How many callers and tests are looked at.
const USERS: usize = 60;
/// Lines of each of them.
const USER_LINES: usize = 16;
/// How many of them are shown.
const SHOWN_USERS: usize = 6;

pub(super) fn plan(engine: &Engine, text: &str, located: &[Located]) -> Plan {
    let (intent, confidence) = detect(text);
    let mut picks = Picks::default();
    let spoken = if located.is_empty() {
        text.to_owned()
    } else {
        harness::add(engine, located, &mut picks);
        harness::headline(text)
    };
    if picks.is_empty() {
        exact::add(engine, &spoken, &mut picks);
    }
    // Who asks for one thing by its name wants nothing that merely sounds like it.
    let by_name = matches!(intent, Intent::DefinitionLookup | Intent::UsageExploration)
        && picks.heaviest(1).iter().any(|one| one.weight >= 0.9);
    let mut heads = Vec::new();
    if !by_name {
        heads = likely::add(engine, &spoken, intent, &mut picks);
    }
    let primary = picks.heaviest(FOLLOWED);
    match intent {
        Intent::UsageExploration | Intent::Refactor => add_callers(engine, &primary, &mut picks),
        Intent::TestWriting => add_tests(engine, &primary, &mut picks),
        _ => {}
    }
    if !by_name {
        related::add(engine, &primary, &asked_for(&spoken, intent), &mut picks);
    }
    if picks.is_empty() {
        likely::safety_net(engine, &spoken, &mut picks);
    }
    Plan {
        intent: intent.as_str().to_owned(),
        confidence,
        stack: stack_lines(located),
        wanted: picks.into_wanted(),
        heads,
        enough: if located.is_empty() {
            ENOUGH
        } else {
            ENOUGH_FROM_HARNESS
        },
        card_share: f64::from(intent.shares().imports) / 100.0,
        with_documents: intent.wants_documents(),
    }
}

/// The stems of a request that say what it is about: what shall be done with
/// that is told by the intent.
fn asked_for(text: &str, intent: Intent) -> Vec<String> {
    let mut stems = meaningful(text);
    let told: Vec<String> = said_by_intent(intent).map(stem).collect();
    let about: Vec<String> = stems
        .iter()
        .filter(|stem| !told.contains(stem))
        .cloned()
        .collect();
    if about.is_empty() {
        return stems;
    }
    // A request that begins with what to do says nothing of code by it.
    let first = split_words(text).into_iter().next().unwrap_or_default();
    stems = about;
    if stems.len() > 2 && is_to_do(&first) && stems.first() == Some(&stem(&first)) {
        stems.remove(0);
    }
    stems
}

/// What was chosen, by number, each at its highest weight.
#[derive(Debug, Default)]
pub(super) struct Picks(BTreeMap<i64, Wanted>);

impl Picks {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, symbol: &Symbol, weight: f64, lines: &[u32], why: &str) {
        self.add_brief(symbol, (weight, 0), lines, why);
    }

    /// Adds a definition of which at most so many lines shall be shown.
    fn add_brief(
        &mut self,
        symbol: &Symbol,
        (weight, body): (f64, usize),
        lines: &[u32],
        why: &str,
    ) {
        let wanted = self.0.entry(symbol.id).or_insert_with(|| Wanted {
            symbol: symbol.clone(),
            weight: 0.0,
            lines: Vec::new(),
            body,
            why: why.to_owned(),
        });
        if weight > wanted.weight {
            wanted.weight = weight;
            wanted.body = body;
            why.clone_into(&mut wanted.why);
        }
        wanted.lines.extend(lines);
    }

    fn heaviest(&self, count: usize) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = self.0.values().cloned().collect();
        sort(&mut all);
        all.truncate(count);
        all
    }

    fn into_wanted(self) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = self.0.into_values().collect();
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

/// Who calls what the request is about, product code first.
fn add_callers(engine: &Engine, primary: &[Wanted], picks: &mut Picks) {
    for one in primary.iter().filter(|one| one.weight >= 0.6) {
        let mut calls = or_nothing(engine.index.callers(&one.symbol.name, 1, USERS));
        calls.sort_by_key(|call| (is_aside(&call.path), call.path != one.symbol.path));
        for (rank, call) in calls.into_iter().take(SHOWN_USERS).enumerate() {
            if let Some(caller) = call.caller {
                let weight = 0.34 - 0.03 * rank as f64;
                let why = format!("calls {}", one.symbol.name);
                picks.add_brief(&caller, (weight, USER_LINES), &call.lines, &why);
            }
        }
    }
}

/// The tests that use what the request is about.
fn add_tests(engine: &Engine, primary: &[Wanted], picks: &mut Picks) {
    for one in primary.iter().filter(|one| one.weight >= 0.6) {
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
                picks.add_brief(&test, (weight, USER_LINES), &[place.line], &why);
            }
        }
    }
}
