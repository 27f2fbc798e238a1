//! Inputs as text: what a repairer is shown of the bytes that a program reads.

use std::fmt::Write;

/// Bytes that are shown of an input that is text, and of one that is not.
const TEXT: usize = 1_500;
/// See [`TEXT`].
const BINARY: usize = 256;
/// Bytes in one line of a hex dump.
const LINE: usize = 16;

/// Of so many bytes one may be no text in what is still shown as text.
const ODD: usize = 20;

/// Shows the beginning of an input: as it is where it is text, with some bytes as `\xNN`
/// where nearly all of it is, else as a hex dump.
pub fn input(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).ok();
    let printable = |text: &&str| {
        let mut characters = text.chars();
        characters.all(|one| !one.is_control() || matches!(one, '\n' | '\t'))
    };
    if let Some(text) = text.filter(printable) {
        let shown: String = text.chars().take(TEXT).collect();
        return format!("{}{shown}", head("of text", shown.len(), bytes.len()));
    }
    let odd = |byte: &&u8| !matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if bytes.iter().filter(odd).count() * ODD > bytes.len() {
        return dump(bytes);
    }
    let shown = bytes.get(..TEXT).unwrap_or(bytes);
    let text: String = shown
        .iter()
        .map(|byte| match byte {
            odd_one if odd(&odd_one) => format!("\\x{byte:02x}"),
            _ => char::from(*byte).to_string(),
        })
        .collect();
    let what = "of text, other bytes as \\xNN";
    format!("{}{text}", head(what, shown.len(), bytes.len()))
}

fn head(what: &str, shown: usize, all: usize) -> String {
    if shown == all {
        format!("({all} bytes {what})\n")
    } else {
        format!("(the first {shown} of {all} bytes {what})\n")
    }
}

fn dump(bytes: &[u8]) -> String {
    let shown = bytes.get(..BINARY.min(bytes.len())).unwrap_or_default();
    let mut text = head("in hex", shown.len(), bytes.len());
    for (number, line) in shown.chunks(LINE).enumerate() {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let plain: String = line
            .iter()
            .map(|byte| match byte {
                b' '..=b'~' => char::from(*byte),
                _ => '.',
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:08x}: {:<47}  {plain}",
            number * LINE,
            hex.join(" ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::input;

    #[test]
    fn text_is_shown_as_it_is_and_the_rest_in_hex() {
        assert_eq!(input(b"a = 1\n"), "(6 bytes of text)\na = 1\n");
        assert_eq!(input(b""), "(0 bytes of text)\n");
        let binary = input(b"BZh\0\xff");
        assert!(binary.starts_with("(5 bytes in hex)\n00000000: 42 5a 68 00 ff "));
        assert!(binary.trim_end().ends_with("BZh.."), "{binary}");
        let long = input(&[0; 1000]);
        assert!(long.starts_with("(the first 256 of 1000 bytes in hex)"));
        assert_eq!(long.lines().count(), 17);
        let page = input(&[b"a line of a page\n".repeat(3), b"\xb6".to_vec()].concat());
        let start = "(52 bytes of text, other bytes as \\xNN)\na line of a page\n";
        assert!(page.starts_with(start) && page.ends_with("\\xb6"), "{page}");
        // What a terminal or a fence would read is never shown as it is.
        assert!(input(b"\x1b[2J").contains("1b 5b 32 4a"));
    }
}
