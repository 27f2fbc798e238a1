//! The settings of the model, of its endpoint and calls, of the critic, and of what ranks code.
//! Which of them fit together is checked elsewhere.

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The model and its endpoint.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
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
    pub api_key_file: Option<String>,
    /// True when the reply is asked for piece by piece.
    pub stream: bool,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The effort of a reasoning model.
    pub reasoning_effort: Option<String>,
    /// The most tokens of one reply.
    pub max_output_tokens: u32,
    /// The field that carries `max_output_tokens`.
    pub output_limit_field: OutputLimitField,
    /// The tokens that fit into the model at once.
    pub context_window: u64,
    /// The price of a million tokens of a request.
    pub usd_per_million_in: Option<f64>,
    /// The price of a million cached tokens of a request.
    pub usd_per_million_cached: Option<f64>,
    /// The price of a million tokens of a reply.
    pub usd_per_million_out: Option<f64>,
    /// True when the beginning of the conversation is marked for caching.
    pub cache_marks: bool,
    /// The most bytes of text taken from one reply.
    pub reply_bytes: usize,
    /// Where every call is written down.
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
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The name that the endpoint knows the model by.
    pub name: String,
    /// Another endpoint.
    pub base_url: Option<String>,
    /// Another interface.
    pub api: Option<Api>,
    /// Another key.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// Another temperature.
    pub temperature: Option<f64>,
    /// Another effort.
    pub reasoning_effort: Option<String>,
    /// Another limit of a reply.
    pub max_output_tokens: Option<u32>,
    /// Another window.
    pub context_window: Option<u64>,
    /// Its price of a million tokens of a request. Never inherited.
    pub usd_per_million_in: Option<f64>,
    /// Its price of a million cached tokens. Never inherited.
    pub usd_per_million_cached: Option<f64>,
    /// Its price of a million tokens of a reply. Never inherited.
    pub usd_per_million_out: Option<f64>,
    /// Other further fields of the request.
    pub extra: Option<BTreeMap<String, serde_json::Value>>,
}

/// Time limits of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// Until the first byte of the reply.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub silence: Duration,
    /// The whole call.
    pub total: Duration,
}

/// Retries of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct Retries {
    /// Number of further tries.
    pub count: usize,
    /// Number of further tries when the reply had begun, so that it may be charged.
    pub broken: usize,
    /// The first pause.
    pub first_delay: Duration,
    /// The longest pause of our own choice.
    pub longest_delay: Duration,
    /// The longest pause that is granted to an endpoint.
    pub retry_after_limit: Duration,
    /// The pause of a run when the endpoint names none.
    pub pause: Duration,
}

/// The model that looks at patches.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Critic {
    /// The name that the endpoint knows it by; empty for none.
    pub model: String,
    /// Another endpoint.
    pub base_url: Option<String>,
    /// The key of the other endpoint.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// The price of a million tokens of a request.
    pub usd_per_million_in: Option<f64>,
    /// The price of a million tokens of an answer.
    pub usd_per_million_out: Option<f64>,
    /// The most calls in one run.
    pub calls: u32,
}

/// Settings of the code search.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Retrieval {
    /// Hits of one query.
    pub max_results: usize,
    /// Lines around a hit in plain text.
    pub context_lines: usize,
    /// Lines of one definition.
    pub body_lines: usize,
    /// Bytes of the largest file that is indexed.
    pub file_size_limit: u64,
    /// Tokens of the code that goes with each issue; 0 for as many as it calls for.
    pub context_tokens: usize,
}

/// Embeddings as a signal for ranking code.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Embedding {
    /// The name of the model; empty for none.
    pub name: String,
    /// Where the endpoint is.
    pub base_url: String,
    /// The key.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// The price of a million tokens.
    pub usd_per_million: Option<f64>,
    /// Longest time that one question may take.
    pub timeout: Duration,
}

/// A re-ranker as a signal for ranking code.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Rerank {
    /// The name of the model, where the endpoint has several.
    pub name: String,
    /// Where the endpoint is; empty for none.
    pub base_url: String,
    /// The shape of its requests.
    pub api: RerankApi,
    /// The key.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// The price of a million tokens.
    pub usd_per_million: Option<f64>,
    /// Longest time that one question may take.
    pub timeout: Duration,
}

/// The shape of the requests of a re-ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RerankApi {
    /// As documents, and as texts when these are refused.
    Auto,
    /// `documents`: Jina, Cohere, vLLM, LiteLLM.
    Documents,
    /// `texts`: text-embeddings-inference.
    Texts,
}

/// Words of the model as a signal for ranking code.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct Expansion {
    /// True when the model is asked.
    pub enabled: bool,
    /// Longest time that it may take.
    pub timeout: Duration,
}
