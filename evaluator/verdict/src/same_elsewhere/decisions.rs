//! Lines on which the source of a patch decides something.
//!
//! Compilers count more ways than the source has: for C++ also where a call may throw, a
//! temporary is destroyed or a static variable is made. What no condition decides is no branch
//! of the patch, whoever counts it.

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
    let mut open = vec![tree.root_node()];
    let mut found = Vec::new();
    while let Some(node) = open.pop() {
        found.extend(decision(node, text));
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    Some(found)
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
        "binary_expression" => {
            let operator = field("operator")?.utf8_text(text).ok()?;
            matches!(operator, "&&" | "||" | "and" | "or").then(|| rows(node))
        }
        // What a macro is made of may decide.
        "call_expression" => {
            let name = field("function")?.utf8_text(text).ok()?;
            let is_macro = !name.contains(|c: char| c.is_lowercase());
            is_macro.then(|| rows(node))
        }
        _ => None,
    }
}

fn rows(node: Node<'_>) -> Range {
    let row = |at: tree_sitter::Point| at.row as u32 + 1;
    (row(node.start_position()), row(node.end_position()))
}

/// Returns the first and last lines of the conditions that stand on several lines.
pub(super) fn conditions(language: Language, text: &[u8]) -> Vec<Range> {
    let tree = parse(language, text);
    let mut open: Vec<_> = tree.iter().map(|tree| tree.root_node()).collect();
    let mut found = Vec::new();
    while let Some(node) = open.pop() {
        let (first, last) = rows(node);
        if first == last {
            continue;
        }
        if matches!(node.kind(), "binary_expression" | "boolean_operator") {
            found.push((first, last));
        } else {
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::decisions;
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
}
