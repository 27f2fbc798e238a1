//! Asks the optional signals which code fits some words, as far as the run's
//! limits let it: what they may cost is reserved before and settled after, as for
//! every call of a model. Without them the run goes on.

use super::Drive;
use super::ask::{InFlight, beyond};
use crate::journal::JournalError;
use crate::progress::Notice;
use crate::record::{RunLimits, SignalRecord, Spent, StepId};
use crate::signals::{Estimate, Total};
use crate::telemetry::metrics;
use patchwright_retrieval::Engine;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Drive {
    /// Asks about some words; gives what it took and why a signal was left out,
    /// which people see at once.
    pub(super) async fn consult(
        &self,
        id: StepId,
        (engine, words): (&Arc<Engine>, &str),
        (limits, spent): (&RunLimits, &Spent),
    ) -> Result<Vec<SignalRecord>, JournalError> {
        let signals = &self.parts.signals;
        let Some(question) = signals.question(engine, words).await else {
            return Ok(Vec::new());
        };
        let estimates = signals.estimates(&question.words, &question.found.list);
        let most = estimates.iter().map(|one| one.tokens).sum();
        let others = self.in_flight.fetch_add(most, Ordering::Relaxed);
        let _in_flight = InFlight(&self.in_flight, most);
        let beyond = (most > 0).then(|| beyond(limits, spent, others + most));
        let allowed = match beyond.flatten() {
            Some(detail) => Err(detail),
            None => self.allow(id, &estimates, limits.usd).await?,
        };
        let number = match allowed {
            Ok(number) => number,
            Err(reason) => return Ok(self.left_out(&estimates, &reason)),
        };
        let told = signals.decide(engine, question).await;
        if let Some(number) = number {
            let usd = told.records.iter().map(|one| one.usd).sum();
            self.journal.settle(number, usd).await?;
        }
        for one in &told.records {
            metrics::spent(&one.signal, one.usd);
        }
        self.tell_what_is_missing(&told.records);
        Ok(told.records)
    }

    /// Writes down what will be asked, and books what it may cost: the number of the event, none
    /// where nothing is asked, or why it may not be spent.
    async fn allow(
        &self,
        id: StepId,
        estimates: &[Estimate],
        usd: Option<f64>,
    ) -> Result<Result<Option<i64>, String>, JournalError> {
        if estimates.is_empty() {
            return Ok(Ok(None));
        }
        let total = Total::of(estimates);
        let Total { names, tokens, .. } = &total;
        let summary = format!("asking {names} (about {tokens} tokens)");
        let body = json!({ "signals": names, "tokens": tokens, "usd_at_most": total.usd });
        let number = self.intend(id, "signals", summary, body).await?;
        let priced = total.priced();
        let refused = self.reserve(number, priced, usd).await?;
        Ok(refused.map_or(Ok(Some(number)), Err))
    }

    fn left_out(&self, estimates: &[Estimate], reason: &str) -> Vec<SignalRecord> {
        let records: Vec<SignalRecord> = estimates.iter().map(|one| one.left_out(reason)).collect();
        self.tell_what_is_missing(&records);
        records
    }

    fn tell_what_is_missing(&self, records: &[SignalRecord]) {
        for note in records.iter().filter_map(SignalRecord::note) {
            let remark = format!("note: {note}");
            self.parts.observer.tell(&Notice::Remark(&remark));
        }
    }
}
