//! One walk over a function: what its statements write and read, and each assignment, argument
//! and return as an edge.
//!
//! The fields that the grammars give to their nodes tell what is written and what is read: `left`
//! and `right` of an assignment, `declarator`, `name` or `pattern` beside a `value`, `arguments`
//! beside a `function`, the `condition` of a branch. Few kinds of nodes are known by their names.

use crate::flow::function::{
    Analysis, Call, Condition, Edge, Goal, Loop, Parameter, Statement, Target,
};
use crate::flow::names::{
    assigns, begins_with, called, field, leaves, names, receiver, text, written,
};
use crate::flow::place::{Place, Source, Taken, is_call, place, places_in, shown, sources};
use crate::language::c::prepare::prepare;
use crate::language::walk::{NodeContext, Visitor, arguments, walk};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::Language;
use std::cmp::Reverse;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// Analyses the lines of a function, or of a macro with its parameters.
pub(crate) fn analyse(symbol: &Symbol, code: &[u8]) -> Analysis {
    // A grammar reads the lines alone; of Java only within a class, which puts one row before.
    let (mut text, before) = match symbol.language {
        _ if symbol.kind == SymbolKind::Macro => (macro_as_function(code), 0),
        Language::Java => ([b"class A {\n", code, b"\n}\n"].concat(), 1),
        _ => (code.to_vec(), 0),
    };
    let is_c = matches!(symbol.language, Language::C | Language::Cpp);
    let mut tree = patchwright_source::parse(symbol.language, &text);
    let has_error = |tree: &Tree| tree.root_node().has_error();
    if is_c && tree.as_ref().is_some_and(has_error) {
        // Without macros and split statements the grammar may understand it.
        text = prepare(&text, symbol.language == Language::Cpp).code;
        tree = patchwright_source::parse(symbol.language, &text);
    }
    let Some(tree) = tree else {
        return Analysis::default();
    };
    let mut reader = Reader {
        bytes: &text,
        line: symbol.start_line.saturating_sub(before),
        by_name: symbol.kind == SymbolKind::Macro,
        blocks: Vec::new(),
        block_count: 0,
        assigned: (0..0, Vec::new()),
        found: Analysis::default(),
    };
    walk(&tree, 0, &mut reader);
    let mut found = reader.found;
    found.edges.sort_by_key(|edge| (edge.writes, edge.reads));
    for (number, edge) in found.edges.iter_mut().enumerate() {
        edge.number = number;
    }
    found
        .guards
        .sort_by_key(|guard| (guard.line, Reverse(guard.end_line)));
    found
}

/// `#define M(a, b) body` as `void M(a, b) { return body; }`, lines kept.
fn macro_as_function(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text)
        .replace("\\\r\n", " \n")
        .replace("\\\n", " \n");
    let rest = text.trim_start().strip_prefix('#').unwrap_or(&text);
    let rest = rest.trim_start().strip_prefix("define").unwrap_or(rest);
    let (head, body) = match (rest.find('('), rest.find(')')) {
        (Some(open), Some(close)) if open < close => rest.split_at(close + 1),
        _ => return Vec::new(),
    };
    let body = body.trim_end();
    let statement = body.contains(';') || body.trim_start().starts_with("do");
    let word = if statement { "" } else { "return " };
    let parameters = head.replace(['(', ','], ", int ");
    let parameters = parameters.replacen(", int", "(int", 1);
    format!("void {parameters} {{ {word}{body}; }}").into_bytes()
}

pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    /// The line of the first row in the file.
    line: u32,
    by_name: bool,
    /// Open blocks with their depths.
    blocks: Vec<(u32, u32)>,
    block_count: u32,
    /// Where the last value stands that was assigned, and the names that get it.
    assigned: (Range<usize>, Vec<String>),
    pub(super) found: Analysis,
}

impl Visitor for Reader<'_> {
    fn enter(&mut self, position: &NodeContext<'_, '_>) -> bool {
        let node = position.node;
        let kind = node.kind();
        if kind.ends_with("comment") || kind.contains("string") {
            return false;
        }
        if opens_block(node, position.parent()) {
            self.block_count += 1;
            self.blocks.push((position.depth, self.block_count));
        }
        self.goals(node);
        self.guards(node, position.parent());
        match kind {
            "parameter_declaration"
            | "formal_parameter"
            | "optional_parameter_declaration"
            | "spread_parameter" => self.parameter(position),
            "declaration" | "local_variable_declaration" => self.locals(node),
            "field_initializer" => self.field_initializer(node),
            _ => self.statement(node),
        }
        if let Some(condition) = node.child_by_field_name("condition") {
            self.condition(node, condition, position.parent());
        }
        if begins_with(node, LOOPS) {
            let (first, last) = self.lines(node);
            self.found.loops.push(Loop {
                bytes: node.byte_range(),
                lines: first..=last,
            });
        }
        true
    }

    fn leave(&mut self, depth: u32) {
        while self.blocks.pop_if(|block| block.0 >= depth).is_some() {}
    }
}

/// The beginnings of the kinds of loops.
const LOOPS: &str = "for_ while_ do_ list_comp set_comp dictionary_comp";

/// Returns whether a node may be skipped when the program runs past its start.
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

impl Reader<'_> {
    /// The first and the last line of a node.
    pub(super) fn lines(&self, node: Node<'_>) -> (u32, u32) {
        let (first, last) = (node.start_position().row, node.end_position().row);
        (self.line + first as u32, self.line + last as u32)
    }

    /// Reads and writes of a node, by its fields.
    fn statement(&mut self, node: Node<'_>) {
        let child = |name| node.child_by_field_name(name);
        let target = field(node, &["declarator", "name", "pattern"]);
        let over = child("right").filter(|_| node.kind() == "for_range_loop");
        if let (Some(left), Some(right)) = (child("left"), child("right")) {
            if assigns(node.kind()) {
                self.writes(node, left, right);
                self.assignment(node, left, right);
            }
        } else if let (Some(target), Some(value)) = (target, child("value").or(over)) {
            self.writes(node, target, value);
            self.declaration(node, value);
        } else if node.kind().starts_with("update_") {
            self.writes(node, node, node);
            self.update(node);
        } else if let Some(arguments) = child("arguments") {
            self.calls(node, arguments);
            self.call(node);
        } else if begins_with(node, "return_ throw_ raise_") {
            let reads = names(node, self.bytes);
            self.add_statement(self.lines(node), Vec::new(), reads);
            let value = node.named_child(0);
            if let Some(value) = value.filter(|_| node.kind() == "return_statement") {
                self.goes(node, value, &Goal::new(Target::Return, "return"));
            }
        }
    }

    fn writes(&mut self, node: Node<'_>, target: Node<'_>, value: Node<'_>) {
        let writes = written(target, self.bytes);
        let mut reads = names(value, self.bytes);
        let indexes = names(target, self.bytes).into_iter();
        reads.extend(indexes.filter(|name| !writes.contains(name)));
        if node.kind().starts_with("augmented") || node.kind().starts_with("compound_assign") {
            reads.extend(writes.iter().cloned());
        }
        self.assigned = (value.byte_range(), writes.clone());
        // A loop over a value spans its body: only its head is meant.
        let (target, value) = (self.lines(target), self.lines(value));
        let lines = (target.0.min(value.0), target.1.max(value.1));
        self.add_statement(lines, writes, reads);
    }

    /// A call writes what it is given the address of, and may change what it is called on.
    fn calls(&mut self, node: Node<'_>, arguments: Node<'_>) {
        let mut writes = Vec::new();
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor) {
            if self.bytes.get(argument.start_byte()) == Some(&b'&') {
                writes.extend(written(argument, self.bytes));
            }
        }
        if let Some(name) = called(node, self.bytes) {
            let mut sets = writes.clone();
            if self.assigned.0.contains(&node.start_byte()) {
                sets.extend(self.assigned.1.iter().cloned());
            }
            self.found.calls.push(Call { name, sets });
        }
        writes.extend(receiver(node).map_or_else(Vec::new, |one| written(one, self.bytes)));
        let reads = names(node, self.bytes);
        self.add_statement(self.lines(node), writes, reads);
    }

    fn add_statement(&mut self, lines: (u32, u32), writes: Vec<String>, reads: Vec<String>) {
        let (first, last) = lines;
        self.found.statements.push(Statement {
            first,
            last,
            writes,
            reads,
        });
    }

    /// A condition decides about its branches; where one of them leaves, about what follows too.
    fn condition(&mut self, node: Node<'_>, condition: Node<'_>, parent: Option<Node<'_>>) {
        let (first, mut last) = self.lines(node);
        let branch = node.child_by_field_name("consequence");
        if let (Some(parent), true) = (parent, branch.is_some_and(leaves)) {
            last = self.lines(parent).1;
        }
        self.found.conditions.push(Condition {
            line: self.lines(condition).0,
            first,
            last,
            reads: names(condition, self.bytes),
        });
    }

    /// Each place that an expression takes its value from goes to a goal.
    fn goes(&mut self, node: Node<'_>, value: Node<'_>, goal: &Goal) {
        self.add_each(node, sources(value, self.bytes), goal);
    }

    fn add_each(&mut self, node: Node<'_>, all: Vec<Taken>, goal: &Goal) {
        for taken in all {
            self.add(node, taken, goal.clone());
        }
    }

    fn add(&mut self, node: Node<'_>, from: Taken, to: Goal) {
        self.found.edges.push(Edge {
            number: 0,
            line: self.lines(node).0,
            reads: node.start_byte(),
            writes: node.end_byte(),
            from,
            to,
            blocks: self.blocks.iter().map(|block| block.1).collect(),
        });
    }

    /// The conditions and indices that a value goes into.
    fn goals(&mut self, node: Node<'_>) {
        let child = |field| node.child_by_field_name(field);
        let (read, shows, target) = match node.kind() {
            "if_statement"
            | "while_statement"
            | "for_statement"
            | "do_statement"
            | "switch_statement"
            | "conditional_expression"
            | "ternary_expression" => (child("condition"), child("condition"), Target::Check),
            "subscript_expression" | "array_access" => (
                field(node, &["index", "indices"]),
                Some(node),
                Target::Index,
            ),
            _ => return,
        };
        if let (Some(read), Some(shows)) = (read, shows) {
            let goal = Goal::new(target, shown(shows, self.bytes));
            self.add_each(read, places_in(read, self.bytes), &goal);
        }
    }

    fn assignment(&mut self, node: Node<'_>, left: Node<'_>, right: Node<'_>) {
        let Some(target) = place(left, self.bytes) else {
            return;
        };
        let operator = node.child_by_field_name("operator");
        let is_compound = operator.is_some_and(|operator| operator.byte_range().len() > 1);
        let goal = Goal {
            kills: !is_compound,
            ..Goal::instead(target, shown(left, self.bytes))
        };
        self.goes(node, right, &goal);
    }

    fn update(&mut self, node: Node<'_>) {
        let argument = node.child_by_field_name("argument");
        let Some(argument) = argument.or_else(|| node.named_child(0)) else {
            return;
        };
        if let Some(target) = place(argument, self.bytes) {
            let taken = Taken::new(Source::Constant, node, self.bytes);
            let goal = Goal::new(Target::Place(target), shown(argument, self.bytes));
            self.add(node, taken, goal);
        }
    }

    fn call(&mut self, node: Node<'_>) {
        let Some(callee) = called(node, self.bytes).filter(|_| is_call(node)) else {
            return;
        };
        for (index, argument) in arguments(node).into_iter().flatten().enumerate() {
            let text = format!("{callee}(#{})", index + 1);
            let goal = Goal::new(Target::Argument(callee.clone(), index), text.as_str());
            self.goes(node, argument, &goal);
            let Some(place) = place(argument, self.bytes) else {
                continue;
            };
            let written = Place {
                content: !place.address || place.content,
                address: false,
                ..place
            };
            let source = Source::Out(callee.clone(), index);
            let goal = Goal::new(Target::Place(written), shown(argument, self.bytes));
            self.add(node, Taken { source, text }, goal);
        }
    }

    /// The name in a declarator, and whether it is a reference.
    fn declared(&self, node: Node<'_>) -> Option<(String, bool)> {
        let mut node = node;
        let mut reference = false;
        for _ in 0..16 {
            if matches!(node.kind(), "identifier" | "field_identifier") {
                return Some((text(node, self.bytes), reference));
            }
            reference |= node.kind() == "reference_declarator";
            node = field(node, &["declarator", "name"]).or_else(|| {
                let mut cursor = node.walk();
                node.named_children(&mut cursor).find(|child| {
                    child.kind().ends_with("declarator") || child.kind() == "identifier"
                })
            })?;
        }
        None
    }

    fn parameter(&mut self, position: &NodeContext<'_, '_>) {
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

    fn locals(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let declared = self.declared(declarator);
            self.found.locals.extend(declared.map(|(name, _)| name));
        }
    }

    fn declaration(&mut self, node: Node<'_>, value: Node<'_>) {
        let Some((name, _)) = self.declared(node) else {
            return;
        };
        self.found.locals.insert(name.clone());
        let root = Place::variable(&name);
        if value.kind() == "initializer_list" && self.designated(value, &root) {
            return;
        }
        self.goes(node, value, &Goal::instead(root, name));
    }

    /// `{ .a = x, .b = y }`: one edge per field.
    fn designated(&mut self, list: Node<'_>, root: &Place) -> bool {
        let mut cursor = list.walk();
        let mut pairs: Vec<Node<'_>> = list.named_children(&mut cursor).collect();
        pairs.retain(|child| child.kind() == "initializer_pair");
        for pair in &pairs {
            let child = |field| pair.child_by_field_name(field);
            let field = child("designator").and_then(|designator| designator.named_child(0));
            let (Some(field), Some(value)) = (field, child("value")) else {
                continue;
            };
            let mut target = root.clone();
            target.fields.push(text(field, self.bytes));
            let text = format!("{}.{}", root.root, text(field, self.bytes));
            self.goes(*pair, value, &Goal::instead(target, text));
        }
        !pairs.is_empty()
    }

    /// C++ `: field(value)`.
    fn field_initializer(&mut self, node: Node<'_>) {
        let (Some(field), Some(value)) = (node.named_child(0), node.named_child(1)) else {
            return;
        };
        let target = Place {
            fields: vec![text(field, self.bytes)],
            ..Place::variable("this")
        };
        let goal = Goal::instead(target, text(field, self.bytes));
        self.goes(node, value, &goal);
    }
}
