//! The settings: the only reader of configuration files and the environment.
//!
//! Layers, each stronger than the one before: the embedded `config/default.toml`,
//! the user's file, the file given with `--config`, `PATCHWRIGHT_SECTION__KEY`,
//! the flags. Every value remembers its layer. A key that no default knows is an
//! error that names the nearest known one.
//!
//! What this crate deliberately does not do: hold globals, decide anything by
//! the values, or read a task file.

mod check;
mod crs;
mod daemon;
mod endpoint;
mod entry;
mod environment;
mod error;
mod layer;
mod load;
mod private;
mod schema;
mod section;
mod value;

pub use crs::{Crs, Least};
pub use daemon::{Http, Intake, LogFormat, Telemetry, Webhook};
pub use entry::{Entry, HIDDEN};
pub use environment::{person_environment, tool_environment};
pub use error::SettingsError;
pub use load::{DEFAULTS, Flag, Loaded, Sources, load};
pub use private::private_folder;
pub use schema::schema;
pub use section::{
    Cache, Client, Color, Database, Display, Limits, Progress, Queue, Sandbox, SandboxChoice,
    Settings, Store,
    model::{
        Api, Critic, Embedding, Expansion, Fallback, Model, OutputLimitField, Rerank, RerankApi,
        Retries, Retrieval, Timeouts,
    },
};
pub use value::{parse_duration, write_duration};

#[cfg(test)]
mod tests;
