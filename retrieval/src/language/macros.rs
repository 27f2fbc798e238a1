//! The names in a macro's body, which the grammar leaves as raw text.
//!
//! A scan over tokens: no expansion, no conditionals.

use std::ops::Range;

/// A name in raw C text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Where it stands.
    pub(crate) range: Range<usize>,
    /// True when an opening parenthesis follows.
    pub(crate) called: bool,
    /// Number of line ends between the start of the scan and it.
    pub(crate) lines_down: u32,
}

/// Finds the identifiers between two offsets; literals and comments hold none.
pub(crate) fn identifiers(bytes: &[u8], range: Range<usize>) -> Vec<Token> {
    let text = bytes.get(range.clone()).unwrap_or_default();
    let mut found = Vec::new();
    let mut lines_down = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        let next = match byte {
            b'\n' => {
                lines_down += 1;
                at + 1
            }
            b'"' | b'\'' => after_literal(text, at),
            b'/' if text.get(at + 1) == Some(&b'/') => text.len(),
            b'/' if text.get(at + 1) == Some(&b'*') => {
                let end = after_comment(text, at);
                lines_down += newlines(text, at..end);
                end
            }
            b'0'..=b'9' => after_word(text, at),
            _ if starts_name(byte) => {
                let end = after_word(text, at);
                let follows = text
                    .get(end..)
                    .unwrap_or_default()
                    .iter()
                    .find(|byte| !matches!(byte, b' ' | b'\t'));
                found.push(Token {
                    range: range.start + at..range.start + end,
                    called: follows == Some(&b'('),
                    lines_down,
                });
                end
            }
            _ => at + 1,
        };
        at = next;
    }
    found
}

fn newlines(text: &[u8], range: Range<usize>) -> u32 {
    let count = text
        .get(range)
        .unwrap_or_default()
        .iter()
        .filter(|byte| **byte == b'\n')
        .count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn after_literal(text: &[u8], start: usize) -> usize {
    let quote = text.get(start).copied();
    let mut at = start + 1;
    while let Some(byte) = text.get(at).copied() {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if Some(byte) == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn after_comment(text: &[u8], start: usize) -> usize {
    text.get(start + 2..)
        .unwrap_or_default()
        .windows(2)
        .position(|pair| pair == b"*/")
        .map_or(text.len(), |at| start + 2 + at + 2)
}

fn after_word(text: &[u8], start: usize) -> usize {
    text.get(start..)
        .unwrap_or_default()
        .iter()
        .position(|byte| !continues_name(*byte))
        .map_or(text.len(), |length| start + length.max(1))
}

/// Returns whether a C identifier can start with this byte.
pub(crate) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Returns whether this byte can be part of a C identifier.
pub(crate) fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// Words of C and C++ that stand before a parenthesis or in a macro's body and
/// name nothing.
pub(crate) fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"else"
            | b"for"
            | b"while"
            | b"do"
            | b"switch"
            | b"case"
            | b"default"
            | b"return"
            | b"goto"
            | b"break"
            | b"continue"
            | b"sizeof"
            | b"struct"
            | b"union"
            | b"enum"
            | b"const"
            | b"static"
            | b"extern"
            | b"void"
            | b"int"
            | b"char"
            | b"long"
            | b"short"
            | b"unsigned"
            | b"signed"
            | b"float"
            | b"double"
            | b"inline"
            | b"volatile"
            | b"typedef"
            | b"catch"
            | b"defined"
    )
}

/// Returns whether a word is reserved by the language, so that nothing can have it as its
/// name.
pub(crate) fn is_reserved(word: &[u8], is_cpp: bool) -> bool {
    is_keyword(word) && word != b"catch" && word != b"defined"
        || matches!(
            word,
            b"auto" | b"register" | b"restrict" | b"_Bool" | b"_Static_assert"
        )
        || is_cpp
            && matches!(
                word,
                b"alignas"
                    | b"alignof"
                    | b"and"
                    | b"asm"
                    | b"bool"
                    | b"catch"
                    | b"class"
                    | b"const_cast"
                    | b"constexpr"
                    | b"decltype"
                    | b"delete"
                    | b"dynamic_cast"
                    | b"explicit"
                    | b"export"
                    | b"false"
                    | b"friend"
                    | b"mutable"
                    | b"namespace"
                    | b"new"
                    | b"noexcept"
                    | b"not"
                    | b"nullptr"
                    | b"operator"
                    | b"or"
                    | b"private"
                    | b"protected"
                    | b"public"
                    | b"reinterpret_cast"
                    | b"static_assert"
                    | b"static_cast"
                    | b"template"
                    | b"this"
                    | b"thread_local"
                    | b"throw"
                    | b"true"
                    | b"try"
                    | b"typeid"
                    | b"typename"
                    | b"using"
                    | b"virtual"
                    | b"wchar_t"
            )
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn reads_tokens_and_no_literals() {
        let text = b"do { foo (a, \"bar(\", 'x', 0xffu) /* no */ ; \\\n baz(b) } // end";
        let found: Vec<(&str, bool, u32)> = identifiers(text, 0..text.len())
            .into_iter()
            .map(|token| {
                let name = std::str::from_utf8(&text[token.range.clone()]).unwrap();
                (name, token.called, token.lines_down)
            })
            .collect();
        let expected = [
            ("do", false, 0),
            ("foo", true, 0),
            ("a", false, 0),
            ("baz", true, 1),
            ("b", false, 1),
        ];
        assert_eq!(found, expected);
    }
}
