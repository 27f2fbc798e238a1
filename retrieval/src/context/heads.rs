//! Further functions of the files that are shown, one line each: whoever reads
//! sees what else is there, and asks for it by name. No file is shown for them.

use super::card::shows;
use crate::engine::Engine;
use crate::snippet::{Snippet, Tier};
use crate::symbol::Symbol;
use patchwright_source::TreePath;

/// Why they are shown, for the reader.
const WHY: &str = "further functions of this file, by their first lines";

/// One snippet for each shown file that has further functions.
pub(super) fn snippets(
    engine: &Engine,
    (heads, most): (&[Symbol], usize),
    shown: &[Snippet],
) -> Vec<Snippet> {
    let mut files: Vec<&TreePath> = Vec::new();
    for snippet in shown {
        if !files.contains(&&snippet.path) {
            files.push(&snippet.path);
        }
    }
    let is_shown = |symbol: &Symbol| shown.iter().any(|snippet| shows(snippet, symbol));
    let named: Vec<&Symbol> = heads
        .iter()
        .filter(|symbol| files.contains(&&symbol.path) && !is_shown(symbol))
        .take(most)
        .collect();
    files
        .into_iter()
        .filter_map(|path| {
            let new = || named.iter().filter(|symbol| symbol.path == *path);
            let text = engine.text(path).ok()?;
            let lines: Vec<(u32, u32)> = new()
                .map(|symbol| (symbol.name_line, symbol.name_line))
                .collect();
            let snippet = Snippet::cut_sparse(path, &text, &lines, Tier::High)?;
            let names = new().map(|symbol| symbol.qualified());
            Some(snippet.with_symbols(names).with_note(WHY))
        })
        .collect()
}
