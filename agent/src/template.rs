//! Templates of texts for people: their environment and its filters.

use crate::prompt::fence;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
pub use minijinja::{Environment, Error};
use patchwright_record::CommitRecord;
use patchwright_source::{counted, visible, visible_line};
use serde_json::{Value, json};

/// Returns an environment whose block tags leave no empty lines.
///
/// # Errors
/// The syntax contradicts itself.
pub fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    // Nothing where there is none.
    environment.add_filter("commit", |commit: minijinja::Value| {
        let commit: Result<CommitRecord, _> = serde_json::from_value(json!(commit));
        commit.map_or_else(|_| String::new(), |commit| commit.in_words())
    });
    environment.add_filter("counted", |number: u64, noun: &str| counted(number, noun));
    environment.add_filter("fence", fence);
    environment.add_filter("first_line", |text: &str| {
        text.lines().next().map(str::to_owned).unwrap_or_default()
    });
    environment.add_filter("json", |value: minijinja::Value| json!(value).to_string());
    // The filter `format` counts bytes.
    environment.add_filter("pad", |text: &str, width: usize| {
        text.to_owned() + &" ".repeat(width.saturating_sub(text.chars().count()))
    });
    environment.add_filter("trim_end", |text: &str| text.trim_end().to_owned());
    environment.add_filter("visible", |text: &str| visible(text).into_owned());
    environment.add_filter("visible_line", |text: &str| visible_line(text).into_owned());
    Ok(environment)
}

/// Renders a text that is its own template.
///
/// # Errors
/// The template does not fit the values.
pub fn fill(source: &str, values: &Value) -> Result<String, Error> {
    environment()?.render_str(source, minijinja::Value::from(Serde(values)))
}

/// Renders a template of an environment.
///
/// # Errors
/// The template is not there, or does not fit the values.
pub fn render(environment: &Environment<'_>, name: &str, values: &Value) -> Result<String, Error> {
    let template = environment.get_template(name)?;
    template.render(minijinja::Value::from(Serde(values)))
}
