//! Definitions and uses of names in the statements of one function, in any language.
//!
//! The fields that the grammars give to their nodes tell what is written and what is read: `left`
//! and `right` of an assignment, `declarator`, `name` or `pattern` beside a `value`, `arguments`
//! beside a `function`, the `condition` of a branch. No language has code of its own here.

use crate::language::walk::{NodeContext, Visitor, walk};
use crate::symbol::Symbol;
use patchwright_source::Text;
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// A statement, or the part of one that writes or reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) writes: Vec<String>,
    pub(crate) reads: Vec<String>,
}

/// A condition and the lines that it decides about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) line: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) reads: Vec<String>,
}

/// Describes what a function's statements do.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    pub(crate) all: Vec<Statement>,
    pub(crate) guards: Vec<Guard>,
    /// The lines of its loops.
    pub(crate) loops: Vec<(u32, u32)>,
    pub(crate) calls: Vec<Call>,
}

/// A call as it is written.
#[derive(Debug)]
pub(crate) struct Call {
    /// The last name of what is called.
    pub(crate) name: String,
    /// The names that get its result or are passed by address.
    pub(crate) sets: Vec<String>,
}

/// Reads the statements of a function.
pub(crate) fn read(text: &Text, symbol: &Symbol) -> Statements {
    let row = symbol.start_line.saturating_sub(1) as usize;
    let (bytes, part) = (text.bytes(), symbol.bytes(text));
    let Some(tree) = patchwright_source::parse_part(symbol.language, bytes, part, row) else {
        return Statements::default();
    };
    let mut reader = Reader {
        bytes,
        assigned: (0..0, Vec::new()),
        found: Statements::default(),
    };
    walk(&tree, &mut reader);
    reader.found
}

struct Reader<'b> {
    bytes: &'b [u8],
    /// Where the last value stands that was assigned, and the names that get it.
    assigned: (Range<usize>, Vec<String>),
    found: Statements,
}

impl Visitor for Reader<'_> {
    fn enter(&mut self, place: &NodeContext<'_, '_>) -> bool {
        let node = place.node;
        let kind = node.kind();
        if kind.ends_with("comment") || kind.contains("string") {
            return false;
        }
        let field = |name| node.child_by_field_name(name);
        let target = field("declarator")
            .or_else(|| field("name"))
            .or_else(|| field("pattern"));
        if let (Some(left), Some(right)) = (field("left"), field("right")) {
            if assigns(kind) {
                self.assignment(node, left, right);
            }
        } else if let (Some(target), Some(value)) = (target, field("value")) {
            self.assignment(node, target, value);
        } else if kind.starts_with("update_") {
            self.assignment(node, node, node);
        } else if let Some(arguments) = field("arguments") {
            self.call(node, arguments);
        } else if matches!(
            kind,
            "return_statement" | "throw_statement" | "raise_statement"
        ) {
            self.add(node, Vec::new(), names(node, self.bytes));
        }
        if let Some(condition) = field("condition") {
            self.guard(node, condition, place.parent());
        }
        let loops = [
            "for_",
            "while_",
            "do_",
            "list_comp",
            "set_comp",
            "dictionary_comp",
        ];
        if loops.iter().any(|start| kind.starts_with(start)) {
            self.found.loops.push(lines(node));
        }
        true
    }

    fn leave(&mut self, _depth: u32) {}
}

impl Reader<'_> {
    fn add(&mut self, node: Node<'_>, writes: Vec<String>, reads: Vec<String>) {
        let (first, last) = lines(node);
        self.found.all.push(Statement {
            first,
            last,
            writes,
            reads,
        });
    }

    fn assignment(&mut self, node: Node<'_>, target: Node<'_>, value: Node<'_>) {
        let written = written(target, self.bytes);
        let mut reads = names(value, self.bytes);
        let indexes = names(target, self.bytes).into_iter();
        reads.extend(indexes.filter(|name| !written.contains(name)));
        if node.kind().starts_with("augmented") || node.kind().starts_with("compound_assign") {
            reads.extend(written.iter().cloned());
        }
        self.assigned = (value.byte_range(), written.clone());
        // A loop over a value spans its body: only its head is meant.
        let (first, last) = (
            lines(target).0.min(lines(value).0),
            lines(value).1.max(lines(target).1),
        );
        self.found.all.push(Statement {
            first,
            last,
            writes: written,
            reads,
        });
    }

    /// A call writes what it is given the address of, and may change what it is called on.
    fn call(&mut self, node: Node<'_>, arguments: Node<'_>) {
        let reads = names(node, self.bytes);
        let mut writes = Vec::new();
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor) {
            if self.bytes.get(argument.start_byte()) == Some(&b'&') {
                writes.extend(written(argument, self.bytes));
            }
        }
        if let Some(name) = callee(node) {
            let name = text(name, self.bytes);
            let mut sets = writes.clone();
            if self.assigned.0.contains(&node.start_byte()) {
                sets.extend(self.assigned.1.iter().cloned());
            }
            self.found.calls.push(Call { name, sets });
        }
        writes.extend(receiver(node).map_or_else(Vec::new, |one| written(one, self.bytes)));
        self.add(node, writes, reads);
    }

    /// A condition decides about its branches; where one of them leaves, about what follows too.
    fn guard(&mut self, node: Node<'_>, condition: Node<'_>, parent: Option<Node<'_>>) {
        let (first, mut last) = lines(node);
        let branch = node.child_by_field_name("consequence");
        if let (Some(parent), true) = (parent, branch.is_some_and(leaves)) {
            last = lines(parent).1;
        }
        self.found.guards.push(Guard {
            line: lines(condition).0,
            first,
            last,
            reads: names(condition, self.bytes),
        });
    }
}

/// The last name of what a call calls.
pub(crate) fn callee(call: Node<'_>) -> Option<Node<'_>> {
    let mut node = ["name", "function", "type", "constructor"]
        .iter()
        .find_map(|field| call.child_by_field_name(field))?;
    while !is_name(node) && node.kind() != "type_identifier" {
        let inner = ["field", "attribute", "property", "name"]
            .iter()
            .find_map(|field| node.child_by_field_name(field));
        node = inner.or_else(|| node.named_child(0))?;
    }
    Some(node)
}

/// The value that a method is called on.
fn receiver(call: Node<'_>) -> Option<Node<'_>> {
    let function = call.child_by_field_name("function");
    call.child_by_field_name("object").or_else(|| {
        let function = function?;
        ["argument", "object", "operand", "value"]
            .iter()
            .find_map(|field| function.child_by_field_name(field))
    })
}

/// Returns whether a node with a left and a right side gives the left one the value of the right
/// one: comparisons and arithmetic have sides too.
fn assigns(kind: &str) -> bool {
    !kind.contains("binary") && !kind.contains("boolean") && !kind.contains("comparison")
}

fn lines(node: Node<'_>) -> (u32, u32) {
    let number = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
    (
        number(node.start_position().row),
        number(node.end_position().row),
    )
}

fn text(node: Node<'_>, bytes: &[u8]) -> String {
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
fn names(node: Node<'_>, bytes: &[u8]) -> Vec<String> {
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
        let mut cursor = node.walk();
        let mut parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        parts.retain(|part| Some(*part) != method);
        for part in &mut parts {
            if Some(*part) == callee {
                // Of `object.method` the object is read.
                let object = part.named_child(0).filter(|_| part.named_child_count() > 1);
                *part = object.unwrap_or(*part);
            }
        }
        parts.retain(|part| callee.is_none() || Some(*part) != callee);
        parts.reverse();
        open.append(&mut parts);
    }
    found
}

/// The names that an expression gives a value when it is assigned to: of `a->b[i]` it is `b`.
fn written(target: Node<'_>, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![target];
    for _ in 0..NODES {
        let Some(node) = open.pop() else { break };
        if is_name(node) {
            found.push(text(node, bytes));
            continue;
        }
        let field = |name| node.child_by_field_name(name);
        let part = field("field")
            .or_else(|| field("attribute"))
            .or_else(|| field("property"));
        if let Some(part) = part {
            open.push(part);
            continue;
        }
        let is_element = node.kind().contains("subscript") || node.kind().contains("index");
        let declared = field("declarator").or_else(|| field("name"));
        if let (Some(first), true) = (
            node.named_child(0),
            is_element || node.kind() == "array_access",
        ) {
            open.push(first);
        } else if let Some(declared) = declared {
            open.push(declared);
        } else {
            let mut cursor = node.walk();
            open.extend(node.named_children(&mut cursor));
        }
    }
    found
}

/// Returns whether control never gets past a branch: its last statement leaves.
pub(crate) fn leaves(branch: Node<'_>) -> bool {
    let mut node = branch;
    while node.kind().ends_with("block") || node.kind() == "compound_statement" {
        let mut cursor = node.walk();
        let inside = node.named_children(&mut cursor);
        let last = inside
            .filter(|child| !child.kind().ends_with("comment"))
            .last();
        let Some(last) = last else { return false };
        node = last;
    }
    [
        "return_",
        "goto_",
        "break_",
        "continue_",
        "throw_",
        "raise_",
    ]
    .iter()
    .any(|word| node.kind().starts_with(word))
}
