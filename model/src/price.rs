//! Turns token counts into money. Knows no price by itself: prices change, and
//! a wrong one breaks a money limit, so they come from the settings.

use crate::{Reply, Result, Usage};

/// Tokens that a price is given for.
const PER: f64 = 1_000_000.0;

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Price of a request.
    pub input: f64,
    /// Price of the part of a request that the provider had cached.
    pub cached: f64,
    /// Price of a reply.
    pub output: f64,
}

impl Price {
    /// The price that is configured, or nothing when one half of it is missing.
    pub fn from_settings(model: &patchwright_config::Model) -> Option<Self> {
        let input = model.usd_per_million_in?;
        Some(Self {
            input,
            cached: model.usd_per_million_cached.unwrap_or(input),
            output: model.usd_per_million_out?,
        })
    }

    /// Returns the cost of a call.
    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.tokens_cached.min(usage.tokens_in);
        let fresh = usage.tokens_in - cached;
        (fresh as f64 * self.input
            + cached as f64 * self.cached
            + usage.tokens_out as f64 * self.output)
            / PER
    }

    /// The most that a call can cost that is about to be made: nothing cached,
    /// the reply as long as it may be.
    pub fn at_most(&self, tokens_in: u64, max_output_tokens: u32) -> f64 {
        let dearest = self.input.max(self.cached);
        (tokens_in as f64 * dearest + f64::from(max_output_tokens) * self.output) / PER
    }
}

/// Share that an endpoint may count above our own count of a request:
/// vocabularies and templates differ a little.
const MARGIN: f64 = 0.05;
/// The same for the shortest of requests, in tokens.
const MARGIN_AT_LEAST: f64 = 64.0;

/// The prices of all models that may be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    known: Vec<(String, Price)>,
    /// Number of tries of one call that may be charged: each that breaks off, at each
    /// endpoint.
    tries: f64,
}

impl Prices {
    /// The price of one model of which each call is made at most `tries` times.
    pub fn of_one(model: &str, price: Price, tries: f64) -> Self {
        Self {
            known: vec![(model.to_owned(), price)],
            tries,
        }
    }

    /// The configured prices of endpoints of which one answers each call.
    ///
    /// # Errors
    /// The names of the models whose price is not configured: with a money limit
    /// they must not be asked.
    pub fn of_endpoints(endpoints: &[patchwright_config::Model]) -> Result<Self, Vec<String>> {
        let mut known = Vec::new();
        let mut missing = Vec::new();
        for endpoint in endpoints {
            match Price::from_settings(endpoint) {
                Some(price) => known.push((endpoint.name.clone(), price)),
                None => missing.push(endpoint.name.clone()),
            }
        }
        if missing.is_empty() {
            let broken = endpoints.iter().map(|endpoint| endpoint.retries.broken);
            let tries = (known.len() * (1 + broken.max().unwrap_or_default())) as f64;
            Ok(Self { known, tries })
        } else {
            Err(missing)
        }
    }

    /// Returns the cost of a call that `model` answered, by the name in its reply. A
    /// provider may add a date to the name; a name that fits none costs as much
    /// as the dearest.
    pub fn of(&self, model: &str, usage: &Usage) -> f64 {
        let known = self.known.iter();
        let fitting = known.filter(|(name, _)| model.starts_with(name));
        match fitting.max_by_key(|(name, _)| name.len()) {
            Some((_, price)) => price.of(usage),
            None => self.dearest(|price| price.of(usage)),
        }
    }

    /// Returns the cost of a call with this result. One that failed before anything was
    /// written costs nothing; one that broke off may cost as much as the dearest
    /// would.
    pub fn of_call(&self, answered: &Result<Reply>) -> f64 {
        match answered {
            Ok(reply) => self.of(&reply.model, &reply.usage),
            Err(error) => self.of("", &error.spent().unwrap_or_default()),
        }
    }

    /// The most that a call can cost, whichever model answers it, and with every
    /// try before that broke off.
    pub fn at_most(&self, tokens_in: u64, max_output_tokens: u32) -> f64 {
        let counted = tokens_in as f64;
        let tokens_in = (counted + (counted * MARGIN).max(MARGIN_AT_LEAST)).ceil() as u64;
        self.tries * self.dearest(|price| price.at_most(tokens_in, max_output_tokens))
    }

    fn dearest(&self, cost: impl Fn(&Price) -> f64) -> f64 {
        let costs = self.known.iter().map(|(_, price)| cost(price));
        costs.fold(0.0, f64::max)
    }
}

/// Price of a call that is about to be made, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Priced<'a> {
    /// It costs nothing.
    Free,
    /// It costs so much at most.
    AtMost(f64),
    /// Nobody knows what this costs.
    Unknown(&'a str),
}

impl Priced<'_> {
    /// The money to book for it, if any.
    ///
    /// # Errors
    /// Money is limited, and nobody knows what the call costs.
    pub fn to_book(self, limited: bool) -> Result<Option<f64>, String> {
        match self {
            Self::AtMost(usd) => Ok(Some(usd)),
            Self::Unknown(name) if limited => Err(format!(
                "money: a limit is set, but the price of {name} is not"
            )),
            Self::Free | Self::Unknown(_) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_config::Settings;

    #[test]
    fn cached_tokens_are_counted_once_and_apart() {
        let price = Price {
            input: 2.0,
            cached: 0.5,
            output: 10.0,
        };
        let usage = Usage {
            tokens_in: 1_000_000,
            tokens_out: 100_000,
            tokens_cached: 400_000,
            estimated: false,
        };
        assert!((price.of(&usage) - (1.2 + 0.2 + 1.0)).abs() < 1e-9);
        assert!((price.at_most(1_000_000, 100_000) - 3.0).abs() < 1e-9);
        let lying = Usage {
            tokens_cached: u64::MAX,
            ..usage
        };
        assert!(price.of(&lying) >= 0.0);
    }

    #[test]
    fn a_price_is_found_by_the_name_in_the_reply() {
        let fallbacks = r#"[{ name = "big", usd_per_million_in = 9, usd_per_million_out = 9 }]"#;
        let mut values = vec![("model.name", "big-small"), ("model.fallbacks", fallbacks)];
        let missing = Prices::of_endpoints(&Settings::with(&values).unwrap().model.endpoints());
        assert_eq!(missing, Err(vec!["big-small".to_owned()]));
        values.extend([
            ("model.usd_per_million_in", "1"),
            ("model.usd_per_million_out", "1"),
        ]);
        let prices =
            Prices::of_endpoints(&Settings::with(&values).unwrap().model.endpoints()).unwrap();
        let usage = Usage {
            tokens_in: 500_000,
            tokens_out: 500_000,
            ..Usage::default()
        };
        for (model, usd) in [("big-small-2025", 1.0), ("big", 9.0), ("other", 9.0)] {
            assert!((prices.of(model, &usage) - usd).abs() < 1e-9, "{model}");
        }
        // Two models, each asked again once, at the dearest price.
        let at_most = prices.at_most(500_000, 500_000);
        assert!(
            (at_most - 4.0 * 9.0 * (0.525 + 0.5)).abs() < 1e-9,
            "{at_most}"
        );
    }
}
