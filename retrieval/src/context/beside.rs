//! Additions to the functions of a crash that signals prefer.

use super::{Request, Wanted};
use crate::engine::Engine;
use crate::error::or_nothing;

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
    pub fn words_of(&self, request: &Request) -> String {
        let located = self.locate(&request.frames);
        if located.is_empty() {
            return request.text.clone();
        }
        let mut words = headline(&request.text);
        if located.iter().any(|place| !place.is_harness) {
            for place in located.iter().take(TOLD) {
                words.push('\n');
                words.push_str(&place.symbol.qualified());
            }
        }
        words
    }

    /// Returns what signals add to the functions of a crash.
    pub(crate) fn beside_stack(&self, request: &Request, wanted: &[Wanted]) -> Vec<Wanted> {
        if !self.has_preferences() {
            return Vec::new();
        }
        let order = self.preferred(&self.words_of(request)).unwrap_or_default();
        let is_new = |id: &i64| wanted.iter().all(|one| one.symbol.id != *id);
        order
            .into_iter()
            .filter(is_new)
            .filter_map(|id| or_nothing(self.index.symbol(id)))
            .filter(|symbol| symbol.kind.is_callable())
            .take(BESIDE_STACK)
            .enumerate()
            .map(|(rank, symbol)| {
                let weight = BESIDE_WEIGHT - 0.01 * rank as f64;
                Wanted::new(symbol, weight, "fits the words of the report")
            })
            .collect()
    }
}
