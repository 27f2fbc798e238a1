//! Calls in a function, and the parameters of one.

use super::{is_name, lines, names, text};
use tree_sitter::Node;

/// A call as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// The last name of what is called.
    pub(crate) name: String,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) arguments: Vec<Argument>,
    /// The last name of what a method is called on.
    pub(crate) receiver: Option<String>,
    /// The names that get its result or are passed by address.
    pub(crate) sets: Vec<String>,
}

/// An argument of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    /// The names in it.
    pub(crate) names: Vec<String>,
    /// True when it calls something, and so makes a value itself.
    pub(crate) calls: bool,
}

impl Call {
    /// Tells whether the call stands on a line.
    pub(crate) fn is_at(&self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }

    pub(super) fn read(node: Node<'_>, arguments: Node<'_>, bytes: &[u8]) -> Self {
        let (first, last) = lines(node);
        let mut cursor = arguments.walk();
        let given = arguments.named_children(&mut cursor);
        let given = given.filter(|one| !one.kind().ends_with("comment"));
        Self {
            name: callee(node)
                .map(|name| text(name, bytes))
                .unwrap_or_default(),
            first,
            last,
            arguments: given
                .map(|one| Argument {
                    names: names(one, bytes),
                    calls: text(one, bytes).contains('('),
                })
                .collect(),
            ..Self::default()
        }
    }
}

/// The last name of what a call calls.
fn callee(call: Node<'_>) -> Option<Node<'_>> {
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
pub(super) fn receiver(call: Node<'_>) -> Option<Node<'_>> {
    let function = call.child_by_field_name("function");
    call.child_by_field_name("object").or_else(|| {
        let function = function?;
        ["argument", "object", "operand", "value"]
            .iter()
            .find_map(|field| function.child_by_field_name(field))
    })
}

/// The names of a list of parameters, the object of a method apart.
pub(super) fn parameters(list: Node<'_>, bytes: &[u8]) -> Vec<String> {
    let mut cursor = list.walk();
    let names = list.named_children(&mut cursor).filter_map(|parameter| {
        let mut node = parameter;
        while !is_name(node) {
            let inner = ["declarator", "name", "pattern"]
                .iter()
                .find_map(|field| node.child_by_field_name(field));
            node = inner.or_else(|| node.named_child(0))?;
        }
        Some(text(node, bytes))
    });
    names
        .filter(|name| name != "self" && name != "cls")
        .collect()
}
