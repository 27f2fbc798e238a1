//! Names in the nodes of any language, by the fields that the grammars give to them.

use std::collections::BTreeSet;
use tree_sitter::Node;

/// The first of some fields that a node has.
pub(super) fn field<'t>(node: Node<'t>, names: &[&str]) -> Option<Node<'t>> {
    let mut names = names.iter();
    names.find_map(|name| node.child_by_field_name(name))
}

/// The named parts of a node, last first.
pub(super) fn last_first(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let mut children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    children.reverse();
    children
}

/// The last name of what a call calls.
pub(super) fn called(call: Node<'_>, bytes: &[u8]) -> Option<String> {
    let mut node = field(call, &["name", "function", "type", "constructor"])?;
    while !is_name(node) && node.kind() != "type_identifier" {
        let inner = field(node, &["field", "attribute", "property", "name"]);
        node = inner.or_else(|| node.named_child(0))?;
    }
    Some(text(node, bytes))
}

/// The value that a method is called on.
pub(super) fn receiver(call: Node<'_>) -> Option<Node<'_>> {
    call.child_by_field_name("object").or_else(|| {
        let function = call.child_by_field_name("function")?;
        field(function, &["argument", "object", "operand", "value"])
    })
}

/// Returns whether a node with a left and a right side gives the left one the value of the right
/// one: comparisons and arithmetic have sides too.
pub(super) fn assigns(kind: &str) -> bool {
    !kind.contains("binary") && !kind.contains("boolean") && !kind.contains("comparison")
}

pub(super) fn text(node: Node<'_>, bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(node.byte_range()).unwrap_or_default()).into_owned()
}

fn is_name(node: Node<'_>) -> bool {
    node.child_count() == 0
        && (node.kind().ends_with("identifier") && node.kind() != "type_identifier")
}

/// Limit on how many nodes of one expression are looked at.
const NODES: usize = 400;

/// A string of one word, which may be the key of a table: with its quotes, so that it is no name.
fn key(literal: &str) -> Option<String> {
    let word = literal.trim_matches(['"', '\'']);
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_word.then(|| format!("\"{word}\""))
}

/// The names in a node from its beginning, and the keys; bodies of blocks and what is called apart.
pub(super) fn names(node: Node<'_>, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![node];
    for _ in 0..NODES {
        let Some(node) = open.pop() else { break };
        if is_name(node) {
            let name = text(node, bytes);
            if seen.insert(name.clone()) {
                found.push(name);
            }
            continue;
        }
        let kind = node.kind();
        if kind.ends_with("block") || kind == "compound_statement" || kind.ends_with("_body") {
            continue;
        }
        if kind.contains("string") {
            found.extend(key(&text(node, bytes)));
            continue;
        }
        let is_call = node.child_by_field_name("arguments").is_some();
        let callee = node.child_by_field_name("function").filter(|_| is_call);
        let method = node.child_by_field_name("name").filter(|_| is_call);
        let parts = last_first(node).into_iter();
        open.extend(parts.filter_map(|part| match Some(part) {
            one if one == method => None,
            // Of `object.method` the object is read.
            one if one == callee => part.named_child(0).filter(|_| part.named_child_count() > 1),
            one => one,
        }));
    }
    found
}

/// The names that an expression gives a value when it is assigned to: of `a->b[i]` it is `b`.
pub(super) fn written(target: Node<'_>, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![target];
    for _ in 0..NODES {
        let Some(node) = open.pop() else { break };
        if is_name(node) {
            found.push(text(node, bytes));
            continue;
        }
        let kind = node.kind();
        let is_element =
            kind.contains("subscript") || kind.contains("index") || kind == "array_access";
        let part = field(node, &["field", "attribute", "property"])
            .or_else(|| node.named_child(0).filter(|_| is_element))
            .or_else(|| field(node, &["declarator", "name"]));
        if let Some(part) = part {
            open.push(part);
        } else {
            let mut cursor = node.walk();
            open.extend(node.named_children(&mut cursor));
        }
    }
    found
}

/// Returns whether control never gets past a branch: its last statement leaves.
pub(super) fn leaves(branch: Node<'_>) -> bool {
    let mut node = branch;
    while node.kind().ends_with("block") || node.kind() == "compound_statement" {
        let mut inside = last_first(node).into_iter();
        let Some(last) = inside.find(|child| !child.kind().ends_with("comment")) else {
            return false;
        };
        node = last;
    }
    begins_with(node, "return_ goto_ break_ continue_ throw_ raise_")
}

/// Returns whether the kind of a node begins with one of some words.
pub(super) fn begins_with(node: Node<'_>, words: &str) -> bool {
    words.split(' ').any(|word| node.kind().starts_with(word))
}
