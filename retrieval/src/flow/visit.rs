//! One walk over a function: assignments, arguments and returns as edges.

use crate::flow::function::{Analysis, Edge, Parameter, Subject, Target};
use crate::flow::guards;
use crate::flow::place::{
    Place, Source, Taken, arguments, callee, is_call, place, places_in, shown, sources,
};
use crate::language::c::prepare::prepare;
use crate::language::walk::{NodeContext, Visitor, walk};
use patchwright_source::Language;
use tree_sitter::Node;

/// Analyses a function's lines.
pub(crate) fn analyse(subject: Subject<'_>) -> Analysis {
    let (text, shift) = wrap(subject);
    let is_c = matches!(subject.language, Language::C | Language::Cpp);
    let mut text = text;
    let mut tree = patchwright_source::parse(subject.language, &text);
    if is_c
        && tree
            .as_ref()
            .is_some_and(|tree| tree.root_node().has_error())
    {
        // Without macros and split statements the grammar may understand it.
        text = prepare(&text, subject.language == Language::Cpp).code;
        tree = patchwright_source::parse(subject.language, &text);
    }
    let Some(tree) = tree else {
        return Analysis::default();
    };
    let mut visitor = FlowVisitor::new(&text, subject, shift);
    walk(&tree, &mut visitor);
    let mut found = visitor.found;
    found.edges.sort_by_key(|edge| (edge.writes, edge.reads));
    found.guards = guards::find(&tree, &text, subject.line, shift);
    found
}

/// Makes a compilation unit of the lines; gives the rows that were put before.
fn wrap(subject: Subject<'_>) -> (Vec<u8>, u32) {
    let mut text = Vec::with_capacity(subject.text.len() + 32);
    if subject.is_macro {
        text.extend(macro_as_function(subject.text));
        return (text, 0);
    }
    if subject.language == Language::Java {
        text.extend_from_slice(b"class A {\n");
        text.extend_from_slice(subject.text);
        text.extend_from_slice(b"\n}\n");
        return (text, 1);
    }
    text.extend_from_slice(subject.text);
    (text, 0)
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
    let parameters = head.replace(['(', ','], "( int ").replace("( int", "(int");
    let parameters = parameters
        .replacen("(int", "\u{1}", 1)
        .replace("(int", ", int");
    let parameters = parameters.replace('\u{1}', "(int");
    format!("void {parameters} {{ {word}{body}; }}").into_bytes()
}

/// The target of an edge.
#[derive(Clone)]
struct Goal {
    target: Target,
    text: String,
    kills: bool,
}

impl Goal {
    fn new(target: Target, text: impl Into<String>) -> Self {
        Self {
            target,
            text: text.into(),
            kills: false,
        }
    }

    /// A place whose older values are lost.
    fn instead(place: Place, text: impl Into<String>) -> Self {
        Self {
            kills: true,
            ..Self::new(Target::Place(place), text)
        }
    }
}

struct FlowVisitor<'a> {
    bytes: &'a [u8],
    line: u32,
    shift: u32,
    by_name: bool,
    /// Open blocks with their depths.
    blocks: Vec<(u32, u32)>,
    block_count: u32,
    found: Analysis,
}

impl Visitor for FlowVisitor<'_> {
    fn enter(&mut self, position: &NodeContext<'_, '_>) -> bool {
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

impl<'a> FlowVisitor<'a> {
    fn new(bytes: &'a [u8], subject: Subject<'_>, shift: u32) -> Self {
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
    fn goes(&mut self, node: Node<'_>, value: Node<'_>, goal: &Goal) {
        self.add_each(node, sources(value, self.bytes), goal);
    }

    fn add_each(&mut self, node: Node<'_>, all: Vec<Taken>, goal: &Goal) {
        for taken in all {
            self.add(node, taken, goal.clone());
        }
    }

    fn add(&mut self, node: Node<'_>, taken: Taken, goal: Goal) {
        self.found.edges.push(Edge {
            line: self.line_of(node),
            reads: node.start_byte(),
            writes: node.end_byte(),
            source: taken.source,
            source_text: taken.text,
            target: goal.target,
            target_text: goal.text,
            blocks: self.blocks.iter().map(|block| block.1).collect(),
            kills: goal.kills,
        });
    }

    fn name(&self, node: Node<'_>) -> String {
        String::from_utf8_lossy(self.bytes.get(node.byte_range()).unwrap_or_default()).into_owned()
    }
}

impl FlowVisitor<'_> {
    /// The conditions and indices that a value goes into.
    fn checks(&mut self, node: Node<'_>) {
        let child = |field| node.child_by_field_name(field);
        let (read, shows, target) = match node.kind() {
            "if_statement"
            | "while_statement"
            | "for_statement"
            | "do_statement"
            | "switch_statement"
            | "conditional_expression"
            | "ternary_expression" => (child("condition"), child("condition"), Target::Check),
            "subscript_expression" | "array_access" => {
                let index = child("index").or_else(|| child("indices"));
                (index, Some(node), Target::Index)
            }
            _ => return,
        };
        if let (Some(read), Some(shows)) = (read, shows) {
            let goal = Goal::new(target, shown(shows, self.bytes));
            self.add_each(read, places_in(read, self.bytes), &goal);
        }
    }

    fn assignment(&mut self, node: Node<'_>) {
        let left = node.child_by_field_name("left");
        let right = node.child_by_field_name("right");
        let (Some(left), Some(right)) = (left, right) else {
            return;
        };
        let Some(target) = place(left, self.bytes) else {
            return;
        };
        let is_compound = node
            .child_by_field_name("operator")
            .is_some_and(|operator| operator.byte_range().len() > 1);
        let goal = Goal {
            kills: !is_compound,
            ..Goal::instead(target, shown(left, self.bytes))
        };
        self.goes(node, right, &goal);
    }

    fn update(&mut self, node: Node<'_>) {
        let argument = node
            .child_by_field_name("argument")
            .or_else(|| node.named_child(0));
        let Some((argument, target)) =
            argument.and_then(|argument| Some((argument, place(argument, self.bytes)?)))
        else {
            return;
        };
        let taken = Taken::new(Source::Constant, node, self.bytes);
        let goal = Goal::new(Target::Place(target), shown(argument, self.bytes));
        self.add(node, taken, goal);
    }

    fn returned(&mut self, node: Node<'_>) {
        if let Some(value) = node.named_child(0) {
            self.goes(node, value, &Goal::new(Target::Return, "return"));
        }
    }

    fn call(&mut self, node: Node<'_>) {
        let Some(callee) = callee(node, self.bytes) else {
            return;
        };
        for (index, argument) in arguments(node).into_iter().enumerate() {
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
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            if let Some((name, _)) = self.declared(declarator) {
                self.found.locals.insert(name);
            }
        }
    }

    fn declaration(&mut self, node: Node<'_>) {
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
        self.goes(node, value, &Goal::instead(root, name));
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
            fields: vec![self.name(field)],
            ..Place::variable("this")
        };
        let goal = Goal::instead(target, self.name(field));
        self.goes(node, value, &goal);
    }

    fn loop_variable(&mut self, node: Node<'_>) {
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
        let goal = Goal::instead(Place::variable(&name), name);
        self.goes(node, over, &goal);
    }
}
