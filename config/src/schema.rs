//! The JSON schema of a configuration file, for editors and for whoever writes
//! one by program. `config/schema.json` is its copy, held equal by a test.

use serde_json::{Value, json};

use crate::Settings;
use crate::value::UNSET;

/// The schema of a configuration file.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Settings).to_value();
    as_written(&mut schema);
    schema
}

/// Says what a file holds: no key must be there, because the defaults have all of them, and no
/// other may; a time is a text, and what may be unset says so with a word.
fn as_written(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Only where it is a keyword: a list, never a property of that name.
            if fields.get("required").is_some_and(Value::is_array) {
                fields.shift_remove("required");
            }
            // The layers refuse other keys, and name the nearest one.
            if fields.contains_key("properties") {
                fields.shift_insert(1, "additionalProperties".to_owned(), json!(false));
            }
            if fields.get("type") == Some(&json!(["string", "null"])) {
                fields.insert("type".to_owned(), json!("string"));
            } else if fields.get("type") == Some(&json!(["number", "null"])) {
                fields.shift_remove("type");
                let given = json!([{ "type": "number" }, { "const": UNSET }]);
                fields.insert("anyOf".to_owned(), given);
            }
            for (name, field) in fields {
                match name.as_str() {
                    // One without a name is none, and the defaults have nothing to say of it.
                    "Fallback" => {}
                    "Duration" => *field = json!({ "type": "string" }),
                    _ => as_written(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(as_written),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::DEFAULTS;

    fn defaults() -> Value {
        let table: toml::Table = DEFAULTS.parse().unwrap();
        serde_json::to_value(table).unwrap()
    }

    #[test]
    fn the_copy_in_the_repository_is_this_schema() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.json");
        let text = format!("{:#}\n", schema());
        let variables = crate::Sources::from_process(None, Vec::new()).variables;
        if variables.contains_key("PATCHWRIGHT_RECORD") {
            std::fs::write(&path, &text).unwrap();
        }
        let copy = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            copy == text,
            "{} is out of date: run this test once with PATCHWRIGHT_RECORD=1",
            path.display()
        );
    }

    #[test]
    fn the_schema_takes_the_defaults_and_refuses_what_is_wrong() {
        let schema = jsonschema::validator_for(&schema()).unwrap();
        assert!(schema.is_valid(&defaults()));
        assert!(schema.is_valid(&serde_json::json!({ "limits": { "usd": 2 } })));
        for wrong in [
            serde_json::json!({ "modle": {} }),
            serde_json::json!({ "model": { "api": "soap" } }),
            serde_json::json!({ "limits": { "usd": "many" } }),
            serde_json::json!({ "model": { "fallbacks": [{}] } }),
        ] {
            assert!(!schema.is_valid(&wrong), "{wrong}");
        }
    }

    fn keys(schema: &Value, node: &Value, above: &str, found: &mut Vec<String>) {
        let node = match node.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema.pointer(reference.trim_start_matches('#')).unwrap(),
            None => node,
        };
        match node.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                for (name, inner) in properties {
                    let key = format!("{above}{name}");
                    assert!(
                        inner.get("description").is_some(),
                        "{key} has no description"
                    );
                    keys(schema, inner, &format!("{key}."), found);
                }
            }
            None => found.push(above.trim_end_matches('.').to_owned()),
        }
    }

    fn leaves(value: &Value, above: &str, found: &mut Vec<String>) {
        match value.as_object().filter(|table| !table.is_empty()) {
            Some(table) => {
                for (name, inner) in table {
                    leaves(inner, &format!("{above}{name}."), found);
                }
            }
            None => found.push(above.trim_end_matches('.').to_owned()),
        }
    }

    #[test]
    fn every_key_has_a_default_and_every_default_a_key() {
        let schema = schema();
        let (mut typed, mut written) = (Vec::new(), Vec::new());
        keys(&schema, &schema, "", &mut typed);
        leaves(&defaults(), "", &mut written);
        typed.sort();
        written.sort();
        assert_eq!(typed, written);
    }

    #[test]
    fn every_default_has_a_comment() {
        let mut before = "";
        for (number, line) in DEFAULTS.lines().enumerate() {
            let value = line.contains(" = ") && !line.starts_with('#');
            // A group of like keys shares the comment above it.
            let commented = before.starts_with('#') || before.contains(" = ");
            assert!(!value || commented, "line {}: {line}", number + 1);
            before = line;
        }
    }
}
