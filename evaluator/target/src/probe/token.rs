//! Tokens of a probe expression: names, constants and operators.

/// Longest first, so that `>>=` is not read as `>>` and `=`.
const OPERATORS: &[&str] = &[
    ">>>=", "<<=", ">>=", ">>>", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->",
    "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "&",
    "|", "^", "@", "!", "~", "=", "?", ":", ".", "[", "]", "(", ")",
];

/// A token; what a constant says decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Value,
    Operator(&'static str),
}

/// Cuts an expression into tokens; the reason where a character has no place in one.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_whitespace() {
            first.len_utf8()
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = span(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            found.push(Token::Name(rest.get(..length).unwrap_or_default()));
            length
        } else if first.is_ascii_digit() {
            found.push(Token::Value);
            number(rest)?
        } else if first == '\'' {
            found.push(Token::Value);
            character(rest)?
        } else {
            let operator = OPERATORS.iter().find(|known| rest.starts_with(**known));
            let operator = operator.ok_or_else(|| stray(first))?;
            found.push(Token::Operator(operator));
            operator.len()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(found)
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Returns the length of a number, with its suffix.
fn number(text: &str) -> Result<usize, String> {
    let mut length = span(text, |c| c.is_ascii_alphanumeric());
    let rest = text.get(length..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        length += 1 + span(fraction, |c| c.is_ascii_alphanumeric());
    }
    let number = text.get(..length).unwrap_or_default();
    let plain = number.strip_prefix("0x").or(number.strip_prefix("0X"));
    let good = match plain {
        Some(digits) => digits
            .trim_end_matches(['u', 'U', 'l', 'L'])
            .bytes()
            .all(|b| b.is_ascii_hexdigit()),
        None => number
            .trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F', 'd', 'D'])
            .bytes()
            .all(|b| b.is_ascii_digit() || b".eE".contains(&b)),
    };
    good.then_some(length)
        .ok_or_else(|| format!("{number:?} is no number"))
}

/// Returns the length of a character constant: `'a'`, `'\n'`, `'\x41'`, `'\''`.
fn character(text: &str) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1).take(8) {
        match c {
            '\'' if !escaped && at > 1 => return Ok(at + 1),
            '\\' if !escaped => escaped = true,
            c if c.is_ascii_graphic() || c == ' ' => escaped = false,
            _ => break,
        }
    }
    Err("a character constant is one character between single quotes".to_owned())
}

fn stray(c: char) -> String {
    match c {
        '$' => "names with $ are a debugger's own and cannot be used".to_owned(),
        '"' => "text constants cannot be used; compare single characters or numbers".to_owned(),
        ',' | ';' | '{' | '}' => format!("one expression at a time, without {c:?}"),
        other => format!("{other:?} has no place in an expression"),
    }
}
