//! One effective value and where it came from, as `patchwright config` shows it.

use config::{Value, ValueKind};
use serde::Serialize;
use serde_json::Value as Json;

use crate::layer::Layer;
use crate::value::UNSET;

/// Keys whose values are never shown. A key ends in `*` when everything below it
/// is meant.
const SECRET: [&str; 10] = [
    "model.api_key",
    "model.headers.*",
    "critic.api_key",
    "crs.key_token",
    "database.url",
    "telemetry.otlp_headers.*",
    "embedding.api_key",
    "rerank.api_key",
    "client.token",
    "webhook.secret",
];

/// In the place of a secret value.
pub const HIDDEN: &str = "set (hidden)";

/// One effective value and its origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The key, as in `model.timeouts.connect`.
    pub key: String,
    /// The value; a secret is replaced by whether it is set.
    pub value: Json,
    /// Where it was found: `default`, a file with its line, a variable, a flag.
    pub origin: String,
    /// True when the value was replaced because it is secret.
    pub secret: bool,
}

/// Every value of a layer, sorted by key.
pub(super) fn list(layer: &Layer) -> Vec<Entry> {
    let entry = |(key, value): (String, &Value)| {
        let secret = is_secret(&key);
        Entry {
            value: if secret { hidden(value) } else { json(value) },
            origin: value.origin().unwrap_or("default").to_owned(),
            secret,
            key,
        }
    };
    let values = layer.keys().zip(layer.values.values());
    let mut entries: Vec<Entry> = values.map(entry).collect();
    entries.sort_by(|left, right| left.key.cmp(&right.key));
    entries
}

fn is_secret(key: &str) -> bool {
    SECRET.iter().any(|secret| match secret.strip_suffix('*') {
        Some(above) => key.starts_with(above),
        None => key == *secret,
    })
}

fn hidden(value: &Value) -> Json {
    let empty = matches!(&value.kind, ValueKind::String(text) if text.is_empty() || text == UNSET);
    Json::from(if empty { "not set" } else { HIDDEN })
}

/// Hides the keys of tables in a list: of the fallbacks.
fn hide_keys(value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(hide_keys),
        Json::Object(fields) => {
            for (name, field) in fields {
                if name == "api_key" {
                    *field = Json::from(HIDDEN);
                } else {
                    hide_keys(field);
                }
            }
        }
        _ => {}
    }
}

/// Returns a value as it is shown; a number that JSON does not have is text.
fn json(value: &Value) -> Json {
    let json: Result<Json, _> = value.clone().try_deserialize();
    let mut json = json.unwrap_or_else(|_| Json::from(value.kind.to_string()));
    json.sort_all_objects();
    hide_keys(&mut json);
    json
}
