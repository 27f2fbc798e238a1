//! One question and one answer in JSON over HTTP, with the retries of the model
//! client, bounded in time and size. Knows nothing of what is asked.
//!
//! The numbers of an answer are kept by the hash of the question, so that the same text is
//! embedded once: one small file an answer. What cannot be read or written is asked again;
//! nothing fails for it.

use super::SignalError;
use super::cost::Meter;
use backon::{ExponentialBuilder, Retryable};
use patchwright_config::{Retries, Settings};
use patchwright_model::http::{self, deepest, http_client, shown};
use patchwright_source::digest;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// The most bytes of an answer: 64 embeddings of 4,096 numbers take 6 MB.
const LIMIT: usize = 64 * 1024 * 1024;
/// Most characters of an endpoint's own words that are repeated.
const QUOTED: usize = 200;
/// A shorter key is none: its letters stand everywhere.
const SECRET: usize = 4;
/// More tries than this do not fit a short limit.
const TRIES: usize = 2;

/// A model that is asked under one address.
#[derive(Debug)]
pub(super) struct Endpoint {
    name: &'static str,
    pub(super) model: String,
    client: reqwest::Client,
    address: String,
    key: SecretString,
    authorization: Option<HeaderValue>,
    retries: Retries,
    /// The folder of its answers.
    cache: PathBuf,
}

impl Endpoint {
    /// The endpoint of a section of the settings, by its model, address and key; nothing is sent
    /// yet. Calls are tried again as the model's are, and a connection may take as long, as far as
    /// the signal's own limit allows.
    pub(super) fn new(
        (name, path): (&'static str, &str),
        (model, base_url, key): (&str, &str, &SecretString),
        limit: Duration,
        settings: &Settings,
    ) -> Result<Self, SignalError> {
        let wrong =
            |key: &str, reason: String| SignalError::Wrong(format!("{name}.{key}: {reason}"));
        let base_url = base_url.trim_end_matches('/');
        let authorization = match key.expose_secret() {
            "" => None,
            text => {
                let mut value = HeaderValue::from_str(&format!("Bearer {text}"))
                    .map_err(|_| wrong("api_key", "holds a character that no header may".into()))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let client = http_client(base_url, settings.model.timeouts.connect.min(limit))
            .map_err(|error| wrong("base_url", error.to_string()))?;
        Ok(Self {
            name,
            model: model.to_owned(),
            client,
            address: format!("{base_url}{path}"),
            key: key.clone(),
            authorization,
            retries: settings.model.retries,
            cache: settings.cache.folder.join("signals"),
        })
    }

    /// Returns the error of an answer that does not fit the question.
    pub(super) fn unfit(&self, reason: &str) -> SignalError {
        let place = shown(&self.address);
        SignalError::Wrong(format!("{place} sent what does not fit: {reason}"))
    }

    /// The numbers that it answered to these texts before.
    pub(super) fn kept(&self, texts: &[&str]) -> Option<Vec<f32>> {
        let bytes = std::fs::read(self.file(texts)).ok()?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
        (rest.is_empty() && !bytes.is_empty()).then(|| numbers.collect())
    }

    /// Keeps the numbers that it answered to these texts.
    pub(super) fn keep(&self, texts: &[&str], numbers: &[f32]) {
        let path = self.file(texts);
        let kept = || -> std::io::Result<()> {
            let folder = path.parent().unwrap_or(&self.cache);
            patchwright_config::private_folder(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            let bytes: Vec<u8> = numbers.iter().flat_map(|one| one.to_le_bytes()).collect();
            file.write_all(&bytes)?;
            file.persist(&path)?;
            Ok(())
        };
        if let Err(error) = kept() {
            tracing::debug!(%error, "an answer was not kept");
        }
    }

    /// Returns the file of its answer to these texts.
    fn file(&self, texts: &[&str]) -> PathBuf {
        let name = digest([&[self.name, &self.address, &self.model], texts].concat());
        let (first, rest) = name.split_at(2);
        self.cache.join(first).join(rest)
    }

    /// Asks with so many tokens, and asks again when it may help.
    pub(super) async fn ask(
        &self,
        body: &Value,
        tokens: u64,
        meter: &Meter,
    ) -> Result<Value, SignalError> {
        let pauses = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(self.retries.first_delay)
            .with_max_delay(self.retries.longest_delay)
            .with_max_times(self.retries.count.min(TRIES));
        let answer = (|| self.post(body)).retry(pauses).when(may_pass);
        meter.ask(tokens, answer).await
    }

    async fn post(&self, body: &Value) -> Result<Value, SignalError> {
        let place = shown(&self.address);
        let unreachable = |error: reqwest::Error| SignalError::Unreachable {
            place: place.clone(),
            reason: self.clean(&deepest(&error.without_url())),
        };
        let mut request = self.client.post(&self.address).json(body);
        if let Some(value) = &self.authorization {
            request = request.header(AUTHORIZATION, value.clone());
        }
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let bytes = http::body(response, LIMIT).await.map_err(unreachable)?;
        if bytes.len() > LIMIT {
            return Err(self.unfit(&format!("more than {LIMIT} bytes")));
        }
        let text = String::from_utf8_lossy(&bytes);
        if !status.is_success() {
            return Err(SignalError::Status {
                place,
                status: status.as_u16(),
                reason: self.clean(&text),
            });
        }
        serde_json::from_str(&text).map_err(|error| self.unfit(&error.to_string()))
    }

    /// The beginning of what was said, on one line, without the key and the
    /// password of the address.
    fn clean(&self, said: &str) -> String {
        let url = reqwest::Url::parse(&self.address).ok();
        let password = url.as_ref().and_then(|url| url.password());
        let mut said = said.to_owned();
        for secret in [Some(self.key.expose_secret()), password] {
            if let Some(secret) = secret.filter(|secret| secret.len() >= SECRET) {
                said = said.replace(secret, "[key]");
            }
        }
        let line: Vec<&str> = said.split_whitespace().collect();
        line.join(" ").chars().take(QUOTED).collect()
    }
}

fn may_pass(error: &SignalError) -> bool {
    match error {
        SignalError::Unreachable { .. } => true,
        SignalError::Status { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
        _ => false,
    }
}
