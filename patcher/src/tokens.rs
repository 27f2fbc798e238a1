//! Tokens and identifiers of code.

use patchwright_source::regex;

/// Returns the identifiers of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !(next.is_alphanumeric() || next == '_'))
        .filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

/// Returns the tokens of a line of code: names and numbers, quoted strings, and single
/// other characters; whitespace is left out.
pub(crate) fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let token = regex!(
        r#"(?s)[\p{Alphabetic}\p{N}_$]+|"(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|\S"#
    );
    token.find_iter(code).map(|token| token.as_str())
}
