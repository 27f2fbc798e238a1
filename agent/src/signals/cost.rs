//! Cost of a signal: estimated before, metered while it is asked.
//! Whether it may be asked is decided by whoever holds the purse.

use super::SignalError;
use crate::record::SignalRecord;
use patchwright_model::Usage;
use patchwright_model::price::{Price, Priced, Prices};
use serde_json::Value;
use std::future::Future;
use std::sync::{Mutex, PoisonError};

/// Number of times that one question may be sent, and charged: the first time and again.
const SENT: f64 = 3.0;

/// Bytes of a token at least: vocabularies of small models cut code into pieces
/// of two or three.
const BYTES: usize = 2;

/// The most tokens that a text may have. Counting them would take longer than
/// some signals may.
pub(super) fn count(text: &str) -> u64 {
    text.len().div_ceil(BYTES) as u64
}

/// One signal that would be asked, by its name, with the tokens and the money that it may take;
/// `None` when no price is configured.
pub(super) type Asked = (&'static str, u64, Option<f64>);

/// The most that asking signals can cost together.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    signals: Vec<&'static str>,
    unpriced: String,
    /// Tokens that would be sent; none when all answers are kept.
    pub tokens: u64,
    /// Money; `None` when a price is missing.
    pub usd: Option<f64>,
}

impl Estimate {
    /// The sum of these.
    pub(super) fn of(asked: &[Asked]) -> Self {
        let unpriced = asked.iter().filter(|(_, _, usd)| usd.is_none());
        let unpriced: Vec<&str> = unpriced.map(|(signal, _, _)| *signal).collect();
        Self {
            signals: asked.iter().map(|(signal, _, _)| *signal).collect(),
            unpriced: unpriced.join(" and "),
            tokens: asked.iter().map(|(_, tokens, _)| tokens).sum(),
            usd: asked.iter().map(|(_, _, usd)| *usd).sum(),
        }
    }

    /// The names of the signals, for people.
    pub fn names(&self) -> String {
        self.signals.join(" and ")
    }

    /// Returns the price as far as it is known.
    pub fn priced(&self) -> Priced<'_> {
        self.usd
            .map_or(Priced::Unknown(&self.unpriced), Priced::AtMost)
    }

    /// The records of signals that were not asked.
    pub fn left_out(&self, reason: &str) -> Vec<SignalRecord> {
        let record = |signal: &&str| SignalRecord {
            signal: (*signal).to_owned(),
            missing: Some(reason.to_owned()),
            ..SignalRecord::default()
        };
        self.signals.iter().map(record).collect()
    }
}

/// The price of a signal whose tokens all go in.
pub(super) fn price(name: &str, usd_per_million: Option<f64>) -> Option<Prices> {
    let price = |input| Price {
        input,
        cached: input,
        output: 0.0,
    };
    usd_per_million.map(|input| Prices::of_one(name, price(input), SENT))
}

/// Counts what one asking takes, also of what breaks off in the middle.
#[derive(Debug, Default)]
pub(super) struct Meter(Mutex<Usage>);

impl Meter {
    /// Returns the tokens that were counted.
    pub(super) fn usage(&self) -> Usage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, usage: Usage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = usage;
    }

    /// Sends a question of so many tokens. They count from then on: nobody knows
    /// what becomes of one that is never answered. What is turned away is not
    /// charged, and what is answered as the endpoint says.
    pub(super) async fn ask(
        &self,
        tokens: u64,
        question: impl Future<Output = Result<Value, SignalError>>,
    ) -> Result<Value, SignalError> {
        let before = self.usage();
        let with = |tokens, estimated| Usage {
            tokens_in: before.tokens_in.saturating_add(tokens),
            estimated: before.estimated || estimated,
            ..before
        };
        self.set(with(tokens, true));
        let answered = question.await;
        match &answered {
            Ok(answer) => {
                if let Some(counted) = counted(answer) {
                    self.set(with(counted, false));
                }
            }
            Err(SignalError::Status { .. } | SignalError::Unreachable { .. }) => self.set(before),
            Err(_) => {}
        }
        answered
    }
}

/// The tokens that an endpoint says it took: in OpenAI's and Jina's words, then
/// in Cohere's.
fn counted(answer: &Value) -> Option<u64> {
    [
        "/usage/total_tokens",
        "/usage/prompt_tokens",
        "/meta/billed_units/input_tokens",
        "/meta/tokens/input_tokens",
    ]
    .iter()
    .find_map(|place| answer.pointer(place)?.as_u64())
}

#[cfg(test)]
mod tests {
    use super::{Meter, counted};
    use crate::signals::SignalError;
    use serde_json::{Value, json};

    #[test]
    fn tokens_are_read_as_each_endpoint_says_them() {
        for (answer, expected) in [
            (
                json!({ "usage": { "prompt_tokens": 4, "total_tokens": 5 } }),
                Some(5),
            ),
            (json!({ "usage": { "prompt_tokens": 4 } }), Some(4)),
            (
                json!({ "meta": { "billed_units": { "input_tokens": 7 } } }),
                Some(7),
            ),
            (
                json!({ "meta": { "billed_units": { "search_units": 1 } } }),
                None,
            ),
            (json!([{ "index": 0, "score": 1 }]), None),
        ] {
            assert_eq!(counted(&answer), expected, "{answer}");
        }
    }

    #[tokio::test]
    async fn what_was_sent_counts_unless_it_was_turned_away() {
        let unfit = SignalError::Wrong(String::new());
        let refused = SignalError::Status {
            place: "http://a".to_owned(),
            status: 500,
            reason: String::new(),
        };
        let told = json!({ "usage": { "total_tokens": 30 } });
        for (answered, expected) in [
            (Ok(told), 130),
            (Ok(Value::Null), 140),
            (Err(unfit), 140),
            (Err(refused), 100),
        ] {
            let meter = Meter::default();
            let first = async { Ok(json!({ "usage": { "total_tokens": 100 } })) };
            meter.ask(90, first).await.unwrap();
            let shown = format!("{answered:?}");
            let _ = meter.ask(40, async { answered }).await;
            assert_eq!(meter.usage().tokens_in, expected, "{shown}");
        }
        // One that is never answered.
        let meter = Meter::default();
        let asked = meter.ask(40, std::future::pending());
        assert!(futures::future::FutureExt::now_or_never(asked).is_none());
        assert_eq!(
            (meter.usage().tokens_in, meter.usage().estimated),
            (40, true)
        );
    }
}
