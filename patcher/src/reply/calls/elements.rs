//! Tool calls that are written as elements.

use serde_json::{Map, Value};

/// Calls that are written as elements: each with its name and arguments.
pub(super) fn elements(text: &str) -> impl Iterator<Item = (String, Map<String, Value>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (name, start, end) = next_element(text, at)?;
        at = end.max(at + 1);
        Some((name, parameters(text.get(start..end).unwrap_or_default())))
    })
}

/// Elements whose children are their arguments.
const TOOLS: [&str; 6] = [
    "replace_in_file",
    "write_to_file",
    "apply_diff",
    "str_replace",
    "str_replace_editor",
    "read_file",
];

/// The next call: its name, and where its arguments begin and end.
fn next_element(text: &str, from: usize) -> Option<(String, usize, usize)> {
    let rest = text.get(from..)?;
    rest.match_indices('<').find_map(|(offset, _)| {
        let start = from + offset;
        let inner = text.get(start + 1..)?;
        let (tag, closing) = if let Some(named) = inner.strip_prefix("invoke name=") {
            (named, "</invoke>".to_owned())
        } else if let Some(named) = inner.strip_prefix("function=") {
            (named, "</function>".to_owned())
        } else {
            let tool = TOOLS.iter().find(|tool| {
                let after = inner.strip_prefix(**tool);
                after.is_some_and(|after| after.starts_with('>'))
            })?;
            (inner, format!("</{tool}>"))
        };
        let (name, _) = tag.split_once('>')?;
        let body = start + 1 + (inner.len() - tag.len()) + name.len() + 1;
        let length = text.get(body..)?.find(&closing)?;
        let name = name.trim_matches(['"', '\'', ' ']).to_owned();
        Some((name, body, body + length))
    })
}

/// The arguments of a call: `<parameter name="k">v</parameter>`,
/// `<parameter=k>v</parameter>` or `<k>v</k>`.
fn parameters(body: &str) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut at = 0;
    while let Some(offset) = body.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + offset;
        at = start + 1;
        let inner = body.get(at..).unwrap_or_default();
        let Some((tag, after)) = inner.split_once('>') else {
            break;
        };
        let named = tag
            .strip_prefix("parameter name=")
            .or_else(|| tag.strip_prefix("parameter="));
        let (name, closing) = match named {
            Some(name) => (
                name.trim_matches(['"', '\'', ' ']),
                "</parameter>".to_owned(),
            ),
            None => (tag, format!("</{tag}>")),
        };
        let is_name = name
            .chars()
            .all(|next| next.is_alphanumeric() || next == '_');
        let Some(length) = after.find(&closing).filter(|_| is_name && !name.is_empty()) else {
            continue;
        };
        let text = after.get(..length).unwrap_or_default();
        let text = text.strip_prefix('\n').unwrap_or(text);
        let text = text.strip_suffix('\n').unwrap_or(text);
        let parsed: Option<Value> = serde_json::from_str(text).ok();
        let value = parsed.filter(|value| value.is_array() || value.is_number());
        let value = value.unwrap_or_else(|| Value::String(text.to_owned()));
        arguments.insert(name.to_owned(), value);
        at += tag.len() + 1 + length + closing.len();
    }
    arguments
}
