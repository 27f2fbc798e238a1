//! Signals for a command outside a run: asked as far as its purse goes, and
//! charged to it. What a run's signals cost is settled by its driver.

use super::{SignalAnswers, Signals};
use crate::record::SignalRecord;
use patchwright_model::Usage;
use patchwright_model::account::Account;
use patchwright_retrieval::{Candidate, Engine};
use std::sync::Arc;

impl Signals {
    /// Charges what embeddings and the re-ranker take to an account. The model that adds words
    /// has its own way to it.
    pub fn charged_to(mut self, account: Arc<Account>) -> Self {
        self.account = Some(account);
        self
    }

    /// Asks what is configured which definitions answer some words, and tells
    /// the engine. Gives the notes for people.
    pub async fn consult(&self, engine: &Arc<Engine>, words: &str) -> Vec<String> {
        let Some(question) = self.question(engine, words).await else {
            return Vec::new();
        };
        let records = self.decide(engine, question).await;
        records.iter().filter_map(SignalRecord::note).collect()
    }

    /// Asks for the order of some candidates; where an account is charged, when there is money
    /// for it.
    pub async fn order(&self, words: &str, candidates: &[Candidate]) -> SignalAnswers {
        let account = self.account.as_ref();
        let charged = account.map(|account| (account, self.estimate(words, candidates)));
        let charged = charged.filter(|(_, estimate)| estimate.tokens > 0);
        let Some((account, estimate)) = charged else {
            return self.order_uncharged(words, candidates).await;
        };
        let reserved = match account.reserve(estimate.tokens, estimate.priced()) {
            Ok(reserved) => reserved,
            Err(reason) => {
                tracing::warn!(signals = estimate.names(), reason, "signals were left out");
                return SignalAnswers {
                    records: estimate.left_out(&reason),
                    ..SignalAnswers::default()
                };
            }
        };
        let told = self.order_uncharged(words, candidates).await;
        let usage = told.records.iter().map(|one| one.usage);
        let usage = usage.fold(Usage::default(), Usage::plus);
        reserved.settle(usage, told.records.iter().map(|one| one.usd).sum());
        told
    }
}
