//! Common parts of the subcommands: flags, forms of output, exit statuses.

use anyhow::Context;
use clap::{Args, ValueEnum};
use patchwright_agent::template;
use patchwright_config::{Color, Flag, Loaded, SettingsError, Sources};
pub(crate) use patchwright_run::WrongInput;
use patchwright_source::visible;
use patchwright_store::Store;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Flags of every subcommand.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Settings file, over the user's own
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder for runs and journals
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    pub color: Option<String>,
    /// Set any setting, as in --set limits.attempts=3
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Name of the script beside a task that links a harness of the tree with a driver.
pub(crate) const HARNESS_LINKER: &str = "harness.sh";

/// Form of a printed result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The exit status of a wrong command line or configuration.
pub(crate) const USAGE: u8 = 2;

/// The exit status of a run that was left paused: not decided, to be resumed
/// later (what `sysexits.h` calls a temporary failure).
pub(crate) const PAUSED: u8 = 75;

/// Work that was ended by hand, and what is left of it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Stopped(pub String);

/// Reads the beginning of a file that the user named; `-` is standard input.
pub(crate) fn read_named(what: &str, path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    let file = path.display();
    read.map_err(|error| WrongInput(format!("the {what} {file} cannot be read: {error}")))?;
    Ok(bytes)
}

impl Common {
    /// Loads the settings and opens the store that they name.
    pub(crate) async fn open(&self) -> anyhow::Result<(Loaded, Store)> {
        let loaded = self.load(Vec::new())?;
        let store = Store::of(&loaded.settings).await?;
        Ok((loaded, store))
    }

    /// Loads the settings, with the flags of a subcommand on top.
    pub(crate) fn load(&self, mut flags: Vec<Flag>) -> Result<Loaded, SettingsError> {
        for set in &self.set {
            let (key, value) = set.split_once('=').unwrap_or((set, ""));
            flags.push(Flag::new("--set", key, value));
        }
        let state = self.state.as_ref().map(|state| state.display().to_string());
        flags.extend(flags_given(&[
            ("--state", "store.folder", &state),
            ("--color", "display.color", &self.color),
        ]));
        let sources = Sources::from_process(self.config.clone(), flags);
        let no_color = sources.variables.get("NO_COLOR");
        let no_color = no_color.is_some_and(|value| !value.is_empty());
        let mut loaded = patchwright_config::load(&sources)?;
        let color = &mut loaded.settings.display.color;
        if no_color && *color == Color::Auto {
            *color = Color::Never;
        }
        Ok(loaded)
    }
}

/// Writes code, a diff or a mail to standard output: byte for byte for a file or
/// a program, with hidden characters escaped for a terminal.
pub(crate) fn write_result(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return out.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes());
    }
    out.write_all(bytes)
}

/// Writes a line for people to standard error.
pub(crate) fn tell(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stderr(), "{line}")
}

/// Writes the result of a command to standard output, byte for byte.
pub(crate) fn write_out(result: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let written = std::io::stdout().write_all(result.as_ref());
    written.context("standard output is closed")
}

/// The flags of those settings that were given.
pub(crate) fn flags_given(given: &[(&str, &str, &Option<String>)]) -> Vec<Flag> {
    let flags = given.iter();
    flags
        .filter_map(|(name, key, value)| Some(Flag::new(name, key, value.as_deref()?)))
        .collect()
}

impl Format {
    /// Returns a result in words, or as JSON.
    ///
    /// # Errors
    /// It cannot be put into this form.
    pub(crate) fn render(
        self,
        value: &impl Serialize,
        in_words: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<String> {
        match self {
            Self::Text => in_words(),
            Self::Json => Ok(serde_json::to_string_pretty(value)? + "\n"),
        }
    }

    /// Prints a result in the words of a template that reads it, or as JSON.
    ///
    /// # Errors
    /// The template does not fit it, or standard output is closed.
    pub(crate) fn print(self, value: &Value, template: &str) -> anyhow::Result<()> {
        let text = self.render(value, || Ok(template::fill(template, value)?))?;
        write_result(text.as_bytes()).context("standard output is closed")
    }
}

/// Returns the real path of a file or folder, or this one where it is not there.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Writes a file that was asked for.
///
/// # Errors
/// It cannot be written; the error names it.
pub(crate) fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| unwritten(path))
}

/// Says that a file or folder cannot be written.
pub(crate) fn unwritten(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// Returns variables of an environment by their names.
pub(crate) fn variables(given: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    given.iter().map(owned).collect()
}

/// Returns each value once, those that come most often first.
pub(crate) fn most_frequent<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<(T, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(value, _)| value).collect()
}

/// Tells whether a text has only letters and digits of ASCII and these characters.
pub(crate) fn is_plain(text: &str, more: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
    text.chars().all(is_plain)
}

/// Returns the first letters of a name; any that is no letter or digit of ASCII, and not kept,
/// becomes a dash.
pub(crate) fn plain_name(name: &str, kept: &str, most: usize) -> String {
    let is_foreign = |letter: char| !letter.is_ascii_alphanumeric() && !kept.contains(letter);
    name.replace(is_foreign, "-").chars().take(most).collect()
}
