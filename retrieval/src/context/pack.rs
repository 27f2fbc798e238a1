//! Packing of a plan into its budget: what matters most comes first and in full, what
//! matters less as its lines of interest, and nothing beyond the budget.

use super::card::{further_heads, named, unshown};
use super::form::size_of;
use super::render::file_section;
use super::{COMMENT, Context, Plan, Wanted, tokens_of};
use crate::engine::Engine;
use crate::engine::outline::body_ranges;
use crate::error::Result;
use crate::ranking::PackingWeights;
use crate::slice::slice;
use crate::snippet::{Lines, Snippet, with_comment};
use crate::symbol::Symbol;
use patchwright_source::Text;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// Share of the budget that is kept for cards, in hundredths.
pub(super) const CARDS: usize = 30;
/// Lines that the head of a definition may go on after its name.
const HEAD: u32 = 4;

/// Packs a plan into a budget.
pub(super) fn pack(engine: &Engine, plan: &Plan, budget: usize) -> Result<Context> {
    let mut context = Context {
        intent: plan.intent.clone(),
        confidence: plan.confidence,
        stack: plan.stack.clone(),
        ..Context::default()
    };
    let frame = tokens_of(&context.render()) + 24;
    let tokens = budget.saturating_sub(frame);
    let kept = tokens * CARDS / 100;
    let mut code = Code {
        engine,
        order: by_worth(plan, engine.ranking.packing),
        taken: BTreeMap::new(),
        used: frame,
        left: tokens - kept,
        enough: plan.enough,
    };
    code.take()?;
    let named = named(engine, &code.snippets(), &plan.wanted, kept + code.left)?;
    let size: usize = named.iter().map(|(_, card)| size_of(card)).sum();
    // What the cards left lets in what there was no room for.
    code.left = (kept + code.left).saturating_sub(size);
    code.take()?;
    context.snippets = code.snippets();
    for snippet in further_heads(engine, &plan.heads, &context.snippets) {
        let size = section_size(&snippet);
        if size <= code.left {
            code.left -= size;
            context.snippets.push(snippet);
        }
    }
    context.definitions = unshown(named, &context.snippets);
    context.tokens = tokens_of(&context.render());
    Ok(context)
}

/// The code of a plan, as far as there is room.
struct Code<'p> {
    engine: &'p Engine,
    /// Candidates that may still be taken, by falling weight, each with its place in the
    /// plan.
    order: Vec<(usize, &'p Wanted)>,
    taken: BTreeMap<usize, (usize, Snippet)>,
    /// Tokens that are used.
    used: usize,
    /// Tokens that may still be used.
    left: usize,
    /// Tokens after which only what matters much is still taken.
    enough: f64,
}

impl Code<'_> {
    /// Takes what fits.
    fn take(&mut self) -> Result<()> {
        for (index, wanted) in std::mem::take(&mut self.order) {
            let have = self.taken.get(&index).map_or(0, |(size, _)| *size);
            if have == 0 && !wanted.kept && wanted.weight < self.wants() {
                continue;
            }
            let (snippet, is_whole) = fitting(self.engine, wanted, self.left + have)?;
            if !is_whole {
                self.order.push((index, wanted));
            }
            let size = snippet.as_ref().map_or(0, section_size);
            if let Some(snippet) = snippet.filter(|_| size > have) {
                self.left -= size - have;
                self.used += size - have;
                self.taken.insert(index, (size, snippet));
            }
        }
        Ok(())
    }

    /// Returns what something must weigh to be taken still.
    fn wants(&self) -> f64 {
        let weights = self.engine.ranking.packing;
        match self.used as f64 / self.enough {
            full if full < 1.0 => weights.floor,
            full if full < weights.stretch => weights.likely,
            _ => weights.matters,
        }
    }

    /// Returns what was taken, in the order of the plan.
    fn snippets(&self) -> Vec<Snippet> {
        let taken = self.taken.values();
        taken.map(|(_, snippet)| snippet.clone()).collect()
    }
}

/// Returns what to take first: what matters most, then what is shown whatever it weighs, then
/// the rest by weight.
fn by_worth(plan: &Plan, weights: PackingWeights) -> Vec<(usize, &Wanted)> {
    let rank = |one: &Wanted| (one.weight >= weights.matters, one.kept);
    let all = plan.wanted.iter().enumerate();
    let mut all: Vec<(usize, &Wanted)> = all
        .filter(|(_, one)| one.kept || one.weight >= weights.floor)
        .collect();
    all.sort_by(|(_, a), (_, b)| {
        let by_rank = rank(b).cmp(&rank(a));
        by_rank.then(b.weight.total_cmp(&a.weight))
    });
    all
}

/// Returns how many lines of a definition are shown. One whose lines of interest are known is shown
/// around them by what it weighs.
fn full_body(weights: PackingWeights, wanted: &Wanted) -> usize {
    if wanted.body > 0 {
        wanted.body
    } else if wanted.lines.is_empty() {
        weights.body as usize
    } else {
        let share = wanted.weight.clamp(0.0, 1.0);
        (weights.body * share).max(weights.window) as usize
    }
}

/// The most of a function that fits, and whether that is all that is wanted.
fn fitting(engine: &Engine, wanted: &Wanted, left: usize) -> Result<(Option<Snippet>, bool)> {
    let full = full_body(engine.ranking.packing, wanted);
    for (number, limit) in [full, full / 2, 24, 12].into_iter().enumerate() {
        let snippet = cut(engine, wanted, limit)?;
        if let Some(snippet) = snippet.filter(|snippet| section_size(snippet) <= left) {
            return Ok((Some(snippet), number == 0));
        }
    }
    Ok((None, false))
}

fn section_size(snippet: &Snippet) -> usize {
    tokens_of(&file_section(snippet))
}

/// A definition in brief: its head, and the lines that matter most with those
/// around them. Of the comment above it what is short.
fn brief_ranges(text: &Text, wanted: &Wanted, limit: usize) -> Vec<Lines> {
    let symbol = &wanted.symbol;
    let (start, head) = head_of(text, symbol).into_inner();
    if (symbol.end_line - symbol.start_line) as usize <= limit {
        return vec![(start, symbol.end_line)];
    }
    let left = limit.saturating_sub((head - symbol.start_line) as usize) as u32;
    let around = left / (2 * wanted.lines.len().max(1) as u32);
    let mut ranges = vec![(start, head)];
    let hits = wanted.lines.iter();
    ranges.extend(hits.map(|line| symbol.around(*line, around, around)));
    ranges
}

/// A long function: its head, its lines of interest, and then the lines that these depend on or
/// that depend on them, the nearest first.
fn slice_ranges(engine: &Engine, text: &Text, wanted: &Wanted, limit: usize) -> Vec<Lines> {
    let symbol = &wanted.symbol;
    let distance = |line: u32| wanted.lines.iter().map(|one| one.abs_diff(line)).min();
    let mut order: Vec<Lines> = slice(engine, symbol, &wanted.lines).into_iter().collect();
    order.sort_by_key(|(line, step)| (*step, distance(*line)));
    let mut shown: BTreeSet<u32> = head_of(text, symbol).collect();
    let weights = engine.ranking.packing;
    if (limit as f64) < weights.body / 2.0 {
        // Where little is shown the comment above it is left out.
        shown.retain(|line| *line >= symbol.start_line);
    }
    let around = |line: u32, (before, behind): Lines| {
        let (first, last) = symbol.around(line, before, behind);
        first..=last
    };
    let most = u32::try_from(limit).unwrap_or(u32::MAX);
    let (before, behind) = (weights.before as u32, weights.behind as u32);
    let near = (before.min(most * 2 / 3), behind.min(most / 3));
    for (line, step) in order {
        if shown.len() >= limit && step > 0 {
            break;
        }
        shown.extend(around(line, if step == 0 { near } else { (1, 1) }));
    }
    // What room is left goes to the surroundings of the lines of interest.
    for wider in (before + 2..=most).step_by(2) {
        if shown.len() >= limit {
            break;
        }
        let wider = (wider, wider);
        shown.extend(wanted.lines.iter().flat_map(|line| around(*line, wider)));
    }
    shown.into_iter().map(|line| (line, line)).collect()
}

/// The lines of a function's head, and of the comment above it where that is short.
fn head_of(text: &Text, symbol: &Symbol) -> RangeInclusive<u32> {
    let commented = with_comment(text, symbol.start_line);
    let is_short = symbol.start_line - commented <= COMMENT;
    let body = symbol.body_line.unwrap_or(symbol.name_line);
    let last = body.clamp(symbol.name_line, symbol.name_line + HEAD);
    let first = if is_short {
        commented
    } else {
        symbol.start_line
    };
    first..=last
}

/// The functions of a type whose heads a snippet shows.
fn members_in(engine: &Engine, symbol: &Symbol, snippet: &Snippet) -> Result<Vec<String>> {
    let mut members = engine.index.members(symbol)?;
    members.retain(|member| member.kind.is_callable() && snippet.has_line(member.name_line));
    Ok(members.iter().map(Symbol::qualified).collect())
}

fn cut(engine: &Engine, wanted: &Wanted, limit: usize) -> Result<Option<Snippet>> {
    let symbol = &wanted.symbol;
    let Ok(text) = engine.text(&symbol.path) else {
        return Ok(None);
    };
    let long = (symbol.end_line - symbol.start_line) as usize >= limit;
    let ranges = if wanted.body > 0 {
        brief_ranges(&text, wanted, limit)
    } else if long && symbol.kind.is_type() {
        engine.member_ranges(&text, symbol)?
    } else if long && !wanted.lines.is_empty() {
        slice_ranges(engine, &text, wanted, limit)
    } else {
        body_ranges(&text, symbol, &wanted.lines, limit)
    };
    let Some(snippet) = Snippet::cut(&symbol.path, &text, &ranges, false) else {
        return Ok(None);
    };
    let mut shown = vec![symbol.qualified()];
    if symbol.kind.is_type() {
        shown.append(&mut members_in(engine, symbol, &snippet)?);
    }
    let mut why = wanted.why.clone();
    if snippet.end_line < symbol.end_line {
        let _ = write!(why, "; it goes on to line {}", symbol.end_line);
    }
    Ok(Some(snippet.with_symbols(shown).with_note(why)))
}
