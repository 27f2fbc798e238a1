//! Turns token counts into money. Knows no price by itself: prices change, and
//! a wrong one breaks a money limit, so they come from the settings.

use super::Usage;

/// Tokens that a price is given for.
const PER: f64 = 1_000_000.0;

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of a request.
    pub input: f64,
    /// Of the part of a request that the provider had cached.
    pub cached: f64,
    /// Of a reply.
    pub output: f64,
}

impl Price {
    /// The price that is configured, or nothing when one half of it is missing.
    pub fn from_settings(model: &crate::settings::Model) -> Option<Self> {
        let input = model.usd_per_million_in?;
        Some(Self {
            input,
            cached: model.usd_per_million_cached.unwrap_or(input),
            output: model.usd_per_million_out?,
        })
    }

    /// What a call cost.
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

/// The prices of all models that may be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices(Vec<(String, Price)>);

impl Prices {
    /// The configured prices.
    ///
    /// # Errors
    /// The names of the models whose price is not configured: with a money limit
    /// they must not be asked.
    pub fn from_settings(model: &crate::settings::Model) -> Result<Self, Vec<String>> {
        let mut known = Vec::new();
        let mut missing = Vec::new();
        for endpoint in model.endpoints() {
            match Price::from_settings(&endpoint) {
                Some(price) => known.push((endpoint.name, price)),
                None => missing.push(endpoint.name),
            }
        }
        if missing.is_empty() {
            Ok(Self(known))
        } else {
            Err(missing)
        }
    }

    /// What a call cost that `model` answered, by the name in its reply. A
    /// provider may add a date to the name; a name that fits none costs as much
    /// as the dearest.
    pub fn of(&self, model: &str, usage: &Usage) -> f64 {
        let fitting = self.0.iter().filter(|(name, _)| model.starts_with(name));
        let nearest = fitting.max_by_key(|(name, _)| name.len());
        nearest.map_or_else(
            || self.dearest(|price| price.of(usage)),
            |(_, price)| price.of(usage),
        )
    }

    /// The most that a call can cost, whichever model answers it.
    pub fn at_most(&self, tokens_in: u64, max_output_tokens: u32) -> f64 {
        self.dearest(|price| price.at_most(tokens_in, max_output_tokens))
    }

    fn dearest(&self, cost: impl Fn(&Price) -> f64) -> f64 {
        let costs = self.0.iter().map(|(_, price)| cost(price));
        costs.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::test_settings;

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
        let missing = Prices::from_settings(&test_settings(&values).model);
        assert_eq!(missing, Err(vec!["big-small".to_owned()]));
        values.extend([
            ("model.usd_per_million_in", "1"),
            ("model.usd_per_million_out", "1"),
        ]);
        let prices = Prices::from_settings(&test_settings(&values).model).unwrap();
        let usage = Usage {
            tokens_in: 500_000,
            tokens_out: 500_000,
            ..Usage::default()
        };
        for (model, usd) in [("big-small-2025", 1.0), ("big", 9.0), ("other", 9.0)] {
            assert!((prices.of(model, &usage) - usd).abs() < 1e-9, "{model}");
        }
        assert!((prices.at_most(500_000, 500_000) - 9.0).abs() < 1e-9);
    }
}
