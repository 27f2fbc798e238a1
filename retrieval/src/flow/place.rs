//! Places that hold values, and the places an expression takes its value from.
//!
//! A place is a variable and the fields that lead from it. Elements of an
//! array and what a pointer points to are its *content*; indices are ignored.

use crate::flow::names::{called, field, last_first, text};
use itertools::Itertools;
use tree_sitter::Node;

/// Limit on how deep an expression is looked into.
const EXPRESSION_NODES: usize = 400;

/// Limit on how many parts a place may have.
const PARTS: usize = 32;

/// Limit on how much of an expression is shown.
const SHOWN: usize = 60;

/// Something that holds a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The variable; `f()` for the result of a call.
    pub(crate) root: String,
    /// The fields, outermost first.
    pub(crate) fields: Vec<String>,
    /// True when it is an element of it, or what it points to.
    pub(crate) content: bool,
    /// True when it is its address.
    pub(crate) address: bool,
}

impl Place {
    /// A variable itself.
    pub(crate) fn variable(name: &str) -> Self {
        Self {
            root: name.to_owned(),
            ..Self::default()
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Place(Place),
    /// The result of a call.
    Call(String),
    /// A literal.
    Constant,
    /// The value that a callee writes through its argument with this index.
    Out(String, usize),
}

/// A source with its text and position.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) source: Source,
    pub(crate) text: String,
}

impl Taken {
    /// A source that a node is, shown as it is written.
    pub(crate) fn new(source: Source, node: Node<'_>, bytes: &[u8]) -> Self {
        Self {
            source,
            text: shown(node, bytes),
        }
    }
}

/// The text of a node, on one line and not too long.
pub(crate) fn shown(node: Node<'_>, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(node.byte_range()).unwrap_or_default());
    let mut words = text.split_whitespace().take(SHOWN).join(" ");
    if words.chars().count() > SHOWN {
        words = words.chars().take(SHOWN).collect();
        words.push_str("...");
    }
    words
}

/// Reads an expression as a place, if it is one.
pub(crate) fn place(node: Node<'_>, bytes: &[u8]) -> Option<Place> {
    let mut place = Place::default();
    let mut node = node;
    for _ in 0..PARTS {
        let child = |field| node.child_by_field_name(field);
        node = match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "this" => {
                place.root = text(node, bytes);
                place.fields.reverse();
                return Some(place);
            }
            "qualified_identifier" => child("name")?,
            "field_expression" | "field_access" => {
                place.fields.push(text(child("field")?, bytes));
                field(node, &["argument", "object"])?
            }
            "subscript_expression" | "array_access" => {
                place.content |= place.fields.is_empty();
                field(node, &["argument", "array"])?
            }
            "pointer_expression" => {
                if bytes.get(node.start_byte()) == Some(&b'&') {
                    place.address |= place.fields.is_empty() && !place.content;
                } else {
                    place.content |= place.fields.is_empty();
                }
                child("argument")?
            }
            "parenthesized_expression" => node.named_child(0)?,
            "update_expression" => child("argument").or_else(|| node.named_child(0))?,
            "cast_expression" => child("value")?,
            "call_expression" | "method_invocation" => {
                place.root = format!("{}()", called(node, bytes)?);
                place.fields.reverse();
                return (!place.fields.is_empty() || place.content).then_some(place);
            }
            _ => return None,
        };
    }
    None
}

/// Returns whether a node is a call of any sort.
pub(crate) fn is_call(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "call_expression" | "method_invocation" | "object_creation_expression" | "new_expression"
    )
}

/// Where the value of an expression comes from.
pub(crate) fn sources(expression: Node<'_>, bytes: &[u8]) -> Vec<Taken> {
    let mut found = taken(expression, bytes, |node, found| {
        if is_literal(node) {
            found.push(Taken::new(Source::Constant, node, bytes));
            return Vec::new();
        }
        value_parts(node, bytes)
    });
    // A literal beside a place (`n + 1`) is not where the value comes from.
    if found.iter().any(|taken| taken.source != Source::Constant) {
        found.retain(|taken| taken.source != Source::Constant);
    }
    found
}

/// Every place that an expression reads, whatever it does with it.
pub(crate) fn places_in(expression: Node<'_>, bytes: &[u8]) -> Vec<Taken> {
    taken(expression, bytes, |node, _| last_first(node))
}

/// The places and calls in an expression; of another node the parts are looked at, last first.
fn taken<'t>(
    expression: Node<'t>,
    bytes: &[u8],
    parts: impl Fn(Node<'t>, &mut Vec<Taken>) -> Vec<Node<'t>>,
) -> Vec<Taken> {
    let mut found = Vec::new();
    let mut open = vec![expression];
    for _ in 0..EXPRESSION_NODES {
        let Some(node) = open.pop() else { break };
        if let Some(place) = place(node, bytes) {
            found.push(Taken::new(Source::Place(place), node, bytes));
        } else if is_call(node) {
            let callee = called(node, bytes).map(Source::Call);
            found.extend(callee.map(|source| Taken::new(source, node, bytes)));
        } else {
            let mut inside = parts(node, &mut found);
            open.append(&mut inside);
        }
    }
    found
}

fn is_literal(node: Node<'_>) -> bool {
    node.kind().ends_with("_literal")
        || matches!(
            node.kind(),
            "null" | "true" | "false" | "nullptr" | "concatenated_string"
        )
}

/// The parts of an expression that its value is made of, last first.
fn value_parts<'t>(node: Node<'t>, bytes: &[u8]) -> Vec<Node<'t>> {
    let child = |field| node.child_by_field_name(field);
    let parts: Vec<Option<Node<'t>>> = match node.kind() {
        "parenthesized_expression" | "condition_clause" => vec![node.named_child(0)],
        "cast_expression"
        | "compound_literal_expression"
        | "initializer_pair"
        | "array_creation_expression" => vec![child("value")],
        "conditional_expression" | "ternary_expression" => {
            vec![child("alternative"), child("consequence")]
        }
        "binary_expression" if computes(node, bytes) => vec![child("right"), child("left")],
        "unary_expression" if bytes.get(node.start_byte()) != Some(&b'!') => {
            vec![field(node, &["argument", "operand"])]
        }
        "assignment_expression" => vec![child("left")],
        "update_expression" => vec![child("argument").or_else(|| node.named_child(0))],
        "comma_expression" => vec![child("right")],
        "argument_list"
        | "initializer_list"
        | "array_initializer"
        | "expression_statement"
        | "init_declarator" => return last_first(node),
        _ => Vec::new(),
    };
    parts.into_iter().flatten().collect()
}

/// Returns whether an operator makes its value of its operands' values: comparisons
/// and logic make a truth of them.
fn computes(node: Node<'_>, bytes: &[u8]) -> bool {
    let operator = node.child_by_field_name("operator");
    let operator = operator.map(|operator| text(operator, bytes));
    !matches!(
        operator.as_deref(),
        None | Some("==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" | "<=>")
    )
}
