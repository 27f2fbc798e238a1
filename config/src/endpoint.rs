//! A fallback as the full settings of a model: what it does not name is taken
//! from the first model, except prices, and except what belongs to an endpoint
//! when it has one of its own.

use crate::{Critic, Fallback, Model, Settings};
use secrecy::ExposeSecret;

impl Settings {
    /// The endpoints that each lane asks, in turn: its own model first, then
    /// those that go on when it fails.
    pub fn lanes(&self) -> Vec<Vec<Model>> {
        let main = self.model.endpoints();
        let others = self.model.lanes.iter().map(|lane| {
            let own = main.first().map(|first| first.with(lane));
            own.into_iter().chain(main.clone()).collect()
        });
        std::iter::once(main.clone()).chain(others).collect()
    }

    /// The critic's endpoint, where it is another one than that of the author.
    pub fn critic(&self) -> Option<Model> {
        let first = self.model.endpoints().into_iter().next()?;
        (!self.critic.model.is_empty()).then(|| first.with(&self.critic.as_fallback()))
    }
}

impl Critic {
    fn as_fallback(&self) -> Fallback {
        let key = (!self.api_key.expose_secret().is_empty()).then(|| self.api_key.clone());
        Fallback {
            name: self.model.clone(),
            base_url: self.base_url.clone(),
            api_key: key,
            max_output_tokens: Some(self.max_output_tokens),
            usd_per_million_in: self.usd_per_million_in,
            usd_per_million_out: self.usd_per_million_out,
            ..Fallback::default()
        }
    }
}

impl Model {
    /// The settings of every model that may be asked, the first one first. None
    /// of them has fallbacks of its own.
    pub fn endpoints(&self) -> Vec<Self> {
        let first = Self {
            fallbacks: Vec::new(),
            lanes: Vec::new(),
            ..self.clone()
        };
        let others = self.fallbacks.iter();
        let others: Vec<_> = others.map(|fallback| first.with(fallback)).collect();
        std::iter::once(first).chain(others).collect()
    }

    fn with(&self, fallback: &Fallback) -> Self {
        let mut model = self.clone();
        if let Some(base_url) = &fallback.base_url
            && *base_url != self.base_url
        {
            // A key must not reach another host than the one it is for.
            model.api_key = String::new().into();
            model.headers.clear();
            model.query.clear();
            model.base_url.clone_from(base_url);
        }
        model.name.clone_from(&fallback.name);
        model.api_key = fallback.api_key.clone().unwrap_or(model.api_key);
        model.api = fallback.api.unwrap_or(model.api);
        model.temperature = fallback.temperature.or(model.temperature);
        let effort = fallback.reasoning_effort.clone();
        model.reasoning_effort = effort.or(model.reasoning_effort);
        let tokens = fallback.max_output_tokens;
        model.max_output_tokens = tokens.unwrap_or(model.max_output_tokens);
        model.context_window = fallback.context_window.unwrap_or(model.context_window);
        model.usd_per_million_in = fallback.usd_per_million_in;
        model.usd_per_million_cached = fallback.usd_per_million_cached;
        model.usd_per_million_out = fallback.usd_per_million_out;
        model.extra = fallback.extra.clone().unwrap_or(model.extra);
        model
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use crate::Settings;

    #[test]
    fn a_key_stays_with_its_endpoint() {
        let settings = Settings::with(&[
            ("model.name", "first"),
            ("model.api_key", "secret"),
            ("model.usd_per_million_in", "3"),
            ("model.reasoning_effort", "low"),
            (
                "model.fallbacks",
                r#"[{ name = "same place" }, { name = "elsewhere", base_url = "http://h/v1" }]"#,
            ),
        ])
        .unwrap();
        let endpoints = settings.model.endpoints();
        let found: Vec<_> = endpoints
            .iter()
            .map(|model| {
                let key = model.api_key.expose_secret();
                (model.name.as_str(), key, model.usd_per_million_in)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("first", "secret", Some(3.0)),
                ("same place", "secret", None),
                ("elsewhere", "", None),
            ]
        );
        assert!(endpoints.iter().all(|model| model.fallbacks.is_empty()));
        assert!(
            endpoints
                .iter()
                .all(|model| model.reasoning_effort.is_some())
        );
    }
}
