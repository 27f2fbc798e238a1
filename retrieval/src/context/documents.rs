//! What the tree's own documentation says of what a request is about: one
//! paragraph that names it. Code comes first, so this is a card among others,
//! within what they left of their budget.

use super::form::size_of;
use super::{Card, Form, Wanted};
use crate::engine::Engine;
use crate::snippet::line;
use crate::words::{Beginnings, stems_of};
use memchr::memmem;
use patchwright_source::{Text, TreePath};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Endings of files that people write for readers.
const ENDINGS: [&str; 6] = ["md", "rst", "adoc", "pod", "txt", "markdown"];
/// How many of them are read, those named like what is looked for first.
const READ: usize = 40;
/// Longer ones are logs and lists.
const LONGEST: usize = 20_000;
/// Lines of the paragraph that are shown.
const LINES: u32 = 10;
/// What a word counts that every definition has.
const LEAST_RARE: f64 = 0.1;
/// What a definition must weigh to be looked up.
const MATTERS: f64 = 0.6;

/// What a paragraph must say of the words that are looked for, by their rarity.
const COVERED: f64 = 0.6;

/// A paragraph of the documentation and how much of some words it says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paragraph {
    pub(crate) path: TreePath,
    pub(crate) first: u32,
    pub(crate) last: u32,
    covered: f64,
}

/// The files that people write for readers.
fn documents(engine: &Engine) -> Vec<&TreePath> {
    let files = engine.files().iter();
    files
        .filter(|path| path.extension().is_some_and(|end| ENDINGS.contains(&end)))
        // The one list of that ending that programs read.
        .filter(|path| path.file_name() != "CMakeLists.txt")
        .collect()
}

/// The paragraphs that say most of some words, at most one of each file.
pub(crate) fn paragraphs(engine: &Engine, stems: &[String], limit: usize) -> Vec<Paragraph> {
    let rarities = engine.rarities(stems);
    let weights: Vec<f64> = rarities.iter().map(|rarity| rarity + LEAST_RARE).collect();
    let whole: f64 = weights.iter().sum();
    let words = BTreeSet::from_iter(stems.iter().cloned());
    let beginnings = Beginnings::of(&words);
    let best = |path: &TreePath| {
        let text = engine.tree().read(path).ok()?;
        let lines = u32::try_from(text.line_count()).ok()?;
        if text.line_count() > LONGEST || text.is_binary() {
            return None;
        }
        let covered = |(first, last): (u32, u32)| {
            let words: String = (first..=last)
                .map(|number| line(&text, number) + " ")
                .collect();
            if !beginnings.may_be_in(&words) {
                return 0.0;
            }
            let found = BTreeSet::from_iter(stems_of(&words));
            let said = stems
                .iter()
                .zip(&weights)
                .filter(|(stem, _)| found.contains(*stem));
            said.map(|(_, weight)| weight).sum::<f64>() / whole
        };
        let scored = blocks(&text, lines)
            .into_iter()
            .map(|block| (covered(block), block));
        let (covered, (first, last)) =
            scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        (covered >= COVERED).then(|| Paragraph {
            path: path.clone(),
            first,
            last,
            covered,
        })
    };
    let mut found: Vec<Paragraph> = documents(engine).into_par_iter().filter_map(best).collect();
    found.sort_by(|a, b| {
        b.covered
            .total_cmp(&a.covered)
            .then_with(|| a.path.cmp(&b.path))
    });
    found.truncate(limit);
    found
}

/// The paragraphs of a text, each with the heading right before it.
fn blocks(text: &Text, count: u32) -> Vec<(u32, u32)> {
    let mut blocks: Vec<(u32, u32)> = Vec::new();
    let mut open: Option<u32> = None;
    let mut heading = false;
    for number in 1..=count {
        let row = line(text, number);
        if row.trim().is_empty() {
            if !heading && let Some(first) = open.take() {
                blocks.push((first, number - 1));
            }
            continue;
        }
        let first = *open.get_or_insert(number);
        heading = row.starts_with(['#', '=']) && number == first;
        if number - first + 1 >= LINES {
            blocks.push((first, number));
            open = None;
        }
    }
    blocks.extend(open.map(|first| (first, count)));
    blocks
}

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

/// Whether a line holds a name as a word of its own.
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
    use super::{blocks, names};
    use patchwright_source::Text;

    #[test]
    fn a_heading_belongs_to_its_paragraph() {
        let text = Text::new(b"# One\n\na\nb\n\n\nc\n## Two\nd\n".to_vec());
        assert_eq!(blocks(&text, 9), [(1, 4), (7, 9)]);
    }

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
