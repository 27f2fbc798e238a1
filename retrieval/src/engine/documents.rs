//! Documentation of a tree: the files that people write for readers, and the
//! paragraphs in them that say what somebody asks.

use super::Engine;
use crate::answer::Hit;
use crate::error::Result;
use crate::snippet::{Lines, line};
use crate::words::{may_say, stems_of};
use itertools::Itertools;
use patchwright_source::{Text, TreePath};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Endings of files that people write for readers.
const ENDINGS: [&str; 6] = ["md", "rst", "adoc", "pod", "txt", "markdown"];
/// Longer ones are logs and lists.
const LONGEST: usize = 20_000;
/// Lines of the paragraph that are shown.
const LINES: u32 = 10;
/// Weight of a word that every definition has.
const LEAST_RARE: f64 = 0.1;
/// Least share of the asked words, weighted by rarity, that a paragraph must contain.
const COVERED: f64 = 0.6;
/// Limit on how many paragraphs are shown, after the best definitions.
const MOST: usize = 2;

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
pub(super) fn paragraphs(engine: &Engine, stems: &[String]) -> Result<Vec<Hit>> {
    let rarities = engine.words.rarities(&engine.index, stems)?;
    let weights: Vec<f64> = rarities.iter().map(|rarity| rarity + LEAST_RARE).collect();
    let whole: f64 = weights.iter().sum();
    let found = documents(engine).into_par_iter().filter_map(|path| {
        let text = engine.tree().read(path).ok()?;
        let count = u32::try_from(text.line_count()).ok()?;
        if text.line_count() > LONGEST || text.is_binary() {
            return None;
        }
        let covered = |(first, last): Lines| {
            let words = (first..=last).map(|number| line(&text, number)).join(" ");
            if !may_say(&words, stems) {
                return 0.0;
            }
            let found = BTreeSet::from_iter(stems_of(&words));
            let weighed = stems.iter().zip(&weights);
            let said = weighed.filter(|(stem, _)| found.contains(*stem));
            said.map(|(_, weight)| weight).sum::<f64>() / whole
        };
        let blocks = blocks(&text, count).into_iter();
        let scored = blocks.map(|block| (covered(block), block));
        let (covered, lines) = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        (covered >= COVERED).then_some((covered, path, lines))
    });
    let mut found: Vec<(f64, &TreePath, Lines)> = found.collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let hits = found.into_iter().take(MOST).map(|(_, path, lines)| Hit {
        note: Some("documentation".to_owned()),
        ..engine.hit(path, lines.0, vec![lines])
    });
    Ok(hits.collect())
}

/// The paragraphs of a text, each with the heading right before it.
fn blocks(text: &Text, count: u32) -> Vec<Lines> {
    let mut blocks: Vec<Lines> = Vec::new();
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

#[cfg(test)]
mod tests {
    use super::blocks;
    use patchwright_source::Text;

    #[test]
    fn a_heading_belongs_to_its_paragraph() {
        let text = Text::new(b"# One\n\na\nb\n\n\nc\n## Two\nd\n".to_vec());
        assert_eq!(blocks(&text, 9), [(1, 4), (7, 9)]);
    }
}
