//! Lines on which the source of a patch decides something.
//!
//! Compilers count more ways than the source has: for C++ also where a call may throw, a
//! temporary is destroyed or a static variable is made. What no condition decides is no branch
//! of the patch, whoever counts it.

use crate::attempt::{nodes, rows};
use patchwright_source::{Language, parse};
use tree_sitter::Node;

/// First and last lines.
type Range = (u32, u32);

/// Returns the lines that decide something; nothing where each branch that a compiler counts
/// is one of the source, or the text cannot be read.
pub(super) fn decisions(language: Language, text: &[u8]) -> Option<Vec<Range>> {
    if language != Language::Cpp {
        return None;
    }
    let tree = parse(language, text)?;
    let nodes = nodes(tree.root_node());
    Some(nodes.filter_map(|node| decision(node, text)).collect())
}

/// Returns the lines of a node that decides something, its body apart.
fn decision(node: Node<'_>, text: &[u8]) -> Option<Range> {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "if_statement" | "while_statement" | "switch_statement" => {
            Some((rows(node).0, rows(field("condition")?).1))
        }
        "do_statement" => field("condition").map(rows),
        "for_statement" | "for_range_loop" => Some((rows(node).0, rows(field("body")?).0)),
        "case_statement" | "catch_clause" => Some((rows(node).0, rows(node).0)),
        "conditional_expression" => Some(rows(node)),
        "binary_expression" => is_logical(node, text).then(|| rows(node)),
        // What a macro is made of may decide.
        "call_expression" => {
            let name = field("function")?.utf8_text(text).ok()?;
            let is_macro = !name.contains(|c: char| c.is_lowercase());
            is_macro.then(|| rows(node))
        }
        _ => None,
    }
}

/// Returns the first and last lines of the conditions that stand on several lines.
pub(super) fn conditions(language: Language, text: &[u8]) -> Vec<Range> {
    let tree = parse(language, text);
    let mut found: Vec<Range> = Vec::new();
    for node in tree.iter().flat_map(|tree| nodes(tree.root_node())) {
        let (first, last) = rows(node);
        if node.kind() != "binary_expression" || first == last {
            continue;
        }
        let mut outer = found.iter();
        if !outer.any(|outer| outer.0 <= first && last <= outer.1) {
            found.push((first, last));
        }
    }
    found
}

/// A condition that is not made of others: an operand of `&&`, `||` and `!`, what an `if`, a
/// loop or `?:` looks at, or a comparison whose result is a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) lines: Range,
    pub(super) bytes: std::ops::Range<usize>,
    pub(super) kind: OperandKind,
}

/// The part that an operand has in a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OperandKind {
    /// A branch, which compilers count.
    Branch,
    /// A value, which nothing counts.
    Value,
    /// Subject of a `switch`, for a case of this value; its lines are those of the case's code,
    /// which are counted apart where nothing else stands on them.
    Case { value: String, is_apart: bool },
}

/// Returns the operands of the conditions that begin at some lines, in the order of the text.
pub(super) fn operands(
    language: Language,
    text: &[u8],
    is_wanted: impl Fn(u32) -> bool,
) -> Vec<Operand> {
    let Some(tree) = parse(language, text) else {
        return Vec::new();
    };
    let (mut deciding, mut compared): (Vec<Node<'_>>, Vec<Node<'_>>) = (Vec::new(), Vec::new());
    let mut cases = Vec::new();
    for node in nodes(tree.root_node()) {
        match node.kind() {
            "if_statement"
            | "while_statement"
            | "do_statement"
            | "for_statement"
            | "conditional_expression"
            | "ternary_expression" => {
                if let Some(condition) = node.child_by_field_name("condition") {
                    take_apart(condition, text, &mut deciding);
                }
            }
            "switch_statement" => cases.extend(cases_of(node, text)),
            _ if is_logical(node, text) => take_apart(node, text, &mut deciding),
            _ if COMPARISONS.contains(&operator(node, text)) => compared.push(node),
            _ => {}
        }
    }
    for found in [&mut deciding, &mut compared] {
        found.retain(|node| is_wanted(rows(*node).0));
    }
    cases.retain(|case| is_wanted(case.lines.0));
    let mut found = without_nested(&deciding, &compared);
    found.append(&mut cases);
    found.sort_by_key(|one| (one.lines, one.bytes.start, one.bytes.end));
    found.dedup();
    found
}

/// Keeps of what decides the innermost, since the argument of a macro is nearer to what is decided
/// than its call, and of the values those that nothing decides with.
fn without_nested(deciding: &[Node<'_>], compared: &[Node<'_>]) -> Vec<Operand> {
    let holds = |outer: &Node<'_>, inner: &Node<'_>| {
        outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
    };
    let holds_another = |node: &&Node<'_>| {
        let mut others = deciding.iter();
        others.any(|other| holds(node, other) && !holds(other, node))
    };
    let is_held = |node: &&Node<'_>| deciding.iter().any(|outer| holds(outer, node));
    let branches = deciding.iter().filter(|node| !holds_another(node));
    let branches = branches.map(|node| (node, OperandKind::Branch));
    let values = compared.iter().filter(|node| !is_held(node));
    let values = values.map(|node| (node, OperandKind::Value));
    let operand = |(node, kind): (&Node<'_>, OperandKind)| Operand {
        lines: rows(*node),
        bytes: node.byte_range(),
        kind,
    };
    branches.chain(values).map(operand).collect()
}

/// Returns the cases of a `switch` that have a value and code of their own.
fn cases_of(node: Node<'_>, text: &[u8]) -> Vec<Operand> {
    let field = |name| node.child_by_field_name(name);
    let (Some(subject), Some(body)) = (field("condition"), field("body")) else {
        return Vec::new();
    };
    let bytes = subject.start_byte() + 1..subject.end_byte().saturating_sub(1);
    let mut cursor = body.walk();
    let case = |case: Node<'_>| {
        let value = case.child_by_field_name("value")?;
        let mut cursor = case.walk();
        let mut parts = case.named_children(&mut cursor);
        let code = parts.find(|part| *part != value && part.kind() != "comment")?;
        let (first, last) = rows(case);
        let before = case.prev_named_sibling().unwrap_or(subject);
        let after = case.next_named_sibling();
        let is_apart = rows(before).1 < first && after.is_none_or(|after| last < rows(after).0);
        Some(Operand {
            lines: (rows(code).0, last),
            bytes: bytes.clone(),
            kind: OperandKind::Case {
                value: value.utf8_text(text).ok()?.to_owned(),
                is_apart,
            },
        })
    };
    body.named_children(&mut cursor).filter_map(case).collect()
}

pub(super) const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// Returns the operator of an expression with two operands or one; nothing of other nodes.
pub(super) fn operator<'a>(node: Node<'_>, text: &'a [u8]) -> &'a str {
    let expression = matches!(node.kind(), "binary_expression" | "unary_expression");
    let operator = node.child_by_field_name("operator").filter(|_| expression);
    let operator = operator.and_then(|operator| operator.utf8_text(text).ok());
    operator.unwrap_or_default()
}

fn is_logical(node: Node<'_>, text: &[u8]) -> bool {
    matches!(
        operator(node, text),
        "&&" | "||" | "!" | "and" | "or" | "not"
    )
}

/// Adds the operands of a condition.
fn take_apart<'a>(node: Node<'a>, text: &[u8], found: &mut Vec<Node<'a>>) {
    let mut cursor = node.walk();
    let mut parts = node.named_children(&mut cursor);
    match node.kind() {
        "parenthesized_expression" => parts.for_each(|part| take_apart(part, text, found)),
        "condition_clause" => {
            if let Some(value) = node.child_by_field_name("value") {
                take_apart(value, text, found);
            }
        }
        // Their value is that of a new variable.
        "declaration" | "init_statement" => {}
        _ if is_logical(node, text) => parts.for_each(|part| take_apart(part, text, found)),
        _ if parts.any(|part| part.is_error()) => {}
        _ => found.push(node),
    }
}

#[cfg(test)]
mod tests {
    use super::{Operand, OperandKind, decisions, operands};
    use patchwright_source::Language;

    #[test]
    fn what_the_source_decides_is_told_from_what_a_compiler_counts() {
        for (code, lines) in [
            ("return parse(a, b);", vec![]),
            ("Name name = call(a);", vec![]),
            ("if (parse(a)) return 1;", vec![2]),
            ("if (a > 3 ||\n b)\n return f(a);", vec![2, 3]),
            ("for (int i = 0;\n i < a; i++)\n f(a);", vec![2, 3, 4]),
            ("for (auto one : all) {\n f(one);\n}", vec![2]),
            ("do {\n f(a);\n} while (a > 1);", vec![4]),
            ("x = a ? f(a) : b;", vec![2]),
            ("x = f(a) and b;", vec![2]),
            ("x = f(a) + b;", vec![]),
            ("switch (a) {\n case 1:\n f(a);\n}", vec![2, 3]),
            (
                "try {\n f(a);\n} catch (const Error &e) {\n f(b);\n}",
                vec![4],
            ),
            ("CHECK_LENGTH(a, f(b));", vec![2]),
        ] {
            let text = format!("int g(int a, int b) {{\n{code}\n}}\n");
            let found = decisions(Language::Cpp, text.as_bytes()).unwrap();
            let is_in = |line: &u32| {
                found
                    .iter()
                    .any(|(first, last)| (first..=last).contains(&line))
            };
            let decided: Vec<u32> = (1..=8).filter(is_in).collect();
            assert_eq!(decided, lines, "{code}");
        }
        assert_eq!(decisions(Language::C, b"int x;"), None);
    }

    #[test]
    fn conditions_are_taken_apart_into_their_operands() {
        for (language, code, expected) in [
            (
                Language::C,
                "if (size > 16 && seen < 100) return -1;",
                vec!["size > 16", "seen < 100"],
            ),
            (
                Language::C,
                "if (!(a || f(b)) != 0) return 1;",
                vec!["a", "f(b)"],
            ),
            (
                Language::C,
                "if (LIKELY(a && !b)) return 1;",
                vec!["a", "b"],
            ),
            (
                Language::C,
                "return a > 1 && (b || !c);",
                vec!["a > 1", "b", "c"],
            ),
            (Language::C, "x = a ? f(a) : b;", vec!["a"]),
            (Language::C, "for (i = 0; i < n; i++) f(a);", vec!["i < n"]),
            (Language::C, "while (p) p = p->next;", vec!["p"]),
            (Language::C, "x = f(a) + b;", vec![]),
            (Language::C, "x = y * (a == 4);", vec!["a == 4"]),
            (
                Language::C,
                "switch (a % 7) {\ncase 4:\ncase 5: // five\n f();\n break;\ndefault: g(); }",
                vec!["a % 7 is 5"],
            ),
            (
                Language::C,
                "if (f(a == 4) && b) g();",
                vec!["f(a == 4)", "b"],
            ),
            (Language::Cpp, "if (auto *p = f()) return g(p);", vec![]),
            (Language::Cpp, "if (a and not b) return 1;", vec!["a", "b"]),
            (
                Language::Java,
                "if (a.isEmpty() || n > 3) return 1;",
                vec!["a.isEmpty()", "n > 3"],
            ),
        ] {
            let body = format!("int g(int a, int b) {{\n{code}\n}}\n");
            let text = match language {
                Language::Java => format!("class A {{\n{body}}}\n"),
                _ => body,
            };
            let found = operands(language, text.as_bytes(), |_| true);
            let shown = |one: &Operand| match &one.kind {
                OperandKind::Case { value, .. } => {
                    format!("{} is {value}", &text[one.bytes.clone()])
                }
                _ => text[one.bytes.clone()].to_owned(),
            };
            let found: Vec<String> = found.iter().map(shown).collect();
            assert_eq!(found, expected, "{code}");
        }
    }
}
