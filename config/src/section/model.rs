//! The settings of the model, of its endpoint and calls, and of the critic.
//! Which of them fit together is checked elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use crate::value;

/// The model and its endpoint.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The name that the endpoint knows the model by.
    pub name: String,
    /// Where the endpoint is.
    pub base_url: String,
    /// Which interface it speaks.
    pub api: Api,
    /// The key.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// A file that holds the key.
    #[serde(with = "value::Text")]
    pub api_key_file: Option<String>,
    /// True when the reply is asked for piece by piece.
    pub stream: bool,
    /// The sampling temperature.
    #[serde(with = "value::Number")]
    pub temperature: Option<f64>,
    /// The effort of a reasoning model.
    #[serde(with = "value::Text")]
    pub reasoning_effort: Option<String>,
    /// The most tokens of one reply.
    pub max_output_tokens: u32,
    /// The field that carries `max_output_tokens`.
    pub output_limit_field: OutputLimitField,
    /// The tokens that fit into the model at once.
    pub context_window: u64,
    /// The price of a million tokens of a request.
    #[serde(with = "value::Number")]
    pub usd_per_million_in: Option<f64>,
    /// The price of a million cached tokens of a request.
    #[serde(with = "value::Number")]
    pub usd_per_million_cached: Option<f64>,
    /// The price of a million tokens of a reply.
    #[serde(with = "value::Number")]
    pub usd_per_million_out: Option<f64>,
    /// True when the beginning of the conversation is marked for caching.
    pub cache_marks: bool,
    /// The most bytes of text taken from one reply.
    pub reply_bytes: usize,
    /// Where every call is written down.
    #[serde(with = "value::Text")]
    pub wire_log: Option<String>,
    /// Fields that are left out of the request.
    pub omit: Vec<String>,
    /// Models to go on with.
    pub fallbacks: Vec<Fallback>,
    /// Models of further lanes.
    pub lanes: Vec<Fallback>,
    /// Further fields of the request.
    pub extra: BTreeMap<String, serde_json::Value>,
    /// Further headers.
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, SecretString>,
    /// Further parameters of the address.
    pub query: BTreeMap<String, String>,
    /// Time limits of a call.
    pub timeouts: Timeouts,
    /// Retries of a call.
    pub retries: Retries,
}

/// Which of OpenAI's interfaces an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// `/chat/completions`.
    Chat,
    /// `/responses`.
    Responses,
}

/// The field of a chat request that carries the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimitField {
    /// Chosen by the address of the endpoint.
    Auto,
    /// The key that most servers read.
    MaxTokens,
    /// The key that OpenAI's newer models insist on.
    MaxCompletionTokens,
}

/// A model to go on with: what it names differs from the first model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The name that the endpoint knows the model by.
    pub name: String,
    /// Another endpoint.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Another interface.
    #[serde(default)]
    pub api: Option<Api>,
    /// Another key.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// Another temperature.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Another effort.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Another limit of a reply.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Another window.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// Its price of a million tokens of a request. Never inherited.
    #[serde(default)]
    pub usd_per_million_in: Option<f64>,
    /// Its price of a million cached tokens. Never inherited.
    #[serde(default)]
    pub usd_per_million_cached: Option<f64>,
    /// Its price of a million tokens of a reply. Never inherited.
    #[serde(default)]
    pub usd_per_million_out: Option<f64>,
    /// Other further fields of the request.
    #[serde(default)]
    pub extra: Option<BTreeMap<String, serde_json::Value>>,
}

/// Time limits of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeouts {
    /// Until the connection stands.
    #[serde(with = "value::Time")]
    pub connect: Duration,
    /// Until the first byte of the reply.
    #[serde(with = "value::Time")]
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    #[serde(with = "value::Time")]
    pub silence: Duration,
    /// The whole call.
    #[serde(with = "value::Time")]
    pub total: Duration,
}

/// Retries of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retries {
    /// Number of further tries.
    pub count: usize,
    /// Number of further tries when the reply had begun, so that it may be charged.
    pub broken: usize,
    /// The first pause.
    #[serde(with = "value::Time")]
    pub first_delay: Duration,
    /// The longest pause of our own choice.
    #[serde(with = "value::Time")]
    pub longest_delay: Duration,
    /// The longest pause that is granted to an endpoint.
    #[serde(with = "value::Time")]
    pub retry_after_limit: Duration,
    /// The pause of a run when the endpoint names none.
    #[serde(with = "value::Time")]
    pub pause: Duration,
}

/// The model that looks at patches.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Critic {
    /// The name that the endpoint knows it by; empty for none.
    pub model: String,
    /// Another endpoint.
    #[serde(with = "value::Text")]
    pub base_url: Option<String>,
    /// The key of the other endpoint.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// The price of a million tokens of a request.
    #[serde(with = "value::Number")]
    pub usd_per_million_in: Option<f64>,
    /// The price of a million tokens of an answer.
    #[serde(with = "value::Number")]
    pub usd_per_million_out: Option<f64>,
    /// The most calls in one run.
    pub calls: u32,
}
