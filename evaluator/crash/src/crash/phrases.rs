//! Tables of phrases: a line for each value, `value: phrase|phrase`, in the order in which
//! they are tried.

/// Returns the value of the first phrase that holds.
pub(super) fn find(table: &'static str, holds: impl Fn(&str) -> bool) -> Option<&'static str> {
    table.lines().find_map(|row| {
        let (value, phrases) = row.split_once(": ")?;
        let mut phrases = phrases.split('|').filter(|phrase| !phrase.is_empty());
        phrases.any(&holds).then_some(value)
    })
}
