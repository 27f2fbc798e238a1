//! Lexical helpers for single lines of C, C++ and Java in a diff.

use patchwright_source::regex;
use std::collections::BTreeSet;

/// Tells whether a word may be followed by a parenthesis and is no call.
fn is_keyword(word: &str) -> bool {
    let keyword = regex!(
        "^(?:if|for|while|switch|return|sizeof|catch|defined|else|do|case|synchronized|try|alignof|typeof|decltype)$"
    );
    keyword.is_match(word)
}

/// Returns a line without comments and without the contents of string literals.
pub(crate) fn bare(line: &str) -> String {
    let left_out =
        regex!(r#"(?s)(")(?:[^"\\]|\\.)*\\?("?)|(')(?:[^'\\]|\\.)*\\?('?)|//.*|/\*.*?(?:\*/|$)"#);
    // Only the quotes of a literal are kept.
    let kept = left_out.replace_all(line, "$1$2$3$4");
    let trimmed = kept.trim();
    // The inner lines of a block comment begin with a star.
    if trimmed.starts_with("* ") || trimmed == "*" || trimmed == "*/" {
        return String::new();
    }
    trimmed.to_owned()
}

/// Returns the functions that a line without comments calls.
pub(super) fn calls(line: &str) -> BTreeSet<String> {
    let call = regex!(r"([A-Za-z_][A-Za-z0-9_]*)\s*\(");
    call.captures_iter(line)
        .filter_map(|found| Some(found.get(1)?.as_str().to_owned()))
        .filter(|name| !is_keyword(name))
        .collect()
}

/// Returns every name in a line without comments.
pub(super) fn names(line: &str) -> BTreeSet<String> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
        .filter(|word| !is_keyword(word))
        .map(str::to_owned)
        .collect()
}

/// Tells whether a line without comments begins or continues a branch or a loop.
pub(super) fn branches(line: &str) -> bool {
    let begins = regex!(r"^[} ]*(?:if|else|for|while|switch|case|default|catch|do)\b");
    begins.is_match(line)
}

/// Tells whether a line without comments begins a definition or declaration of a function: a
/// type stands before its name.
pub(super) fn is_definition(line: &str, function: &str) -> bool {
    let mut places = line.match_indices(function);
    let before = places.find_map(|(at, name)| {
        let called = line.get(at + name.len()..)?.trim_start().starts_with('(');
        line.get(..at).filter(|_| called)
    });
    let before = before.unwrap_or_default().trim_end();
    let first = before.split_whitespace().next().unwrap_or_default();
    let is_type =
        before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '*' | '&' | '>' | ']'));
    let is_expression = before.contains(['=', '(', '.', '?', '+', '-', '!', '|']);
    let no_type = ["return", "else", "throw", "new", "goto", "case", "in", "do"];
    is_type && !is_expression && !no_type.contains(&first)
}

/// Returns the value of an integer of a source file, be its suffix what it may.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{bare, branches, calls, is_definition};

    #[test]
    fn definitions_are_told_from_calls() {
        for (line, expected) in [
            ("static int *find(const char *s) {", true),
            ("public List<String> find(String s) {", true),
            ("struct node *find (int a,", true),
            ("find(s);", false),
            ("return find(s);", false),
            ("int n = find(s);", false),
            ("if (find(s))", false),
            ("else find(s);", false),
            ("int finder(int a);", false),
        ] {
            assert_eq!(is_definition(line, "find"), expected, "{line}");
        }
    }

    #[test]
    fn strips_comments_and_strings() {
        for (line, expected) in [
            ("  f(\"a // b\"); // c", "f(\"\");"),
            ("a /* b */ c", "a  c"),
            (" * text", ""),
            ("*p = 1;", "*p = 1;"),
            ("x = '\"'; y", "x = ''; y"),
            ("/* open", ""),
        ] {
            assert_eq!(bare(line), expected, "{line}");
        }
    }

    #[test]
    fn tells_calls_and_branches() {
        let found: Vec<_> = calls("if (f(x) && (a) + g (y)) return sizeof(z);")
            .into_iter()
            .collect();
        assert_eq!(found, ["f", "g"]);
        assert!(branches("} else if (x) {") && branches("case 3:") && !branches("iffy(x);"));
    }
}
