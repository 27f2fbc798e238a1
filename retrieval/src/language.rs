//! From a file's bytes to its facts.
//!
//! Each language has its extractor below this module; they share the walk
//! (`walk`) and the collection of facts (`facts`). Nothing here knows about
//! the database, nothing recurses: input may be nested as deep as it likes.

pub(crate) mod facts;

mod c;
mod declarator;
mod go;
mod java;
mod javascript;
mod loose;
pub(crate) mod macros;
mod python;
mod recovery;
mod rust;
mod tabled;
pub(crate) mod walk;

#[cfg(test)]
mod tests;

use facts::Facts;
use loose::Loose;
use patchwright_source::Language;

/// A file's facts and whether its syntax was understood in full.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub(crate) facts: Facts,
    pub(crate) broken: bool,
}

/// Reads the facts of a file. `None` when the parser gave up.
pub(crate) fn extract(language: Language, bytes: &[u8]) -> Option<Extracted> {
    let loose = match language {
        Language::C | Language::Cpp => loose::blank(bytes),
        _ => Loose::default(),
    };
    let parsed = loose.text.as_deref().unwrap_or(bytes);
    let tree = patchwright_source::parse(language, parsed)?;
    let facts = match language {
        Language::C | Language::Cpp => c::extract(language, &tree, bytes, &loose),
        Language::Java => tabled::extract(java::spec(), &tree, bytes),
        Language::Python => tabled::extract(python::spec(), &tree, bytes),
        Language::Go => tabled::extract(go::spec(), &tree, bytes),
        Language::Rust => tabled::extract(rust::spec(), &tree, bytes),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            tabled::extract(javascript::spec(language), &tree, bytes)
        }
    };
    Some(Extracted {
        facts,
        broken: tree.root_node().has_error(),
    })
}
