//! Names that a patch uses for the first time.

use crate::pristine::Pristine;
use crate::tokens::{tokens, words};
use patchwright_source::{Language, regex, without_comments};
use std::collections::BTreeSet;

/// Names beyond this many are not looked up.
const MOST_NAMES: usize = 100;

/// Words that look like a call and are none.
const NO_CALLS: &str = include_str!("names/no_calls.txt");

/// Words among these that begin the head of a function all the same.
const TYPES: &str = "void int char long unsigned bool double float short auto const";
/// Names that every program has, whether or not its headers were indexed.
const STANDARD: &str = include_str!("names/standard.txt");

/// Folders and modules that belong to the language.
const STANDARD_ROOTS: [&str; 9] = [
    "java.", "javax.", "jdk.", "sys/", "netinet/", "arpa/", "linux/", "kotlin.", "bits/",
];

/// Headers and modules that belong to the language.
const STANDARD_MODULES: &str = include_str!("names/modules.txt");

fn is_among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Returns true when every program has this name.
pub(crate) fn is_standard(name: &str) -> bool {
    is_among(STANDARD, name)
}

/// Warns of calls and imports in new lines whose names exist nowhere: not in
/// the file before, and neither in the patch nor in the tree, as `knows` tells.
pub(crate) fn unknown_names(
    file: &Pristine,
    new_lines: &[String],
    knows: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let code = without_comments(file.language, new_lines.iter().map(String::as_str));
    let (path, mut warnings) = (&file.path, BTreeSet::new());
    for (line, text) in code.iter().zip(new_lines) {
        if let Some(module) = import_of(file.language, text) {
            if !is_known_module(&module, knows) {
                let warning = format!("{path}: {module:?} is imported and nowhere to be found");
                warnings.insert(warning);
            }
        } else {
            for name in calls(line) {
                let known = file.names().contains(name) || is_standard(name) || knows(name);
                if !known {
                    let warning = format!("{path}: {name}() is called and nowhere to be found");
                    warnings.insert(warning);
                }
            }
        }
        if warnings.len() >= MOST_NAMES {
            break;
        }
    }
    warnings.into_iter().collect()
}

/// Names that new lines bring with them: whatever stands there without being
/// called, such as a variable, a parameter, a macro or a definition.
pub(crate) fn introduced(language: Option<Language>, new_lines: &[String]) -> BTreeSet<String> {
    let code = without_comments(language, new_lines.iter().map(String::as_str));
    let mut names = BTreeSet::new();
    for line in code
        .iter()
        .filter(|line| import_of(language, line).is_none())
    {
        let called: BTreeSet<&str> = calls(line).into_iter().collect();
        let defines = line.trim_start().starts_with("#define")
            || line.trim_start().starts_with("def ")
            || is_definition(line);
        for word in words(line) {
            if defines || !called.contains(word) {
                names.insert(word.to_owned());
            }
        }
    }
    names
}

/// Returns true when a line looks like the head of a function: it begins with two words
/// and has no assignment, and does not end a statement.
fn is_definition(line: &str) -> bool {
    let head = line.split('(').next().unwrap_or_default();
    let count = words(head).count();
    let first = words(head).next().unwrap_or_default();
    let ends = line.trim_end();
    count >= 2
        && !head.contains(['=', '.'])
        && (!is_among(NO_CALLS, first) || is_among(TYPES, first))
        && (ends.ends_with(['{', ')', ',', '}']) || ends.ends_with(");"))
}

/// The names that are followed by a parenthesis.
fn calls(line: &str) -> Vec<&str> {
    let tokens: Vec<&str> = tokens(line).collect();
    tokens
        .windows(2)
        .filter_map(|pair| match pair {
            [name, "("] => Some(*name),
            _ => None,
        })
        .filter(|name| name.starts_with(|first: char| first.is_alphabetic() || first == '_'))
        .filter(|name| !is_among(NO_CALLS, name))
        .collect()
}

/// Returns the header or module that a line includes or imports.
fn import_of(language: Option<Language>, line: &str) -> Option<String> {
    let form = match language? {
        Language::C | Language::Cpp => regex!(r#"^#\s*include\s*[<"]([^>"]*)"#),
        Language::Java => regex!(r"^import \s*(?:static \s*)?(.*?)\s*(?:\.\*)*;*$"),
        Language::Python => regex!("^(?:import|from) ([^ ,;]*)"),
        _ => return None,
    };
    let (_, [name]) = form.captures(line.trim())?.extract();
    Some(name.to_owned())
}

/// Returns true when a module or a header is standard or in the tree, as `knows` tells.
fn is_known_module(name: &str, knows: &dyn Fn(&str) -> bool) -> bool {
    let first = name.split('.').next().unwrap_or_default();
    let last = name.rsplit(['/', '.']).next().unwrap_or(name);
    let base = name.rsplit('/').next().unwrap_or(name);
    // In a path of C the last dot is no separator.
    let is_dotted = name.rsplit('.').next() != Some("h");
    name.starts_with('.')
        || STANDARD_ROOTS.iter().any(|root| name.starts_with(root))
        || is_among(STANDARD_MODULES, name)
        || is_dotted && (is_among(STANDARD_MODULES, first) || knows(last))
        || knows(name)
        || knows(base)
}

#[cfg(test)]
mod tests {
    use super::{introduced, tokens, unknown_names};
    use crate::pristine::Pristine;
    use patchwright_source::{Text, TreePath};

    #[test]
    fn splits_into_tokens() {
        let found: Vec<&str> = tokens("a1 = f(\"x\\\" y\", 'c')->b;").collect();
        assert_eq!(
            found,
            [
                "a1",
                "=",
                "f",
                "(",
                "\"x\\\" y\"",
                ",",
                "'c'",
                ")",
                "-",
                ">",
                "b",
                ";"
            ]
        );
    }

    #[test]
    fn reports_names_that_exist_nowhere() {
        for (path, new, expected) in [
            ("a.c", "x = safe_add(a, b);", 1),
            ("a.c", "x = old_call(a, b);", 0),
            ("a.c", "memcpy(a, b, known(c));", 0),
            ("a.c", "static int helper(int a) {\nreturn helper(1);", 0),
            ("a.c", "// see other(1)\nif (a) return;", 0),
            (
                "a.c",
                "#include <stdint.h>\n#include \"known.h\"\n#include \"nowhere.h\"",
                1,
            ),
            ("a.c", "#define CAP(a) (a)\nx = CAP(1);", 0),
            (
                "A.java",
                "import java.util.List;\nimport org.nowhere.Thing;",
                1,
            ),
            ("a.py", "import os.path\nfrom nowhere import thing", 1),
        ] {
            let file = Pristine::new(
                TreePath::new(path).unwrap(),
                Text::new(b"int old_call(int a, int b);\n".to_vec()),
            );
            let lines: Vec<String> = new.split('\n').map(str::to_owned).collect();
            let brought = introduced(file.language, &lines);
            let knows = |name: &str| name.starts_with("known") || brought.contains(name);
            let warnings = unknown_names(&file, &lines, &knows);
            assert_eq!(warnings.len(), expected, "{new}: {warnings:?}");
        }
    }
}
