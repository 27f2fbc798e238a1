//! One source tree, read safely.
//!
//! A [`Tree`] is a folder on disk whose content nobody vouches for. Everything
//! that reads it goes through this crate, which keeps three promises: no path
//! leaves the root (neither by `..`, nor absolutely, nor through a symbolic
//! link), nothing but regular files is ever opened, and reading is bounded.
//!
//! [`TreePath`] is a path that was checked, [`Text`] a file's bytes with its
//! lines, line ending and encoding, [`Language`] what a file is written in and
//! [`parse`] its syntax tree. The plain types that several crates pass on are
//! defined here once: the [`FileDiff`] that is read from a unified diff, [`Changes`] of a tree, the [`Frame`] of a stack, the
//! [`CrashFrame`] that code is searched for. What this crate deliberately does not
//! do: search, index, write, or run anything.

mod changes;
mod comment;
mod diff;
mod difference;
mod digest;
mod error;
mod frame;
mod kind;
mod language;
mod parse;
mod path;
mod pattern;
mod text;
mod tree;
mod visible;
mod words;

pub use changes::{Changes, Touched};
pub use comment::{code_of_piece, without_comments};
pub use diff::{
    DiffHunk, DiffLine, FileDiff, HunkHeader, HunkRanges, NO_FILE, Side, common_name, git_names,
    name_in,
};
pub use difference::{DiffOp, difference};
pub use digest::digest;
pub use error::SourceError;
pub use frame::{CrashFrame, Frame, Role, UNKNOWN_FUNCTION};
pub use kind::{is_generated, is_version_control};
pub use language::{Language, product_of_template};
pub use parse::{SyntaxError, parse, parse_part, syntax_errors};
pub use path::TreePath;
pub use pattern::{Pattern, built_in_regex, built_in_regex_set};
pub use regex::Regex;
pub use text::{Text, counted, is_binary};
pub use tree::{DEFAULT_READ_LIMIT, Entry, Tree};
pub use visible::{is_hidden, visible, visible_line};
