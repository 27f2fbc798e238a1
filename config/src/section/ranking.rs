//! The settings of how code is shown and by which signals it is ranked.
//! What a signal's service answers is read elsewhere.

use std::time::Duration;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use crate::value;

/// Settings of the code search.
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
    /// Tokens of the code that goes with each issue; 0 for as many as it calls for.
    pub context_tokens: usize,
    /// Weights of the ranking.
    pub weights: Weights,
}

/// Weights of the signals by which the candidates for a request are ranked.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Closeness in meaning.
    pub semantic: f64,
    /// The request's own words.
    pub keyword: f64,
    /// The number of places that depend on it.
    pub in_degree: f64,
    /// The time of its last change.
    pub recency: f64,
    /// Number of times that it is called.
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
    /// The price of a million tokens.
    #[serde(with = "value::Number")]
    pub usd_per_million: Option<f64>,
    /// Longest time that one question may take.
    #[serde(with = "value::Time")]
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
    /// The shape of its requests.
    pub api: RerankApi,
    /// The key.
    #[schemars(with = "String")]
    pub api_key: SecretString,
    /// The price of a million tokens.
    #[serde(with = "value::Number")]
    pub usd_per_million: Option<f64>,
    /// Longest time that one question may take.
    #[serde(with = "value::Time")]
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
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// True when the model is asked.
    pub enabled: bool,
    /// Longest time that it may take.
    #[serde(with = "value::Time")]
    pub timeout: Duration,
}
