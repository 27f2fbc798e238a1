//! Small pages and fragments: a log, an event, lines of source, the HTTP interface, the way in,
//! and an error.

use crate::code::{SourceLines, code, line, number};
use crate::template::{render, values};
use crate::view::DiffStyle;
use minijinja::{Error, Value, context};
use patchwright_agent::journal::Event;
use serde_json::Value as Json;

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
///
/// # Errors
/// The template does not fit the values.
pub fn log(bytes: &[u8], whole: &str) -> Result<String, Error> {
    let text = String::from_utf8_lossy(bytes);
    let (mut head, mut tail) = (&*text, "");
    if text.len() > HEAD + TAIL {
        head = text.split_at(text.floor_char_boundary(HEAD)).0;
        tail = text.split_at(text.ceil_char_boundary(text.len() - TAIL)).1;
    }
    let (size, left_out) = (text.len(), text.len() - head.len() - tail.len());
    render("log.html", context! { head, tail, size, left_out, whole })
}

/// Writes the texts of an event; its whole body where it has none.
pub fn event(event: &Event) -> Result<String, Error> {
    let shown = |title: Option<&str>, text: &str| {
        let end = text.floor_char_boundary(HEAD + TAIL);
        context! { title, text => text.split_at(end).0 }
    };
    let found = TEXTS.iter().filter_map(|(path, title)| {
        let text = event.body.pointer(path).and_then(plain)?;
        (!text.trim().is_empty()).then(|| shown(Some(title), &text))
    });
    let mut texts: Vec<Value> = found.collect();
    if texts.is_empty() {
        texts.push(shown(None, &format!("{:#}", event.body)));
    }
    render("event.html", context! { texts })
}

fn plain(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Array(list) => {
            let lines: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
            Some(lines.join("\n"))
        }
        _ => None,
    }
}

/// Writes lines of the unpatched tree as rows of a diff.
pub fn source(lines: &SourceLines, style: DiffStyle) -> Result<String, Error> {
    let rows = (lines.first..).zip(&lines.lines);
    let rows = rows.map(|(old, text)| {
        let new = u32::try_from(i64::from(old) + lines.shift).ok();
        let (old, new) = (number(Some(old)), number(new));
        let code = code("code", line(text, None));
        match style {
            DiffStyle::Split => vec![old, code.clone(), new, code],
            DiffStyle::Unified => vec![old, new, code],
        }
    });
    render("source.html", context! { rows => rows.collect::<Vec<_>>() })
}

/// Writes the page of the HTTP interface from its description, which lies at an address.
pub fn interface(document: &Json, address: &str) -> Result<String, Error> {
    let (heading, document) = ("HTTP interface", values(document));
    render("interface.html", context! { heading, document, address })
}

/// Writes the page on which a token is given; `wrong` where one was refused.
pub fn sign_in(wrong: bool) -> Result<String, Error> {
    render("sign_in.html", context! { heading => "Sign in", wrong })
}

/// Writes the page of an error.
pub fn missing(heading: &str, detail: &str) -> Result<String, Error> {
    render("missing.html", context! { heading, detail })
}

#[cfg(test)]
mod tests {
    use super::{event, interface, log, source};
    use crate::code::SourceLines;
    use crate::view::DiffStyle;
    use patchwright_agent::journal::{Event, EventKind};
    use serde_json::json;

    #[test]
    fn a_long_log_is_cut_in_its_middle() {
        let text = format!("begin<b>{}end\u{1b}[0m", "é\n".repeat(100_000));
        let shown = log(text.as_bytes(), "/all").unwrap();
        assert!(shown.len() < 80_000, "{}", shown.len());
        for part in [
            "begin&lt;b&gt;",
            "bytes left out",
            "end<span class=\"hid\">U+001B</span>[0m",
            "href=\"/all\"",
        ] {
            assert!(shown.contains(part), "{part}");
        }
        assert!(!log(b"\xff\x00", "/all").unwrap().contains("left out"));
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
        let shown = event(&told).unwrap();
        assert!(
            shown.contains("&lt;patch&gt;") && !shown.contains("usd"),
            "{shown}"
        );
        let other = Event {
            body: json!({"a": 1}),
            ..told
        };
        assert!(event(&other).unwrap().contains("&quot;a&quot;: 1"));
    }

    #[test]
    fn source_rows_count_on_both_sides() {
        let lines = SourceLines {
            first: 7,
            lines: vec!["int x;".to_owned()],
            shift: 2,
        };
        let shown = source(&lines, DiffStyle::Unified).unwrap();
        assert!(
            shown.contains("<td class=\"no\">7</td><td class=\"no\">9</td>"),
            "{shown}"
        );
        assert_eq!(
            source(&lines, DiffStyle::Split)
                .unwrap()
                .matches("<td")
                .count(),
            4
        );
    }

    #[test]
    fn every_operation_has_a_form() {
        let document = json!({
            "info": { "title": "T", "description": "<b>" },
            "tags": [{ "name": "tasks", "description": "d" }],
            "paths": { "/tasks/{id}": {
                "get": { "tags": ["tasks"], "summary": "Shows", "responses": { "200": { "description": "there" } },
                    "parameters": [{ "name": "id", "in": "path", "required": true, "description": "its id" }] },
                "post": { "tags": ["tasks"], "responses": {}, "requestBody": { "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/Task" } } } } },
            } },
            "components": { "schemas": { "Task": { "type": "object" } } },
        });
        let page = interface(&document, "/openapi.json").unwrap();
        for part in [
            "&lt;b&gt;",
            "<a href=\"/openapi.json\">",
            "data-method=\"get\" data-path=\"/tasks/{id}\"",
            "<input name=\"id\" data-in=\"path\" required>",
            "data-method=\"post\"",
            "<a href=\"#Task\">Task</a>",
            "<textarea name=\"body\"",
            "<details id=\"Task\">",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
