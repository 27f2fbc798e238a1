//! First task of a project: looks at its tree, proposes commands, tries them in
//! the sandbox, and writes down what worked.
//!
//! Proposals come from files that every build system has by convention; a command
//! is kept when it was seen to work here. It asks no model, and it writes nothing
//! but the task file.

pub(crate) mod bench;
pub(crate) mod build_systems;
mod feeds;
mod harmless;
mod harnesses;
mod java;
mod options;
pub(crate) mod oss_fuzz;
pub(crate) mod proposal;
mod samples;
pub(crate) mod trials;

use patchwright_agent::task::file::TaskFile;
use patchwright_agent::template::{self, Error, environment};
use patchwright_source::Language;
use serde::Serialize;
use serde_json::json;

/// A task as far as it is known, with what was seen of each part.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub keys: TaskFile,
    /// Remarks for the parts of the file, in its order.
    pub remarks: Remarks,
}

impl Draft {
    /// Tells whether a command that feeds the inputs was found, where there are inputs.
    pub(crate) fn is_complete(&self) -> bool {
        self.keys.pov.is_empty() || self.keys.commands.pov.is_some()
    }

    /// Tells whether its project is one of Java.
    pub(crate) fn is_java(&self) -> bool {
        self.keys.language == Language::Java.to_string()
    }

    /// Keeps the command by which the PoV crashes the program.
    fn keep(&mut self, command: &str, crash: &str) {
        self.remarks.pov = format!("crashes here: {crash}");
        self.keys.commands.pov = Some(command.to_owned());
    }
}

/// Comments of the task file: what was tried, and what was seen.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Remarks {
    pub build: String,
    /// On the PoV.
    pub pov: String,
    pub test: String,
    /// On the harmless inputs.
    pub harmless: String,
}

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
    environment.add_template("task.toml", include_str!("init/templates/task.toml"))?;
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
