//! Answers to `flow` and `search`: where values move, and what speaks of the
//! words asked for.

use super::Engine;
use crate::answer::{Answer, Answered, Hit, Miss};
use crate::engine::documents::paragraphs;
use crate::flow::{Direction, FlowStep};
use crate::rank::is_aside;
use crate::snippet::{Tier, line};
use crate::symbol::{Symbol, sort_scored};
use crate::words::meaningful;

/// Limit on how many of the best hits of a search are shown with their body.
const WITH_BODY: usize = 3;
/// Longer bodies are shown by their signature all the same.
const SHORT_BODY: u32 = 40;
/// Limit on how many hits a search ranks.
const RANKED: usize = 64;
/// Weight of a test relative to product code.
const ASIDE: f64 = 0.6;

impl Engine {
    pub(super) fn answer_flow(&self, mut answer: Answer, expression: &str) -> Answered {
        let steps = self.index.flow(expression, &self.near.functions)?;
        if steps.is_empty() {
            let what = format!(
                "no value moves to or from {expression}; name the function too, as in f: {expression}"
            );
            return Err(Miss::nothing(what));
        }
        for (direction, title) in [
            (Direction::Origin, "where it comes from:"),
            (Direction::Use, "where it goes to:"),
        ] {
            let steps = steps.iter().filter(|step| step.direction == direction);
            let lines: Vec<String> = steps.map(|step| self.step_line(step)).collect();
            if !lines.is_empty() {
                answer.listing.push(title.to_owned());
            }
            answer.listing.extend(lines);
        }
        answer.total = steps.len();
        answer.shown = steps.len();
        Ok(answer)
    }

    fn step_line(&self, step: &FlowStep) -> String {
        let indent = "  ".repeat(step.depth.min(8) as usize);
        let text = self.tree().read(&step.path);
        let code = text.map(|text| line(&text, step.line)).unwrap_or_default();
        format!(
            "{indent}{}:{} in {}: {} -> {} ({})   {}",
            step.path,
            step.line,
            step.function,
            step.from,
            step.to,
            step.kind,
            code.trim()
        )
    }

    pub(super) fn answer_search(&self, answer: Answer, words: &str) -> Answered {
        let stems = meaningful(words);
        if stems.is_empty() {
            let reason = "these words say nothing about code; write what the code deals with";
            return Err(Miss::Bad(reason.to_owned()));
        }
        let mut ranked = self.scored_symbols(&self.ranked(words, RANKED)?)?;
        for (score, symbol) in &mut ranked {
            *score *= if is_aside(&symbol.path) { ASIDE } else { 1.0 };
        }
        let documents = paragraphs(self, &stems)?;
        if ranked.is_empty() && documents.is_empty() {
            let what = "no definition speaks of any of these words, and no documentation";
            return Err(Miss::nothing(what));
        }
        sort_scored(&mut ranked);
        let ranked = self.with_signals(words, ranked)?;
        let hits = ranked.iter().enumerate();
        let hits = hits.map(|(rank, (_, symbol))| self.searched(rank, symbol));
        let mut hits: Vec<Hit> = hits.collect();
        let after = WITH_BODY.min(hits.len());
        hits.splice(after..after, documents);
        self.with_hits(answer, hits, Tier::Medium)
    }

    fn searched(&self, rank: usize, symbol: &Symbol) -> Hit {
        let mut hit = self.head_hit(symbol, None);
        if rank < WITH_BODY && symbol.end_line - symbol.start_line < SHORT_BODY {
            hit.ranges = vec![(symbol.start_line, symbol.end_line)];
        }
        hit
    }
}
