//! Outline of a file of C or C++: the heads of its functions and types, and the text that the
//! grammar has no place for. Plain data.

use crate::symbol::SymbolKind;
use std::collections::BTreeMap;
use std::ops::Range;

/// A function or a type with its body. Lines count from 1, ranges are bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The kind of a type; of a function the scope decides it.
    pub(crate) kind: Option<SymbolKind>,
    pub(crate) name: Range<usize>,
    /// True when the name has several tokens (`operator ==`).
    pub(crate) is_composed: bool,
    /// True when a macro makes the name: what the compiler sees has another.
    pub(crate) is_made: bool,
    /// The qualifier before the name of a function, as in `A::` of `A::b`.
    pub(crate) scope: Vec<Range<usize>>,
    /// The namespaces and classes around it.
    pub(crate) around: Vec<Range<usize>>,
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
    pub(crate) end_line: u32,
    /// The parameters of a function.
    pub(crate) parameters: Range<usize>,
    /// The body, braces included.
    pub(crate) body: Range<usize>,
}

/// Findings of a scan.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// By where their bodies begin.
    pub(super) functions: BTreeMap<usize, Head>,
    /// By where their names begin.
    pub(super) types: BTreeMap<usize, Head>,
    /// Text that the grammar has no place for.
    pub(super) taken_out: Vec<Range<usize>>,
    /// Where a type has to be written in place of what was taken out.
    pub(super) written: Vec<usize>,
}
