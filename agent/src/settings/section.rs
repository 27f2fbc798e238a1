//! The typed settings, one struct for each section of `config/default.toml`.
//! Meanings and defaults stand in that file, not here.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use super::{
    daemon::{Http, Intake, Telemetry},
    value,
};

/// Everything that can be set.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The model and its endpoint.
    pub model: Model,
    /// The model that looks at patches.
    pub critic: Critic,
    /// What one run may spend.
    pub limits: Limits,
    /// How code is shown.
    pub retrieval: Retrieval,
    /// Embeddings as a signal for ranking code.
    pub embedding: Embedding,
    /// A re-ranker as a signal for ranking code.
    pub rerank: Rerank,
    /// Words of the model as a signal for ranking code.
    pub expansion: Expansion,
    /// How commands are kept apart from this machine.
    pub sandbox: Sandbox,
    /// Where runs are kept.
    pub store: Store,
    /// The database, when several machines share it.
    pub database: Database,
    /// How the tasks of a queue are worked off.
    pub queue: Queue,
    /// The daemon that the verbs talk to.
    pub client: Client,
    /// Where what can be made again is kept.
    pub cache: Cache,
    /// What a person sees.
    pub display: Display,
    /// The daemon's HTTP interface.
    pub http: Http,
    /// What the daemon lets in.
    pub intake: Intake,
    /// What is told of the work.
    pub telemetry: Telemetry,
}

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
    #[serde(deserialize_with = "value::text_or_unset")]
    #[schemars(with = "String")]
    pub api_key_file: Option<String>,
    /// Whether the reply is asked for piece by piece.
    pub stream: bool,
    /// The sampling temperature.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub temperature: Option<f64>,
    /// How hard a reasoning model thinks.
    #[serde(deserialize_with = "value::text_or_unset")]
    #[schemars(with = "String")]
    pub reasoning_effort: Option<String>,
    /// The most tokens of one reply.
    pub max_output_tokens: u32,
    /// The field that carries `max_output_tokens`.
    pub output_limit_field: OutputLimitField,
    /// The tokens that fit into the model at once.
    pub context_window: u64,
    /// The price of a million tokens of a request.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_per_million_in: Option<f64>,
    /// The price of a million cached tokens of a request.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_per_million_cached: Option<f64>,
    /// The price of a million tokens of a reply.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_per_million_out: Option<f64>,
    /// Whether the beginning of the conversation is marked for caching.
    pub cache_marks: bool,
    /// The most bytes of text taken from one reply.
    pub reply_bytes: usize,
    /// Where every call is written down.
    #[serde(deserialize_with = "value::text_or_unset")]
    #[schemars(with = "String")]
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
    /// How a call is tried again.
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
    /// What most servers read.
    MaxTokens,
    /// What OpenAI's newer models insist on.
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
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub connect: Duration,
    /// Until the first byte of the reply.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub silence: Duration,
    /// The whole call.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub total: Duration,
}

/// How a call is tried again.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retries {
    /// How often.
    pub count: usize,
    /// How often when the reply had begun, so that it may be charged.
    pub broken: usize,
    /// The first pause.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub first_delay: Duration,
    /// The longest pause of our own choice.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub longest_delay: Duration,
    /// The longest pause that is granted to an endpoint.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub retry_after_limit: Duration,
    /// How long a run pauses when nobody says.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub pause: Duration,
}

/// The model that looks at patches.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Critic {
    /// The name that the endpoint knows it by; empty for none.
    pub model: String,
    /// Another endpoint.
    #[serde(deserialize_with = "value::text_or_unset")]
    #[schemars(with = "String")]
    pub base_url: Option<String>,
    /// The key of the other endpoint.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// The price of a million tokens of a request.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_per_million_in: Option<f64>,
    /// The price of a million tokens of an answer.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_per_million_out: Option<f64>,
    /// The most calls in one run.
    pub calls: u32,
}

/// What one run may spend.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Patches that are tried.
    pub attempts: u32,
    /// Exchanges of queries and snippets.
    pub rounds: u32,
    /// Replies without usable content.
    pub format_retries: u32,
    /// Tokens of all calls.
    pub tokens: u64,
    /// US dollars.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd: Option<f64>,
    /// US dollars of one day (UTC), over all runs of the store.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_day: Option<f64>,
    /// US dollars of all runs of the store.
    #[serde(deserialize_with = "value::number_or_unset")]
    #[schemars(with = "value::NumberOrUnset")]
    pub usd_total: Option<f64>,
    /// Working time.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub wall: Duration,
    /// Time that a run waits for models by itself.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub pause: Duration,
    /// Time of the `prepare` or `fetch` command.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub prepare: Duration,
    /// Time of one build.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub build: Duration,
    /// Time of one run of a PoV.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub pov: Duration,
    /// Time of the tests.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub test: Duration,
    /// Time of the rung that mutates the PoVs.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub robust: Duration,
    /// Time of the rung that compares the patched program with the unpatched.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub same: Duration,
}

/// How code is shown.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retrieval {
    /// Hits of one query.
    pub max_results: usize,
    /// Lines around a hit in plain text.
    pub context_lines: usize,
    /// Lines of one definition.
    pub body_lines: usize,
    /// Bytes of the largest file that is indexed.
    pub file_size_limit: u64,
    /// Tokens of the code that goes with each issue.
    pub context_tokens: usize,
    /// How candidates are ranked.
    pub weights: Weights,
}

/// Shares of the signals by which the candidates for a request are ranked.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Closeness in meaning.
    pub semantic: f64,
    /// The request's own words.
    pub keyword: f64,
    /// How many places depend on it.
    pub in_degree: f64,
    /// How recently it was changed.
    pub recency: f64,
    /// How often it is called.
    pub popularity: f64,
}

/// Embeddings as a signal for ranking code.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// The name of the model; empty for none.
    pub name: String,
    /// Where the endpoint is.
    pub base_url: String,
    /// The key.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// How long one question may take.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub timeout: Duration,
}

/// A re-ranker as a signal for ranking code.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rerank {
    /// The name of the model, where the endpoint has several.
    pub name: String,
    /// Where the endpoint is; empty for none.
    pub base_url: String,
    /// What its requests look like.
    pub api: RerankApi,
    /// The key.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// How long one question may take.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub timeout: Duration,
}

/// What the requests of a re-ranker look like.
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
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// Whether the model is asked.
    pub enabled: bool,
    /// How long it may take.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub timeout: Duration,
}

/// How commands are kept apart from this machine.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// By what means.
    pub choice: SandboxChoice,
    /// Resident memory in MiB.
    pub memory_mb: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Output that is kept, in KiB.
    pub output_kb: u64,
    /// The largest file, in MiB.
    pub file_mb: u64,
    /// What `$JOBS` says; 0 for the number of processors.
    pub jobs: u32,
}

/// By what means commands are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxChoice {
    /// The strongest that works.
    Auto,
    /// Namespaces, by bubblewrap.
    Bubblewrap,
    /// Landlock with a system call filter.
    Landlock,
    /// A container engine.
    Container,
    /// Nothing at all.
    None,
}

/// Where runs are kept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The folder.
    pub folder: PathBuf,
}

/// The database, when several machines share it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// The address of a PostgreSQL.
    #[serde(deserialize_with = "value::secret_or_unset")]
    #[schemars(with = "String")]
    pub url: SecretString,
}

/// How the tasks of a queue are worked off.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Tasks at once.
    pub workers: usize,
    /// How often a task is tried again when the infrastructure failed.
    pub retries: u32,
    /// The first pause before that.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub first_delay: Duration,
    /// The longest pause before that.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub longest_delay: Duration,
    /// Between two heartbeats of a process.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub heartbeat: Duration,
    /// Without a heartbeat, a process is given up for dead after this.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub lost_after: Duration,
    /// How many workers may take a task before it is given up.
    pub claims: u32,
    /// Room on the disk, in MiB, below which nothing is taken.
    pub free_mb: u64,
    /// How long what has ended is kept.
    #[serde(deserialize_with = "value::duration")]
    #[schemars(with = "String")]
    pub keep: Duration,
}

/// The daemon that `submit`, `tasks`, `events` and `cancel` talk to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Its address.
    #[serde(deserialize_with = "value::text_or_unset")]
    #[schemars(with = "String")]
    pub server: Option<String>,
    /// What it knows the caller by.
    #[schemars(with = "String")]
    pub token: SecretString,
}

/// Where what can be made again is kept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The folder.
    pub folder: PathBuf,
    /// The most megabytes of builds that are kept; 0 keeps none.
    pub builds_mb: u64,
}

/// What a person sees.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Display {
    /// How progress is shown.
    pub progress: Progress,
    /// Whether colours are used.
    pub color: Color,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// Drawn on a terminal, plain lines elsewhere.
    Auto,
    /// Plain lines.
    Plain,
    /// Not at all.
    None,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
