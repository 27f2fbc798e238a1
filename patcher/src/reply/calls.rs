//! Tool calls in a reply: what models write that were trained to call tools,
//! whether or not they were offered any.
//!
//! Calls are JSON (`{"command": "str_replace", ..}`, alone, in a fence or in a
//! list of calls) or elements (`<invoke name="..">`, `<function=..>`,
//! `<replace_in_file>`). A call that edits becomes an edit, one that reads a
//! file or asks becomes a query; any other is left out.

use super::RawQuery;
use super::fallback;
use super::range::{read_lines, read_path};
use super::words::QUERY;
use crate::{Edit, Rule};
use serde_json::{Map, Value};

/// Beginnings of JSON values that are tried.
const MOST_VALUES: usize = 64;

/// Calls beyond this many are not read.
const MOST_CALLS: usize = 1_000;

/// Longest text in which calls are looked for, in bytes.
const LONGEST: usize = 1024 * 1024;

const FILE: &[&str] = &[
    "path",
    "file_path",
    "file",
    "filename",
    "filePath",
    "target_file",
    "relative_path",
];
const OLD: &[&str] = &[
    "old_str",
    "old_string",
    "oldString",
    "old_text",
    "original",
    "search",
    "find",
    "old",
];
const NEW: &[&str] = &[
    "new_str",
    "new_string",
    "newString",
    "new_text",
    "replacement",
    "replace",
    "new",
    "insert_text",
];
const CONTENT: &[&str] = &["file_text", "content", "contents", "text", "code"];
const DIFF: &[&str] = &["patch", "diff", "input", "patch_text", "command", "cmd"];
const LINES: &[&str] = &["lines", "line_range", "range", "view_range"];
const READS: &[&str] = &["view", "read_file", "view_file", "open_file", "cat"];
const CREATES: &[&str] = &[
    "create",
    "create_file",
    "write_file",
    "write_to_file",
    "write",
];
const DELETES: &[&str] = &["delete", "delete_file", "remove_file"];

/// What the calls of a reply ask for.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) explanation: Option<String>,
    pub(super) edits: Vec<Edit>,
    pub(super) queries: Vec<RawQuery>,
    /// Whether the text ended within a call.
    pub(super) torn: bool,
}

impl Calls {
    /// Reads the calls of a text.
    pub(super) fn read(text: &str) -> Self {
        let mut calls = Self::default();
        if text.len() > LONGEST {
            return calls;
        }
        for (name, arguments) in elements(text) {
            calls.take(&name, &arguments);
        }
        if calls.is_empty() {
            calls.read_values(text);
        }
        calls
    }

    /// Whether nothing was asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.queries.is_empty() && !self.torn
    }

    fn read_values(&mut self, text: &str) {
        let mut at = 0;
        for _ in 0..MOST_VALUES {
            let Some(start) = next_value(text, at) else {
                return;
            };
            let rest = text.get(start..).unwrap_or_default();
            match parse(rest) {
                Parsed::Value(value, length) => {
                    self.visit(&value);
                    at = start + length;
                }
                Parsed::Torn if names_an_edit(rest) => {
                    self.torn = true;
                    return;
                }
                Parsed::Torn | Parsed::Other => at = start + 1,
            }
        }
    }

    /// Finds the calls in a JSON value.
    fn visit(&mut self, value: &Value) {
        if self.edits.len() + self.queries.len() > MOST_CALLS {
            return;
        }
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.visit(value)),
            Value::Object(object) => self.visit_object(object),
            _ => {}
        }
    }

    fn visit_object(&mut self, object: &Map<String, Value>) {
        for key in ["tool_calls", "calls", "function", "tool_use"] {
            if let Some(inner) = object.get(key).filter(|inner| !inner.is_string()) {
                return self.visit(inner);
            }
        }
        let name = text_of(object, &["name", "tool", "tool_name", "recipient_name"]);
        let name = name.unwrap_or_default();
        let keys = ["arguments", "input", "parameters", "args"];
        for arguments in keys.iter().filter_map(|key| object.get(*key)) {
            match arguments {
                Value::Object(arguments) => return self.take(&name, arguments),
                Value::String(text) if !name.is_empty() => {
                    let parsed = match parse(text) {
                        Parsed::Value(Value::Object(parsed), _) => parsed,
                        _ => Map::from_iter([("input".to_owned(), arguments.clone())]),
                    };
                    return self.take(&name, &parsed);
                }
                _ => {}
            }
        }
        self.take(&name, object);
    }

    /// Takes one call.
    fn take(&mut self, name: &str, arguments: &Map<String, Value>) {
        let name = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
        let file = text_of(arguments, FILE).map(|path| read_path(&path).0);
        if let Some(why) = text_of(arguments, &["explanation", "rationale"]) {
            self.explanation.get_or_insert(why);
        }
        if let Some(Value::Array(edits)) = arguments.get("edits").or(arguments.get("changes")) {
            for edit in edits.iter().filter_map(Value::as_object) {
                let mut edit = edit.clone();
                if let Some(file) = file.as_ref().filter(|_| text_of(&edit, FILE).is_none()) {
                    edit.insert("path".to_owned(), Value::String(file.clone()));
                }
                self.take(name, &edit);
            }
            return;
        }
        if let Some(inner) = arguments.get("patch").and_then(Value::as_object) {
            return self.take(name, inner);
        }
        let edits = edits_of(name, arguments, file.as_deref());
        if !edits.is_empty() {
            self.edits.extend(edits);
        } else if let Some(query) = query_of(name, arguments, file) {
            self.queries.push(query);
        }
    }
}

/// The edits that a call makes.
fn edits_of(name: &str, arguments: &Map<String, Value>, file: Option<&str>) -> Vec<Edit> {
    if let Some(text) = diff_text(arguments) {
        return fallback::read(&text, file).edits;
    }
    let Some(file) = file.map(str::to_owned) else {
        return Vec::new();
    };
    let command = text_of(arguments, &["command", "action", "kind", "type"]).unwrap_or_default();
    let is = |words: &[&str]| words.contains(&name) || words.contains(&command.as_str());
    let (old, new) = (text_of(arguments, OLD), text_of(arguments, NEW));
    let lines = range_of(arguments);
    let edit = match (old, new) {
        (Some(old), Some(new)) if old.is_empty() && lines.is_none() => Edit::Create {
            file,
            text: new,
            latin1: false,
            unterminated: false,
        },
        (Some(old), new) if new.is_some() || command == "str_replace" => Edit::Replace {
            file,
            lines,
            original: Some(old),
            replacement: Some(new.unwrap_or_default()),
        },
        (None, Some(text)) if arguments.contains_key("insert_line") || command == "insert" => {
            Edit::Insert {
                file,
                after: number_of(arguments, &["insert_line", "after", "line"]),
                text,
            }
        }
        (None, Some(new)) if lines.is_some() => Edit::Replace {
            file,
            lines,
            original: None,
            replacement: Some(new),
        },
        _ if is(DELETES) => Edit::Delete {
            file,
            original: None,
        },
        _ => match text_of(arguments, CONTENT).filter(|_| is(CREATES)) {
            Some(text) => Edit::Create {
                file,
                text,
                latin1: false,
                unterminated: false,
            },
            None if command == "undo_edit" => Edit::Unsupported {
                file,
                what: "there is nothing to undo; every patch is against the unpatched tree"
                    .to_owned(),
                rule: Rule::Incomplete,
            },
            None => return Vec::new(),
        },
    };
    vec![edit]
}

/// The text of a diff or of SEARCH/REPLACE blocks among the arguments.
fn diff_text(arguments: &Map<String, Value>) -> Option<String> {
    DIFF.iter()
        .filter_map(|key| arguments.get(*key))
        .filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            // A command line: the last word is the patch.
            Value::Array(words) => words.last()?.as_str().map(str::to_owned),
            _ => None,
        })
        .find(|text| {
            ["*** Begin Patch", "@@", "<<<<<<< ", "diff --git ", "--- "]
                .iter()
                .any(|mark| text.contains(mark))
        })
}

/// The question that a call asks.
fn query_of(name: &str, arguments: &Map<String, Value>, file: Option<String>) -> Option<RawQuery> {
    let command = text_of(arguments, &["command"]).unwrap_or_default();
    if READS.contains(&name) || READS.contains(&command.as_str()) {
        let file = file?;
        let body = match range_of(arguments) {
            Some((first, last)) => format!("{file}:{first}-{last}"),
            None => file,
        };
        return Some(RawQuery {
            kind: "file".to_owned(),
            body,
            attributes: Vec::new(),
        });
    }
    let kind = QUERY.iter().find(|kind| **kind == name)?;
    let keys = [
        *kind,
        "query",
        "body",
        "name",
        "value",
        "pattern",
        "text",
        "expression",
    ];
    let key = keys
        .into_iter()
        .find(|key| arguments.get(*key).is_some_and(Value::is_string));
    let body = key.and_then(|key| text_of(arguments, &[key])).or(file)?;
    let attributes = arguments
        .iter()
        .filter(|(other, _)| Some(other.as_str()) != key && !FILE.contains(&other.as_str()))
        .filter_map(|(name, value)| Some((name.clone(), scalar(value)?)))
        .collect();
    Some(RawQuery {
        kind: (*kind).to_owned(),
        body,
        attributes,
    })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn text_of(arguments: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| scalar(arguments.get(*key)?))
}

fn number_of(arguments: &Map<String, Value>, keys: &[&str]) -> Option<u32> {
    let value = keys.iter().find_map(|key| arguments.get(*key))?;
    match value {
        Value::Number(number) => u32::try_from(number.as_u64()?).ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The lines that a call names: `"12-14"`, `[12, 14]`, or two numbers.
fn range_of(arguments: &Map<String, Value>) -> Option<(u32, u32)> {
    match LINES.iter().find_map(|key| arguments.get(*key)) {
        Some(Value::String(text)) => return read_lines(text),
        Some(Value::Array(ends)) => {
            let ends: Vec<String> = ends.iter().filter_map(scalar).collect();
            return read_lines(&ends.join(" "));
        }
        _ => {}
    }
    let first = number_of(arguments, &["start_line", "line_start", "start"])?;
    let last = number_of(arguments, &["end_line", "line_end", "end"]).unwrap_or(first);
    Some((first.min(last), first.max(last)))
}

/// The offset of the next `{` or `[` that begins a line or follows a tag.
fn next_value(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.match_indices(['{', '[']).find_map(|(offset, _)| {
        let start = from + offset;
        let before = text.get(..start)?;
        let line = before.rsplit('\n').next().unwrap_or_default().trim();
        (line.is_empty() || line.ends_with('>')).then_some(start)
    })
}

enum Parsed {
    /// A value and its length in bytes.
    Value(Value, usize),
    /// The text ended within a value.
    Torn,
    Other,
}

/// Reads the JSON value at the start of a text. Line breaks and tabs within
/// strings are taken as they are, as models write them.
fn parse(text: &str) -> Parsed {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => return Parsed::Value(value, values.byte_offset()),
        Some(Err(error)) if error.is_eof() => return Parsed::Torn,
        _ => {}
    }
    let (escaped, end) = with_escaped_breaks(text);
    match serde_json::from_str(&escaped) {
        Ok(value) => Parsed::Value(value, end),
        Err(error) if error.is_eof() => Parsed::Torn,
        Err(_) => Parsed::Other,
    }
}

/// Returns the value at the start of a text with control characters in its
/// strings escaped, and where it ends.
fn with_escaped_breaks(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut escaped, mut depth) = (false, false, 0_usize);
    for (at, next) in text.char_indices() {
        match next {
            '\n' if inside => out.push_str("\\n"),
            '\t' if inside => out.push_str("\\t"),
            '\r' if inside => out.push_str("\\r"),
            next => out.push(next),
        }
        match next {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            '{' | '[' if !inside => depth += 1,
            '}' | ']' if !inside => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !inside {
            return (out, at + next.len_utf8());
        }
    }
    (out, text.len())
}

/// Whether a torn value would have been an edit.
fn names_an_edit(text: &str) -> bool {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    let edits = [
        "old_str",
        "old_string",
        "new_str",
        "new_string",
        "str_replace",
        "edits",
    ];
    edits.iter().any(|key| has(key))
}

/// Calls that are written as elements: each with its name and arguments.
fn elements(text: &str) -> Vec<(String, Map<String, Value>)> {
    let mut calls = Vec::new();
    let mut at = 0;
    while calls.len() < MOST_CALLS {
        let Some((name, start, end)) = next_element(text, at) else {
            break;
        };
        let body = text.get(start..end).unwrap_or_default();
        calls.push((name, parameters(body)));
        at = end.max(at + 1);
    }
    calls
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

#[cfg(test)]
mod tests;
