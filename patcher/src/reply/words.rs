//! The names of tags, with the other names that models give them, parted by blanks.

use super::tag::Tag;

pub(crate) const PATCH: &str = "patch";
pub(crate) const ANALYSIS: &str = "analysis";
pub(crate) const QUERIES: &str = "queries";
pub(crate) const PROBE: &str = "probe";
pub(crate) const EXPLANATION: &str = "explanation";
pub(crate) const EDIT: &str = "edit";
pub(crate) const INSERT: &str = "insert";
pub(crate) const CREATE: &str = "create";
pub(crate) const DELETE: &str = "delete";
pub(crate) const RENAME: &str = "rename";
pub(crate) const ORIGINAL: &str = "original old search";
pub(crate) const REPLACEMENT: &str = "replacement new replace";
/// Attributes that name a file, and those that name lines.
pub(crate) const FILE: &[&str] = &["file", "path"];
pub(crate) const LINES: &[&str] = &["lines", "line"];
/// Thoughts before an answer: never part of it.
pub(crate) const THINKING: &str = "think thinking thought thoughts reasoning reflection scratchpad";
/// Quotations: never part of the answer either.
pub(crate) const QUOTED: &str = "\
    example examples draft previous_patch previous_attempt previous_reply old_patch \
    rejected_patch failed_patch";
/// Kinds of queries.
pub(crate) const QUERY: &str = "\
    symbol file text search pattern rule references callers callees path implementations \
    similar flow sql more";

/// Returns true when a word is one of these.
pub(crate) fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns true when a reply may hold a tag of this name.
pub(crate) fn is_known(name: &str) -> bool {
    let blocks = [PATCH, ANALYSIS, QUERIES, PROBE, THINKING, QUOTED, QUERY];
    let edits = [EDIT, INSERT, CREATE, DELETE, RENAME, ORIGINAL, REPLACEMENT];
    let mut all = blocks.iter().chain(&edits).chain([&EXPLANATION]);
    all.any(|names| is_among(name, names))
}

/// Returns true when a tag opens one of these (or is empty).
pub(crate) fn opens(tag: &Tag, names: &str) -> bool {
    !tag.closing && is_among(&tag.name, names)
}

/// Returns true when a tag closes one of these.
pub(crate) fn closes(tag: &Tag, names: &str) -> bool {
    tag.closing && is_among(&tag.name, names)
}

/// Returns true when a tag begins an edit of any kind. The words are common ones, so all
/// but `<edit>` must name their file.
pub(crate) fn begins_edit(tag: &Tag) -> bool {
    let takes_file = [INSERT, CREATE, DELETE]
        .iter()
        .any(|names| opens(tag, names));
    opens(tag, EDIT)
        || opens(tag, RENAME) && tag.attribute(&["to"]).is_some()
        || takes_file && tag.attribute(FILE).is_some()
}
