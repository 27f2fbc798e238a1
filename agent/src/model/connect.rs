//! Puts the boxes together: one endpoint each, asked again when it may help, and
//! the next one when it does not.

use std::{sync::Arc, time::Duration};

use super::{Model, ModelError, fallback::Fallback, openai::OpenAi, retry::Retry};
use crate::settings;

/// The models of a run: who is asked for what.
#[derive(Debug, Clone)]
pub struct Models {
    /// Who repairs: lane 1 asks the first, lane 2 the second, and so on in turn.
    /// Never empty.
    pub lanes: Vec<Arc<dyn Model>>,
    /// Who looks at patches.
    pub critic: Option<Arc<dyn Model>>,
    /// Whether a call may cost money; answers on record do not.
    pub paid: bool,
}

impl Models {
    /// The models that the settings describe. Nothing is sent yet.
    ///
    /// # Errors
    /// As [`connect`].
    pub fn connect(settings: &settings::Settings) -> Result<Self, ModelError> {
        let lanes = settings.lanes();
        Ok(Self {
            lanes: lanes
                .iter()
                .map(|lane| in_turn(lane))
                .collect::<Result<_, _>>()?,
            critic: settings
                .critic()
                .map(|critic| in_turn(&[critic]))
                .transpose()?,
            paid: true,
        })
    }

    /// One that has every answer on record.
    pub fn on_record(model: Arc<dyn Model>, critic: bool) -> Self {
        Self {
            lanes: vec![model.clone()],
            critic: critic.then_some(model),
            paid: false,
        }
    }

    /// Puts each of them into something.
    #[must_use]
    pub fn map(self, wrap: impl Fn(Arc<dyn Model>) -> Arc<dyn Model>) -> Self {
        Self {
            lanes: self.lanes.into_iter().map(&wrap).collect(),
            critic: self.critic.map(&wrap),
            paid: self.paid,
        }
    }
}

/// A client for calls with a key to one address.
pub(crate) fn http_client(address: &str, connect: Duration) -> reqwest::Result<reqwest::Client> {
    let builder = reqwest::Client::builder()
        .connect_timeout(connect)
        // A key must not follow a redirect to another host.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("patchwright/", env!("CARGO_PKG_VERSION")));
    let url = reqwest::Url::parse(address).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str);
    if matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
        builder.no_proxy().build()
    } else {
        builder.build()
    }
}

/// An address as people may see it: without the name and the password that it
/// may hold, and without what stands behind its `?`.
pub(crate) fn shown(address: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(address) else {
        return "an address that cannot be read".to_owned();
    };
    if url.username().is_empty() && url.password().is_none() && url.query().is_none() {
        return address.to_owned();
    }
    url.set_query(None);
    let bare = url.set_username("").and_then(|()| url.set_password(None));
    bare.map_or_else(|()| "an address with a key".to_owned(), |()| url.into())
}

/// What lies at the bottom of a failed call; the layers above repeat the address.
pub(crate) fn deepest(error: &reqwest::Error) -> String {
    let mut current: &dyn std::error::Error = error;
    while let Some(source) = current.source() {
        current = source;
    }
    current.to_string()
}

/// The model that the settings describe, with its retries and fallbacks. Nothing
/// is sent yet.
///
/// # Errors
/// No model is named, or a key or header cannot be sent.
pub fn connect(settings: &settings::Model) -> Result<Arc<dyn Model>, ModelError> {
    in_turn(&settings.endpoints())
}

/// The first of these endpoints that can answers.
fn in_turn(endpoints: &[settings::Model]) -> Result<Arc<dyn Model>, ModelError> {
    let mut models = Vec::new();
    for endpoint in endpoints {
        let plain: Arc<dyn Model> = Arc::new(OpenAi::new(endpoint)?);
        let again: Arc<dyn Model> = Arc::new(Retry::new(plain, endpoint.retries));
        models.push(again);
    }
    let first = models.remove(0);
    Ok(if models.is_empty() {
        first
    } else {
        Arc::new(Fallback::new(first, models))
    })
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn an_address_is_shown_without_what_opens_it() {
        for (address, expected) in [
            ("http://127.0.0.1:9", "http://127.0.0.1:9"),
            ("https://a.example/v1", "https://a.example/v1"),
            ("https://me:secret@a.example/v1", "https://a.example/v1"),
            (
                "https://secret@a.example:8443/v1/rerank",
                "https://a.example:8443/v1/rerank",
            ),
            ("https://a.example/v1?key=secret", "https://a.example/v1"),
            ("secret", "an address that cannot be read"),
        ] {
            assert_eq!(shown(address), expected);
        }
    }
}
