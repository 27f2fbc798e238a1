//! Declarators of C and C++: the name in the middle of `*(*f[3])(int)`.
//!
//! It only looks; what becomes of the name is decided in `c`.

use std::ops::Range;
use tree_sitter::Node;

/// Limit on how many layers a declarator may have; real ones have a handful.
const LAYERS: usize = 64;

/// A declared name.
#[derive(Debug, Clone)]
pub(crate) struct Declared<'t> {
    /// The node of the name alone.
    pub(crate) name: Node<'t>,
    /// True when the name itself is a function, not a pointer to one.
    pub(crate) function: bool,
    /// The parts before it, as in `ns::A::` of `ns::A::b`.
    pub(crate) scope: Vec<Range<usize>>,
    /// True when the name is put together of several tokens (`operator ==`).
    pub(crate) composed: bool,
    /// The node with the parameters, if it is a function.
    pub(crate) parameters: Option<Node<'t>>,
}

/// Finds the name that a declarator declares.
pub(crate) fn declared(node: Node<'_>) -> Option<Declared<'_>> {
    let mut found = Declared {
        name: node,
        function: false,
        scope: Vec::new(),
        composed: false,
        parameters: None,
    };
    for _ in 0..LAYERS {
        let node = found.name;
        let field = |name| node.child_by_field_name(name);
        let kind = node.kind();
        found.name = match kind {
            "operator_name" | "operator_cast" => {
                found.composed = true;
                found.function |= kind == "operator_cast";
                return Some(found);
            }
            _ if is_leaf(kind) => return Some(found),
            "qualified_identifier" => {
                found.scope.extend(field("scope").map(plain_range));
                field("name")?
            }
            "template_function" | "template_type" => field("name")?,
            "function_declarator" => {
                found.function = true;
                found.parameters = field("parameters");
                inner(node)?
            }
            _ => {
                found.function &= kind == "parenthesized_declarator";
                inner(node)?
            }
        };
    }
    None
}

/// The range of a scope without its template arguments.
fn plain_range(scope: Node<'_>) -> Range<usize> {
    let name = scope.child_by_field_name("name");
    name.unwrap_or(scope).byte_range()
}

fn inner(node: Node<'_>) -> Option<Node<'_>> {
    let is_part = |child: &Node<'_>| {
        let kind = child.kind();
        let composed = ["qualified_identifier", "operator_name", "template_function"];
        kind.ends_with("declarator") || composed.contains(&kind) || is_leaf(kind)
    };
    let mut cursor = node.walk();
    let declarator = node.child_by_field_name("declarator");
    declarator.or_else(|| node.named_children(&mut cursor).find(is_part))
}

/// Returns whether a node of a kind is a name by itself.
fn is_leaf(kind: &str) -> bool {
    matches!(
        kind,
        "identifier"
            | "field_identifier"
            | "type_identifier"
            | "namespace_identifier"
            | "destructor_name"
            // `typedef signed char int8_t`: a name that the grammar takes for its own.
            | "primitive_type"
    )
}
