//! Outline of a file of C or C++: the heads of its functions and types, and the text that the
//! grammar has no place for. Plain data.

use std::ops::Range;

/// A function with its body. Lines count from 1, ranges are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionHead {
    pub(crate) name: Range<usize>,
    /// True when the name has several tokens (`operator ==`).
    pub(crate) is_composed: bool,
    /// True when a macro makes the name: what the compiler sees has another.
    pub(crate) is_made: bool,
    /// The qualifier before the name, as in `A::` of `A::b`.
    pub(crate) scope: Vec<Range<usize>>,
    /// The namespaces and classes around it.
    pub(crate) around: Vec<Range<usize>>,
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
    pub(crate) end_line: u32,
    pub(crate) parameters: Range<usize>,
    /// The body, braces included.
    pub(crate) body: Range<usize>,
}

/// A type with its body. Lines count from 1, ranges are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeHead {
    pub(crate) name: Range<usize>,
    /// `struct`, `union`, `class` or `enum`.
    pub(crate) key: Range<usize>,
    /// The namespaces and classes around it.
    pub(crate) around: Vec<Range<usize>>,
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
    pub(crate) end_line: u32,
}

/// Findings of a scan.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) functions: Vec<FunctionHead>,
    pub(super) types: Vec<TypeHead>,
    /// Text that the grammar has no place for.
    pub(super) taken_out: Vec<Range<usize>>,
    /// Where a type has to be written in place of what was taken out.
    pub(super) written: Vec<usize>,
}
