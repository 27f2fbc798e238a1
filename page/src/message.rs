//! Small pages and fragments: a log, an event, lines of source, the way in, and an
//! error.

use crate::code::{SourceLines, colours, line};
use crate::layout::{ROOT, page};
use crate::text::{shown, shown_line};
use crate::view::{DiffStyle, Viewer};
use maud::{Markup, html};
use patchwright_agent::journal::Event;
use serde_json::Value;

/// Characters of a log that are shown at once, from its beginning and from its end.
const HEAD: usize = 8_000;
const TAIL: usize = 56_000;
/// Texts of an event's body that are shown as they are, and their titles.
const TEXTS: [(&str, &str); 8] = [
    ("/prompt", "Prompt"),
    ("/outcome/text", "Text"),
    ("/outcome/reason", "Reason"),
    ("/outcome/feedback", "Feedback for the model"),
    ("/outcome/crash/text", "Crash"),
    ("/outcome/refused/reasons", "Refused"),
    ("/decision/reason", "Reason"),
    ("/outcome/ending/detail", "Ending"),
];

/// Writes a log as a fragment: all of a short one, beginning and end of a long one.
pub fn log(bytes: &[u8], whole: &str) -> String {
    let text = String::from_utf8_lossy(bytes);
    let markup = if text.len() <= HEAD + TAIL {
        html! { pre.log tabindex="0" { (shown(&text)) } }
    } else {
        let head = text
            .get(..text.floor_char_boundary(HEAD))
            .unwrap_or_default();
        let tail = text
            .get(text.ceil_char_boundary(text.len() - TAIL)..)
            .unwrap_or_default();
        let left_out = text.len() - head.len() - tail.len();
        html! {
            pre.log tabindex="0" {
                (shown(head)) "\n" span.gap { "… " (left_out) " bytes left out …" } "\n" (shown(tail))
            }
        }
    };
    let all = html! { (markup) p.more { a href=(whole) download { "Download all " (text.len()) " bytes" } } };
    all.into_string()
}

/// Writes what an event holds, as a fragment.
pub fn event(event: &Event) -> String {
    let found = TEXTS.iter().filter_map(|(path, title)| {
        let text = event.body.pointer(path).and_then(plain)?;
        (!text.trim().is_empty()).then_some((*title, text))
    });
    let found: Vec<(&str, String)> = found.collect();
    let markup = html! {
        @for (title, text) in &found { h4 { (title) } (text_block(text)) }
        @if found.is_empty() {
            (text_block(&format!("{:#}", event.body)))
        }
    };
    markup.into_string()
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let lines: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            Some(lines.join("\n"))
        }
        _ => None,
    }
}

fn text_block(text: &str) -> Markup {
    let end = text.floor_char_boundary(HEAD + TAIL);
    html! { pre.log tabindex="0" { (shown(text.get(..end).unwrap_or_default())) } }
}

/// Writes lines of the unpatched tree as rows of a diff.
pub fn source(lines: &SourceLines, style: DiffStyle) -> String {
    let texts: Vec<&str> = lines.lines.iter().map(String::as_str).collect();
    let parts = colours(&lines.path, &texts);
    let rows = html! {
        @for (number, (text, parts)) in texts.iter().zip(&parts).enumerate() {
            @let old = lines.first + u32::try_from(number).unwrap_or(u32::MAX);
            @let new = i64::from(old) + lines.shift;
            tr.around {
                @match style {
                    DiffStyle::Split => {
                        td.no { (old) } td.code { (line(text, parts, None)) }
                        td.no { (new) } td.code { (line(text, parts, None)) }
                    }
                    DiffStyle::Unified => {
                        td.no { (old) } td.no { (new) } td.code { (line(text, parts, None)) }
                    }
                }
            }
        }
    };
    rows.into_string()
}

/// Writes the page that asks for a token.
pub fn sign_in(wrong: bool) -> String {
    let content = html! {
        section.narrow {
            h1 { "Sign in" }
            p { "Paste a token that " code { "patchwright token create" } " made. It is kept in a cookie of this browser." }
            @if wrong { p.alert role="alert" { "This token is unknown, expired or revoked." } }
            form.stack method="post" action={ (ROOT) "/sign-in" } {
                label { "Token " input type="password" name="token" autocomplete="current-password" required autofocus; }
                button { "Sign in" }
            }
        }
    };
    page("Sign in", &Viewer::default(), None, &content)
}

/// Writes the page of an error.
pub fn missing(title: &str, detail: &str, viewer: &Viewer) -> String {
    let content = html! {
        section.narrow {
            h1 { (title) }
            p role="alert" { (shown_line(detail)) }
            p { a href=(ROOT) { "Back to the tasks" } }
        }
    };
    page(title, viewer, None, &content)
}

#[cfg(test)]
mod tests {
    use super::{event, log, source};
    use crate::code::SourceLines;
    use crate::view::DiffStyle;
    use patchwright_agent::journal::{Event, EventKind};
    use serde_json::json;

    #[test]
    fn a_long_log_is_cut_in_its_middle() {
        let text = format!("begin<b>{}end\u{1b}[0m", "é\n".repeat(100_000));
        let shown = log(text.as_bytes(), "/all");
        assert!(shown.len() < 80_000, "{}", shown.len());
        for part in [
            "begin&lt;b&gt;",
            "bytes left out",
            "end<span class=\"hid\">U+001B</span>[0m",
            "href=\"/all\"",
        ] {
            assert!(shown.contains(part), "{part}");
        }
        assert!(!log(b"\xff\x00", "/all").contains("left out"));
    }

    #[test]
    fn an_event_shows_its_texts() {
        let body = json!({"outcome": {"outcome": "reply", "text": "<patch>", "usd": 1}});
        let told = Event {
            number: 1,
            epoch: 1,
            time: String::new(),
            run: String::new(),
            lane: 1,
            step: 1,
            kind: EventKind::Outcome,
            name: "ask".to_owned(),
            summary: String::new(),
            body,
        };
        let shown = event(&told);
        assert!(
            shown.contains("&lt;patch&gt;") && !shown.contains("usd"),
            "{shown}"
        );
        let other = Event {
            body: json!({"a": 1}),
            ..told
        };
        assert!(event(&other).contains("&quot;a&quot;: 1"));
    }

    #[test]
    fn source_rows_count_on_both_sides() {
        let lines = SourceLines {
            path: "a.c".to_owned(),
            first: 7,
            lines: vec!["int x;".to_owned()],
            shift: 2,
        };
        let shown = source(&lines, DiffStyle::Unified);
        assert!(
            shown.contains("<td class=\"no\">7</td><td class=\"no\">9</td>"),
            "{shown}"
        );
        assert_eq!(source(&lines, DiffStyle::Split).matches("<td").count(), 4);
    }
}
