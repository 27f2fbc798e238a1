//! The client of the competition's side of AIxCC's CRS API v1.4.
//!
//! It sends what it is told to send and says what was answered. When to send
//! again is not decided here.

use super::Failure;
use super::protocol::{PatchAnswer, Refusal, encode};
use patchwright_model::http::{body, default_client};
use reqwest::{RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::Duration;

/// Time limit of an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The largest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct Competition {
    client: reqwest::Client,
    url: String,
    key: String,
    token: SecretString,
}

impl Competition {
    /// The competition at an address, with the key that it gave us.
    pub fn new(url: &str, key: &str, token: SecretString) -> Self {
        Self {
            client: default_client(),
            url: url.trim_end_matches('/').to_owned(),
            key: key.to_owned(),
            token,
        }
    }

    /// Checks that it answers us.
    pub async fn ping(&self) -> Result<(), Failure> {
        let url = format!("{}/v1/ping/", self.url);
        self.ask::<serde_json::Value>(&url, self.client.get(&url))
            .await
            .map(|_| ())
    }

    pub async fn submit(&self, task: &str, diff: &[u8]) -> Result<PatchAnswer, Failure> {
        let url = format!("{}/v1/task/{task}/patch/", self.url);
        let body = json!({ "patch": encode(diff) });
        self.ask(&url, self.client.post(&url).json(&body)).await
    }

    /// Outcome of a patch.
    pub async fn patch(&self, task: &str, patch: &str) -> Result<PatchAnswer, Failure> {
        let url = format!("{}/v1/task/{task}/patch/{patch}/", self.url);
        self.ask(&url, self.client.get(&url)).await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        url: &str,
        request: RequestBuilder,
    ) -> Result<T, Failure> {
        let away = |reason: &dyn std::fmt::Display| {
            Failure::Passing(format!(
                "the competition cannot be reached at {url}: {reason}"
            ))
        };
        let request = request.basic_auth(&self.key, Some(self.token.expose_secret()));
        let answer = request.timeout(ANSWER).send().await;
        let answer = answer.map_err(|error| away(&error))?;
        let status = answer.status();
        let bytes = body(answer, ANSWER_LIMIT).await;
        let bytes = bytes.map_err(|error| away(&error))?;
        let later = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
        if status.is_server_error() || later.contains(&status) {
            return Err(away(&status));
        }
        let refused = |message: String| {
            Failure::Lasting(format!(
                "the competition refuses {url} with {status}: {message}"
            ))
        };
        if !status.is_success() {
            let message = serde_json::from_slice::<Refusal>(&bytes).map_or_else(
                |_| String::from_utf8_lossy(&bytes).chars().take(300).collect(),
                |refusal| refusal.message,
            );
            return Err(refused(message));
        }
        serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))
    }
}
