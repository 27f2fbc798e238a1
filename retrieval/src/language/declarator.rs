//! Declarators of C and C++: the name in the middle of `*(*f[3])(int)`.
//!
//! It only looks; what becomes of the name is decided in `c`.

use std::ops::Range;
use tree_sitter::Node;

/// Limit on how many layers a declarator may have; real ones have a handful.
const LAYERS: usize = 64;

/// The numbers of the kinds and fields that declarators are made of.
#[derive(Debug)]
pub(crate) struct DeclaratorKinds {
    function: u16,
    parenthesized: u16,
    qualified: u16,
    destructor: u16,
    operator: u16,
    operator_cast: u16,
    template_function: u16,
    template_type: u16,
    leaves: [u16; 5],
    pub(crate) declarator_field: u16,
    pub(crate) name_field: u16,
    scope_field: u16,
    parameters_field: u16,
}

impl DeclaratorKinds {
    /// Looks the numbers up. Kinds that a grammar lacks get 0, which no node
    /// but an end of input has.
    pub(crate) fn new(grammar: &tree_sitter::Language) -> Self {
        let kind = |name| grammar.id_for_node_kind(name, true);
        let field = |name| grammar.field_id_for_name(name).map_or(0, u16::from);
        Self {
            function: kind("function_declarator"),
            parenthesized: kind("parenthesized_declarator"),
            qualified: kind("qualified_identifier"),
            destructor: kind("destructor_name"),
            operator: kind("operator_name"),
            operator_cast: kind("operator_cast"),
            template_function: kind("template_function"),
            template_type: kind("template_type"),
            leaves: [
                kind("identifier"),
                kind("field_identifier"),
                kind("type_identifier"),
                kind("namespace_identifier"),
                // `typedef signed char int8_t`: a name that the grammar takes for its own.
                kind("primitive_type"),
            ],
            declarator_field: field("declarator"),
            name_field: field("name"),
            scope_field: field("scope"),
            parameters_field: field("parameters"),
        }
    }
}

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
pub(crate) fn declared<'t>(kinds: &DeclaratorKinds, node: Node<'t>) -> Option<Declared<'t>> {
    let mut node = node;
    let mut found = Declared {
        name: node,
        function: false,
        scope: Vec::new(),
        composed: false,
        parameters: None,
    };
    for _ in 0..LAYERS {
        let kind = node.kind_id();
        if kinds.leaves.contains(&kind) || kind == kinds.destructor {
            found.name = node;
            return Some(found);
        }
        if kind == kinds.operator || kind == kinds.operator_cast {
            found.name = node;
            found.composed = true;
            found.function |= kind == kinds.operator_cast;
            return Some(found);
        }
        node = if kind == kinds.qualified {
            if let Some(scope) = node.child_by_field_id(kinds.scope_field) {
                found.scope.push(plain_range(kinds, scope));
            }
            node.child_by_field_id(kinds.name_field)?
        } else if kind == kinds.template_function || kind == kinds.template_type {
            node.child_by_field_id(kinds.name_field)?
        } else {
            if kind == kinds.function {
                found.function = true;
                found.parameters = node.child_by_field_id(kinds.parameters_field);
            } else if kind != kinds.parenthesized {
                found.function = false;
            }
            inner(kinds, node)?
        };
    }
    None
}

/// The range of a scope without its template arguments.
fn plain_range(kinds: &DeclaratorKinds, scope: Node<'_>) -> Range<usize> {
    scope
        .child_by_field_id(kinds.name_field)
        .unwrap_or(scope)
        .byte_range()
}

fn inner<'t>(kinds: &DeclaratorKinds, node: Node<'t>) -> Option<Node<'t>> {
    if let Some(child) = node.child_by_field_id(kinds.declarator_field) {
        return Some(child);
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|child| child.kind().ends_with("declarator") || is_name(kinds, *child))
}

fn is_name(kinds: &DeclaratorKinds, node: Node<'_>) -> bool {
    let kind = node.kind_id();
    kinds.leaves.contains(&kind)
        || [
            kinds.qualified,
            kinds.destructor,
            kinds.operator,
            kinds.template_function,
        ]
        .contains(&kind)
}
