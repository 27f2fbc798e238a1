//! Tables of phrases, in `phrases.txt`: a line for each value, `value: phrase|phrase`, in the
//! order in which they are tried.

use std::collections::BTreeMap;
use std::sync::LazyLock;

static TABLES: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let sections = include_str!("phrases.txt").split("\n[").skip(1);
    let sections = sections.filter_map(|section| section.split_once("]\n"));
    sections.collect()
});

/// Returns the rows of a table, each with its value.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    debug_assert!(TABLES.contains_key(table), "phrases.txt has no [{table}]");
    let rows = TABLES.get(table).copied().unwrap_or_default().lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_once(": "))
}

/// Returns the value of the first phrase that holds.
pub(crate) fn find(table: &str, holds: impl Fn(&str) -> bool) -> Option<&'static str> {
    rows(table).find_map(|(value, phrases)| {
        let mut phrases = phrases.split('|').filter(|phrase| !phrase.is_empty());
        phrases.any(&holds).then_some(value)
    })
}

/// Tells whether a word is a phrase of a table.
pub(crate) fn has(table: &str, word: &str) -> bool {
    find(table, |phrase| phrase == word).is_some()
}
