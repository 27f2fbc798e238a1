//! The words of the code database: symbols, uses of them, calls and imports.
//!
//! Plain data. Reading it from the database is the business of `relations`,
//! finding it in source text that of `language`.

use patchwright_source::{Language, Text, TreePath, words};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::Range;

/// Kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SymbolKind {
    /// A function with a body, outside any class.
    Function,
    /// A function of a class or type.
    Method,
    Constructor,
    /// A function's declaration without its body.
    Prototype,
    Macro,
    Struct,
    Union,
    Enum,
    /// One name of an enum.
    Enumerator,
    /// Another name for a type.
    Typedef,
    /// A member that holds data.
    Field,
    /// A variable or constant outside functions.
    Variable,
    Class,
    /// An interface, trait or protocol.
    Interface,
    Record,
    /// An annotation type.
    Annotation,
    /// A namespace or module.
    Namespace,
    /// A class initialiser without a name.
    Initializer,
}

words!(SymbolKind: Function "function", Method "method", Constructor "constructor",
    Prototype "prototype", Macro "macro", Struct "struct", Union "union", Enum "enum",
    Enumerator "enumerator", Typedef "typedef", Field "field", Variable "variable", Class "class",
    Interface "interface", Record "record", Annotation "annotation", Namespace "namespace",
    Initializer "initializer");

impl SymbolKind {
    /// Returns whether it has a body of statements.
    pub fn is_callable(self) -> bool {
        matches!(
            self,
            Self::Function | Self::Method | Self::Constructor | Self::Initializer
        )
    }

    /// Returns whether it is a type of some sort.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Self::Struct
                | Self::Union
                | Self::Enum
                | Self::Typedef
                | Self::Class
                | Self::Interface
                | Self::Record
                | Self::Annotation
        )
    }
}

/// A place where a name is given a meaning. Lines count from 1 and include
/// both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its number in the database; valid until the index is updated.
    pub id: i64,
    /// The name alone.
    pub name: String,
    /// The enclosing scope: `ns::A`, `a.b.C`, or nothing.
    pub scope: String,
    /// Kind of the definition.
    pub kind: SymbolKind,
    pub path: TreePath,
    /// The file's language.
    pub language: Language,
    /// Its first line (a template's or annotation's line included).
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The line that holds the name.
    pub name_line: u32,
    /// The line where the body opens, for what has one.
    pub body_line: Option<u32>,
    /// The symbol that encloses it.
    pub parent: Option<i64>,
    /// A field's, variable's or typedef's base type; a function's result type.
    pub type_name: Option<String>,
}

impl Symbol {
    pub(crate) fn by_place(&self, other: &Self) -> Ordering {
        (&self.path, self.start_line).cmp(&(&other.path, other.start_line))
    }

    /// The name with its scope, in the manner of its language.
    pub fn qualified(&self) -> String {
        if self.scope.is_empty() {
            return self.name.clone();
        }
        format!("{}{}{}", self.scope, separator(self.language), self.name)
    }

    /// Returns whether a line lies in it.
    pub fn holds(&self, line: u32) -> bool {
        (self.start_line..=self.end_line).contains(&line)
    }

    /// The lines of it around one, so many before and behind.
    pub(crate) fn around(&self, line: u32, before: u32, behind: u32) -> (u32, u32) {
        let first = line.saturating_sub(before).max(self.start_line);
        (first, (line + behind).min(self.end_line))
    }

    /// The bytes of its lines in the text of its file.
    pub(crate) fn bytes(&self, text: &Text) -> Range<usize> {
        let at = |line: u32| text.line_start(line as usize);
        let start = at(self.start_line).unwrap_or(text.bytes().len());
        let end = at(self.end_line + 1).unwrap_or(text.bytes().len());
        start..end.max(start)
    }

    /// Returns whether all of another definition lies in it. It lies in itself.
    pub(crate) fn encloses(&self, other: &Self) -> bool {
        self.path == other.path && self.holds(other.start_line) && self.holds(other.end_line)
    }
}

/// A definition after its weight or score.
pub(crate) type Weighed = (f64, Symbol);

/// Orders definitions by falling score; of equals by their places.
pub(crate) fn sort_scored(scored: &mut [Weighed]) {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.by_place(&b.1)));
}

/// Returns what stands between the parts of a qualified name.
pub(crate) fn separator(language: Language) -> &'static str {
    match language {
        Language::C | Language::Cpp | Language::Rust => "::",
        _ => ".",
    }
}

/// Describes how a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UseKind {
    /// It is called, as function, method or macro.
    Call,
    /// Its value is read, or its address taken.
    Read,
    /// It is assigned to.
    Write,
    /// It names a type.
    Type,
}

words!(UseKind: Call "call", Read "read", Write "write", Type "type");

/// A place where a name is used. Uses of a function's own variables are not
/// recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    pub path: TreePath,
    pub line: u32,
    pub kind: UseKind,
}

/// One symbol calling a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The caller; `None` for calls outside of all definitions.
    pub caller: Option<Symbol>,
    /// The file of the call.
    pub path: TreePath,
    /// The name that is called.
    pub callee: String,
    /// The definition that is called, where the tree has one.
    pub target: Option<Symbol>,
    /// True when only the name says that this definition is called.
    pub by_name: bool,
    /// The lines of the calls, ascending.
    pub lines: Vec<u32>,
    /// 1 for a direct call, 2 for a caller of a caller, and so on.
    pub depth: u32,
}
