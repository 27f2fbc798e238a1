//! Puts the layers together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::ConfigError;

use crate::layer::{Layer, read_file};
use crate::value::{UNSET, shape};
use crate::{Entry, Settings, SettingsError, check, entry};

/// The built-in defaults: every key that there is.
pub const DEFAULTS: &str = include_str!("../default.toml");

/// Prefix of all variables that are settings.
const PREFIX: &str = "PATCHWRIGHT_";
/// Where the key of many other programs is kept.
const KEY_OF_OTHERS: &str = "OPENAI_API_KEY";

/// Where settings may come from besides the defaults.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file given with `--config`.
    pub file: Option<PathBuf>,
    /// The environment.
    pub variables: BTreeMap<String, String>,
    /// The flags of the command line that set something.
    pub flags: Vec<Flag>,
}

/// A flag of the command line that sets something.
#[derive(Debug, Clone)]
pub struct Flag {
    /// The flag as it was typed, as in `--model`.
    pub name: String,
    /// The key that it sets, as in `model.name`.
    pub key: String,
    /// The value as text.
    pub value: String,
}

impl Flag {
    /// The flag of this name, which sets a key to a value.
    pub fn new(name: &str, key: &str, value: &str) -> Self {
        let [name, key, value] = [name, key, value].map(str::to_owned);
        Self { name, key, value }
    }
}

/// Returns a variable of the environment as text. One of ours that is not UTF-8
/// is kept, so that it is refused like any wrong value; others are nobody's here.
fn variable((name, value): (OsString, OsString)) -> Option<(String, String)> {
    let name = name.into_string().ok()?;
    let value = match value.into_string() {
        Ok(value) => value,
        Err(value) if name.starts_with(PREFIX) => value.to_string_lossy().into_owned(),
        Err(_) => return None,
    };
    Some((name, value))
}

impl Sources {
    /// The environment of this process, with the given file and flags.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one reader of the environment"
    )]
    pub fn from_process(file: Option<PathBuf>, flags: Vec<Flag>) -> Self {
        Self {
            file,
            variables: std::env::vars_os().filter_map(variable).collect(),
            flags,
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then_some(value.as_str())
    }

    /// A folder of the XDG base directory specification, with its origin.
    fn folder(&self, variable: &str, below_home: &str) -> Option<(PathBuf, String)> {
        let base = match self.variable(variable) {
            // The specification tells to ignore relative paths.
            Some(base) if Path::new(base).is_absolute() => {
                (PathBuf::from(base), format!("${variable}"))
            }
            _ => (
                Path::new(self.variable("HOME")?).join(below_home),
                "$HOME".to_owned(),
            ),
        };
        Some((base.0.join("patchwright"), base.1))
    }
}

/// The settings and how they came about.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The typed settings.
    pub settings: Settings,
    /// Every effective value and its origin, sorted by key.
    pub entries: Vec<Entry>,
}

/// Returns where the value of `key` came from.
pub(crate) fn origin<'e>(entries: &'e [Entry], key: &str) -> &'e str {
    let mut entries = entries.iter();
    let entry = entries.find(|entry| entry.key == key);
    entry.map_or("default", |entry| entry.origin.as_str())
}

/// Reads all layers and checks the outcome.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn load(sources: &Sources) -> Result<Loaded, SettingsError> {
    let defaults = Layer::defaults(DEFAULTS)?;
    let mut merged = defaults.clone();
    if let Some((folder, _)) = sources.folder("XDG_CONFIG_HOME", ".config") {
        let file = folder.join("config.toml");
        if file.is_file() {
            merged.cover(read_file(&file, &defaults)?);
        }
    }
    if let Some(file) = &sources.file {
        merged.cover(read_file(file, &defaults)?);
    }
    merged.cover(from_variables(sources, &defaults)?);
    let mut flags = Layer::default();
    for flag in &sources.flags {
        flags.set(&flag.key, &flag.value, (&flag.name, &defaults))?;
    }
    merged.cover(flags);
    set_derived(&mut merged, sources, &defaults)?;
    finish(merged, &defaults)
}

fn finish(mut merged: Layer, defaults: &Layer) -> Result<Loaded, SettingsError> {
    let entries = entry::list(&merged);
    for (parts, default) in &defaults.values {
        if let Some(value) = merged.values.get_mut(parts) {
            let shaped = shape(value, default);
            shaped.map_err(|message| wrong(&entries, &parts.join("."), &message))?;
        }
    }
    let tree = merged.into_tree();
    let settings = serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = error.path().to_string();
        let (key, message) = unreadable(path, error.into_inner());
        wrong(&entries, &key, &message)
    })?;
    match check::first_problem(&settings, &entries)? {
        None => Ok(Loaded { settings, entries }),
        Some((key, message)) => Err(wrong(&entries, &key, &message)),
    }
}

/// Reads what variables say. One with a single underscore where two
/// belong would be silently without effect, so it is refused as well.
fn from_variables(sources: &Sources, defaults: &Layer) -> Result<Layer, SettingsError> {
    let mut layer = Layer::default();
    let keys = defaults.keys().map(|key| (key.replace('.', "_"), key));
    let flattened: BTreeMap<String, String> = keys.collect();
    for (name, value) in &sources.variables {
        let Some(rest) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let rest = rest.to_lowercase();
        if rest.contains("__") {
            layer.set(&rest.replace("__", "."), value, (name, defaults))?;
        } else if let Some(key) = flattened.get(&rest) {
            let right = key.replace('.', "__").to_uppercase();
            let hint = format!("; did you mean {PREFIX}{right}?");
            return Err(SettingsError::unknown_key(name, &rest, &hint));
        }
    }
    Ok(layer)
}

/// Sets the values that follow from others when they are not set themselves.
fn set_derived(
    layer: &mut Layer,
    sources: &Sources,
    defaults: &Layer,
) -> Result<(), SettingsError> {
    for (key, variable, below_home) in [
        ("store.folder", "XDG_STATE_HOME", ".local/state"),
        ("cache.folder", "XDG_CACHE_HOME", ".cache"),
    ] {
        if layer.text(key) != UNSET {
            continue;
        }
        let Some((folder, origin)) = sources.folder(variable, below_home) else {
            let message = format!("neither {variable} nor HOME is set, so name a folder");
            return Err(SettingsError::value("default", key, &message));
        };
        layer.set(key, &folder.display().to_string(), (&origin, defaults))?;
    }
    if let Some((key, origin)) = key_from_elsewhere(layer, sources)? {
        layer.set("model.api_key", &key, (&origin, defaults))?;
    }
    Ok(())
}

fn key_from_elsewhere(
    layer: &Layer,
    sources: &Sources,
) -> Result<Option<(String, String)>, SettingsError> {
    if !layer.text("model.api_key").is_empty() {
        return Ok(None);
    }
    let file = layer.text("model.api_key_file");
    if !file.is_empty() && file != UNSET {
        let key = std::fs::read_to_string(file)
            .map_err(|error| SettingsError::unread(Path::new(file), &error))?;
        return Ok(Some((key.trim().to_owned(), file.to_owned())));
    }
    let key = sources.variable(KEY_OF_OTHERS);
    Ok(key.map(|key| (key.to_owned(), KEY_OF_OTHERS.to_owned())))
}

/// Returns the error of a value, with its place.
fn wrong(entries: &[Entry], key: &str, message: &str) -> SettingsError {
    let whole = key.split('[').next().unwrap_or_default();
    SettingsError::value(origin(entries, whole), key, message)
}

/// Returns the key of a value that cannot be read, and what would be right.
fn unreadable(path: String, error: ConfigError) -> (String, String) {
    match error {
        ConfigError::At { error, .. } => unreadable(path, *error),
        ConfigError::Type {
            unexpected,
            expected,
            ..
        } => (path, format!("expected {expected}, found {unexpected}")),
        ConfigError::NotFound(key) => {
            let name = key.rsplit(['.', ']']).next().unwrap_or_default();
            (format!("{path}.{name}"), "is missing".to_owned())
        }
        other => (path, other.to_string()),
    }
}

impl Settings {
    /// Returns the defaults with some values replaced; nothing is read from
    /// this machine.
    ///
    /// # Errors
    /// When a key or a value is wrong.
    pub fn with(values: &[(&str, &str)]) -> Result<Self, SettingsError> {
        let flags = values.iter().map(|(key, value)| Flag::new(key, key, value));
        let sources = Sources {
            variables: [("HOME".to_owned(), "/nonexistent".to_owned())].into(),
            flags: flags.collect(),
            ..Sources::default()
        };
        Ok(load(&sources)?.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::variable;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_value_of_ours_that_is_no_text_is_not_dropped() {
        let pair = |name: &str| (OsString::from(name), OsString::from_vec(vec![b'1', 0xff]));
        let kept = variable(pair("PATCHWRIGHT_QUEUE__CLAIMS"));
        assert_eq!(kept.unwrap().1, "1\u{fffd}");
        assert_eq!(variable(pair("OTHER")), None);
    }
}
