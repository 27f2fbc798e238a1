//! One walk over a function: assignments, arguments and returns as edges.

mod declared;
mod used;

use super::{Analysis, Edge, Subject, Target};
use crate::flow::place::{Taken, is_call, sources};
use crate::language::walk::{Place as Position, Visitor};
use tree_sitter::Node;

/// What an edge leads to.
#[derive(Clone)]
struct Goal<'g> {
    target: Target,
    text: &'g str,
    kills: bool,
}

pub(super) struct FlowVisitor<'a> {
    bytes: &'a [u8],
    line: u32,
    shift: u32,
    by_name: bool,
    /// Open blocks with their depths.
    blocks: Vec<(u32, u32)>,
    block_count: u32,
    pub(super) found: Analysis,
}

impl Visitor for FlowVisitor<'_> {
    fn enter(&mut self, position: &Position<'_, '_>) -> bool {
        let node = position.node;
        if opens_block(node, position.parent()) {
            self.block_count += 1;
            self.blocks.push((position.depth, self.block_count));
        }
        self.checks(node);
        match node.kind() {
            "comment" | "line_comment" | "block_comment" => return false,
            "for_statement"
            | "while_statement"
            | "do_statement"
            | "for_range_loop"
            | "enhanced_for_statement" => {
                self.found.loops.push((node.start_byte(), node.end_byte()));
                self.loop_variable(node);
            }
            "parameter_declaration"
            | "formal_parameter"
            | "optional_parameter_declaration"
            | "spread_parameter" => self.parameter(position),
            "init_declarator" | "variable_declarator" => self.declaration(node),
            "declaration" => self.locals(node),
            "assignment_expression" => self.assignment(node),
            "update_expression" => self.update(node),
            "return_statement" => self.returned(node),
            "field_initializer" => self.field_initializer(node),
            _ if is_call(node) => self.call(node),
            _ => {}
        }
        true
    }

    fn leave(&mut self, depth: u32) {
        while self.blocks.pop_if(|block| block.0 >= depth).is_some() {}
    }
}

/// Whether a node may be skipped when the program runs past its start.
fn opens_block(node: Node<'_>, parent: Option<Node<'_>>) -> bool {
    let Some(parent) = parent else { return false };
    match parent.kind() {
        "if_statement"
        | "else_clause"
        | "switch_statement"
        | "conditional_expression"
        | "ternary_expression" => {
            node.is_named() && parent.child_by_field_name("condition") != Some(node)
        }
        "while_statement"
        | "for_statement"
        | "for_range_loop"
        | "enhanced_for_statement"
        | "catch_clause"
        | "lambda_expression" => parent.child_by_field_name("body") == Some(node),
        _ => matches!(
            node.kind(),
            "case_statement" | "switch_block_statement_group" | "catch_clause" | "else_clause"
        ),
    }
}

impl<'a> FlowVisitor<'a> {
    pub(super) fn new(bytes: &'a [u8], subject: Subject<'_>, shift: u32) -> Self {
        Self {
            bytes,
            line: subject.line,
            shift,
            by_name: subject.is_macro,
            blocks: Vec::new(),
            block_count: 0,
            found: Analysis::default(),
        }
    }

    fn line_of(&self, node: Node<'_>) -> u32 {
        let row = u32::try_from(node.start_position().row).unwrap_or(u32::MAX);
        (self.line + row).saturating_sub(self.shift)
    }

    /// Each place that an expression takes its value from goes to a goal.
    fn goes(&mut self, node: Node<'_>, value: Node<'_>, goal: &Goal<'_>) {
        let taken = sources(value, self.bytes);
        self.add_each(node, taken, goal);
    }

    fn add_each(&mut self, node: Node<'_>, all: Vec<Taken>, goal: &Goal<'_>) {
        for taken in all {
            self.add(node, taken, goal.clone());
        }
    }

    fn add(&mut self, node: Node<'_>, taken: Taken, goal: Goal<'_>) {
        self.found.edges.push(Edge {
            line: self.line_of(node),
            reads: node.start_byte(),
            writes: node.end_byte(),
            source: taken.source,
            source_text: taken.text,
            target: goal.target,
            target_text: goal.text.to_owned(),
            blocks: self.blocks.iter().map(|block| block.1).collect(),
            kills: goal.kills,
        });
    }

    fn name(&self, node: Node<'_>) -> String {
        String::from_utf8_lossy(self.bytes.get(node.byte_range()).unwrap_or_default()).into_owned()
    }
}
