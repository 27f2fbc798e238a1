//! Asks an endpoint which models it has: reaches it and shows it the key, at no
//! cost. Not every endpoint can tell.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::transport::late;
use super::{OpenAi, failure};
use crate::Result;
use crate::http::body;

/// A list of models is short and needs no thought.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most bytes of a list that are read.
const LIMIT: usize = 8 * 1024 * 1024;

impl OpenAi {
    /// The names of the models that the endpoint offers; nothing when it keeps no
    /// such list.
    ///
    /// # Errors
    /// The endpoint cannot be reached, or does not take the key.
    pub async fn listed(&self) -> Result<Option<Vec<String>>> {
        let what = "the list of models did not come";
        let listed = timeout(PATIENCE, self.list()).await;
        let listed = listed.unwrap_or_else(|_| Err(late(what, "first_byte", PATIENCE)));
        listed.map_err(|error| self.without_key(error))
    }

    async fn list(&self) -> Result<Option<Vec<String>>> {
        let broken = |error: reqwest::Error| failure::of_connection(&error, &self.base);
        let response = self
            .client()?
            .get(format!("{}/models", self.base))
            .headers(self.headers.clone())
            .query(&self.settings.query)
            .send()
            .await
            .map_err(broken)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = body(response, LIMIT).await.map_err(broken)?;
        let body = String::from_utf8_lossy(&body);
        if matches!(status.as_u16(), 404 | 405 | 501) && !failure::is_html(&headers, &body) {
            return Ok(None);
        }
        if !status.is_success() {
            return Err(failure::of_status(status, &headers, &body));
        }
        if failure::is_html(&headers, &body) {
            return Err(failure::html());
        }
        Ok(names(&body))
    }
}

/// `{"data": [{"id": ..}]}` everywhere; Ollama and others add fields.
fn names(body: &str) -> Option<Vec<String>> {
    let list: Value = serde_json::from_str(body).ok()?;
    let entries = list.get("data")?.as_array()?;
    let name = |entry: &Value| Some(entry.get("id")?.as_str()?.to_owned());
    Some(entries.iter().filter_map(name).collect())
}
