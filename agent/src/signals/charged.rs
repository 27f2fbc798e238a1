//! Signals for a command outside a run: asked as far as its purse goes, and
//! charged to it. What a run's signals cost is settled by its driver.

use super::cost::Total;
use super::{SignalAnswers, Signals};
use patchwright_model::Usage;
use patchwright_model::account::Account;
use patchwright_retrieval::{Candidate, Engine};
use std::sync::Arc;

/// Signals with the account that pays for embeddings and the re-ranker. The
/// model that adds words has its own way to it.
#[derive(Debug)]
pub struct Charged {
    signals: Signals,
    account: Arc<Account>,
}

impl Charged {
    /// Charges what these signals take to an account.
    pub fn new(signals: Signals, account: Arc<Account>) -> Self {
        Self { signals, account }
    }

    /// Tells whether no signal is configured.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

    /// Asks what is configured which definitions answer some words, and tells
    /// the engine. Gives the notes for people.
    pub async fn consult(&self, engine: &Arc<Engine>, words: &str) -> Vec<String> {
        let Some(question) = self.signals.question(engine, words).await else {
            return Vec::new();
        };
        let told = self.order(&question.words, &question.found.list).await;
        question.decide(engine, told).notes()
    }

    /// Asks embeddings and the re-ranker for the order of some candidates, when
    /// there is money for it.
    pub async fn order(&self, words: &str, candidates: &[Candidate]) -> SignalAnswers {
        let estimates = self.signals.estimates(words, candidates);
        if estimates.is_empty() {
            return self.signals.order(words, candidates).await;
        }
        let total = Total::of(&estimates);
        let reserved = match self.account.reserve(total.tokens, total.priced()) {
            Ok(reserved) => reserved,
            Err(reason) => {
                tracing::warn!(signals = total.names, reason, "signals were left out");
                return SignalAnswers {
                    records: estimates.iter().map(|one| one.left_out(&reason)).collect(),
                    ..SignalAnswers::default()
                };
            }
        };
        let told = self.signals.order(words, candidates).await;
        let usage = told.records.iter().map(|one| one.usage);
        let usage = usage.fold(Usage::default(), Usage::plus);
        reserved.settle(usage, told.records.iter().map(|one| one.usd).sum());
        told
    }
}
