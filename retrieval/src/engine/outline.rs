//! Large bodies and large files, cut to what tells most: the signature, the
//! lines around a hit, and the lines that structure the rest.

use super::Engine;
use crate::error::Result;
use crate::snippet::{Lines, line, with_comment};
use crate::symbol::{Symbol, SymbolKind};
use itertools::Itertools;
use patchwright_source::{Text, TreePath};

/// Limit on how many lines the outline of one body or file may have.
const OUTLINE_LINES: usize = 60;
/// Limit on how many lines before and after a hit are kept inside a large body at least.
const AROUND_HIT: u32 = 8;

impl Engine {
    /// The definitions of a file, one line each, indented by nesting.
    pub(crate) fn outline_lines(&self, path: &TreePath, text: &Text) -> Result<Vec<String>> {
        let mut symbols = self.index.outline(path)?;
        let width = text.line_count().to_string().len();
        symbols.retain(|one| !matches!(one.kind, SymbolKind::Field | SymbolKind::Enumerator));
        if symbols.len() > 8 * OUTLINE_LINES {
            symbols.retain(|symbol| symbol.kind.is_callable() || symbol.kind.is_type());
        }
        // Of several definitions on one line the largest stands for all.
        symbols.sort_by_key(|symbol| (symbol.name_line, std::cmp::Reverse(symbol.end_line)));
        symbols.dedup_by_key(|symbol| symbol.name_line);
        let total = symbols.len();
        let told = |symbol: &Symbol| {
            let (head, kind, last) = (line(text, symbol.name_line), symbol.kind, symbol.end_line);
            format!(
                "{:>width$}: {head}   [{kind} to line {last}]",
                symbol.name_line
            )
        };
        let shown = symbols.iter().take(8 * OUTLINE_LINES);
        let mut lines: Vec<String> = shown.map(told).collect();
        if lines.len() < total {
            let more = total - lines.len();
            lines.push(format!("[... {more} more definitions ...]"));
        }
        Ok(lines)
    }
}

/// The ranges of a definition to show. A body over the limit comes as its
/// head, the lines around the hits, and its least indented lines.
pub(crate) fn body_ranges(text: &Text, symbol: &Symbol, hits: &[u32], limit: usize) -> Vec<Lines> {
    let start = with_comment(text, symbol.start_line);
    let length = symbol.end_line.saturating_sub(symbol.start_line) as usize + 1;
    if length <= limit {
        return vec![(start, symbol.end_line)];
    }
    let head_end = symbol.body_line.unwrap_or(symbol.name_line);
    let head_end = head_end.min(symbol.start_line + 12);
    let mut ranges = vec![(start, head_end + 2), (symbol.end_line, symbol.end_line)];
    let around = (limit as u32 / 3).max(AROUND_HIT);
    ranges.extend(hits.iter().map(|hit| symbol.around(*hit, around, around)));
    ranges.extend(outline_of(text, symbol.start_line, symbol.end_line));
    ranges
}

/// The least indented lines inside a body, as many as fit.
fn outline_of(text: &Text, first: u32, last: u32) -> Vec<Lines> {
    let lines: Vec<(usize, u32)> = (first..=last)
        .filter_map(|number| {
            let code = line(text, number);
            let trimmed = code.trim();
            let structures = trimmed.len() > 1 && !trimmed.starts_with(['*', '/', '#']);
            structures.then(|| (code.len() - code.trim_start().len(), number))
        })
        .collect();
    let mut depths = lines.iter().map(|(depth, _)| *depth).sorted_unstable();
    let last = OUTLINE_LINES.min(lines.len().saturating_sub(1));
    // Where there are no lines, none is the deepest.
    let deepest = depths.nth(last).unwrap_or_default();
    let shown = lines.into_iter().filter(|(depth, _)| *depth < deepest);
    shown.map(|(_, number)| (number, number)).collect()
}
