//! Where values go in statements: assignments, arguments, results, conditions.

use super::{FlowVisitor, Goal, Target};
use crate::flow::place::{Place, Source, Taken, arguments, callee, place, places_in, shown};
use tree_sitter::Node;

impl FlowVisitor<'_> {
    /// The conditions and indices that a value goes into.
    pub(super) fn checks(&mut self, node: Node<'_>) {
        let child = |field| node.child_by_field_name(field);
        match node.kind() {
            "if_statement"
            | "while_statement"
            | "for_statement"
            | "do_statement"
            | "switch_statement"
            | "conditional_expression"
            | "ternary_expression" => {
                if let Some(condition) = child("condition") {
                    let text = shown(condition, self.bytes);
                    let goal = Goal {
                        target: Target::Check,
                        text: &text,
                        kills: false,
                    };
                    let taken = places_in(condition, self.bytes);
                    self.add_each(condition, taken, &goal);
                }
            }
            "subscript_expression" | "array_access" => {
                if let Some(index) = child("index").or_else(|| child("indices")) {
                    let text = shown(node, self.bytes);
                    let goal = Goal {
                        target: Target::Index,
                        text: &text,
                        kills: false,
                    };
                    let taken = places_in(index, self.bytes);
                    self.add_each(index, taken, &goal);
                }
            }
            _ => {}
        }
    }

    pub(super) fn assignment(&mut self, node: Node<'_>) {
        let left = node.child_by_field_name("left");
        let right = node.child_by_field_name("right");
        let (Some(left), Some(right)) = (left, right) else {
            return;
        };
        let Some(target) = place(left, self.bytes) else {
            return;
        };
        let text = shown(left, self.bytes);
        let compound = node
            .child_by_field_name("operator")
            .is_some_and(|operator| operator.byte_range().len() > 1);
        self.goes(
            node,
            right,
            &Goal {
                target: Target::Place(target),
                text: &text,
                kills: !compound,
            },
        );
    }

    pub(super) fn update(&mut self, node: Node<'_>) {
        let argument = node
            .child_by_field_name("argument")
            .or_else(|| node.named_child(0));
        let Some(target) = argument.and_then(|node| place(node, self.bytes)) else {
            return;
        };
        let taken = Taken {
            source: Source::Constant,
            text: shown(node, self.bytes),
        };
        let text = argument.map_or_else(String::new, |node| shown(node, self.bytes));
        self.add(
            node,
            taken,
            Goal {
                target: Target::Place(target),
                text: &text,
                kills: false,
            },
        );
    }

    pub(super) fn returned(&mut self, node: Node<'_>) {
        if let Some(value) = node.named_child(0) {
            self.goes(
                node,
                value,
                &Goal {
                    target: Target::Return,
                    text: "return",
                    kills: false,
                },
            );
        }
    }

    pub(super) fn call(&mut self, node: Node<'_>) {
        let Some(callee) = callee(node, self.bytes) else {
            return;
        };
        for (index, argument) in arguments(node).into_iter().enumerate() {
            let text = format!("{callee}(#{})", index + 1);
            let goal = Goal {
                target: Target::Argument(callee.clone(), index),
                text: &text,
                kills: false,
            };
            self.goes(node, argument, &goal);
            let Some(place) = place(argument, self.bytes) else {
                continue;
            };
            let written = Place {
                content: !place.address || place.content,
                address: false,
                ..place
            };
            let taken = Taken {
                source: Source::Out(callee.clone(), index),
                text,
            };
            let target_text = shown(argument, self.bytes);
            self.add(
                node,
                taken,
                Goal {
                    target: Target::Place(written),
                    text: &target_text,
                    kills: false,
                },
            );
        }
    }
}
