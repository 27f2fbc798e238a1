//! A model behind an endpoint that speaks OpenAI's chat completions or responses.
//!
//! Asks once and answers once: trying again is for `retry`, another
//! model for `fallback`.

use std::sync::OnceLock;

use futures::future::{BoxFuture, FutureExt};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
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

use collect::{Collected, Collector};
use transport::{Answer, Progress, late};
use wire::{Tape, WireLog};

/// One model of one endpoint.
#[derive(Debug)]
pub struct OpenAi {
    settings: settings::Model,
    /// The address that the paths of calls are put behind.
    base: String,
    /// The headers of every call, the key among them.
    headers: HeaderMap,
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
        let wire = settings.wire_log.as_deref();
        Ok(Self {
            base: settings.base_url.trim_end_matches('/').to_owned(),
            headers: headers(settings)?,
            counter: Counter::of(&settings.name),
            wire: wire.map(WireLog::open).transpose()?,
            settings: settings.clone(),
            client: OnceLock::new(),
        })
    }

    /// Made when something is sent: it reads every certificate of the system,
    /// and a run begins sooner than it asks.
    fn client(&self) -> Result<reqwest::Client> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = crate::http::http_client(&self.base, self.settings.timeouts.connect)
            .map_err(|error| ModelError::fatal(format!("no HTTP client: {error}")))?;
        Ok(self.client.get_or_init(|| made).clone())
    }

    async fn exchange(&self, request: &Request, progress: &mut Progress) -> Result<Collected> {
        let path = match self.settings.api {
            Api::Chat => "/chat/completions",
            Api::Responses => "/responses",
        };
        let body = body::write(&self.settings, request).to_string();
        if let Some(tape) = &mut progress.tape {
            tape.sent.clone_from(&body);
        }
        let call = self.client()?.post(format!("{}{path}", self.base));
        let call = call
            .query(&self.settings.query)
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let mut answer = Answer::open(call, &self.settings, progress).await?;
        let mut collector = Collector::new(self.settings.reply_bytes);
        while let Some(event) = answer.event().await? {
            collector.event(&event)?;
            answer.progress.text = collector.text.len();
            if collector.is_full() {
                break;
            }
        }
        collector.end()
    }

    async fn ask_once(&self, request: &Request) -> Result<Reply> {
        let total = self.settings.timeouts.total;
        let mut progress = Progress {
            tape: self.wire.as_ref().map(|_| Tape::default()),
            ..Progress::default()
        };
        let collected = timeout(total, self.exchange(request, &mut progress)).await;
        let collected = collected
            .unwrap_or_else(|_| Err(late("the reply was not complete", "total", total)))
            .map_err(|error| self.with_cost(error, request, &progress));
        if let (Some(wire), Some(tape)) = (&self.wire, &progress.tape) {
            let key = self.settings.api_key.expose_secret();
            wire.write(&self.base, tape, (key, collected.as_ref().err()));
        }
        let collected = collected?;
        let usage = usage::settle(collected.usage, request, &collected.text, self.counter);
        let name = || self.settings.name.clone();
        Ok(Reply {
            text: collected.text,
            finish: collected.finish,
            usage,
            model: collected.model.unwrap_or_else(name),
        })
    }

    /// Adds to a failure the tokens that it may have cost.
    fn with_cost(&self, error: ModelError, request: &Request, progress: &Progress) -> ModelError {
        match error {
            ModelError::Retry { after, reason, .. } if !progress.free => ModelError::Retry {
                after,
                reason,
                spent: Some(usage::of_broken(request, progress, self.counter)),
            },
            error => error,
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

/// The headers that the settings ask for.
fn headers(settings: &settings::Model) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    let key = settings.api_key.expose_secret();
    if !key.is_empty() {
        let value = header("model.api_key", &format!("Bearer {key}"))?;
        headers.insert(AUTHORIZATION, value);
    }
    for (name, value) in &settings.headers {
        let key = format!("model.headers.{name}");
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| ModelError::fatal(format!("{key} is not the name of a header")))?;
        headers.insert(name, header(&key, value.expose_secret())?);
    }
    Ok(headers)
}

/// A header whose value is never printed.
fn header(key: &str, value: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| ModelError::fatal(format!("{key} holds a character that no header may")))?;
    value.set_sensitive(true);
    Ok(value)
}
