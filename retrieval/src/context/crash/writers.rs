//! Writers of the values that the crashing line reads: of a field, a global or
//! an entry of a table that another function sets, grows or fills.
//!
//! Only names that functions share are followed; what is local is followed to
//! the shared names it was made of, within the function (`slice`).

use crate::context::{Picks, Wanted};
use crate::engine::Engine;
use crate::error::Result;
use crate::slice::names_read;
use crate::snippet::line;
use crate::symbol::UseKind;
use patchwright_source::Text;
use std::collections::BTreeSet;

/// Adds the functions that write what the lines of a frame read; of several that write the same
/// each less.
pub(super) fn add(engine: &Engine, frame: &Wanted, picks: &mut Picks) -> Result<()> {
    let Ok(text) = engine.text(&frame.symbol.path) else {
        return Ok(());
    };
    let statements = engine.index.analysis(&frame.symbol);
    let names: BTreeSet<String> = frame
        .lines
        .iter()
        .flat_map(|at| names_read(&statements, *at))
        .collect();
    let most = frame.weight * engine.ranking.crash.writer;
    for name in names {
        let key = name.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        let written = if let Some(key) = key {
            keyed_lines(&text, key)
        } else {
            let uses = engine.index.uses_in(&frame.symbol.path, &name)?;
            let written = uses.iter().filter(|(_, kind)| *kind == UseKind::Write);
            written.map(|(number, _)| *number).collect()
        };
        let path = &frame.symbol.path;
        let mut writers = engine.functions_at(written.into_iter().map(|at| (path.clone(), at)))?;
        writers.retain(|(writer, _)| writer.id != frame.symbol.id);
        let weight = most / writers.len().max(1) as f64;
        let why = format!("writes {}", key.unwrap_or(&name));
        for (symbol, lines) in writers {
            picks.add(&symbol, weight, &lines, &why);
        }
    }
    Ok(())
}

/// The lines that name the entry of a table with a key.
fn keyed_lines(text: &Text, key: &str) -> BTreeSet<u32> {
    let quoted = ['"', '\''].map(|quote| format!("[{quote}{key}{quote}]"));
    (1..=text.line_count() as u32)
        .filter(|number| {
            let code = line(text, *number);
            quoted.iter().any(|entry| code.contains(entry))
        })
        .collect()
}
