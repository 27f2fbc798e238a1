//! Inputs as text: what a repairer is shown of the bytes that a program reads.

use std::fmt::Write;

/// Bytes that are shown of an input that is text.
const TEXT: usize = 1_500;
/// The part of them that is taken from the end of a longer one.
const END: usize = 400;
/// Lines of a hex dump that are shown.
const LINES: usize = 24;
/// Bytes in one line of a hex dump.
const LINE: usize = 16;

/// Bytes for each one that is not printable, in an input that is still shown as text.
const ODD: usize = 20;

/// Shows an input: its beginning and its end as they are where it is text, with some bytes
/// as `\xNN` where nearly all of it is, else its beginning as a hex dump.
pub fn input(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).ok();
    let printable = |text: &&str| {
        let mut characters = text.chars();
        characters.all(|one| !one.is_control() || matches!(one, '\n' | '\t'))
    };
    if text.as_ref().is_some_and(printable) {
        let as_it_is = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
        return both_ends(bytes, "of text", as_it_is);
    }
    let odd = |byte: &&u8| !matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if bytes.iter().filter(odd).count() * ODD > bytes.len() {
        return dump(bytes);
    }
    both_ends(bytes, "of text, other bytes as \\xNN", |part| {
        let shown = part.iter().map(|byte| {
            if odd(&byte) {
                format!("\\x{byte:02x}")
            } else {
                char::from(*byte).to_string()
            }
        });
        shown.collect()
    })
}

/// Shows the beginning of a text and its end, where what is cut off crashes a program.
fn both_ends(bytes: &[u8], what: &str, show: impl Fn(&[u8]) -> String) -> String {
    let all = bytes.len();
    // No character is cut in two.
    let boundary = |from: usize| {
        let starts = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        (from..all).find(starts).unwrap_or(all)
    };
    let (first, last) = (boundary(TEXT - END), boundary(all.saturating_sub(END)));
    match (bytes.get(..first), bytes.get(last..)) {
        (Some(start), Some(end)) if all > TEXT && first < last => format!(
            "(the first {first} and the last {} of {all} bytes {what})\n{}\n[... {} bytes not shown ...]\n{}",
            end.len(),
            show(start),
            last - first,
            show(end)
        ),
        _ => format!("({all} bytes {what})\n{}", show(bytes)),
    }
}

/// Dumps the beginning of an input; lines like the one before are a `*`, as `hexdump` has it.
fn dump(bytes: &[u8]) -> String {
    let (mut text, mut covered, mut lines) = (String::new(), 0, 0);
    let mut last: Option<&[u8]> = None;
    for line in bytes.chunks(LINE) {
        let repeats = last == Some(line);
        if lines == LINES && !repeats {
            break;
        }
        if !repeats {
            write_line(&mut text, covered, line);
            lines += 1;
        } else if !text.ends_with("\n*\n") {
            text.push_str("*\n");
        }
        covered += line.len();
        last = Some(line);
    }
    let all = bytes.len();
    if covered == all {
        format!("({all} bytes in hex)\n{text}")
    } else {
        format!("(the first {covered} of {all} bytes in hex)\n{text}")
    }
}

fn write_line(text: &mut String, offset: usize, line: &[u8]) {
    let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
    let plain = line.iter().map(|byte| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '.',
    });
    let plain: String = plain.collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{offset:08x}: {:<47}  {plain}", hex.join(" "));
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
        let mixed: Vec<u8> = (0..1000).map(|at| (at * 7) as u8).collect();
        let long = input(&mixed);
        assert!(long.starts_with("(the first 384 of 1000 bytes in hex)"));
        assert_eq!(long.lines().count(), 25);
        let zeros = input(&[vec![0; 1000], vec![1; 4]].concat());
        assert!(zeros.starts_with("(1004 bytes in hex)\n00000000: 00 "));
        assert_eq!(zeros.lines().nth(2), Some("*"));
        assert_eq!(zeros.lines().count(), 4, "{zeros}");
        assert!(zeros.contains("000003e0: 00 00 00 00 00 00 00 00 01 01 01 01"));
        let page = input(&[b"a line of a page\n".repeat(3), b"\xb6".to_vec()].concat());
        let start = "(52 bytes of text, other bytes as \\xNN)\na line of a page\n";
        assert!(page.starts_with(start) && page.ends_with("\\xb6"), "{page}");
        let long = format!("<{}\u{e9}{}END", "a".repeat(1098), "b".repeat(4000));
        let shown = input(long.as_bytes());
        let start = "(the first 1101 and the last 400 of 5104 bytes of text)\n<aaa";
        assert!(
            shown.starts_with(start) && shown.ends_with("bEND"),
            "{shown}"
        );
        assert!(
            shown.contains("a\u{e9}\n[... 3603 bytes not shown ...]\nb"),
            "{shown}"
        );
        // What a terminal or a fence would read is never shown as it is.
        assert!(input(b"\x1b[2J").contains("1b 5b 32 4a"));
    }
}
