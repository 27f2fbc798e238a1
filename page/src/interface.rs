//! Page of the HTTP interface: every operation of an OpenAPI document, and a form to
//! try it out.

use crate::layout::page;
use crate::text::shown_line;
use crate::view::Viewer;
use maud::{Markup, html};
use serde_json::Value;

/// Writes the page for an OpenAPI document that lies at an address.
pub fn interface(document: &Value, address: &str) -> String {
    let content = html! {
        h1 { (text(document, "/info/title")) " " (text(document, "/info/version")) }
        p { (text(document, "/info/description")) }
        p { "For programs: " a href=(address) { (address) } }
        p { label { "Token, kept until this page is closed: " input type="password" id="token" autocomplete="off"; } }
        @for tag in list(document, "/tags") {
            @let name = text(tag, "/name");
            section {
                h2 { (name) ": " (text(tag, "/description")) }
                @for (path, method, operation) in operations(document, name) {
                    (described(path, method, operation))
                }
            }
        }
        section {
            h2 { "schemas" }
            @for (name, schema) in entries(document, "/components/schemas") {
                details id=(name) { summary { (shown_line(name)) } (json(schema)) }
            }
        }
    };
    page("HTTP interface", &Viewer::default(), None, &content)
}

/// Yields the operations under a tag: path, method and description.
fn operations<'a>(
    document: &'a Value,
    tag: &str,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Value)> {
    let all = entries(document, "/paths").flat_map(|(path, item)| {
        entries(item, "").map(move |(method, operation)| (path, method, operation))
    });
    all.filter(move |(_, _, operation)| {
        list(operation, "/tags").any(|one| one.as_str() == Some(tag))
    })
}

fn described(path: &str, method: &str, operation: &Value) -> Markup {
    let bodies = || entries(operation, "/requestBody/content");
    html! {
        details {
            summary { code { (method.to_uppercase()) " " (path) } " " (text(operation, "/summary")) }
            p { (text(operation, "/description")) }
            form.stack data-method=(method) data-path=(path) {
                @for parameter in list(operation, "/parameters") {
                    @let required = parameter.get("required") == Some(&Value::Bool(true));
                    label {
                        (text(parameter, "/name")) " (" (text(parameter, "/in")) ") "
                        input name=(text(parameter, "/name")) data-in=(text(parameter, "/in")) required[required];
                        " " span.muted { (text(parameter, "/description")) }
                    }
                }
                @for (media, body) in bodies() {
                    @if media == "application/json" {
                        label { (media) " " (schema_link(body)) textarea name="body" rows="6" {} }
                    } @else {
                        p { "or as " (media) ": " (schema_link(body)) }
                    }
                }
                button { "Send" }
                pre.log tabindex="0" hidden {}
            }
            ul {
                @for (status, answer) in entries(operation, "/responses") {
                    li {
                        code { (status) } " " (text(answer, "/description")) " "
                        @for (_, body) in entries(answer, "/content") { (schema_link(body)) " " }
                    }
                }
            }
        }
    }
}

/// Writes a link to the schema of a body, or the schema where it has no name.
fn schema_link(body: &Value) -> Markup {
    let name = text(body, "/schema/$ref").rsplit('/').next();
    match name.filter(|name| !name.is_empty()) {
        Some(name) => html! { a href={ "#" (name) } { (name) } },
        None => body.get("schema").map(json).unwrap_or_default(),
    }
}

fn json(value: &Value) -> Markup {
    html! { pre { (format!("{value:#}")) } }
}

/// Returns a text of the document; an empty one where it says nothing.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.into_iter().flatten()
}

fn entries<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let found = value.pointer(pointer).and_then(Value::as_object);
    found
        .into_iter()
        .flatten()
        .map(|(name, value)| (&**name, value))
}

#[cfg(test)]
mod tests {
    use super::interface;
    use serde_json::json;

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
        let page = interface(&document, "/openapi.json");
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
