//! Extraction of the facts of a file from its bytes.
//!
//! Each language has its extractor below this module; they share the walk
//! (`walk`) and the collection of facts (`facts`). Nothing here knows about
//! the database, nothing recurses: input may be nested as deep as it likes.

pub(crate) mod facts;

pub(crate) mod c;
mod declarator;
mod spec;
mod tabled;
pub(crate) mod walk;

#[cfg(test)]
mod tests;

use crate::query::LineRange;
use facts::Facts;
use patchwright_source::Language;

/// Returns the name and the lines of the innermost function around a line of a file.
pub fn function_around(language: Language, bytes: &[u8], line: u32) -> Option<(String, LineRange)> {
    let facts = extract(language, bytes)?;
    let functions = facts.symbols.iter().filter(|symbol| {
        symbol.kind.is_callable() && (symbol.line..=symbol.end_line).contains(&line)
    });
    let innermost = functions.min_by_key(|symbol| symbol.end_line - symbol.line)?;
    let lines = LineRange::new(innermost.line, innermost.end_line);
    Some((facts.name(innermost.name).to_owned(), lines))
}

/// Reads the facts of a file. `None` when the parser gave up.
pub(crate) fn extract(language: Language, bytes: &[u8]) -> Option<Facts> {
    if matches!(language, Language::C | Language::Cpp) {
        return c::extract(language, bytes);
    }
    let tree = patchwright_source::parse(language, bytes)?;
    tabled::extract(language, &tree, bytes)
}

/// The bytes between the first of some that open and the next of some that close.
fn between<'t>(text: &'t [u8], open: &[u8], close: &[u8]) -> Option<&'t [u8]> {
    let start = text.iter().position(|byte| open.contains(byte))? + 1;
    let rest = text.get(start..)?;
    rest.get(..rest.iter().position(|byte| close.contains(byte))?)
}
