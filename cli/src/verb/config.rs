//! `patchwright config`: every effective setting and where it came from.

use crate::common::{Common, Format, WrongInput, write_out};
use clap::Args;
use patchwright_config::{self as settings, Entry};
use patchwright_source::visible;
use serde_json::json;
use std::process::ExitCode;

/// The widest value that its line's origin still stands beside.
const WIDEST: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Show only keys that begin like this, as in model.timeouts
    pub prefix: Option<String>,
    /// Format in which the settings are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print the JSON schema of a settings file instead
    #[arg(long)]
    pub schema: bool,
}

/// Prints the settings.
///
/// # Errors
/// The settings are wrong, none is meant, or nothing can be printed.
pub(crate) fn run(common: &Common, arguments: &ConfigArguments) -> anyhow::Result<ExitCode> {
    let text = if arguments.schema {
        format!("{:#}\n", settings::schema())
    } else {
        let loaded = common.load(Vec::new())?;
        let prefix = arguments.prefix.as_deref().unwrap_or_default();
        let mut wanted = loaded.entries;
        wanted.retain(|entry| entry.key.starts_with(prefix));
        if wanted.is_empty() {
            let reason =
                format!("no setting begins with {prefix:?}; `patchwright config` lists all");
            return Err(WrongInput(reason).into());
        }
        let in_words = || Ok(visible(&table(&wanted)).into_owned());
        arguments.format.render(&json!(wanted), in_words)?
    };
    write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Key, value and origin in columns.
fn table(entries: &[Entry]) -> String {
    let values: Vec<String> = entries.iter().map(value).collect();
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let keys = longest(&mut entries.iter().map(|entry| entry.key.len()));
    let wide = longest(&mut values.iter().map(String::len)).min(WIDEST);
    let line = |(entry, value): (&Entry, &String)| {
        format!("{:keys$} = {value:wide$}  # {}\n", entry.key, entry.origin)
    };
    entries.iter().zip(&values).map(line).collect()
}

/// A value as it is written in a settings file.
fn value(entry: &Entry) -> String {
    match &entry.value {
        serde_json::Value::String(text) if entry.secret => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_aligned_and_secrets_stay_hidden() {
        let entry = |key: &str, value, origin: &str, secret| Entry {
            key: key.to_owned(),
            value,
            origin: origin.to_owned(),
            secret,
        };
        let entries = [
            entry("limits.attempts", json!(5), "default", false),
            entry(
                "model.api_key",
                json!("set (hidden)"),
                "OPENAI_API_KEY",
                true,
            ),
            entry("model.name", json!("gpt-5"), "--model", false),
        ];
        assert_eq!(
            table(&entries),
            "limits.attempts = 5             # default\n\
             model.api_key   = set (hidden)  # OPENAI_API_KEY\n\
             model.name      = \"gpt-5\"       # --model\n"
        );
    }
}
