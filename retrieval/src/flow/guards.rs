//! The conditions under which a line of a function is reached.
//!
//! From the structure alone: branches, loops, cases, what follows an early
//! exit, and preprocessor conditionals. Nothing is evaluated.

use crate::flow::function::{GuardFact, GuardKind};
use crate::flow::names::leaves;
use crate::flow::place::shown;
use crate::flow::visit::Reader;
use tree_sitter::Node;

impl Reader<'_> {
    /// Finds what a node guards.
    pub(super) fn guards(&mut self, node: Node<'_>, parent: Option<Node<'_>>) {
        let child = |field| node.child_by_field_name(field);
        let (guarded, condition, kind) = match node.kind() {
            "if_statement" => return self.branch(node, parent),
            "conditional_expression" | "ternary_expression" => return self.choice(node),
            "while_statement" | "for_statement" | "do_statement" => {
                (child("body"), child("condition"), GuardKind::Loop)
            }
            "case_statement" => (Some(node), child("value"), GuardKind::Case),
            "switch_block_statement_group" => (Some(node), node.named_child(0), GuardKind::Case),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" => {
                let condition = child("condition").or_else(|| child("name"));
                (Some(node), condition, GuardKind::Preprocessor)
            }
            _ => return,
        };
        if let (Some(guarded), Some(condition)) = (guarded, condition) {
            self.guard(guarded, condition, kind);
        }
    }

    fn guard(&mut self, guarded: Node<'_>, condition: Node<'_>, kind: GuardKind) {
        self.add_guard(self.lines(guarded), condition, kind);
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

    fn choice(&mut self, node: Node<'_>) {
        let child = |field| node.child_by_field_name(field);
        let Some(condition) = child("condition") else {
            return;
        };
        if let Some(then) = child("consequence") {
            self.guard(then, condition, GuardKind::Holds);
        }
        if let Some(otherwise) = child("alternative") {
            self.guard(otherwise, condition, GuardKind::Fails);
        }
    }

    fn branch(&mut self, node: Node<'_>, parent: Option<Node<'_>>) {
        self.choice(node);
        let child = |field| node.child_by_field_name(field);
        let (Some(condition), Some(then)) = (child("condition"), child("consequence")) else {
            return;
        };
        let block = parent.filter(|parent| {
            matches!(
                parent.kind(),
                "compound_statement" | "block" | "constructor_body" | "case_statement"
            )
        });
        if let Some(block) = block.filter(|_| leaves(then) && child("alternative").is_none()) {
            let (first, last) = (self.lines(node).1 + 1, self.lines(block).1);
            if first <= last {
                self.add_guard((first, last), condition, GuardKind::Passed);
            }
        }
    }
}

/// A condition without the parentheses around all of it.
fn plain(condition: &str) -> &str {
    condition
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
        .map_or(condition, str::trim)
}
