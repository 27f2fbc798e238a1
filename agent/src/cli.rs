//! The command line: one file a subcommand.
//!
//! Each subcommand has its arguments and a function that runs it and yields
//! the exit status. Settings are loaded here and handed in; nothing below
//! reads the environment.

pub mod apply;
pub mod check;
pub mod config;

use crate::settings::{Flag, Loaded, SettingsError, Sources};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Flags of every subcommand.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Settings file, over the user's own
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder for runs and journals
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Set any setting, as in --set limits.attempts=3
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The exit status of a wrong command line or configuration.
pub const USAGE: u8 = 2;

impl Common {
    /// Loads the settings, with the flags of a subcommand on top.
    pub fn load(&self, mut flags: Vec<Flag>) -> Result<Loaded, SettingsError> {
        for set in &self.set {
            let (key, value) = set.split_once('=').unwrap_or((set, ""));
            flags.push(flag("--set", key, value));
        }
        if let Some(state) = &self.state {
            flags.push(flag(
                "--state",
                "store.folder",
                &state.display().to_string(),
            ));
        }
        crate::settings::load(&Sources::from_process(self.config.clone(), flags))
    }
}

/// A flag that sets a setting.
pub(crate) fn flag(name: &str, key: &str, value: &str) -> Flag {
    Flag {
        name: name.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    }
}
