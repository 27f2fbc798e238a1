//! Additions to the functions of a crash that signals prefer.

use super::{Request, Wanted};
use crate::engine::Engine;
use crate::error::Result;

/// Limit on how many functions that only signals name go into the context of a crash,
/// and how much the first of them matters.
const BESIDE_STACK: usize = 3;
const BESIDE_WEIGHT: f64 = 0.3;
/// Limit on how many functions of a stack say what a crash is about.
const TOLD: usize = 4;

/// The lines of a report that say what was found.
fn headline(text: &str) -> String {
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

impl Engine {
    /// The words that a context is searched by: the request's own, or what a
    /// crash report says and the functions on its stack.
    pub fn words_of(&self, request: &Request) -> Result<String> {
        let located = self.locate(&request.frames)?;
        if located.is_empty() {
            return Ok(request.text.clone());
        }
        let mut words = headline(&request.text);
        if located.iter().any(|place| !place.is_harness) {
            for place in located.iter().take(TOLD) {
                words.push('\n');
                words.push_str(&place.symbol.qualified());
            }
        }
        Ok(words)
    }

    /// Returns what signals add to the functions of a crash.
    pub(crate) fn beside_stack(&self, request: &Request, wanted: &[Wanted]) -> Result<Vec<Wanted>> {
        if !self.has_preferences() {
            return Ok(Vec::new());
        }
        let mut order = self.preferred(&self.words_of(request)?).unwrap_or_default();
        order.retain(|id| wanted.iter().all(|one| one.symbol.id != *id));
        let mut preferred = self.symbols(order)?;
        preferred.retain(|symbol| symbol.kind.is_callable());
        let ranked = preferred.into_iter().take(BESIDE_STACK).enumerate();
        let added = ranked.map(|(rank, symbol)| {
            let weight = BESIDE_WEIGHT - 0.01 * rank as f64;
            Wanted::new(symbol, weight, "fits the words of the report")
        });
        Ok(added.collect())
    }
}
