//! Text from outside as markup: escaped, with hidden characters written by their
//! number.

use maud::{Markup, PreEscaped};
use patchwright_source::is_hidden;
use std::fmt::Write;

/// Characters of one line that are shown; what is longer was made by a program.
const LONGEST_LINE: usize = 4000;

/// Writes a text of several lines.
pub(crate) fn shown(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + 16);
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        push_line(&mut out, line.strip_suffix('\r').unwrap_or(line));
    }
    PreEscaped(out)
}

/// Writes a text that stands on one line: line breaks are hidden characters there.
pub(crate) fn shown_line(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + 16);
    push_line(&mut out, text);
    PreEscaped(out)
}

/// Writes the first line of a text.
pub(crate) fn first_line(text: &str) -> Markup {
    shown_line(text.trim().lines().next().unwrap_or_default())
}

/// Writes part of a line.
pub(crate) fn push_line(out: &mut String, line: &str) {
    for (number, character) in line.chars().enumerate() {
        if number == LONGEST_LINE {
            let more = line.chars().count() - LONGEST_LINE;
            // Writing to a string cannot fail, here and below.
            let _ = write!(out, "<span class=\"hid\">{more} more characters</span>");
            return;
        }
        push(out, character);
    }
}

fn push(out: &mut String, character: char) {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\t' => out.push('\t'),
        hidden if is_hidden(hidden) => {
            let number = u32::from(hidden);
            let _ = write!(out, "<span class=\"hid\">U+{number:04X}</span>");
        }
        other => out.push(other),
    }
}

/// Writes seconds for people.
pub(crate) fn seconds(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..=9 => format!("{seconds:.1} s"),
        10..=119 => format!("{whole} s"),
        120..=7199 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Writes US dollars.
pub(crate) fn money(usd: f64) -> String {
    if usd >= 0.1 || usd <= 0.0 {
        return format!("${usd:.2}");
    }
    format!("${usd:.4}")
}

/// Writes a number with its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{first_line, money, seconds, shown, shown_line};

    #[test]
    fn text_can_run_nothing_and_hide_nothing() {
        for (text, expected) in [
            (
                "<script>alert(1)</script>",
                "&lt;script&gt;alert(1)&lt;/script&gt;",
            ),
            ("\"'&", "&quot;'&amp;"),
            ("a\u{202e}b", "a<span class=\"hid\">U+202E</span>b"),
            ("\u{1b}[31m", "<span class=\"hid\">U+001B</span>[31m"),
            ("one\r\ntwo\tx", "one\ntwo\tx"),
            ("a\rb", "a<span class=\"hid\">U+000D</span>b"),
        ] {
            assert_eq!(shown(text).into_string(), expected, "{text:?}");
        }
        assert_eq!(
            shown_line("a\nb").into_string(),
            "a<span class=\"hid\">U+000A</span>b"
        );
        assert_eq!(first_line("\n one\ntwo").into_string(), "one");
        let long = shown_line(&"x".repeat(5000)).into_string();
        assert!(long.ends_with("<span class=\"hid\">1000 more characters</span>"));
    }

    #[test]
    fn figures_are_short() {
        for (time, expected) in [
            (0.04, "0.0 s"),
            (9.26, "9.3 s"),
            (61.0, "61 s"),
            (125.0, "2 min 5 s"),
            (7260.0, "2 h 1 min"),
        ] {
            assert_eq!(seconds(time), expected);
        }
        assert_eq!([0.0, 0.0123, 1.5].map(money), ["$0.00", "$0.0123", "$1.50"]);
    }
}
