//! Additions to a plan: what signals prefer beside the functions of a crash, and what a reporter
//! names beside a log: functions, places, and the functions that hold quoted code.

use super::{Request, Wanted};
use crate::engine::Engine;
use crate::error::Result;
use crate::pattern::Haystack;
use crate::symbol::Symbol;
use crate::text::find_regex;

/// Limit on how many functions that only signals name go into the context of a crash,
/// and how much the first of them matters.
const BESIDE_STACK: usize = 3;
const BESIDE_WEIGHT: f64 = 0.3;
/// Limit on how many functions of a stack say what a crash is about.
const TOLD: usize = 4;
/// Limit on how many functions a reporter's words add.
const NAMED: usize = 6;
/// Limit on how many quoted lines are looked for.
const QUOTED: usize = 6;
/// A quoted line that more functions hold tells none of them.
const HOLDERS: usize = 3;

/// The lines of a report that say what was found.
fn headline(text: &str) -> String {
    let marks = ["Exception:", "ERROR:", "FuzzerSecurityIssue"];
    let lines = text.lines();
    let said: Vec<&str> = lines
        .filter(|line| marks.iter().any(|mark| line.contains(mark)))
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

    /// Returns the functions that the reporter names and that are not wanted yet.
    ///
    /// The first weighs as much as the frame below the top of a stack: reporters have read the
    /// code or ran a debugger, but a log says more.
    pub(crate) fn named_by_reporter(
        &self,
        request: &Request,
        wanted: &[Wanted],
    ) -> Result<Vec<Wanted>> {
        let places = self.locate(&request.named)?.into_iter();
        let places = places.filter(|place| !place.is_harness);
        let named = places.map(|place| (place.symbol, place.line, "named by the reporter"));
        let holders = self.holders(&request.quoted)?.into_iter();
        let quoted = holders.map(|(symbol, line)| (symbol, Some(line), "quoted by the reporter"));
        let mut added: Vec<Wanted> = Vec::new();
        for (symbol, line, why) in named.chain(quoted) {
            let is_same = |one: &Wanted| one.symbol.id == symbol.id;
            if added.len() < NAMED && !wanted.iter().chain(&added).any(is_same) {
                let below = 1.0 + added.len() as f64 / NAMED as f64;
                let weight = self.ranking.crash.next_frame.powf(below);
                let mut one = Wanted::new(symbol, weight, why);
                one.lines.extend(line);
                added.push(one);
            }
        }
        Ok(added)
    }

    /// Returns the functions that hold one of some lines of code, in whatever white space,
    /// where few do.
    fn holders(&self, quoted: &[String]) -> Result<Vec<(Symbol, u32)>> {
        let files = self.files_in(None);
        let haystack = Haystack::new(self.tree(), &files, &self.settings);
        let mut all = Vec::new();
        for line in quoted.iter().take(QUOTED) {
            let words: Vec<String> = line.split_whitespace().map(regex::escape).collect();
            let found = find_regex(&haystack, &words.join(r"\s+"));
            let mut holders: Vec<(Symbol, u32)> = Vec::new();
            let found = found.unwrap_or_default().found;
            for of_file in found.chunk_by(|one, other| one.0 == other.0) {
                for (path, number, _) in of_file.iter().take(HOLDERS + 1) {
                    let symbol = self.index.enclosing_function(path, *number)?;
                    holders.extend(symbol.map(|symbol| (symbol, *number)));
                }
            }
            holders.dedup_by_key(|(symbol, _)| symbol.id);
            if holders.len() <= HOLDERS {
                all.extend(holders);
            }
        }
        Ok(all)
    }
}
