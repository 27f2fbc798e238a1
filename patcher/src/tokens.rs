//! Tokens and identifiers of code.

/// Returns the identifiers of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !(next.is_alphanumeric() || next == '_'))
        .filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

/// Returns the tokens of a line of code: names and numbers, quoted strings, and single
/// other characters; whitespace is left out.
pub(crate) fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let in_word = |next: char| next.is_alphanumeric() || next == '_' || next == '$';
        let length = if in_word(first) {
            rest.find(|next| !in_word(next)).unwrap_or(rest.len())
        } else if first == '"' || first == '\'' {
            quoted_length(rest, first)
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        rest = after.trim_start();
        Some(token)
    })
}

/// Returns the length of a quoted string, its quotes included.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, next) in text.char_indices().skip(1) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            next if next == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
