//! The conditions under which a line of a function is reached.
//!
//! From the structure alone: branches, loops, cases, what follows an early
//! exit, and preprocessor conditionals. Nothing is evaluated.

use crate::flow::place::shown;
use crate::language::walk::{NodeContext, Visitor, walk};
use crate::statements::leaves;
use tree_sitter::{Node, Tree};

/// Describes how a condition guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardKind {
    /// The condition holds.
    Holds,
    /// The condition does not hold (an `else`).
    Fails,
    /// The condition did not hold, or an earlier statement had left.
    Passed,
    /// The condition holds at the start of each round of a loop.
    Loop,
    /// The value of a `switch` is this case.
    Case,
    /// The preprocessor's condition holds.
    Preprocessor,
}

impl GuardKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Passed => "passed",
            Self::Loop => "loop",
            Self::Case => "case",
            Self::Preprocessor => "preprocessor",
        }
    }
}

/// A condition and the lines that it guards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardFact {
    /// The first guarded line.
    pub line: u32,
    /// The last guarded line.
    pub end_line: u32,
    /// Where the condition stands.
    pub condition_line: u32,
    /// Kind of guard.
    pub kind: GuardKind,
    /// The condition as written, on one line.
    pub condition: String,
}

/// Finds all guards in a function's tree, outermost first.
pub(crate) fn find(tree: &Tree, bytes: &[u8], line: u32, shift: u32) -> Vec<GuardFact> {
    let mut visitor = GuardVisitor {
        bytes,
        line,
        shift,
        found: Vec::new(),
    };
    walk(tree, &mut visitor);
    let mut found = visitor.found;
    found.sort_by_key(|guard| (guard.line, std::cmp::Reverse(guard.end_line)));
    found
}

struct GuardVisitor<'a> {
    bytes: &'a [u8],
    line: u32,
    shift: u32,
    found: Vec<GuardFact>,
}

impl Visitor for GuardVisitor<'_> {
    fn enter(&mut self, position: &NodeContext<'_, '_>) -> bool {
        let node = position.node;
        let child = |field| node.child_by_field_name(field);
        match node.kind() {
            "if_statement" => self.branch(node, position.parent()),
            "while_statement" | "for_statement" | "do_statement" => {
                if let (Some(condition), Some(body)) = (child("condition"), child("body")) {
                    self.guard(body, condition, GuardKind::Loop);
                }
            }
            "case_statement" => {
                if let Some(value) = child("value") {
                    self.guard(node, value, GuardKind::Case);
                }
            }
            "switch_block_statement_group" => {
                if let Some(label) = node.named_child(0) {
                    self.guard(node, label, GuardKind::Case);
                }
            }
            "conditional_expression" | "ternary_expression" => self.choice(node),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" => {
                if let Some(condition) = child("condition").or_else(|| child("name")) {
                    self.guard(node, condition, GuardKind::Preprocessor);
                }
            }
            _ => {}
        }
        true
    }

    fn leave(&mut self, _depth: u32) {}
}

impl GuardVisitor<'_> {
    fn number(&self, row: usize) -> u32 {
        let row = u32::try_from(row).unwrap_or(u32::MAX);
        (self.line + row).saturating_sub(self.shift)
    }

    fn guard(&mut self, guarded: Node<'_>, condition: Node<'_>, kind: GuardKind) {
        let first = self.number(guarded.start_position().row);
        let last = self.number(guarded.end_position().row);
        self.add(first, last, condition, kind);
    }

    fn add(&mut self, line: u32, end_line: u32, condition: Node<'_>, kind: GuardKind) {
        self.found.push(GuardFact {
            line,
            end_line,
            condition_line: self.number(condition.start_position().row),
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
            let first = self.number(node.end_position().row) + 1;
            let last = self.number(block.end_position().row);
            if first <= last {
                self.add(first, last, condition, GuardKind::Passed);
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
