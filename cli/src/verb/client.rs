//! Client of a daemon, for the verbs that talk to one: where it is, who asks, and what
//! its refusals say.

use super::session::find_run;
use anyhow::{Context, anyhow, bail};
use patchwright_config::{self as settings, Loaded};
use patchwright_model::http::client_builder;
use patchwright_source::visible_line;
use patchwright_store::{Store, StoreError};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::time::Duration;

/// Longest time for connecting to a daemon.
const CONNECTING: Duration = Duration::from_secs(10);
/// The most of a refusal that is shown.
const SHOWN: usize = 4_000;

/// A daemon to talk to.
#[derive(Debug)]
pub(super) struct Daemon {
    client: Client,
    server: Url,
    token: settings::Client,
}

impl Daemon {
    /// The daemon that the settings name, or the one that they would start.
    pub(super) fn of(loaded: &Loaded) -> anyhow::Result<Self> {
        let token = loaded.settings.client.clone();
        let address = match &token.server {
            Some(server) => server.clone(),
            None => format!("http://{}", loaded.settings.http.listen),
        };
        let server = Url::parse(&address)
            .with_context(|| format!("client.server: {address:?} is no address"))?;
        let client = client_builder().connect_timeout(CONNECTING).build()?;
        Ok(Self {
            client,
            server,
            token,
        })
    }

    /// A request of a path, each of its parts escaped.
    pub(super) fn request(&self, method: Method, path: &[&str]) -> anyhow::Result<RequestBuilder> {
        let mut url = self.server.clone();
        match url.path_segments_mut() {
            Ok(mut parts) => {
                parts.pop_if_empty().extend(["api", "v1"]).extend(path);
            }
            Err(()) => bail!("client.server: {} cannot be asked", self.server),
        }
        let request = self.client.request(method, url);
        Ok(match self.token.token.expose_secret() {
            "" => request,
            token => request.bearer_auth(token),
        })
    }

    /// Sends a request; what the daemon says against it is the error.
    pub(super) async fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.map_err(|error| {
            if error.is_connect() {
                return anyhow!(
                    "no daemon answers at {}: start one with `patchwright serve`, or name another in client.server",
                    self.server
                );
            }
            anyhow::Error::from(error).context(format!("the daemon at {} broke off", self.server))
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await;
        let text = text.unwrap_or_else(|error| format!("its reason did not come: {error}"));
        // A proxy answers with a text of its own.
        let problem: Option<Value> = serde_json::from_str(&text).ok();
        let told = |key| problem.as_ref()?.get(key)?.as_str();
        let said = told("detail").or_else(|| told("title")).unwrap_or(&text);
        let said: String = said.chars().take(SHOWN).collect();
        bail!("the daemon refuses ({status}): {said}")
    }

    /// Reads what is at a path.
    pub(super) async fn get(&self, path: &[&str]) -> anyhow::Result<Value> {
        self.json(self.request(Method::GET, path)?).await
    }

    /// Sends a request and reads the answer.
    pub(super) async fn json(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = self.send(request).await?.json().await;
        answer.context("the daemon's answer is no JSON")
    }
}

/// Where a run is that was named.
pub(super) enum Place {
    /// A run of this machine's store, by its id.
    Here(String),
    /// A task of the daemon.
    There(Daemon, String),
}

impl Place {
    /// Looks in the store of this machine, then at the daemon that `client.server` names.
    pub(super) async fn of(
        (loaded, store): (&Loaded, &Store),
        named: Option<&str>,
    ) -> anyhow::Result<Self> {
        let error = match find_run(store, named).await {
            Ok(id) => return Ok(Self::Here(id)),
            Err(error) => error,
        };
        let unknown = matches!(error.downcast_ref(), Some(StoreError::NoRun { .. }));
        match (named, &loaded.settings.client.server) {
            (Some(task), Some(_)) if unknown => {
                Ok(Self::There(Daemon::of(loaded)?, task.to_owned()))
            }
            _ => Err(error),
        }
    }
}

/// Returns a field of an answer for one line of text; `-` when it is not there.
pub(super) fn field(answer: &Value, name: &str) -> String {
    match answer.get(name) {
        Some(Value::String(text)) => visible_line(text).into_owned(),
        None | Some(Value::Null) => "-".to_owned(),
        Some(other) => other.to_string(),
    }
}
