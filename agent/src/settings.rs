//! The settings: the only place that reads configuration files and the
//! environment.
//!
//! Layers, each stronger than the one before: the embedded `config/default.toml`,
//! the user's file, the file given with `--config`, `PATCHWRIGHT_SECTION__KEY`,
//! the flags. Every value remembers its layer. A key that no default knows is an
//! error that names the nearest known one.
//!
//! What this module deliberately does not do: hold globals, decide anything by
//! the values, or read a task file.

mod check;
mod crs;
mod daemon;
mod endpoint;
mod entry;
mod error;
mod layer;
mod load;
mod schema;
mod section;
mod value;

pub use crs::{Crs, Least};
pub use daemon::{Http, Intake, LogFormat, Telemetry};
pub use entry::{Entry, HIDDEN};
pub use error::SettingsError;
pub use load::{Flag, Loaded, Sources, load};
pub use schema::schema;
pub use section::{
    Cache, Client, Color, Database, Display, Limits, Progress, Queue, Sandbox, SandboxChoice,
    Settings, Store,
    model::{Api, Critic, Fallback, Model, OutputLimitField, Retries, Timeouts},
    ranking::{Embedding, Expansion, Rerank, RerankApi, Retrieval},
};
pub use value::{parse_duration, write_duration};

/// The built-in defaults: every key that there is.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

#[cfg(test)]
mod tests;

/// The defaults with some values replaced, for tests of whatever takes settings.
#[cfg(test)]
pub(crate) fn test_settings(values: &[(&str, &str)]) -> Settings {
    let flags = values.iter().map(|(key, value)| Flag {
        name: (*key).to_owned(),
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    });
    let sources = Sources {
        variables: [("HOME".to_owned(), "/nonexistent".to_owned())].into(),
        flags: flags.collect(),
        ..Sources::default()
    };
    load(&sources).unwrap().settings
}
