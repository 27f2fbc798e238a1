//! The tools: what each is for, what it takes, and how a call becomes a query.
//!
//! One table, `tools.toml`, says it all; the schemas are made from it. Answering is
//! not done here.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The longest text of one argument, in bytes: crash logs grow large.
const LONGEST: usize = 64 * 1024 * 1024;
/// The most tokens that a context may be asked to have.
const MOST_TOKENS: u64 = 200_000;

/// The guide to patterns, rules and SQL that a repairing model reads as well.
const GUIDE: &str = include_str!("../../../prompts/retrieval.md");

/// Request of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// The kind of query, which is the name of the tool.
    pub(super) kind: String,
    pub(super) body: String,
    pub(super) attributes: Vec<(String, String)>,
}

impl Call {
    /// The tokens that a call for a context names.
    pub(super) fn budget(&self) -> Option<usize> {
        self.attributes
            .first()
            .and_then(|(_, text)| text.parse().ok())
    }
}

/// The table of the tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tools {
    tool: Vec<Entry>,
}

/// One tool; `tools.toml` explains the keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    title: String,
    about: String,
    fields: Vec<Field>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    #[serde(default)]
    form: Form,
    #[serde(default)]
    optional: bool,
    about: String,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    #[default]
    Text,
    Number,
    YesNo,
}

impl Tools {
    /// Reads the table.
    ///
    /// # Errors
    /// It is damaged; a test reads it.
    pub(super) fn read_table() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("tools.toml"))
    }

    /// Every tool with its description and schema; the one that judges where there is a task.
    pub(super) fn list(&self, judges: bool) -> Vec<Tool> {
        let tools = self.tool.iter().filter(|tool| judges || tool.reads());
        tools.map(Entry::tool).collect()
    }

    /// Tells whether there is such a tool.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.tool.iter().find(|tool| tool.name == name)
    }

    /// Reads a call; the reason when it does not fit the schema.
    pub(super) fn read(&self, name: &str, arguments: &Map<String, Value>) -> Result<Call, String> {
        let tool = self.find(name);
        let tool = tool.ok_or_else(|| format!("there is no tool {name}"))?;
        let known = |key: &String| tool.fields.iter().any(|field| field.name == *key);
        if let Some(key) = arguments.keys().find(|key| !known(key)) {
            let names: Vec<&str> = tool.fields.iter().map(|field| &*field.name).collect();
            let names = names.join(", ");
            return Err(format!("{name} takes no {key}; it takes {names}"));
        }
        let mut values = Vec::new();
        for field in &tool.fields {
            if let Some(value) = field.read(name, arguments)? {
                values.push((field.name.clone(), value));
            }
        }
        let mut values = values.into_iter();
        let mut body = values.next().map(|(_, value)| value).unwrap_or_default();
        if name == "path"
            && let Some((_, to)) = values.next()
        {
            body = format!("{body} -> {to}");
        }
        Ok(Call {
            kind: name.to_owned(),
            body,
            attributes: values.collect(),
        })
    }
}

impl Entry {
    fn tool(&self) -> Tool {
        let about = match self.name.as_str() {
            "sql" => format!("{} {}", self.about, views()),
            _ => self.about.clone(),
        };
        let annotations = ToolAnnotations::new()
            .read_only(self.reads())
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name.clone(), about, Arc::new(self.schema()))
            .with_title(self.title.clone())
            .with_annotations(annotations)
    }

    /// Tells whether it runs nothing.
    fn reads(&self) -> bool {
        self.name != "judge"
    }

    fn schema(&self) -> JsonObject {
        let fields = self.fields.iter();
        let properties = fields.map(|field| (field.name.clone(), field.schema()));
        let needed = self.fields.iter().filter(|field| !field.optional);
        let schema = json!({
            "type": "object",
            "properties": properties.collect::<JsonObject>(),
            "required": needed.map(|field| field.name.as_str()).collect::<Vec<_>>(),
            "additionalProperties": false,
        });
        schema.as_object().cloned().unwrap_or_default()
    }
}

impl Field {
    fn schema(&self) -> Value {
        match self.form {
            Form::Text => json!({ "type": "string", "description": self.about }),
            Form::YesNo => json!({ "type": "boolean", "description": self.about }),
            Form::Number => {
                json!({ "type": "integer", "minimum": 1, "description": self.about })
            }
        }
    }

    /// The value as text, with the tolerance that models need: a number may come
    /// as text.
    fn read(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Option<String>, String> {
        let text = match (arguments.get(&self.name), self.form) {
            (None | Some(Value::Null), _) if !self.optional => {
                return Err(format!("{tool} needs {}: {}", self.name, self.about));
            }
            (None | Some(Value::Null), _) => return Ok(None),
            (Some(Value::String(text)), _) => text.clone(),
            (Some(Value::Number(number)), Form::Number | Form::Text) => number.to_string(),
            (Some(Value::Bool(yes)), Form::YesNo) => yes.to_string(),
            _ => return Err(format!("{tool}: {} has the wrong type", self.name)),
        };
        if text.len() > LONGEST {
            let name = &self.name;
            return Err(format!("{tool}: {name} is longer than {LONGEST} bytes"));
        }
        let number = text.trim().parse::<u64>().ok();
        let fits = number.is_some_and(|number| (1..=MOST_TOKENS).contains(&number));
        if matches!(self.form, Form::Number) && !fits {
            return Err(format!("{tool}: {} must be a number from 1 on", self.name));
        }
        Ok(Some(text))
    }
}

/// The views and their columns, from the guide.
fn views() -> &'static str {
    let section = GUIDE.split_once("| view |").map(|(_, rest)| rest);
    section
        .and_then(|rest| rest.split_once("\n```"))
        .map_or("", |(table, _)| table)
        .trim_start_matches(" columns |\n| --- | --- |\n")
}

#[cfg(test)]
mod tests {
    use super::{Form, Tools, views};
    use patchwright_retrieval::{KINDS, Query};
    use serde_json::{Value, json};

    fn table() -> Tools {
        Tools::read_table().unwrap()
    }

    fn call(name: &str, arguments: &Value) -> Result<super::Call, String> {
        table().read(name, arguments.as_object().unwrap())
    }

    #[test]
    fn every_kind_of_query_is_a_tool_that_reads() {
        for kind in KINDS {
            let tools = table();
            let tool = tools.find(kind).unwrap();
            let mut arguments = serde_json::Map::new();
            for field in &tool.fields {
                let value = match field.form {
                    Form::Text if field.name == "lines" => json!("3-9"),
                    Form::Text => json!("a_b"),
                    Form::Number => json!(2),
                    Form::YesNo => json!(true),
                };
                arguments.insert(field.name.clone(), value);
            }
            let call = tools.read(kind, &arguments).unwrap();
            let query = Query::read(&call.kind, &call.body, &call.attributes).unwrap();
            assert_eq!(query.kind(), kind);
            let shown = query.to_string();
            let expected = match kind {
                "file" => "file: a_b:3-9",
                "path" => "path: a_b -> a_b",
                "callers" | "callees" => "depth 2",
                "text" | "pattern" | "rule" => "(in a_b)",
                "more" => "more: query 2",
                _ => "a_b",
            };
            assert!(shown.contains(expected), "{kind}: {shown}");
        }
        let tools = table();
        assert!(tools.has("context") && tools.has("crash") && !tools.has("shell"));
    }

    #[test]
    fn schemas_name_what_is_needed() {
        let tools = table();
        assert_eq!(tools.list(true).len(), tools.list(false).len() + 1);
        for tool in tools.list(true) {
            let schema = Value::Object((*tool.input_schema).clone());
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            assert!(!schema["required"].as_array().unwrap().is_empty());
            for (name, field) in schema["properties"].as_object().unwrap() {
                assert!(field["description"].as_str().unwrap().len() > 5, "{name}");
            }
            assert!(jsonschema::validator_for(&schema).is_ok(), "{}", tool.name);
        }
    }

    #[test]
    fn calls_that_do_not_fit_are_told_why() {
        for (name, arguments, reason) in [
            ("symbol", json!({}), "symbol needs name"),
            ("symbol", json!({ "name": ["a"] }), "wrong type"),
            (
                "symbol",
                json!({ "name": "a", "depth": 2 }),
                "takes no depth; it takes name",
            ),
            ("callers", json!({ "name": "a", "depth": 0 }), "from 1 on"),
            (
                "context",
                json!({ "request": "x", "budget": -4 }),
                "from 1 on",
            ),
            ("shell", json!({}), "no tool shell"),
        ] {
            let told = call(name, &arguments).unwrap_err();
            assert!(told.contains(reason), "{name}: {told}");
        }
        let call = call("context", &json!({ "request": "x", "budget": "900" })).unwrap();
        assert_eq!(call.budget(), Some(900));
    }

    #[test]
    fn the_schema_of_the_database_is_told() {
        let views = views();
        for view in [
            "files", "symbols", "calls", "uses", "includes", "inherits", "guards", "flows",
        ] {
            assert!(views.contains(&format!("`{view}`")), "{view}: {views}");
        }
        assert!(
            views.starts_with("| `files`") && !views.contains("<sql>"),
            "{views}"
        );
    }
}
