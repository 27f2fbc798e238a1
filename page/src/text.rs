//! Text from outside as markup: escaped, with hidden characters written by their
//! number; and figures as people read them.

use patchwright_source::{is_hidden, visible_line};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write;

/// The most characters of one line.
const LONGEST_LINE: usize = 4000;

/// Returns text as markup; its line ends stay.
pub(crate) fn shown(text: &str) -> String {
    let lines = text.split('\n');
    let lines = lines.map(|line| shown_line(line.strip_suffix('\r').unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns text as markup of one line: a line end is a hidden character too.
pub(crate) fn shown_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push_line(&mut out, text);
    out
}

/// Returns text as the value of an attribute, where there is no markup.
pub(crate) fn attribute(text: &str) -> String {
    shown_line(&visible_line(text))
}

pub(crate) fn first_line(text: &str) -> String {
    let first = text.trim().lines().next();
    first.unwrap_or_default().to_owned()
}

/// Returns what follows the first line.
pub(crate) fn rest(text: &str) -> String {
    let rest = text.trim().split_once('\n');
    rest.map_or_else(String::new, |(_, rest)| rest.trim().to_owned())
}

/// Appends a line, cut at a length that a browser can stand.
pub(crate) fn push_line(out: &mut String, line: &str) {
    for (number, character) in line.chars().enumerate() {
        if number == LONGEST_LINE {
            let more = line.chars().count() - LONGEST_LINE;
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

/// Escapes a part of an address.
pub(crate) fn escaped(text: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
    utf8_percent_encode(text, KEPT).to_string()
}

pub(crate) fn seconds(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..=9 => format!("{seconds:.1} s"),
        10..=119 => format!("{whole} s"),
        120..=7199 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

pub(crate) fn money(usd: f64) -> String {
    if usd >= 0.1 || usd <= 0.0 {
        return format!("${usd:.2}");
    }
    format!("${usd:.4}")
}

/// Returns the time since another, roughly.
pub(crate) fn age(time: &str, now: &str) -> String {
    let read = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let (Some(then), Some(now)) = (read(time), read(now)) else {
        return String::new();
    };
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        ..60 => "now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, escaped, first_line, money, seconds, shown, shown_line};

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
            assert_eq!(shown(text), expected, "{text:?}");
        }
        assert_eq!(shown_line("a\nb"), "a<span class=\"hid\">U+000A</span>b");
        assert_eq!(first_line("\n one\ntwo"), "one");
        let long = shown_line(&"x".repeat(5000));
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

    #[test]
    fn ages_are_short_and_addresses_safe() {
        let now = "2030-01-03T00:00:00.000Z";
        for (time, expected) in [
            ("2030-01-02T23:59:30.000Z", "now"),
            ("2030-01-02T23:50:00.000Z", "10 min"),
            ("2030-01-02T01:00:00.000Z", "23 h"),
            ("2029-12-24T00:00:00.000Z", "10 d"),
            ("whenever", ""),
        ] {
            assert_eq!(age(time, now), expected);
        }
        assert_eq!(escaped("a/b\"<é"), "a%2Fb%22%3C%C3%A9");
    }
}
