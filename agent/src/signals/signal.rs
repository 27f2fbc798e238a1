//! One signal with its patience and its price: asked within a limit, metered,
//! and left alone for a while when it failed. Knows nothing of what is asked.

use super::SignalError;
use super::cost::{Estimate, Meter, Taken};
use crate::model::price::Prices;
use futures::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a signal that failed is left alone.
const REST: Duration = Duration::from_mins(1);

/// One signal with its patience and its price.
#[derive(Debug)]
pub(super) struct Signal<S> {
    name: &'static str,
    pub(super) source: S,
    limit: Duration,
    prices: Option<Prices>,
    failed: Mutex<Option<Instant>>,
}

impl<S> Signal<S> {
    pub(super) fn new(name: &'static str, source: S, limit: Duration) -> Self {
        Self {
            name,
            source,
            limit,
            prices: None,
            failed: Mutex::new(None),
        }
    }

    pub(super) fn priced(mut self, prices: Option<Prices>) -> Self {
        self.prices = prices;
        self
    }

    pub(super) fn estimate(&self, tokens: u64) -> Estimate {
        Estimate {
            signal: self.name,
            tokens,
            usd: self.prices.as_ref().map(|prices| prices.at_most(tokens, 0)),
        }
    }

    /// What was taken since a moment; nothing when all was known.
    fn taken(&self, meter: &Meter, since: Instant) -> Option<Taken> {
        let usage = meter.usage();
        let prices = self.prices.as_ref();
        (usage.tokens_in + usage.tokens_out > 0).then(|| Taken {
            signal: self.name,
            usage,
            usd: prices.map_or(0.0, |prices| prices.of(self.name, &usage)),
            seconds: since.elapsed().as_secs_f64(),
        })
    }

    fn rests(&self) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|since| since.elapsed() < REST)
    }

    fn note_failure(&self) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        *failed = Some(Instant::now());
    }
}

/// What came of asking one signal.
pub(super) struct Answered<T> {
    pub(super) answer: Result<T, String>,
    pub(super) taken: Option<Taken>,
}

/// A signal, unless it rests.
pub(super) fn awake<S>(signal: Option<&Signal<S>>) -> Option<&Signal<S>> {
    signal.filter(|signal| !signal.rests())
}

/// Asks a signal within its limit; `None` when there is none, or it rests.
pub(super) async fn ask<'s, S, T>(
    signal: Option<&'s Signal<S>>,
    question: impl FnOnce(&'s S, Arc<Meter>) -> BoxFuture<'s, Result<T, SignalError>>,
) -> Option<Answered<T>> {
    let signal = awake(signal)?;
    let (meter, since) = (Arc::new(Meter::default()), Instant::now());
    let answered =
        tokio::time::timeout(signal.limit, question(&signal.source, Arc::clone(&meter))).await;
    let taken = signal.taken(&meter, since);
    let reason = match answered {
        Ok(Ok(answer)) => {
            return Some(Answered {
                answer: Ok(answer),
                taken,
            });
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!(
            "no answer within {} ({}.timeout)",
            crate::settings::write_duration(signal.limit),
            signal.name
        ),
    };
    signal.note_failure();
    tracing::warn!(signal = signal.name, reason, "a signal was left out");
    Some(Answered {
        answer: Err(format!("{} was left out: {reason}", signal.name)),
        taken,
    })
}
