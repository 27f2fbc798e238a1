//! Settings by their keys: those of a file, the environment or the flags, or all of them
//! together. Each value remembers where it stands. Refuses unknown keys.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Map, Value, ValueKind};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::SettingsError;
use crate::value::UNSET;

/// The least resemblance of two keys for one to be proposed: low enough
/// for two letters swapped in a short word, high enough not to guess wildly.
const RESEMBLANCE: f64 = 0.7;

/// The parts of a key, of which those that are not ours may hold a dot: the name of a header.
type Parts = Vec<String>;

/// Values by their keys. A table is among them only where it is empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    pub(super) values: BTreeMap<Parts, Value>,
}

impl Layer {
    /// Reads TOML. Each value's origin is `name` with its line.
    pub(super) fn from_toml(text: &str, name: &str) -> Result<Self, SettingsError> {
        let place = |offset: usize| format!("{name}:{}", line_of(text, offset));
        Self::read(text, &place).map_err(|error| {
            let place = place(error.span().map_or(0, |span| span.start));
            SettingsError(format!("{place}: {}", error.message()))
        })
    }

    /// The built-in defaults, whose origin is just that.
    pub(super) fn defaults(text: &str) -> Result<Self, SettingsError> {
        let read = Self::read(text, &|_| "default".to_owned());
        read.map_err(|error| SettingsError::defaults(&error))
    }

    fn read(text: &str, place: &dyn Fn(usize) -> String) -> Result<Self, toml::de::Error> {
        let mut layer = Self::default();
        for (name, value) in read_table(DeTable::parse(text)?.get_ref(), place) {
            // A quoted name may be a whole key.
            layer.put(parts_of(&name), value);
        }
        Ok(layer)
    }

    /// Puts the values of a stronger layer in the place of these.
    pub(super) fn cover(&mut self, stronger: Self) {
        for (parts, value) in stronger.values {
            self.put(parts, value);
        }
    }

    /// Puts a value in the place of all that stands at its key. A table is added to another.
    fn put(&mut self, parts: Parts, value: Value) {
        match value.kind {
            ValueKind::Table(fields) if !fields.is_empty() => {
                for (name, field) in fields {
                    self.put([parts.as_slice(), &[name]].concat(), field);
                }
            }
            _ => self.replace(parts, value),
        }
    }

    fn replace(&mut self, parts: Parts, value: Value) {
        let mut known = self.values.iter();
        let is_in_table = |(known, other): (&Parts, &Value)| {
            known.starts_with(&parts) && (known.len() > parts.len() || is_free(other))
        };
        if is_free(&value) && known.any(is_in_table) {
            return;
        }
        let is_replaced = |known: &Parts| known.starts_with(&parts) || parts.starts_with(known);
        self.values.retain(|known, _| !is_replaced(known));
        self.values.insert(parts, value);
    }

    /// Sets one value that was given as text, reading it as the default at this
    /// key suggests. All that was set there before is gone.
    pub(super) fn set(
        &mut self,
        key: &str,
        text: &str,
        (origin, defaults): (&str, &Layer),
    ) -> Result<(), SettingsError> {
        let parts = parts_of(key);
        let Some(default) = defaults.find(&parts) else {
            return Err(defaults.unknown(key, origin));
        };
        let read = read_text(text);
        let kind = match &default.kind {
            ValueKind::Array(_) => read.ok_or_else(|| {
                SettingsError::value(origin, key, "expected a list, as in [\"a\", \"b\"]")
            })?,
            ValueKind::Table(_) => read.unwrap_or_else(|| ValueKind::String(text.to_owned())),
            _ => ValueKind::String(text.to_owned()),
        };
        let value = Value::new(Some(&origin.to_owned()), kind);
        self.values.retain(|known, _| !known.starts_with(&parts));
        self.put(parts, value);
        Ok(())
    }

    /// Refuses every key that the defaults do not have.
    pub(super) fn check(&self, defaults: &Layer) -> Result<(), SettingsError> {
        for (parts, value) in &self.values {
            if defaults.find(parts).is_none() {
                let place = value.origin().unwrap_or_default();
                return Err(defaults.unknown(&parts.join("."), place));
            }
        }
        Ok(())
    }

    /// Every key that has a value, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        self.values.keys().map(|parts| parts.join("."))
    }

    /// Returns the text at a key of the form `section.name`; empty where there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        match self.values.get(&parts_of(key)).map(|value| &value.kind) {
            Some(ValueKind::String(text)) => text,
            _ => "",
        }
    }

    /// Returns the values as the tree that the settings are read from.
    pub(super) fn into_tree(self) -> Value {
        let mut root = Map::new();
        for (parts, value) in self.values {
            let mut table = &mut root;
            let mut parts = parts.into_iter().peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_none() {
                    table.insert(part, value);
                    break;
                }
                let inner = table.entry(part);
                let inner = inner.or_insert_with(|| ValueKind::Table(Map::new()).into());
                let ValueKind::Table(inner) = &mut inner.kind else {
                    break;
                };
                table = inner;
            }
        }
        ValueKind::Table(root).into()
    }

    fn unknown(&self, key: &str, place: &str) -> SettingsError {
        let nearest = self
            .keys()
            .map(|known| (resemblance(key, &known), known))
            .filter(|(score, _)| *score >= RESEMBLANCE)
            .max_by(|left, right| left.0.total_cmp(&right.0));
        let hint = match nearest {
            Some((_, known)) => format!("; did you mean {known:?}?"),
            None => "; `patchwright config` lists all keys".to_owned(),
        };
        SettingsError::unknown_key(place, key, &hint)
    }

    /// Returns the value at a key, or the table above it whose keys are not ours to know.
    fn find(&self, parts: &[String]) -> Option<&Value> {
        let above = (1..parts.len()).filter_map(|count| self.values.get(parts.get(..count)?));
        let value = self.values.get(parts);
        value.or_else(|| above.into_iter().find(|value| is_free(value)))
    }
}

fn parts_of(key: &str) -> Parts {
    key.split('.').map(str::to_owned).collect()
}

/// Tells whether a value is a table without keys: as a default it takes any.
fn is_free(value: &Value) -> bool {
    matches!(&value.kind, ValueKind::Table(fields) if fields.is_empty())
}

/// Reads the file at `path`; a missing one is an error.
pub(super) fn read_file(path: &Path, defaults: &Layer) -> Result<Layer, SettingsError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| SettingsError::unread(path, &error))?;
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

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
