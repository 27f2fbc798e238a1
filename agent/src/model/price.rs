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

#[cfg(test)]
mod tests {
    use super::*;

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
}
