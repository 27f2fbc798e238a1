//! Flags of the verbs that ask a model: which one, and what is recorded of it.

use crate::common::flags_given;
use clap::Args;
use patchwright_config::Flag;
use patchwright_model::recorded::Recording;
use patchwright_model::{ModelError, Models};
use std::path::PathBuf;
use std::sync::Arc;

/// A model and its endpoint.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Endpoint {
    /// Ask this model, by the name its endpoint knows
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the endpoint is, as in http://127.0.0.1:8000/v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
}

impl Endpoint {
    /// Returns the settings that the flags stand for.
    pub(crate) fn settings(&self) -> Vec<Flag> {
        flags_given(&[
            ("--model", "model.name", &self.model),
            ("--base-url", "model.base_url", &self.base_url),
        ])
    }
}

/// The model that answers, and the transcript that is written.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ModelArguments {
    /// The model
    #[command(flatten)]
    pub endpoint: Endpoint,
    /// The endpoint's interface: chat or responses
    #[arg(long, value_name = "API")]
    pub api: Option<String>,
    /// Take the model's answers from this transcript
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub replay: Option<PathBuf>,
    /// Write what the model is asked and answers to this transcript
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl ModelArguments {
    /// Tells whether somebody is named who answers.
    pub(crate) fn names_somebody(&self) -> bool {
        self.endpoint.model.is_some() || self.replay.is_some()
    }

    /// Returns the settings that the flags stand for.
    pub(crate) fn settings(&self) -> Vec<Flag> {
        let mut flags = self.endpoint.settings();
        flags.extend(flags_given(&[("--api", "model.api", &self.api)]));
        flags
    }

    /// Returns models whose every exchange goes to one file, where one is named.
    pub(crate) fn recorded(&self, models: Models) -> Result<Models, ModelError> {
        let Some(path) = &self.record else {
            return Ok(models);
        };
        let first = models.lanes.first().cloned();
        let first = first.ok_or_else(|| ModelError::fatal("there is no model to record"))?;
        let recording = Recording::new(first, path)?;
        Ok(models.map(|model| Arc::new(recording.beside(model))))
    }
}
