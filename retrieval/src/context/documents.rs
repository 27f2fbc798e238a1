//! Documentation card: what the tree's own documentation says of a request, one
//! paragraph that names it. Code comes first, so this is a card among others,
//! within what they left of their budget.

use super::form::size_of;
use super::{Card, Form, Wanted};
use crate::engine::Engine;
use crate::engine::documents::{LINES, LONGEST, documents};
use crate::snippet::line;
use crate::words::{Beginnings, stems_of};
use memchr::memmem;
use patchwright_source::{Text, TreePath};
use std::collections::BTreeSet;

/// Limit on how many of them are read, those named like what is looked for first.
const READ: usize = 40;
/// Least weight of a definition that is looked up.
const MATTERS: f64 = 0.6;

/// A paragraph about the first of what matters that the documentation names.
pub(super) fn card(engine: &Engine, wanted: &[Wanted], budget: usize) -> Option<Card> {
    let documents = documents(engine);
    let matters = wanted.iter().take_while(|one| one.weight >= MATTERS);
    matters
        .take(2)
        .filter_map(|one| about(engine, &documents, &one.symbol.name))
        .find(|card| size_of(card) <= budget)
}

fn about(engine: &Engine, documents: &[&TreePath], name: &str) -> Option<Card> {
    let words = BTreeSet::from_iter(stems_of(name));
    let beginnings = Beginnings::of(&words);
    let alike = |path: &TreePath| {
        if !beginnings.may_be_in(path.as_str()) {
            return 0;
        }
        let parts = stems_of(path.as_str());
        parts.iter().filter(|part| words.contains(*part)).count()
    };
    let mut nearest: Vec<(usize, &TreePath)> =
        documents.iter().map(|path| (alike(path), *path)).collect();
    nearest.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    nearest.into_iter().take(READ).find_map(|(_, path)| {
        let text = engine.text(path).ok()?;
        let count = u32::try_from(text.line_count()).ok()?;
        let absent = name.is_ascii() && memmem::find(text.bytes(), name.as_bytes()).is_none();
        if absent || text.line_count() > LONGEST {
            return None;
        }
        let hit = (1..=count).find(|number| names(&line(&text, *number), name))?;
        let (first, last) = paragraph(&text, hit, count);
        let shown: String = (first..=last)
            .map(|number| format!("{}\n", line(&text, number).trim_end()))
            .collect();
        Some(Card {
            form: Form::Full,
            kind: "documentation".to_owned(),
            name: name.to_owned(),
            place: format!("{path}:{first}-{last}"),
            text: shown,
            why: None,
        })
    })
}

/// Returns whether a line holds a name as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + name.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(continues) && !after.is_some_and(continues)
    })
}

/// The lines around one up to the next that are empty; after a heading those
/// that follow it.
fn paragraph(text: &Text, hit: u32, count: u32) -> (u32, u32) {
    let empty = |number: u32| line(text, number).trim().is_empty();
    let mut first = hit;
    while first > 1 && hit - first < LINES / 2 && !empty(first - 1) {
        first -= 1;
    }
    let mut last = hit;
    while last < count && last - first + 1 < LINES && !(empty(last + 1) && last > first) {
        last += 1;
    }
    (first, last)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        for (text, name, expected) in [
            ("call `read_row(p)` first", "read_row", true),
            ("read_rows and pread_row", "read_row", false),
            ("Größe read_row", "read_row", true),
            ("", "read_row", false),
        ] {
            assert_eq!(names(text, name), expected, "{text}");
        }
    }
}
