//! Cuts a plan to its budget: what matters most comes first and in full, what
//! matters less as its lines of interest, and nothing beyond the budget.

use super::card::cards;
use super::render::{file_section, render};
use super::{Context, Plan, Wanted, tokens_of};
use crate::engine::Engine;
use crate::snippet::{Snippet, Tier};

/// A function with at most this weight is not worth its tokens.
const FLOOR: f64 = 0.12;
/// What weighs at least this much is taken although there is enough.
const MATTERS: f64 = 0.6;
/// Bodies up to this many lines are shown in full when they matter most.
const FULL_BODY: usize = 160;
/// The same for what matters less.
const LESSER_BODY: usize = 80;

pub(super) fn pack(engine: &Engine, plan: &Plan, budget: usize) -> Context {
    let mut context = Context {
        intent: plan.intent.clone(),
        confidence: plan.confidence,
        stack: plan.stack.clone(),
        ..Context::default()
    };
    let for_cards = (budget as f64 * plan.card_share) as usize;
    let frame = tokens_of(&render(&context)) + 24;
    let mut used = frame;
    let for_code = budget.saturating_sub(for_cards);
    for wanted in &plan.wanted {
        if wanted.weight < FLOOR || (used >= plan.enough && wanted.weight < MATTERS) {
            continue;
        }
        let Some(snippet) = fitting(engine, wanted, for_code.saturating_sub(used)) else {
            continue;
        };
        used += tokens_of(&file_section(&snippet));
        context.snippets.push(snippet);
    }
    let left = budget.saturating_sub(used).min(for_cards);
    context.definitions = cards(engine, &context.snippets, &plan.wanted, left);
    context.tokens = tokens_of(&render(&context));
    context
}

/// The fullest form of a function that fits.
fn fitting(engine: &Engine, wanted: &Wanted, left: usize) -> Option<Snippet> {
    let full = if wanted.weight >= MATTERS {
        FULL_BODY
    } else {
        LESSER_BODY
    };
    [full, full / 2, 40, 12]
        .into_iter()
        .filter_map(|limit| cut(engine, wanted, limit))
        .find(|snippet| tokens_of(&file_section(snippet)) <= left)
}

fn cut(engine: &Engine, wanted: &Wanted, limit: usize) -> Option<Snippet> {
    let symbol = &wanted.symbol;
    let text = engine.tree().read(&symbol.path).ok()?;
    let long = (symbol.end_line - symbol.start_line) as usize >= limit;
    let ranges = if long && symbol.kind.is_type() {
        engine.member_ranges(&text, symbol)
    } else {
        engine.body_ranges(&text, symbol, &wanted.lines, limit)
    };
    let snippet = Snippet::cut(&symbol.path, &text, &ranges, Tier::High)?;
    Some(
        snippet
            .with_symbols([symbol.qualified()])
            .with_note(wanted.why.clone()),
    )
}
