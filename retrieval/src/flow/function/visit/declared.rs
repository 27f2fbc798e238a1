//! What is declared, and the values that it begins with.

use super::{FlowVisitor, Goal, Target};
use crate::flow::function::Parameter;
use crate::flow::place::Place;
use crate::language::walk::Place as Position;
use tree_sitter::Node;

impl FlowVisitor<'_> {
    /// The name in a declarator, and whether it is a reference.
    fn declared(&self, node: Node<'_>) -> Option<(String, bool)> {
        let mut node = node;
        let mut reference = false;
        for _ in 0..16 {
            if matches!(node.kind(), "identifier" | "field_identifier") {
                return Some((self.name(node), reference));
            }
            reference |= node.kind() == "reference_declarator";
            let next = node
                .child_by_field_name("declarator")
                .or_else(|| node.child_by_field_name("name"))
                .or_else(|| {
                    let mut cursor = node.walk();
                    node.named_children(&mut cursor).find(|child| {
                        child.kind().ends_with("declarator") || child.kind() == "identifier"
                    })
                });
            node = next?;
        }
        None
    }

    pub(super) fn parameter(&mut self, position: &Position<'_, '_>) {
        let named = self.declared(position.node);
        let (name, reference) = named.unwrap_or_default();
        self.found.locals.insert(name.clone());
        // Depth tells the function's own parameters from those of the
        // functions that it is given pointers to: they come first.
        if self.found.edges.is_empty() && self.block_count == 0 {
            self.found.parameters.push(Parameter {
                name,
                by_name: reference || self.by_name,
            });
        }
    }

    pub(super) fn locals(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            if let Some((name, _)) = self.declared(declarator) {
                self.found.locals.insert(name);
            }
        }
    }

    pub(super) fn declaration(&mut self, node: Node<'_>) {
        let Some((name, _)) = self.declared(node) else {
            return;
        };
        self.found.locals.insert(name.clone());
        let Some(value) = node.child_by_field_name("value") else {
            return;
        };
        let root = Place::variable(&name);
        if value.kind() == "initializer_list" && self.designated(value, &root) {
            return;
        }
        self.goes(
            node,
            value,
            &Goal {
                target: Target::Place(root),
                text: &name,
                kills: true,
            },
        );
    }

    /// `{ .a = x, .b = y }`: one edge per field.
    fn designated(&mut self, list: Node<'_>, root: &Place) -> bool {
        let mut cursor = list.walk();
        let pairs: Vec<Node<'_>> = list
            .named_children(&mut cursor)
            .filter(|child| child.kind() == "initializer_pair")
            .collect();
        for pair in &pairs {
            let designator = pair
                .child_by_field_name("designator")
                .and_then(|designator| designator.named_child(0));
            let (Some(field), Some(value)) = (designator, pair.child_by_field_name("value")) else {
                continue;
            };
            let mut target = root.clone();
            target.fields.push(self.name(field));
            let text = format!("{}.{}", root.root, self.name(field));
            self.goes(
                *pair,
                value,
                &Goal {
                    target: Target::Place(target),
                    text: &text,
                    kills: true,
                },
            );
        }
        !pairs.is_empty()
    }

    /// C++ `: field(value)`.
    pub(super) fn field_initializer(&mut self, node: Node<'_>) {
        let (Some(field), Some(value)) = (node.named_child(0), node.named_child(1)) else {
            return;
        };
        let target = Place {
            fields: vec![self.name(field)],
            ..Place::variable("this")
        };
        let text = self.name(field);
        self.goes(
            node,
            value,
            &Goal {
                target: Target::Place(target),
                text: &text,
                kills: true,
            },
        );
    }

    pub(super) fn loop_variable(&mut self, node: Node<'_>) {
        let declared = node
            .child_by_field_name("declarator")
            .or_else(|| node.child_by_field_name("name"))
            .and_then(|node| self.declared(node));
        let over = node
            .child_by_field_name("right")
            .or_else(|| node.child_by_field_name("value"));
        let (Some((name, _)), Some(over)) = (declared, over) else {
            return;
        };
        self.found.locals.insert(name.clone());
        let target = Place::variable(&name);
        self.goes(
            node,
            over,
            &Goal {
                target: Target::Place(target),
                text: &name,
                kills: true,
            },
        );
    }
}
