//! Words for kinds of failures, as people say them.

use super::phrases;
use patchwright_source::{Pattern, built_in_regex};
use regex::Regex;
use std::sync::LazyLock;

/// Kinds that say little, and least at the end.
const GENERAL: &str = "SEGV|crash|uncaught-exception|race-condition|wrong-output";
static KIND_WORDS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let rows = phrases::rows("words of people");
    rows.map(|(kind, words)| (kind, built_in_regex(&format!("(?i){words}"))))
        .collect()
});
/// Words before a kind that deny it.
static DENIED: Pattern = Pattern::new(
    r"(?i)(?:\bno|\bnot|n't|without|instead of|rather than|\bnever|\bexpected|(?:looking|searching|checking) for)(?: \w+)?\W*$",
);

pub(super) fn vagueness(kind: &str) -> Option<usize> {
    GENERAL.split('|').position(|general| general == kind)
}

/// Tells whether a text ends with words that deny what comes behind it.
pub(super) fn is_denied(before: &str) -> bool {
    DENIED.is_match(before)
}

/// Returns the kind of failure that a text names first; a precise word beats a general one.
pub(super) fn kind(text: &str) -> Option<&'static str> {
    let denied = |at: usize| is_denied(text.get(..at).unwrap_or_default());
    let stated = |words: &Regex| {
        let mut found = words.find_iter(text).map(|found| found.start());
        found.find(|at| !denied(*at))
    };
    let kinds = KIND_WORDS.iter();
    let kinds = kinds.filter_map(|(kind, words)| Some((stated(words)?, *kind)));
    let first = kinds.min_by_key(|(at, kind)| (vagueness(kind), *at));
    first.map(|(_, kind)| kind)
}
