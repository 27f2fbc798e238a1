//! Facts of one file: its names, symbols, uses, calls, imports and types.
//!
//! An extractor fills a [`Collector`] while it walks the syntax tree;
//! [`Collector::finish`] gives compact [`Facts`] that no longer borrow the
//! file. Names are numbered per file. Uses of a function's own variables are
//! thrown away when the function ends: they would be nine tenths of the
//! database and answer nothing that reading the function does not.

mod collector;
mod finish;

pub(crate) use collector::{Collector, NO_CALL, WRITE};

use crate::symbol::{SymbolKind, UseKind};

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
    pub(crate) takes: Takes,
    /// True when only its own file can call it by this name.
    pub(crate) is_static: bool,
}

/// Describes how many arguments a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
    pub(crate) least: u16,
    pub(crate) most: u16,
}

impl Takes {
    /// Any number: for what takes no arguments, and where it is not known.
    pub(crate) const ANY: Self = Self {
        least: 0,
        most: u16::MAX,
    };

    /// Exactly so many.
    pub(crate) fn exactly(count: usize) -> Self {
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        Self {
            least: count,
            most: count,
        }
    }
}

/// All calls of one name from one symbol that are written alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallFact {
    /// One more than the index of the symbol that calls.
    pub(crate) owner: u32,
    pub(crate) name: NameId,
    /// The receiver as written: nothing for a plain call (`f(x)`, `this.f(x)`), else a mark and a
    /// name. `:A` for `A::f(x)`, `A.f(x)` and `super.f(x)`; `=A` for `a.f(x)` where `a` is declared
    /// with a type; `.a` where another file declares `a`; `*` through a pointer to a function that a
    /// member holds; `?` on the value of some expression.
    pub(crate) receiver: NameId,
    /// Number of arguments; -1 when it is not known.
    pub(crate) arguments: i32,
    /// Its lines, as in `12,15,19`.
    pub(crate) lines: String,
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
    /// By their numbers.
    pub(crate) names: Vec<String>,
    /// In the order of their first lines; parents come before their children.
    pub(crate) symbols: Vec<SymbolFact>,
    /// In the order of owners and names.
    pub(crate) calls: Vec<CallFact>,
    /// Name and sites of all uses that are no calls, in the order of names.
    pub(crate) postings: Vec<(NameId, String)>,
    pub(crate) inherits: Vec<InheritFact>,
    pub(crate) imports: Vec<(u32, NameId)>,
    /// True when the syntax was not understood in full.
    pub(crate) broken: bool,
}

impl Facts {
    pub(crate) fn name(&self, id: NameId) -> &str {
        self.names.get(id as usize).map_or("", String::as_str)
    }
}

/// The kinds of uses by their numbers in a site.
const KINDS: [UseKind; 4] = [UseKind::Read, UseKind::Write, UseKind::Type, UseKind::Call];

/// Returns how a site is written in a posting: eight times its line plus its kind.
pub(crate) fn encode_site(line: u32, kind: UseKind) -> u32 {
    let kind = KINDS.iter().position(|one| *one == kind);
    line * 8 + kind.unwrap_or_default() as u32
}

/// The opposite of [`encode_site`].
pub(crate) fn decode_site(site: u32) -> (u32, UseKind) {
    let kind = KINDS.get(site as usize & 7).copied();
    (site >> 3, kind.unwrap_or(UseKind::Call))
}
