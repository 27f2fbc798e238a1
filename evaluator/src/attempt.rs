//! An attempt as the patcher left it: its changes, and the functions and lines that they touch.
//!
//! Names of touched functions are read from the patched files. A method of Java
//! is called by its file and its name, `Parser.read`; a function of C++ as it
//! is written, `Parser::read`.

use crate::evidence::FoundInput;
use crate::signature::plain_name;
use patchwright_source::{Changes, Language, Touched, Tree, TreePath, parse};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use tree_sitter::Node;

/// An attempt, as the patcher left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFacts {
    /// The changed files.
    pub changes: Changes,
    /// The same as a unified diff against the pristine tree.
    pub diff: String,
    /// Whether every edit was located and allowed; otherwise why not, for the model.
    pub applies: Result<(), String>,
    /// Whether no new syntax error was made; otherwise which, for the model.
    pub parses: Result<(), String>,
    /// What it touches.
    pub touched: Vec<Touched>,
    /// Inputs that refuted other attempts: PoVs besides those of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundInput>,
}

impl Default for AttemptFacts {
    /// An attempt that changes nothing.
    fn default() -> Self {
        Self {
            changes: Changes::default(),
            diff: String::new(),
            applies: Ok(()),
            parses: Ok(()),
            touched: Vec::new(),
            found: Vec::new(),
        }
    }
}

impl AttemptFacts {
    /// The pristine path of each changed file that existed before.
    pub fn files(&self) -> Vec<&TreePath> {
        self.changes
            .files
            .keys()
            .chain(&self.changes.deleted)
            .chain(self.changes.renamed.keys())
            .collect()
    }
}

/// Returns the functions around the changed lines.
pub(crate) fn touched_functions(attempt: &AttemptFacts) -> Vec<String> {
    let found: BTreeSet<String> = attempt
        .touched
        .iter()
        .flat_map(|touched| around(attempt, touched))
        .collect();
    found.into_iter().collect()
}

/// Of the touched functions those that the pristine files define too: what a
/// patch adds is called by the patched program alone.
pub(crate) fn touched_in_baseline(attempt: &AttemptFacts, tree: &Path) -> Vec<String> {
    let Ok(tree) = Tree::open(tree) else {
        return Vec::new();
    };
    let mut pristine: BTreeSet<String> = BTreeSet::new();
    for path in attempt.files() {
        if let (Ok(text), Some(language)) = (tree.read(path), Language::of_path(path)) {
            let defined = defined(language, text.bytes(), &|_| true);
            pristine.extend(defined.iter().map(|name| last(name).to_owned()));
        }
    }
    let mut functions = touched_functions(attempt);
    functions.retain(|function| pristine.contains(last(function)));
    functions
}

/// The name of a function without those of its class and namespace.
fn last(function: &str) -> &str {
    function.rsplit(['.', ':']).next().unwrap_or(function)
}

/// The function of a crash frame as touched functions are called.
pub(crate) fn name_of_frame(function: &str, language: Language) -> String {
    let plain = plain_name(function);
    if language != Language::Java {
        return plain;
    }
    let mut parts = plain.rsplit('.');
    let (Some(method), Some(class)) = (parts.next(), parts.next()) else {
        return plain.clone();
    };
    let file = class.split('$').next().unwrap_or(class);
    format!("{file}.{method}")
}

fn around(attempt: &AttemptFacts, touched: &Touched) -> Vec<String> {
    let path = &touched.path;
    let (Some(bytes), Some(language)) =
        (attempt.changes.new_content(path), Language::of_path(path))
    else {
        return Vec::new();
    };
    let class = match language {
        Language::Java => path.file_name().strip_suffix("java").map(str::to_owned),
        _ => None,
    };
    let class = class.unwrap_or_default();
    let meets = |rows: (u32, u32)| {
        let mut ranges = touched.new.iter();
        ranges.any(|range| range.0 <= rows.1 && range.1 >= rows.0)
    };
    let names = defined(language, bytes, &meets).into_iter();
    names.map(|name| format!("{class}{name}")).collect()
}

/// The functions that a file defines within rows that are asked for.
fn defined(language: Language, bytes: &[u8], meets: &dyn Fn((u32, u32)) -> bool) -> Vec<String> {
    let Some(tree) = parse(language, bytes) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let (start, end) = (node.start_position(), node.end_position());
        let meets = meets((start.row as u32 + 1, end.row as u32 + 1));
        if meets {
            names.extend(name(node, bytes));
        }
        let deeper = meets && cursor.goto_first_child();
        if !deeper {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return names;
                }
            }
        }
    }
}

/// The name of a function, where the node is one.
fn name(node: Node<'_>, bytes: &[u8]) -> Option<String> {
    let mut at = match node.kind() {
        "function_definition" => node.child_by_field_name("declarator")?,
        "method_declaration" | "constructor_declaration" => node.child_by_field_name("name")?,
        _ => return None,
    };
    while let Some(inner) = at.child_by_field_name("declarator") {
        at = inner;
    }
    // A reference to what is returned hides the declarator in a plain child.
    if at.kind() == "reference_declarator" || at.kind() == "parenthesized_declarator" {
        at = at.named_child(0)?;
        while let Some(inner) = at.child_by_field_name("declarator") {
            at = inner;
        }
    }
    let text = bytes.get(at.byte_range())?;
    let text = String::from_utf8_lossy(text);
    let plain = text.split_whitespace().collect::<String>();
    (!plain.is_empty() && plain.len() < 200).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::{AttemptFacts, Touched, touched_functions, touched_in_baseline};
    use patchwright_source::{Changes, TreePath};

    fn attempt(path: &str, text: &str, lines: &[(u32, u32)]) -> AttemptFacts {
        AttemptFacts {
            changes: Changes {
                files: [(TreePath::new(path).unwrap(), text.as_bytes().to_vec())].into(),
                ..Changes::default()
            },
            diff: String::new(),
            applies: Ok(()),
            parses: Ok(()),
            touched: vec![Touched {
                path: TreePath::new(path).unwrap(),
                old: Vec::new(),
                new: lines.to_vec(),
            }],
            found: Vec::new(),
        }
    }

    #[test]
    fn names_the_functions_around_the_changed_lines() {
        const C: &str = "int a(int x)\n{\n  return x;\n}\nstatic char *b(void) {\n  return 0;\n}\n";
        const CPP: &str = "namespace N {\nint A::f(int x) {\n  return x;\n}\nA &A::g() {\n  return *this;\n}\n}\n";
        const JAVA: &str = "class A {\n  A() {\n  }\n  int f() {\n    return 1;\n  }\n  int g() { return 2; }\n}\n";
        for (path, text, lines, expected) in [
            ("a.c", C, vec![(3, 3)], vec!["a"]),
            ("a.c", C, vec![(6, 6), (1, 1)], vec!["a", "b"]),
            ("a.cc", CPP, vec![(3, 3), (6, 6)], vec!["A::f", "A::g"]),
            ("A.java", JAVA, vec![(5, 5)], vec!["A.f"]),
            ("A.java", JAVA, vec![(3, 7)], vec!["A.A", "A.f", "A.g"]),
            ("a.txt", "x", vec![(1, 1)], vec![]),
        ] {
            let attempt = attempt(path, text, &lines);
            assert_eq!(touched_functions(&attempt), expected, "{path} {lines:?}");
        }
        // A renamed file is named as it was before; its content stands under the new name.
        let mut moved = attempt("b.c", C, &[(3, 3)]);
        let path = |text| TreePath::new(text).unwrap();
        moved.changes.renamed.insert(path("a.c"), path("b.c"));
        moved.touched[0].path = path("a.c");
        assert_eq!(touched_functions(&moved), ["a"]);
    }

    #[test]
    fn what_a_patch_adds_is_not_known() {
        const OLD: &str =
            "// keep (it)\nint a(int x)\n{\n  return keep + x;\n}\nint A::f() {\n  return 1;\n}\n";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.cc"), OLD).unwrap();
        let new = OLD.replace("keep +", "keep(x) +");
        let new = format!("static int keep(int x) {{ return x; }}\n{new}");
        let attempt = attempt("a.cc", &new, &[(1, 9)]);
        assert_eq!(touched_functions(&attempt), ["A::f", "a", "keep"]);
        assert_eq!(touched_in_baseline(&attempt, folder.path()), ["A::f", "a"]);
    }
}
