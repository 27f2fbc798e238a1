//! One effective value and where it came from, as `patchwright config` shows it.

use config::{Value, ValueKind};
use serde::Serialize;

use crate::value::UNSET;

/// Keys whose values are never shown. A key ends in `*` when everything below it
/// is meant.
const SECRET: [&str; 9] = [
    "model.api_key",
    "model.headers.*",
    "critic.api_key",
    "crs.key_token",
    "database.url",
    "telemetry.otlp_headers.*",
    "embedding.api_key",
    "rerank.api_key",
    "client.token",
];

/// In the place of a secret value.
pub const HIDDEN: &str = "set (hidden)";

/// One effective value and its origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The key, as in `model.timeouts.connect`.
    pub key: String,
    /// The value; a secret is replaced by whether it is set.
    pub value: serde_json::Value,
    /// Where it was found: `default`, a file with its line, a variable, a flag.
    pub origin: String,
    /// True when the value was replaced because it is secret.
    pub secret: bool,
}

/// All leaves of a merged tree, sorted by key.
pub(super) fn list(root: &Value) -> Vec<Entry> {
    let mut entries = Vec::new();
    walk(String::new(), root, &mut entries);
    entries.sort_by(|left, right| left.key.cmp(&right.key));
    entries
}

fn walk(key: String, value: &Value, entries: &mut Vec<Entry>) {
    if let ValueKind::Table(table) = &value.kind
        && (!table.is_empty() || key.is_empty())
    {
        for (name, inner) in table {
            let key = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            walk(key, inner, entries);
        }
        return;
    }
    let secret = is_secret(&key);
    let value_shown = if secret {
        hidden(value)
    } else {
        without_secrets(json(value))
    };
    entries.push(Entry {
        value: value_shown,
        origin: value.origin().unwrap_or("default").to_owned(),
        secret,
        key,
    });
}

fn is_secret(key: &str) -> bool {
    SECRET.iter().any(|secret| match secret.strip_suffix('*') {
        Some(above) => key.starts_with(above),
        None => key == *secret,
    })
}

fn hidden(value: &Value) -> serde_json::Value {
    let empty = matches!(&value.kind, ValueKind::String(text) if text.is_empty() || text == UNSET);
    serde_json::Value::from(if empty { "not set" } else { HIDDEN })
}

/// A list can hold tables with a key of their own: the fallbacks.
fn without_secrets(mut value: serde_json::Value) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Array(items) => {
            for item in items {
                *item = without_secrets(item.take());
            }
        }
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                *field = if name == "api_key" {
                    serde_json::Value::from(HIDDEN)
                } else {
                    without_secrets(field.take())
                };
            }
        }
        _ => {}
    }
    value
}

fn json(value: &Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match &value.kind {
        ValueKind::Nil => Json::Null,
        ValueKind::Boolean(flag) => Json::from(*flag),
        ValueKind::I64(number) => Json::from(*number),
        ValueKind::U64(number) => Json::from(*number),
        ValueKind::Float(number) => Json::from(*number),
        ValueKind::I128(_) | ValueKind::U128(_) | ValueKind::String(_) => {
            Json::from(value.kind.to_string())
        }
        ValueKind::Array(items) => items.iter().map(json).collect(),
        ValueKind::Table(table) => {
            let mut fields: Vec<_> = table
                .iter()
                .map(|(name, value)| (name.clone(), json(value)))
                .collect();
            fields.sort_by(|left, right| left.0.cmp(&right.0));
            fields.into_iter().collect()
        }
    }
}
