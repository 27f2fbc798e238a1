//! The conditions under which a line of a function is reached.
//!
//! From the structure alone: branches, loops, cases, what follows an early
//! exit, and preprocessor conditionals. Nothing is evaluated.

use crate::flow::function::{GuardFact, GuardKind};
use crate::flow::names::{field, leaves};
use crate::flow::place::shown;
use crate::flow::visit::Reader;
use tree_sitter::Node;

impl Reader<'_> {
    /// Finds what a node guards.
    pub(super) fn guards(&mut self, node: Node<'_>, parent: Option<Node<'_>>) {
        let child = |field| node.child_by_field_name(field);
        let (condition, guarded) = match node.kind() {
            "if_statement" | "conditional_expression" | "ternary_expression" => {
                let then = (child("consequence"), GuardKind::Holds);
                let otherwise = (child("alternative"), GuardKind::Fails);
                (child("condition"), vec![then, otherwise])
            }
            "while_statement" | "for_statement" | "do_statement" => {
                (child("condition"), vec![(child("body"), GuardKind::Loop)])
            }
            "case_statement" => (child("value"), vec![(Some(node), GuardKind::Case)]),
            "switch_block_statement_group" => {
                (node.named_child(0), vec![(Some(node), GuardKind::Case)])
            }
            "preproc_if" | "preproc_ifdef" | "preproc_elif" => {
                let guarded = vec![(Some(node), GuardKind::Preprocessor)];
                (field(node, &["condition", "name"]), guarded)
            }
            _ => return,
        };
        let Some(condition) = condition else { return };
        for (guarded, kind) in guarded {
            if let Some(guarded) = guarded {
                self.add_guard(self.lines(guarded), condition, kind);
            }
        }
        if node.kind() == "if_statement" {
            self.passed(node, condition, parent);
        }
    }

    /// Finds what follows a branch that leaves: there its condition did not hold.
    fn passed(&mut self, node: Node<'_>, condition: Node<'_>, parent: Option<Node<'_>>) {
        let child = |field| node.child_by_field_name(field);
        let block = parent.filter(|parent| {
            matches!(
                parent.kind(),
                "compound_statement" | "block" | "constructor_body" | "case_statement"
            )
        });
        let then_leaves = child("consequence").is_some_and(leaves);
        if let Some(block) = block.filter(|_| then_leaves && child("alternative").is_none()) {
            let (first, last) = (self.lines(node).1 + 1, self.lines(block).1);
            if first <= last {
                self.add_guard((first, last), condition, GuardKind::Passed);
            }
        }
    }

    fn add_guard(&mut self, (line, end_line): (u32, u32), condition: Node<'_>, kind: GuardKind) {
        self.found.guards.push(GuardFact {
            line,
            end_line,
            condition_line: self.lines(condition).0,
            kind,
            condition: plain(&shown(condition, self.bytes)).to_owned(),
        });
    }
}

/// A condition without the parentheses around all of it.
fn plain(condition: &str) -> &str {
    condition
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
        .map_or(condition, str::trim)
}
