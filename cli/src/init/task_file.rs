//! The task file as `init` writes it: the keys that it found, each with a comment
//! on what was seen.

use super::Draft;
use patchwright_agent::template::{self, Error, environment};
use serde_json::json;

/// Renders a draft as TOML with comments.
///
/// # Errors
/// The template does not fit the draft.
pub(crate) fn render(draft: &Draft) -> Result<String, Error> {
    let mut environment = environment()?;
    environment.add_filter("toml", |text: &str| quoted(text));
    environment.add_filter("remark", |text: &str| -> String {
        text.lines().map(|line| format!("# {line}\n")).collect()
    });
    environment.add_template("task.toml", include_str!("templates/task.toml"))?;
    let values = json!({ "keys": draft.keys, "remarks": draft.remarks });
    template::render(&environment, "task.toml", &values)
}

/// A string of TOML; commands hold many double quotes, so they get single ones where
/// that is possible.
fn quoted(value: &str) -> String {
    let literal =
        value.contains('"') && !value.contains('\'') && !value.chars().any(char::is_control);
    if literal {
        return format!("'{value}'");
    }
    toml::Value::String(value.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_are_read_back_as_they_were() {
        for value in [
            "a",
            "\"$OUT\"/a 'b'",
            "make -C \"$TREE\"",
            "a\nb\t\"",
            "\u{7}'\"",
        ] {
            let table: toml::Table = format!("a = {}", quoted(value)).parse().unwrap();
            assert_eq!(table["a"].as_str(), Some(value));
        }
    }
}
