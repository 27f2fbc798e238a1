//! Functions of a file: their names, their parameters and their lines.

use crate::pristine::bare;
use patchwright_source::{Language, parse};
use std::ops::Range;
use tree_sitter::Node;

/// Functions beyond this many are not listed.
const MOST_FUNCTIONS: usize = 20_000;

/// Kinds of nodes that define a function.
const KINDS: [&str; 9] = [
    "function_definition",
    "method_declaration",
    "constructor_declaration",
    "function_declaration",
    "function_item",
    "method_definition",
    "generator_function_declaration",
    "decorated_definition",
    "template_declaration",
];

/// Lines that may stand beside a pasted function.
const BESIDE: [&str; 5] = [
    "comment",
    "line_comment",
    "block_comment",
    "preproc_include",
    ";",
];

/// A function with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The parameters without whitespace.
    pub(crate) parameters: String,
    /// Its lines, from 0, the end excluded.
    pub(crate) lines: Range<usize>,
    /// Its bytes.
    pub(crate) bytes: Range<usize>,
}

/// Lists the functions of a file, outermost first.
pub(crate) fn functions(language: Language, bytes: &[u8]) -> Vec<Function> {
    let Some(tree) = parse(language, bytes) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    let mut descend = true;
    while found.len() < MOST_FUNCTIONS {
        if descend && let Some(function) = function_at(cursor.node(), bytes) {
            found.push(function);
        }
        let wrapped = ["decorated_definition", "template_declaration"]
            .contains(&cursor.node().kind())
            && function_at(cursor.node(), bytes).is_some();
        descend = descend && !wrapped && cursor.goto_first_child();
        if !descend {
            descend = cursor.goto_next_sibling();
            if !descend && !cursor.goto_parent() {
                break;
            }
        }
    }
    found
}

/// Returns the functions that a text consists of: nothing else but comments
/// stands there, and nothing is wrong with it.
pub(crate) fn pasted(language: Language, text: &str) -> Vec<Function> {
    let Some(tree) = parse(language, text.as_bytes()) else {
        return Vec::new();
    };
    let root = tree.root_node();
    if root.has_error() {
        return Vec::new();
    }
    let mut cursor = root.walk();
    let mut found = Vec::new();
    for node in root.children(&mut cursor) {
        match function_at(node, text.as_bytes()) {
            Some(function) => found.push(function),
            None if BESIDE.contains(&node.kind()) => {}
            None => return Vec::new(),
        }
    }
    found
}

/// The function that a node defines.
fn function_at(node: Node<'_>, bytes: &[u8]) -> Option<Function> {
    if !KINDS.contains(&node.kind()) {
        return None;
    }
    let inner = match node.kind() {
        "decorated_definition" => node.child_by_field_name("definition")?,
        "template_declaration" => {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .find(|child| child.kind() == "function_definition")?
        }
        _ => node,
    };
    inner.child_by_field_name("body")?;
    let text = |node: Node<'_>| {
        let text = bytes.get(node.byte_range())?;
        Some(String::from_utf8_lossy(text).into_owned())
    };
    let (name, parameters) = match inner.child_by_field_name("name") {
        Some(name) => (name, inner.child_by_field_name("parameters")),
        None => declared(inner)?,
    };
    Some(Function {
        name: bare(&text(name)?),
        parameters: parameters
            .and_then(text)
            .map(|text| bare(&text))
            .unwrap_or_default(),
        lines: node.start_position().row..node.end_position().row + 1,
        bytes: node.byte_range(),
    })
}

/// The name and the parameters of a function of C or C++: they stand within
/// declarators of pointers and references.
fn declared(node: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>)> {
    let mut parameters = None;
    let mut at = node.child_by_field_name("declarator")?;
    loop {
        if let Some(found) = at.child_by_field_name("parameters") {
            parameters = Some(found);
        }
        let inner = at.child_by_field_name("declarator");
        let inner = inner.or_else(|| match at.kind() {
            "reference_declarator" | "parenthesized_declarator" => at.named_child(0),
            _ => None,
        });
        match inner {
            Some(inner) => at = inner,
            None => return parameters.map(|parameters| (at, Some(parameters))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{functions, pasted};
    use patchwright_source::Language;

    #[test]
    fn finds_functions() {
        for (language, text, expected) in [
            (
                Language::C,
                "static int\nf(int a, char *b)\n{\n    return a;\n}\nint g(void);\nint *h(void) { return 0; }\n",
                vec![("f", "(inta,char*b)", 0..5), ("h", "(void)", 6..7)],
            ),
            (
                Language::Cpp,
                "int A::f(int a) const { return a; }\nclass B { int g() { return 1; } };\nint &r(int &a) { return a; }\n",
                vec![
                    ("A::f", "(inta)", 0..1),
                    ("g", "()", 1..2),
                    ("r", "(int&a)", 2..3),
                ],
            ),
            (
                Language::Java,
                "class A {\n  int f(int a) {\n    return a;\n  }\n  A() { }\n}\n",
                vec![("f", "(inta)", 1..4), ("A", "()", 4..5)],
            ),
            (
                Language::Python,
                "@x\ndef f(a):\n    return a\n\nclass A:\n    def g(self):\n        pass\n",
                vec![("f", "(a)", 0..3), ("g", "(self)", 5..7)],
            ),
            (
                Language::Rust,
                "impl A { fn f(&self) -> u8 { 1 } }\n",
                vec![("f", "(&self)", 0..1)],
            ),
            (
                Language::Go,
                "func (a A) f(b int) int { return b }\n",
                vec![("f", "(bint)", 0..1)],
            ),
        ] {
            let found = functions(language, text.as_bytes());
            let found: Vec<_> = found
                .iter()
                .map(|f| (f.name.as_str(), f.parameters.as_str(), f.lines.clone()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_pasted_function_stands_alone() {
        for (language, text, count) in [
            (
                Language::C,
                "/* new */\nint f(void)\n{\n    return 1;\n}\n",
                1,
            ),
            (
                Language::C,
                "int f(void) { return 1; }\nint g(void) { return 2; }\n",
                2,
            ),
            (Language::C, "int f(void)\n{\n    ...\n}\n", 0),
            (Language::C, "x = 1;\n", 0),
            (Language::C, "int f(void) { return 1; }\nint a;\n", 0),
            (Language::Java, "int f() { return 1; }\n", 1),
            (Language::Python, "def f():\n    return 1\n", 1),
        ] {
            assert_eq!(pasted(language, text).len(), count, "{text}");
        }
    }
}
