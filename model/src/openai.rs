//! A model behind an endpoint that speaks OpenAI's chat completions or responses.
//!
//! Asks once and answers once: trying again is for `retry`, another
//! model for `fallback`. This file is the only one that knows the crate
//! `async-openai`, whose interface changes often; its own retries and time limits
//! are replaced by `transport`.

use std::sync::OnceLock;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::stream::StreamResponse;
use futures::FutureExt;
use futures::StreamExt;
use futures::future::BoxFuture;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::timeout;

use crate::tokens::Counter;
use crate::{Model, ModelError, Reply, Request, Result};
use patchwright_config::{self as settings, Api};

mod body;
mod collect;
mod failure;
mod listed;
mod transport;
mod usage;
mod wire;

use collect::{Collected, Collector, Demand};
use transport::{Exchange, Slot};
use wire::WireLog;

/// One model of one endpoint.
#[derive(Debug)]
pub struct OpenAi {
    settings: settings::Model,
    address: Address,
    client: OnceLock<reqwest::Client>,
    counter: Counter,
    wire: Option<WireLog>,
}

impl OpenAi {
    /// A model as the settings describe it. Nothing is sent yet.
    ///
    /// # Errors
    /// No model is named, or a header cannot be written.
    pub fn new(settings: &settings::Model) -> Result<Self> {
        if settings.name.is_empty() {
            return Err(ModelError::fatal(
                "no model is named: set model.name, or give --model",
            ));
        }
        let address = Address::new(settings)?;
        Ok(Self {
            counter: Counter::of(&settings.name),
            wire: settings
                .wire_log
                .as_deref()
                .map(WireLog::open)
                .transpose()?,
            settings: settings.clone(),
            address,
            client: OnceLock::new(),
        })
    }

    /// Made when something is sent: it reads every certificate of the system,
    /// and a run begins sooner than it asks.
    fn client(&self) -> Result<reqwest::Client> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = crate::http::http_client(&self.address.base, self.settings.timeouts.connect)
            .map_err(|error| ModelError::fatal(format!("no HTTP client: {error}")))?;
        Ok(self.client.get_or_init(|| made).clone())
    }

    async fn exchange(&self, request: &Request, slot: Slot) -> Result<Collected> {
        let exchange = Exchange {
            client: self.client()?,
            timeouts: self.settings.timeouts,
            base_url: self.settings.base_url.clone(),
            slot: slot.clone(),
        };
        // [`transport`] stands in the place of the retries that `async-openai` makes.
        let service = tower::service_fn(move |factory: HttpRequestFactory| {
            let exchange = exchange.clone();
            async move {
                let sent = exchange.send(factory.build().await?).await;
                sent.map_err(|error| OpenAIError::Boxed(Box::new(error)))
            }
        });
        let client = Client::with_config(self.address.clone()).with_http_service(service);
        let body = body::write(&self.settings, request);
        let opened: Result<StreamResponse<Value>, OpenAIError> = match self.settings.api {
            Api::Chat => client.chat().create_stream_byot(body).await,
            Api::Responses => client.responses().create_stream_byot(body).await,
        };
        let mut events = opened.map_err(|error| sorted(error, &slot))?;
        let mut collector = Collector::new(self.settings.reply_bytes);
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| sorted(error, &slot))?;
            let wanted = collector.event(&event)?;
            slot.note_text(collector.length());
            if wanted == Demand::Enough {
                break;
            }
        }
        collector.end()
    }

    async fn ask_once(&self, request: &Request) -> Result<Reply> {
        let total = self.settings.timeouts.total;
        let slot = match &self.wire {
            Some(_) => Slot::recording(),
            None => Slot::default(),
        };
        let collected = timeout(total, self.exchange(request, slot.clone()))
            .await
            .unwrap_or_else(|_| {
                Err(transport::late(
                    "the reply was not complete",
                    "total",
                    total,
                ))
            })
            .map_err(|error| self.with_cost(error, request, &slot));
        if let (Some(wire), Some(tape)) = (&self.wire, slot.tape()) {
            let key = self.settings.api_key.expose_secret();
            wire.write(&self.address.base, &tape, (key, collected.as_ref().err()));
        }
        let collected = collected?;
        let usage = usage::settle(collected.usage, request, &collected.text, self.counter);
        Ok(Reply {
            text: collected.text,
            finish: collected.finish,
            usage,
            model: collected
                .model
                .unwrap_or_else(|| self.settings.name.clone()),
        })
    }

    /// Adds to a failure the tokens that it may have cost.
    fn with_cost(&self, error: ModelError, request: &Request, slot: &Slot) -> ModelError {
        match (error, slot.charged()) {
            (ModelError::Retry { after, reason, .. }, Some(text)) => ModelError::Retry {
                after,
                reason,
                spent: Some(usage::of_broken(request, text, self.counter)),
            },
            (error, _) => error,
        }
    }

    /// Endpoints have been seen to repeat the key in what they say.
    fn without_key(&self, mut error: ModelError) -> ModelError {
        let key = self.settings.api_key.expose_secret();
        if key.len() >= 4 {
            let reason = error.reason_mut();
            *reason = reason.replace(key, "[key]");
        }
        error
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
            let answer = self.ask_once(request).await;
            answer.map_err(|error| self.without_key(error))
        }
        .boxed()
    }
}

/// Where calls go and what identifies them. `async-openai`'s own kind of this
/// reads the environment and panics on a key with a line break.
#[derive(Debug, Clone)]
struct Address {
    base: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    key: SecretString,
}

impl Address {
    fn new(settings: &settings::Model) -> Result<Self> {
        let mut headers = HeaderMap::new();
        let key = settings.api_key.expose_secret();
        if !key.is_empty() {
            let value = header("model.api_key", &format!("Bearer {key}"))?;
            headers.insert(reqwest::header::AUTHORIZATION, value);
        }
        for (name, value) in &settings.headers {
            let key = format!("model.headers.{name}");
            let name = HeaderName::try_from(name.as_str())
                .map_err(|_| ModelError::fatal(format!("{key} is not the name of a header")))?;
            headers.insert(name, header(&key, value.expose_secret())?);
        }
        Ok(Self {
            base: settings.base_url.trim_end_matches('/').to_owned(),
            query: settings.query.clone().into_iter().collect(),
            headers,
            key: settings.api_key.clone(),
        })
    }
}

/// A header whose value is never printed.
fn header(key: &str, value: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| ModelError::fatal(format!("{key} holds a character that no header may")))?;
    value.set_sensitive(true);
    Ok(value)
}

impl Config for Address {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        let pairs = self.query.iter();
        pairs
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// Finds our own failure in what `async-openai` made of it.
fn sorted(error: OpenAIError, slot: &Slot) -> ModelError {
    if let Some(ours) = slot.take() {
        return ours;
    }
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<ModelError>() {
            Ok(ours) => *ours,
            Err(other) => ModelError::retry(other.to_string()),
        },
        OpenAIError::JSONDeserialize(..) => {
            ModelError::retry("the endpoint sent an event that is not JSON")
        }
        OpenAIError::InvalidArgument(reason) => ModelError::fatal(reason),
        other => ModelError::retry(other.to_string()),
    }
}
