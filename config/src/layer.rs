//! One layer of settings: a file, the environment, or the flags, read into a
//! tree of values that remember where they stand. Refuses unknown keys.

use std::path::Path;

use config::{ConfigError, Map, Source, Value, ValueKind};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::SettingsError;
use crate::value::UNSET;

/// The least resemblance of two keys for one to be proposed: low enough
/// for two letters swapped in a short word, high enough not to guess wildly.
const RESEMBLANCE: f64 = 0.7;

/// A tree of values.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    root: Map<String, Value>,
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.root.clone())
    }
}

impl Layer {
    /// Reads TOML. Each value's origin is `name` with its line.
    pub(super) fn from_toml(text: &str, name: &str) -> Result<Self, SettingsError> {
        let table = DeTable::parse(text).map_err(|error| syntax(text, name, &error))?;
        let place = |offset: usize| format!("{name}:{}", line_of(text, offset));
        Ok(Self {
            root: read_table(table.get_ref(), &place),
        })
    }

    /// The built-in defaults, whose origin is just that.
    pub(super) fn defaults(text: &str) -> Result<Self, SettingsError> {
        let broken = |message: String| SettingsError::Defaults { message };
        let table = DeTable::parse(text).map_err(|error| broken(error.to_string()))?;
        Ok(Self {
            root: read_table(table.get_ref(), &|_| "default".to_owned()),
        })
    }

    /// Sets one value that was given as text, reading it as the default at this
    /// key suggests.
    pub(super) fn set(
        &mut self,
        key: &str,
        text: &str,
        (origin, defaults): (&str, &Layer),
    ) -> Result<(), SettingsError> {
        let kind = match defaults.find(key) {
            Some(Lookup::Leaf(value)) => match &value.kind {
                ValueKind::Array(_) => read_text(text).ok_or_else(|| SettingsError::Value {
                    place: origin.to_owned(),
                    key: key.to_owned(),
                    message: "expected a list, as in [\"a\", \"b\"]".to_owned(),
                })?,
                _ => ValueKind::String(text.to_owned()),
            },
            Some(Lookup::Free) => {
                read_text(text).unwrap_or_else(|| ValueKind::String(text.to_owned()))
            }
            None => return Err(defaults.unknown(key, origin)),
        };
        self.insert(key, Value::new(Some(&origin.to_owned()), kind));
        Ok(())
    }

    /// Refuses every key that the defaults do not have.
    pub(super) fn check(&self, defaults: &Layer) -> Result<(), SettingsError> {
        for (key, value) in leaves(&self.root) {
            if defaults.find(&key).is_none() {
                let place = value.origin().unwrap_or_default();
                return Err(defaults.unknown(&key, place));
            }
        }
        Ok(())
    }

    /// Every key that has a value, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = leaves(&self.root).into_iter().map(|(key, _)| key).collect();
        keys.sort();
        keys
    }

    fn unknown(&self, key: &str, place: &str) -> SettingsError {
        let nearest = self
            .keys()
            .into_iter()
            .map(|known| (resemblance(key, &known), known))
            .filter(|(score, _)| *score >= RESEMBLANCE)
            .max_by(|left, right| left.0.total_cmp(&right.0));
        let hint = match nearest {
            Some((_, known)) => format!("; did you mean {known:?}?"),
            None => "; `patchwright config` lists all keys".to_owned(),
        };
        SettingsError::UnknownKey {
            place: place.to_owned(),
            key: key.to_owned(),
            hint,
        }
    }

    fn find(&self, key: &str) -> Option<Lookup<'_>> {
        let mut table = &self.root;
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            let value = table.get(part)?;
            match &value.kind {
                ValueKind::Table(inner) if inner.is_empty() => return Some(Lookup::Free),
                ValueKind::Table(inner) => table = inner,
                _ => return parts.peek().is_none().then_some(Lookup::Leaf(value)),
            }
        }
        None
    }

    fn insert(&mut self, key: &str, value: Value) {
        let mut table = &mut self.root;
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                table.insert(part.to_owned(), value);
                return;
            }
            let inner = table
                .entry(part.to_owned())
                .or_insert_with(|| Value::new(None, ValueKind::Table(Map::new())));
            let ValueKind::Table(inner) = &mut inner.kind else {
                return;
            };
            table = inner;
        }
    }
}

enum Lookup<'a> {
    /// A default with a value.
    Leaf(&'a Value),
    /// Inside a table whose keys are not ours to know.
    Free,
}

/// Reads the file at `path`; a missing one is an error.
pub(super) fn read_file(path: &Path, defaults: &Layer) -> Result<Layer, SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Read {
        path: path.to_owned(),
        source,
    })?;
    let layer = Layer::from_toml(&text, &path.display().to_string())?;
    layer.check(defaults)?;
    Ok(layer)
}

/// Returns the resemblance of two keys; the last part counts as much as the whole, because a
/// forgotten section is as common as a slip of the finger.
fn resemblance(given: &str, known: &str) -> f64 {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let whole = strsim::normalized_damerau_levenshtein(given, known);
    let tail = strsim::normalized_damerau_levenshtein(&last(given), &last(known));
    whole.max(f64::midpoint(whole, tail))
}

fn leaves(table: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        match &value.kind {
            ValueKind::Table(inner) if !inner.is_empty() => found.extend(
                leaves(inner)
                    .into_iter()
                    .map(|(key, value)| (format!("{name}.{key}"), value)),
            ),
            _ => found.push((name.clone(), value)),
        }
    }
    found
}

fn read_text(text: &str) -> Option<ValueKind> {
    let value = DeValue::parse(text).ok()?;
    Some(read_value(value.get_ref(), &|_| UNSET.to_owned()))
}

fn read_table(table: &DeTable<'_>, place: &dyn Fn(usize) -> String) -> Map<String, Value> {
    table
        .iter()
        .map(|(key, value)| {
            let origin = place(key.span().start);
            let kind = read_value(value.get_ref(), place);
            (
                key.get_ref().clone().into_owned(),
                Value::new(Some(&origin), kind),
            )
        })
        .collect()
}

fn read_value(value: &DeValue<'_>, place: &dyn Fn(usize) -> String) -> ValueKind {
    match value {
        DeValue::String(text) => ValueKind::String(text.clone().into_owned()),
        DeValue::Boolean(flag) => ValueKind::Boolean(*flag),
        DeValue::Integer(number) => {
            match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => ValueKind::I64(number),
                // Too large for a number: the typed reader will say so.
                Err(_) => ValueKind::String(number.to_string()),
            }
        }
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => ValueKind::Float(number),
            Err(_) => ValueKind::String(number.to_string()),
        },
        DeValue::Datetime(time) => ValueKind::String(time.to_string()),
        DeValue::Array(items) => ValueKind::Array(
            items
                .iter()
                .map(|item: &Spanned<DeValue<'_>>| {
                    let origin = place(item.span().start);
                    Value::new(Some(&origin), read_value(item.get_ref(), place))
                })
                .collect(),
        ),
        DeValue::Table(table) => ValueKind::Table(read_table(table, place)),
    }
}

fn syntax(text: &str, name: &str, error: &toml::de::Error) -> SettingsError {
    let line = error.span().map_or(1, |span| line_of(text, span.start));
    SettingsError::Syntax {
        place: format!("{name}:{line}"),
        message: error.message().to_owned(),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
