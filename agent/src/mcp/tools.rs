//! The tools: what each is for, what it takes, and how a call becomes a query.
//!
//! One table says it all; the schemas are made from it. Answering is not done
//! here.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The longest text of one argument, in bytes: crash logs grow large.
const LONGEST: usize = 64 * 1024 * 1024;
/// The most tokens that a context may be asked to have.
const MOST_TOKENS: u64 = 200_000;

/// The guide to patterns, rules and SQL that a repairing model reads as well.
const GUIDE: &str = include_str!("../../../prompts/retrieval.md");

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) wish: Wish,
    /// The kind of query, which is the name of the tool.
    pub(super) kind: String,
    pub(super) body: String,
    pub(super) attributes: Vec<(String, String)>,
}

/// Which of the three sorts of tools was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Query,
    Context { budget: Option<usize> },
    Crash,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Number,
    YesNo,
}

struct Field {
    name: &'static str,
    form: Form,
    needed: bool,
    about: &'static str,
}

struct Entry {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    fields: &'static [Field],
}

const fn needed(name: &'static str, about: &'static str) -> Field {
    Field {
        name,
        form: Form::Text,
        needed: true,
        about,
    }
}

const fn optional(name: &'static str, form: Form, about: &'static str) -> Field {
    Field {
        name,
        form,
        needed: false,
        about,
    }
}

const FUNCTION: Field = needed(
    "name",
    "The function, plain or qualified: f, A::b, a.b.C.d, C#m",
);
const DEPTH: Field = optional(
    "depth",
    Form::Number,
    "How many calls away to follow, 1 to 5; 1 when left out",
);
const INSIDE: Field = optional(
    "path",
    Form::Text,
    "Only files whose path holds this, such as src/",
);

/// The first field of a query is what stands between its tags elsewhere.
const TOOLS: &[Entry] = &[
    Entry {
        name: "context",
        title: "Code for a request or a crash",
        about: "The code that a request in words or a whole crash report (sanitizer, Jazzer, Java stack trace) calls for: \
            functions, callers, types and macros, packed to a budget of tokens. The best first question.",
        fields: &[
            needed(
                "request",
                "The request in plain words, or the crash report as it was printed",
            ),
            optional("budget", Form::Number, "The most tokens of the answer"),
        ],
    },
    Entry {
        name: "crash",
        title: "Read a crash report",
        about: "Reads a crash report out of a log: kind, weakness (CWE), signature, and the stacks with paths of this tree.",
        fields: &[needed("log", "What the crashed program printed")],
    },
    Entry {
        name: "symbol",
        title: "Definitions of a name",
        about: "The definitions of a function, type, macro, field or variable, with their code. Typedef and struct come \
            together; a part of a name finds what holds it.",
        fields: &[needed(
            "name",
            "The name, plain or qualified: f, A::b, ns::A, a.b.C.d, C#m",
        )],
    },
    Entry {
        name: "file",
        title: "A file or some of its lines",
        about: "Lines of a file with their numbers, or the outline of a large file. Paths from another machine are found \
            by their ending.",
        fields: &[
            needed("path", "The path, such as src/a.c"),
            optional(
                "lines",
                Form::Text,
                "Line ranges, such as 10-40 or 10-40, 90-95",
            ),
        ],
    },
    Entry {
        name: "text",
        title: "Literal text",
        about: "Literal text (or a regular expression) in any file, with lines around it and the function that it lies in.",
        fields: &[
            needed("text", "What to find"),
            optional(
                "regex",
                Form::YesNo,
                "Whether the text is a regular expression",
            ),
            INSIDE,
        ],
    },
    Entry {
        name: "search",
        title: "Search by words",
        about: "Definitions that speak of some words, ranked: names, comments and bodies are weighed. For when no name is known.",
        fields: &[needed(
            "words",
            "Words that describe the code, such as: length check of a profile",
        )],
    },
    Entry {
        name: "pattern",
        title: "Structural pattern",
        about: "Code of a certain shape: $X stands for one piece of code, $$$ for any number of them, as in \
            memcpy($DST, $SRC, $LEN) or if ($P == NULL) { $$$ }. A pattern without a hit is relaxed, and the answer says how.",
        fields: &[
            needed(
                "pattern",
                "One whole expression, statement or definition of the tree's language",
            ),
            INSIDE,
        ],
    },
    Entry {
        name: "rule",
        title: "Structural rule",
        about: "Patterns combined by <any>, <all>, <not>, <inside>, <has>, with <kind> and <regex>, as in \
            <pattern>memcpy($$$)</pattern><not><inside><pattern>if ($A < $B) { $$$ }</pattern></inside></not>",
        fields: &[needed("rule", "The tags of the rule"), INSIDE],
    },
    Entry {
        name: "references",
        title: "Uses of a name",
        about: "Every place that uses a name, read, written, called or as a type, by file and function.",
        fields: &[needed("name", "The name")],
    },
    Entry {
        name: "callers",
        title: "Who calls a function",
        about: "The functions that call one, with the lines of the calls; deeper on wish.",
        fields: &[FUNCTION, DEPTH],
    },
    Entry {
        name: "callees",
        title: "What a function calls",
        about: "The functions that one calls; deeper on wish.",
        fields: &[FUNCTION, DEPTH],
    },
    Entry {
        name: "path",
        title: "Chain of calls",
        about: "The shortest chain of calls from one function to another, over files.",
        fields: &[
            needed("from", "The caller at the start"),
            needed("to", "The callee at the end"),
        ],
    },
    Entry {
        name: "implementations",
        title: "Implementations and overrides",
        about: "What implements or extends a type, or overrides a method.",
        fields: &[needed("name", "The type or method")],
    },
    Entry {
        name: "similar",
        title: "Functions alike",
        about: "Functions that look like one or are used like it: where the same bug may be, or where it is done right.",
        fields: &[FUNCTION],
    },
    Entry {
        name: "flow",
        title: "Where a value comes from and goes to",
        about: "The origins and uses of a value, over calls and returns.",
        fields: &[needed(
            "expression",
            "A variable, a field (s->len) or an expression, with an optional function: before it",
        )],
    },
    Entry {
        name: "sql",
        title: "SQL over the code database",
        about: "One read-only SELECT over the views of the code database; at most 100 rows and 2 seconds.",
        fields: &[needed("statement", "The SELECT statement")],
    },
    Entry {
        name: "more",
        title: "The next hits",
        about: "The next hits of an earlier query of this session.",
        fields: &[Field {
            name: "query",
            form: Form::Number,
            needed: true,
            about: "The number of the earlier query, as its answer's first line gives it",
        }],
    },
];

/// Every tool with its description and schema.
pub(super) fn list() -> Vec<Tool> {
    TOOLS.iter().map(Entry::tool).collect()
}

/// Whether there is such a tool.
pub(super) fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}

/// Reads a call; the reason when it does not fit the schema.
pub(super) fn read(name: &str, arguments: &Map<String, Value>) -> Result<Call, String> {
    let tool = TOOLS
        .iter()
        .find(|tool| tool.name == name)
        .ok_or_else(|| format!("there is no tool {name}"))?;
    let known = |key: &String| tool.fields.iter().any(|field| field.name == key);
    if let Some(key) = arguments.keys().find(|key| !known(key)) {
        return Err(format!("{name} takes no {key}; it takes {}", tool.takes()));
    }
    let mut values = Vec::new();
    for field in tool.fields {
        if let Some(value) = field.read(name, arguments)? {
            values.push((field.name.to_owned(), value));
        }
    }
    let mut values = values.into_iter();
    let mut body = values.next().map(|(_, value)| value).unwrap_or_default();
    if name == "path"
        && let Some((_, to)) = values.next()
    {
        body = format!("{body} -> {to}");
    }
    let attributes: Vec<(String, String)> = values.collect();
    let wish = match name {
        "crash" => Wish::Crash,
        "context" => Wish::Context {
            budget: attributes.first().and_then(|(_, text)| text.parse().ok()),
        },
        _ => Wish::Query,
    };
    Ok(Call {
        wish,
        kind: name.to_owned(),
        body,
        attributes,
    })
}

impl Entry {
    fn tool(&self) -> Tool {
        let about = match self.name {
            "sql" => format!("{} {}", self.about, views()),
            _ => self.about.to_owned(),
        };
        let annotations = ToolAnnotations::new()
            .read_only(true)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name, about, Arc::new(self.schema()))
            .with_title(self.title)
            .with_annotations(annotations)
    }

    fn schema(&self) -> JsonObject {
        let properties: JsonObject = self
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), field.schema()))
            .collect();
        let needed = self.fields.iter().filter(|field| field.needed);
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        let needed: Vec<&str> = needed.map(|field| field.name).collect();
        schema.insert("required".to_owned(), json!(needed));
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    fn takes(&self) -> String {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        names.join(", ")
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
        let text = match (arguments.get(self.name), self.form) {
            (None | Some(Value::Null), _) if self.needed => {
                return Err(format!("{tool} needs {}: {}", self.name, self.about));
            }
            (None | Some(Value::Null), _) => return Ok(None),
            (Some(Value::String(text)), _) => text.clone(),
            (Some(Value::Number(number)), Form::Number | Form::Text) => number.to_string(),
            (Some(Value::Bool(yes)), Form::YesNo) => yes.to_string(),
            _ => return Err(format!("{tool}: {} has the wrong type", self.name)),
        };
        if text.len() > LONGEST {
            return Err(format!(
                "{tool}: {} is longer than {LONGEST} bytes",
                self.name
            ));
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
    use super::{Form, TOOLS, Wish, is_tool, list, read, views};
    use patchwright_retrieval::{KINDS, Query};
    use serde_json::{Value, json};

    fn call(name: &str, arguments: &Value) -> Result<super::Call, String> {
        read(name, arguments.as_object().unwrap())
    }

    #[test]
    fn every_kind_of_query_is_a_tool_that_reads() {
        for kind in KINDS {
            let tool = TOOLS.iter().find(|tool| tool.name == kind).unwrap();
            let mut arguments = serde_json::Map::new();
            for field in tool.fields {
                let value = match field.form {
                    Form::Text if field.name == "lines" => json!("3-9"),
                    Form::Text => json!("a_b"),
                    Form::Number => json!(2),
                    Form::YesNo => json!(true),
                };
                arguments.insert(field.name.to_owned(), value);
            }
            let call = read(kind, &arguments).unwrap();
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
        assert!(is_tool("context") && is_tool("crash") && !is_tool("shell"));
    }

    #[test]
    fn schemas_name_what_is_needed() {
        for tool in list() {
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
        assert_eq!(call.wish, Wish::Context { budget: Some(900) });
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
