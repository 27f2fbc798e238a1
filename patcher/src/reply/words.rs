//! The names of tags, with the other names that models give them.

use super::tag::Tag;

pub(crate) const PATCH: &[&str] = &["patch"];
pub(crate) const ANALYSIS: &[&str] = &["analysis"];
pub(crate) const QUERIES: &[&str] = &["queries"];
pub(crate) const PROBE: &[&str] = &["probe"];
pub(crate) const EXPLANATION: &[&str] = &[
    "explanation",
    "description",
    "rationale",
    "reason",
    "summary",
];
pub(crate) const EDIT: &[&str] = &["edit", "change", "modify", "update"];
pub(crate) const INSERT: &[&str] = &["insert", "insertion"];
pub(crate) const CREATE: &[&str] = &["create", "create_file", "new_file", "add_file"];
pub(crate) const DELETE: &[&str] = &["delete", "delete_file", "remove_file", "remove"];
pub(crate) const RENAME: &[&str] = &["rename", "rename_file", "move", "move_file"];
pub(crate) const ORIGINAL: &[&str] = &[
    "original",
    "original_code",
    "original_lines",
    "old",
    "old_code",
    "old_string",
    "old_text",
    "search",
    "find",
    "before",
];
pub(crate) const REPLACEMENT: &[&str] = &[
    "replacement",
    "replacement_code",
    "replace",
    "replaced",
    "new",
    "new_code",
    "new_string",
    "new_text",
    "patched",
    "patched_code",
    "after",
    "modified",
    "updated",
    "fixed",
];
/// Wrappings of the text of an insertion or a new file.
pub(crate) const CONTENT: &[&str] = &["content", "code", "text"];
/// An attribute written as an element.
pub(crate) const FILE: &[&str] = &["file", "path", "filename", "file_path"];
pub(crate) const LINES: &[&str] = &["lines", "line", "range", "line_range", "line_numbers"];
/// Thoughts before an answer: never part of it.
pub(crate) const THINKING: &[&str] = &[
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
];
/// Quotations: never part of the answer either.
pub(crate) const QUOTED: &[&str] = &[
    "example",
    "examples",
    "draft",
    "previous_patch",
    "previous_attempt",
    "previous_reply",
    "old_patch",
    "rejected_patch",
    "failed_patch",
];
/// Kinds of queries.
pub(crate) const QUERY: &[&str] = &[
    "symbol",
    "file",
    "text",
    "search",
    "pattern",
    "rule",
    "references",
    "callers",
    "callees",
    "path",
    "implementations",
    "similar",
    "flow",
    "sql",
    "more",
];

/// Returns true when a reply may hold a tag of this name.
pub(crate) fn is_known(name: &str) -> bool {
    [
        PATCH,
        ANALYSIS,
        QUERIES,
        PROBE,
        EXPLANATION,
        EDIT,
        INSERT,
        CREATE,
        DELETE,
        RENAME,
        ORIGINAL,
        REPLACEMENT,
        CONTENT,
        FILE,
        LINES,
        THINKING,
        QUOTED,
        QUERY,
    ]
    .iter()
    .any(|names| names.contains(&name))
}

/// Returns true when a tag opens one of these (or is empty).
pub(crate) fn opens(tag: &Tag, names: &[&str]) -> bool {
    !tag.closing && names.contains(&tag.name.as_str())
}

/// Returns true when a tag closes one of these.
pub(crate) fn closes(tag: &Tag, names: &[&str]) -> bool {
    tag.closing && names.contains(&tag.name.as_str())
}

/// Returns true when a tag begins an edit of any kind. The words are common ones, so all
/// but `<edit>` must name their file.
pub(crate) fn begins_edit(tag: &Tag) -> bool {
    if tag.closing {
        return false;
    }
    let name = tag.name.as_str();
    if name == "edit" || (RENAME.contains(&name) && tag.attribute(&["to", "new"]).is_some()) {
        return true;
    }
    let takes_file = [EDIT, INSERT, CREATE, DELETE]
        .iter()
        .any(|names| names.contains(&name));
    takes_file && tag.attribute(FILE).is_some()
}
