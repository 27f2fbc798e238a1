//! Compilation unit: the lines of a function or a macro as a text that a grammar reads alone.

use crate::flow::function::Subject;
use patchwright_source::Language;

/// Makes a compilation unit of the lines; gives the rows that were put before.
pub(super) fn wrap(subject: Subject<'_>) -> (Vec<u8>, u32) {
    match subject.language {
        _ if subject.is_macro => (macro_as_function(subject.text), 0),
        Language::Java => ([b"class A {\n", subject.text, b"\n}\n"].concat(), 1),
        _ => (subject.text.to_vec(), 0),
    }
}

/// `#define M(a, b) body` as `void M(a, b) { return body; }`, lines kept.
fn macro_as_function(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text)
        .replace("\\\r\n", " \n")
        .replace("\\\n", " \n");
    let rest = text.trim_start().strip_prefix('#').unwrap_or(&text);
    let rest = rest.trim_start().strip_prefix("define").unwrap_or(rest);
    let (head, body) = match (rest.find('('), rest.find(')')) {
        (Some(open), Some(close)) if open < close => rest.split_at(close + 1),
        _ => return Vec::new(),
    };
    let body = body.trim_end();
    let statement = body.contains(';') || body.trim_start().starts_with("do");
    let word = if statement { "" } else { "return " };
    let parameters = head.replace(['(', ','], "( int ").replace("( int", "(int");
    let parameters = parameters
        .replacen("(int", "\u{1}", 1)
        .replace("(int", ", int");
    let parameters = parameters.replace('\u{1}', "(int");
    format!("void {parameters} {{ {word}{body}; }}").into_bytes()
}
