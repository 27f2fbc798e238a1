//! What one file says: its names, symbols, uses, calls, imports and types.
//!
//! An extractor fills a [`Collector`] while it walks the syntax tree;
//! [`Collector::finish`] gives compact [`Facts`] that no longer borrow the
//! file. Names are numbered per file. Uses of a function's own variables are
//! thrown away when the function ends: they would be nine tenths of the
//! database and answer nothing that reading the function does not.

mod collector;
mod finish;

pub(crate) use collector::Collector;

use crate::symbol::{SymbolKind, UseKind};
use std::ops::Range;

/// A name's number within its file; 0 is the empty name.
pub(crate) type NameId = u32;

/// A definition. Line numbers count from 1; 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SymbolFact {
    pub(crate) name: NameId,
    pub(crate) scope: NameId,
    pub(crate) type_name: NameId,
    pub(crate) kind: SymbolKind,
    /// One more than the index of the enclosing symbol, 0 for none.
    pub(crate) parent: u32,
    pub(crate) line: u32,
    pub(crate) end_line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
}

/// A base type of a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InheritFact {
    /// The index of the class.
    pub(crate) symbol: u32,
    pub(crate) base: NameId,
    pub(crate) line: u32,
}

/// All that one file says, ready to be stored.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    names: String,
    name_ends: Vec<usize>,
    /// In the order of their first lines; parents come before their children.
    pub(crate) symbols: Vec<SymbolFact>,
    /// Owner (one more than an index), name and lines, in that order.
    pub(crate) calls: Vec<(u32, NameId, Range<usize>)>,
    /// Name and sites of all uses that are no calls, in the order of names.
    pub(crate) postings: Vec<(NameId, Range<usize>)>,
    pub(crate) inherits: Vec<InheritFact>,
    pub(crate) imports: Vec<(u32, NameId)>,
    text: String,
}

impl Facts {
    /// How many names there are.
    pub(crate) fn name_count(&self) -> usize {
        self.name_ends.len()
    }

    /// The name with a number.
    pub(crate) fn name(&self, id: NameId) -> &str {
        let index = id as usize;
        let start = index
            .checked_sub(1)
            .and_then(|before| self.name_ends.get(before))
            .copied()
            .unwrap_or_default();
        self.name_ends
            .get(index)
            .and_then(|end| self.names.get(start..*end))
            .unwrap_or_default()
    }

    /// The text of a call's lines or a posting's sites.
    pub(crate) fn text(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// How a site is written in a posting: eight times its line plus its kind.
pub(crate) fn encode_site(line: u32, kind: UseKind) -> u64 {
    let kind = match kind {
        UseKind::Read => 0,
        UseKind::Write => 1,
        UseKind::Type => 2,
        UseKind::Call => 3,
    };
    u64::from(line) * 8 + kind
}

/// The opposite of [`encode_site`].
pub(crate) fn decode_site(site: u64) -> (u32, UseKind) {
    let kind = match site & 7 {
        0 => UseKind::Read,
        1 => UseKind::Write,
        2 => UseKind::Type,
        _ => UseKind::Call,
    };
    (u32::try_from(site >> 3).unwrap_or(u32::MAX), kind)
}
