//! One signal with its patience and its price: asked within a limit, metered,
//! and left alone for a while when it failed. Knows nothing of what is asked.

use super::SignalError;
use super::cost::{Asked, Meter};
use crate::record::SignalRecord;
use patchwright_model::price::Prices;
use patchwright_retrieval::Candidate;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time for which a signal that failed is left alone.
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
    pub(super) fn new(
        name: &'static str,
        source: S,
        limit: Duration,
        prices: Option<Prices>,
    ) -> Self {
        Self {
            name,
            source,
            limit,
            prices,
            failed: Mutex::new(None),
        }
    }

    /// Returns the most that asking it with so many tokens can cost.
    pub(super) fn estimate(&self, tokens: u64) -> Asked {
        let prices = self.prices.as_ref();
        let usd = prices.map(|prices| prices.at_most(tokens, 0));
        (self.name, tokens, usd)
    }

    /// Returns the record of asking since a moment; nothing when all was known.
    fn record(
        &self,
        meter: &Meter,
        since: Instant,
        missing: Option<String>,
    ) -> Option<SignalRecord> {
        let usage = meter.usage();
        let prices = self.prices.as_ref();
        (usage.tokens_in + usage.tokens_out > 0 || missing.is_some()).then(|| SignalRecord {
            signal: self.name.to_owned(),
            missing,
            usage,
            usd: prices.map_or(0.0, |prices| prices.of(self.name, &usage)),
            seconds: since.elapsed().as_secs_f64(),
        })
    }

    fn rests(&self) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|since| since.elapsed() < REST)
    }

    fn too_late(&self) -> String {
        let limit = patchwright_config::write_duration(self.limit);
        format!("no answer within {limit} ({}.timeout)", self.name)
    }
}

/// A signal, unless it rests.
pub(super) fn awake<S>(signal: Option<&Signal<S>>) -> Option<&Signal<S>> {
    signal.filter(|signal| !signal.rests())
}

/// Asks a signal within its limit: returns its answer and the record of asking. There is neither
/// when there is no signal, or it rests. One that failed has no answer, and its record says why.
pub(super) async fn ask<'s, S, T, F>(
    signal: Option<&'s Signal<S>>,
    question: impl FnOnce(&'s S, Arc<Meter>) -> F,
) -> (Option<T>, Option<SignalRecord>)
where
    F: Future<Output = Result<T, SignalError>>,
{
    let Some(signal) = awake(signal) else {
        return (None, None);
    };
    let (meter, since) = (Arc::new(Meter::default()), Instant::now());
    let answered =
        tokio::time::timeout(signal.limit, question(&signal.source, Arc::clone(&meter))).await;
    let (answer, missing) = match answered {
        Ok(Ok(answer)) => (Some(answer), None),
        Ok(Err(error)) => (None, Some(error.to_string())),
        Err(_) => (None, Some(signal.too_late())),
    };
    if let Some(reason) = &missing {
        *signal.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        tracing::warn!(signal = signal.name, reason, "a signal was left out");
    }
    (answer, signal.record(&meter, since, missing))
}

/// The texts of a question: its words, then the candidates.
pub(super) fn texts_of<'t>(words: &'t str, candidates: &'t [Candidate]) -> Vec<&'t str> {
    let texts = candidates.iter().map(|one| one.text.as_str());
    std::iter::once(words).chain(texts).collect()
}

/// Returns the candidates, those with the highest scores first.
pub(super) fn by_score(
    scores: impl IntoIterator<Item = f32>,
    candidates: &[Candidate],
) -> Vec<i64> {
    let mut scored: Vec<(f32, i64)> = scores
        .into_iter()
        .zip(candidates)
        .map(|(score, one)| (score, one.id))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, id)| id).collect()
}
