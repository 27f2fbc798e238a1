//! Escapes for text that people read: characters that control a terminal,
//! reorder a line or cannot be seen are written as `\u{202e}`.

use std::borrow::Cow;

/// Escapes every character that controls a terminal, reorders text or is
/// invisible. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |character, next| match character {
        '\n' | '\t' => false,
        // A carriage return alone moves the cursor back over the line.
        '\r' => next != Some('\n'),
        other => is_hidden(other),
    })
}

/// Escapes as [`visible`] does, and line breaks and tabs as well: text from
/// outside that stands on a line of ours cannot begin another.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, |character, _| is_hidden(character))
}

fn escape(text: &str, escaped: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    let next = |at: usize, character: char| {
        let rest = text.get(at + character.len_utf8()..)?;
        rest.chars().next()
    };
    let must = |(at, character): (usize, char)| escaped(character, next(at, character));
    if text.is_ascii() && !text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Cow::Borrowed(text);
    }
    if !text.char_indices().any(must) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (at, character) in text.char_indices() {
        if must((at, character)) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns true for a character of Unicode's properties `Cc` (control),
/// `Bidi_Control` or `Default_Ignorable_Code_Point`, for a line or paragraph
/// separator, and for the marks of an interlinear annotation.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, visible, visible_line};
    use std::borrow::Cow;

    #[test]
    fn escapes_what_cannot_be_seen() {
        for (text, expected) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("is\u{200b}Admin", "is\\u{200b}Admin"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("all good\rno", "all good\\rno"),
            ("tab\tline\r\nend\n", "tab\tline\r\nend\n"),
            ("Grüße, 漢字, עברית", "Grüße, 漢字, עברית"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        assert!(matches!(visible("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(
            visible_line("x\n\u{1b}[32mok\tverified\r\n"),
            "x\\n\\u{1b}[32mok\\tverified\\r\\n"
        );
    }

    #[test]
    fn hidden_characters_are_those_of_unicode() {
        let of_unicode = regex::Regex::new(
            r"^[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\x{FFF9}-\x{FFFB}]$",
        )
        .unwrap();
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            assert_eq!(
                is_hidden(character),
                of_unicode.is_match(character.encode_utf8(&mut buffer)),
                "{character:?}"
            );
        }
    }
}
