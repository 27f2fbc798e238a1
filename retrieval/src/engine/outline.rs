//! Large bodies and large files, cut to what tells most: the signature, the
//! lines around a hit, and the lines that structure the rest.

use super::Engine;
use crate::error::Result;
use crate::snippet::{line, with_comment};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::{Text, TreePath};

/// Limit on how many lines the outline of one body or file may have.
const OUTLINE_LINES: usize = 60;
/// Limit on how many lines before and after a hit are kept inside a large body at least.
const AROUND_HIT: u32 = 8;

impl Engine {
    /// The definitions of a file, one line each, indented by nesting.
    pub(crate) fn outline_lines(&self, path: &TreePath, text: &Text) -> Result<Vec<String>> {
        let symbols = self.index.outline(path)?;
        let width = text.line_count().to_string().len();
        let mut shown: Vec<&Symbol> = symbols
            .iter()
            .filter(|symbol| !matches!(symbol.kind, SymbolKind::Field | SymbolKind::Enumerator))
            .collect();
        if shown.len() > 8 * OUTLINE_LINES {
            shown.retain(|symbol| symbol.kind.is_callable() || symbol.kind.is_type());
        }
        shown.sort_by_key(|symbol| (symbol.start_line, symbol.end_line));
        let total = shown.len();
        let mut lines: Vec<String> = shown
            .into_iter()
            .take(8 * OUTLINE_LINES)
            .map(|symbol| {
                let head = line(text, symbol.name_line);
                format!(
                    "{:>width$}: {}   [{} to line {}]",
                    symbol.name_line, head, symbol.kind, symbol.end_line
                )
            })
            .collect();
        if lines.len() < total {
            lines.push(format!(
                "[... {} more definitions ...]",
                total - lines.len()
            ));
        }
        Ok(lines)
    }
}

/// The ranges of a definition to show. A body over the limit comes as its
/// head, the lines around the hits, and its least indented lines.
pub(crate) fn body_ranges(
    text: &Text,
    symbol: &Symbol,
    hits: &[u32],
    limit: usize,
) -> Vec<(u32, u32)> {
    let start = with_comment(text, symbol.start_line);
    let length = symbol.end_line.saturating_sub(symbol.start_line) as usize + 1;
    if length <= limit {
        return vec![(start, symbol.end_line)];
    }
    let head_end = symbol
        .body_line
        .unwrap_or(symbol.name_line)
        .min(symbol.start_line + 12);
    let mut ranges = vec![(start, head_end + 2), (symbol.end_line, symbol.end_line)];
    let around = (limit as u32 / 3).max(AROUND_HIT);
    ranges.extend(hits.iter().map(|hit| symbol.around(*hit, around, around)));
    ranges.extend(outline_of(text, symbol.start_line, symbol.end_line));
    ranges
}

/// The least indented lines inside a body, as many as fit.
fn outline_of(text: &Text, first: u32, last: u32) -> Vec<(u32, u32)> {
    let lines: Vec<(usize, u32)> = (first..=last)
        .filter_map(|number| {
            let code = line(text, number);
            let trimmed = code.trim();
            let structures = trimmed.len() > 1 && !trimmed.starts_with(['*', '/', '#']);
            structures.then(|| (code.len() - code.trim_start().len(), number))
        })
        .collect();
    let mut depths: Vec<usize> = lines.iter().map(|(depth, _)| *depth).collect();
    depths.sort_unstable();
    let Some(deepest) = depths.get(OUTLINE_LINES.min(depths.len().saturating_sub(1))) else {
        return Vec::new();
    };
    lines
        .iter()
        .filter(|(depth, _)| depth < deepest)
        .map(|(_, number)| (*number, *number))
        .collect()
}
