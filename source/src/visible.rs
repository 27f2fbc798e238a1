//! Escapes for text that people read: characters that control a terminal,
//! reorder a line or cannot be seen are written as `\u{202e}`.

use crate::Pattern;
use regex::Captures;
use std::borrow::Cow;

/// Characters of Unicode's properties `Cc` (control), `Bidi_Control` or
/// `Default_Ignorable_Code_Point`, line and paragraph separators, and the marks of an
/// interlinear annotation.
static HIDDEN: Pattern = Pattern::new(
    r"[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\x{FFF9}-\x{FFFB}]",
);
/// The same but for tabs and the ends of lines; the whole end of a line that begins with a
/// carriage return, which alone moves the cursor back over the line.
static HIDDEN_IN_LINES: Pattern = Pattern::new(
    r"(?x) \r\n | [ [\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\x{FFF9}-\x{FFFB}] -- [\n\t] ]",
);

/// Escapes every character that controls a terminal, reorders text or is
/// invisible. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    HIDDEN_IN_LINES.replace_all(text, |found: &Captures<'_>| match &found[0] {
        "\r\n" => "\r\n".to_owned(),
        hidden => hidden.escape_default().to_string(),
    })
}

/// Escapes as [`visible`] does, and line breaks and tabs as well: text from
/// outside that stands on a line of ours cannot begin another.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    HIDDEN.replace_all(text, |found: &Captures<'_>| {
        found[0].escape_default().to_string()
    })
}

/// Returns true for a character that controls a terminal, reorders text or is invisible.
pub fn is_hidden(character: char) -> bool {
    !character.is_ascii_graphic() && HIDDEN.is_match(character.encode_utf8(&mut [0; 4]))
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
