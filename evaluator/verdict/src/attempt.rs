//! Attempt: a patch as the patcher prepared it, and the functions that it touches.
//!
//! The names of touched functions are read from the patched files. A Java method is named
//! by its file and its name, `Parser.read`; a C++ function as it is written,
//! `Parser::read`.

use crate::evidence::{AcceptedInput, FoundInput};
use patchwright_crash::plain_name;
use patchwright_source::{Changes, Language, SourceError, Touched, Tree, TreePath, parse};
use patchwright_target::runner::{Baseline, LineRange, Target};
use patchwright_target::{Result, TargetError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use tree_sitter::Node;

/// An attempt, as the patcher prepared it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFacts {
    /// The changed files.
    pub changes: Changes,
    /// The same as a unified diff against the pristine tree.
    pub diff: String,
    /// An error for the model where an edit was not located or not allowed.
    pub applies: Result<(), String>,
    /// The new syntax errors, for the model.
    pub parses: Result<(), String>,
    /// The lines that it touches.
    pub touched: Vec<Touched>,
    /// Inputs that refuted other attempts: PoVs besides those of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundInput>,
    /// Answers that were found to be right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedInput>,
}

/// Ground of a climb: the program, how it behaves without a patch, and the patch.
pub(crate) type Ground<'a> = (&'a dyn Target, &'a Baseline, &'a AttemptFacts);

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
            accepted: Vec::new(),
        }
    }
}

impl AttemptFacts {
    /// Returns the pristine path of each changed file.
    pub fn files(&self) -> Vec<&TreePath> {
        let changes = &self.changes;
        let changed = changes.files.keys().chain(&changes.deleted);
        changed.chain(changes.renamed.keys()).collect()
    }

    /// Returns the pieces that the patch wrote, in the patched tree.
    pub(crate) fn written(&self) -> Vec<LineRange> {
        let pieces = self.touched.iter().flat_map(|touched| {
            let path = self.changes.new_name(&touched.path);
            touched.new.iter().map(|(first, last)| LineRange {
                path: path.to_string(),
                first: *first,
                last: *last,
            })
        });
        pieces.collect()
    }

    /// Tells whether the patch wrote a line of a file.
    pub(crate) fn wrote(&self, path: &str, line: u32) -> bool {
        let mut touched = self.touched.iter();
        touched.any(|one| one.path.as_str() == path && one.wrote(line))
    }
}

/// Returns the functions around the changed lines.
pub(crate) fn touched_functions(attempt: &AttemptFacts) -> Vec<String> {
    let touched = attempt.touched.iter();
    let found: BTreeSet<String> = touched
        .flat_map(|touched| around(attempt, touched))
        .collect();
    found.into_iter().collect()
}

/// Returns the touched functions that the pristine files define too: only the patched
/// program calls a function that the patch adds.
pub(crate) fn touched_in_baseline(attempt: &AttemptFacts, root: &Path) -> Result<Vec<String>> {
    let fail = |error: SourceError| TargetError::tree(&error, root);
    let tree = Tree::open(root).map_err(fail)?;
    let mut pristine: BTreeSet<String> = BTreeSet::new();
    for path in attempt.files() {
        let Some(language) = Language::of_path(path) else {
            continue;
        };
        match tree.read(path) {
            Ok(text) => {
                let defined = defined(language, text.bytes(), &|_| true);
                pristine.extend(defined.iter().map(|name| last(name).to_owned()));
            }
            Err(SourceError::NotFound { .. }) => {}
            Err(error) => return Err(fail(error)),
        }
    }
    let mut functions = touched_functions(attempt);
    functions.retain(|function| pristine.contains(last(function)));
    Ok(functions)
}

/// Returns the name of a function without its class and namespace.
pub(crate) fn last(function: &str) -> &str {
    function.rsplit(['.', ':']).next().unwrap_or(function)
}

/// Names the function of a crash frame as touched functions are named.
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
        Language::Java => path.file_name().strip_suffix("java").unwrap_or_default(),
        _ => "",
    };
    let meets = |rows: (u32, u32)| {
        let mut ranges = touched.new.iter();
        ranges.any(|range| range.0 <= rows.1 && range.1 >= rows.0)
    };
    let names = defined(language, bytes, &meets).into_iter();
    names.map(|name| format!("{class}{name}")).collect()
}

/// Returns the functions that a file defines in the selected rows.
fn defined(language: Language, bytes: &[u8], meets: &dyn Fn((u32, u32)) -> bool) -> Vec<String> {
    let tree = parse(language, bytes);
    let nodes = tree.iter().flat_map(|tree| nodes(tree.root_node()));
    let nodes = nodes.filter(|node| meets(rows(*node)));
    nodes.filter_map(|node| name(node, bytes)).collect()
}

/// Visits a node and all below it.
pub(crate) fn nodes(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut open = vec![root];
    std::iter::from_fn(move || {
        let node = open.pop()?;
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
        Some(node)
    })
}

/// Returns the first and the last line of a node.
pub(crate) fn rows(node: Node<'_>) -> (u32, u32) {
    let row = |at: tree_sitter::Point| at.row as u32 + 1;
    (row(node.start_position()), row(node.end_position()))
}

/// Returns the name of a function, where the node is one.
pub(crate) fn name(node: Node<'_>, bytes: &[u8]) -> Option<String> {
    let mut at = match node.kind() {
        "function_definition" => node.child_by_field_name("declarator")?,
        "method_declaration" | "constructor_declaration" => node.child_by_field_name("name")?,
        _ => return None,
    };
    loop {
        at = match (at.child_by_field_name("declarator"), at.kind()) {
            (Some(inner), _) => inner,
            // The declarator of a function that returns a reference is a plain child.
            (None, "reference_declarator" | "parenthesized_declarator") => at.named_child(0)?,
            (None, _) => break,
        };
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
            ..AttemptFacts::default()
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
        let known = touched_in_baseline(&attempt, folder.path()).unwrap();
        assert_eq!(known, ["A::f", "a"]);
        assert!(touched_in_baseline(&attempt, &folder.path().join("gone")).is_err());
    }
}
