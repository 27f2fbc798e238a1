//! Tool calls in a reply: what models write that were trained to call tools,
//! whether or not they were offered any.
//!
//! Calls are JSON (`{"command": "str_replace", ..}`, alone, in a fence or in a
//! list of calls) or elements (`<invoke name="..">`, `<function=..>`,
//! `<replace_in_file>`). A call that edits becomes an edit, one that reads a
//! file or asks becomes a query; any other is left out.

mod elements;
mod json;

use super::RawQuery;
use super::fallback;
use super::range::{read_lines, read_path};
use super::words::QUERY;
use crate::{Edit, Rule};
use elements::elements;
use json::{Parsed, next_value, parse};
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

/// Requests of the calls of a reply.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) explanation: Option<String>,
    pub(super) edits: Vec<Edit>,
    pub(super) queries: Vec<RawQuery>,
    /// True when the text ended within a call.
    pub(super) torn: bool,
}

impl Calls {
    /// Reads the calls of a text.
    pub(super) fn read(text: &str) -> Self {
        let mut calls = Self::default();
        if text.len() > LONGEST {
            return calls;
        }
        for (name, arguments) in elements(text).take(MOST_CALLS) {
            calls.take(&name, &arguments);
        }
        if calls.is_empty() {
            calls.read_values(text);
        }
        calls
    }

    /// Returns true when nothing was asked for.
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

/// Returns true when a torn value would have been an edit.
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

#[cfg(test)]
mod tests;
