//! Optional signals for ranking code, over HTTP: embeddings, a cross-encoder
//! re-ranker, and words that a model adds to a request.
//!
//! None of them is needed, and none is waited for longer than its time limit:
//! one that is down is left out, with a note, and not asked again for a while.
//! How orders are fused and what they change is retrieval's business.
//!
//! A command outside a run asks as far as the purse of its account goes, and charges it. What a
//! run's signals cost is settled by its driver.

mod cost;
mod embedding;
mod endpoint;
mod rerank;
mod signal;

use crate::prompt;
use crate::record::SignalRecord;
pub use cost::Estimate;
use endpoint::Endpoint;
use futures::future;
use patchwright_config::Settings;
use patchwright_model::account::Account;
use patchwright_model::{self as model, Message, Model, Request, Usage};
use patchwright_retrieval::{Candidate, Candidates, Engine, fuse};
use rerank::Reranker;
use signal::{Signal, ask, awake};
use std::sync::Arc;
use std::time::Duration;

/// The most characters of a request that signals are given.
const LONGEST: usize = 2_000;
/// The most tokens of a reply that adds words.
const WORDS: u32 = 2_000;

/// Why a signal cannot be asked, or gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignalError {
    /// A setting cannot be used, or an answer does not fit the question.
    #[error("{0}")]
    Wrong(String),
    /// It was not reached, or broke off.
    #[error("{place} cannot be reached: {reason}")]
    Unreachable {
        place: String,
        /// Description of the failure.
        reason: String,
    },
    /// It answered with an error.
    #[error("{place} answered {status}: {reason}")]
    Status {
        place: String,
        status: u16,
        /// The beginning of what it said.
        reason: String,
    },
    /// The model that adds words failed.
    #[error("{0}")]
    Model(#[from] model::ModelError),
}

/// The signals that are configured.
#[derive(Debug, Default)]
pub struct Signals {
    embedding: Option<Signal<Endpoint>>,
    rerank: Option<Signal<Reranker>>,
    expansion: Option<Signal<Arc<dyn Model>>>,
    account: Option<Arc<Account>>,
}

#[derive(Debug, Default)]
pub struct SignalAnswers {
    /// Orders of the candidates' numbers, best first.
    pub rankings: Vec<Vec<i64>>,
    /// The cost of asking each signal, and why one was left out.
    pub records: Vec<SignalRecord>,
}

/// The question that goes to the signals about some words.
#[derive(Debug)]
pub struct Question {
    pub words: String,
    /// The definitions that may answer them.
    pub found: Candidates,
    records: Vec<SignalRecord>,
}

impl Signals {
    /// The signals that the settings name, without the model's words.
    ///
    /// # Errors
    /// A key or an address cannot be used.
    pub fn from_settings(settings: &Settings) -> Result<Self, SignalError> {
        let (embedding, rerank) = (&settings.embedding, &settings.rerank);
        let embedder = || -> Result<_, SignalError> {
            let (name, limit) = ("embedding", embedding.timeout);
            let place = (&*embedding.name, &*embedding.base_url, &embedding.api_key);
            let endpoint = Endpoint::new((name, "/embeddings"), place, limit, settings)?;
            let prices = cost::price(&embedding.name, embedding.usd_per_million);
            Ok(Signal::new(name, endpoint, limit, prices))
        };
        let reranker = || -> Result<_, SignalError> {
            let (name, limit) = ("rerank", rerank.timeout);
            let place = (&*rerank.name, &*rerank.base_url, &rerank.api_key);
            let endpoint = Endpoint::new((name, "/rerank"), place, limit, settings)?;
            let reranker = Reranker::new(endpoint, rerank.api);
            let prices = cost::price(&rerank.name, rerank.usd_per_million);
            Ok(Signal::new(name, reranker, limit, prices))
        };
        let wanted = (!embedding.name.is_empty(), !rerank.base_url.is_empty());
        Ok(Self {
            embedding: wanted.0.then(embedder).transpose()?,
            rerank: wanted.1.then(reranker).transpose()?,
            ..Self::default()
        })
    }

    /// Adds a model that names further words within this time.
    pub fn with_expansion(mut self, model: Arc<dyn Model>, limit: Duration) -> Self {
        self.expansion = Some(Signal::new("expansion", model, limit, None));
        self
    }

    /// Charges what embeddings and the re-ranker take to an account. The model that adds words
    /// has its own way to it.
    pub fn charged_to(mut self, account: Arc<Account>) -> Self {
        self.account = Some(account);
        self
    }

    /// Tells whether no signal is configured.
    pub fn is_empty(&self) -> bool {
        self.embedding.is_none() && self.rerank.is_none() && self.expansion.is_none()
    }

    /// Returns the question about some words; nothing when no signal is
    /// configured, or the order of their definitions is known.
    pub async fn question(&self, engine: &Arc<Engine>, words: &str) -> Option<Question> {
        if self.is_empty() || words.trim().is_empty() || engine.prefers(words) {
            return None;
        }
        let mut records = Vec::new();
        let further = self.further_words(words, &mut records).await;
        let (asked, request) = (Arc::clone(engine), words.to_owned());
        let found = tokio::task::spawn_blocking(move || asked.candidates(&request, &further)).await;
        Some(Question {
            words: words.to_owned(),
            // Where the index fails, the answer itself says so.
            found: found.ok().and_then(Result::ok).unwrap_or_default(),
            records,
        })
    }

    /// Returns the most that asking can cost.
    pub fn estimate(&self, words: &str, candidates: &[Candidate]) -> Estimate {
        let words = shortened(words);
        let embedding = awake(self.embedding.as_ref());
        let embedding =
            embedding.map(|one| one.estimate(embedding::tokens(&one.source, &words, candidates)));
        let rerank = awake(self.rerank.as_ref());
        let rerank = rerank.map(|one| one.estimate(one.source.tokens(&words, candidates)));
        let both = [embedding, rerank].into_iter().flatten();
        let asked: Vec<_> = both.filter(|(_, tokens, _)| *tokens > 0).collect();
        Estimate::of(&asked)
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

    /// Asks, and tells the engine the order that comes of it; gives what asking took.
    pub async fn decide(&self, engine: &Engine, question: Question) -> Vec<SignalRecord> {
        let told = self.order(&question.words, &question.found.list).await;
        let further = question.found.rankings;
        if !told.rankings.is_empty() || further.len() > 1 {
            // Of equals the first is taken: what was asked beside words decides.
            let rankings = [told.rankings, further].concat();
            engine.prefer(&question.words, fuse(&rankings));
        }
        [question.records, told.records].concat()
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

    /// Asks embeddings and the re-ranker for the order of some candidates.
    async fn order_uncharged(&self, words: &str, candidates: &[Candidate]) -> SignalAnswers {
        if candidates.is_empty() {
            return SignalAnswers::default();
        }
        let words = shortened(words);
        let embedding = ask(self.embedding.as_ref(), |endpoint, meter| {
            embedding::order(endpoint, &words, candidates, meter)
        });
        let rerank = ask(self.rerank.as_ref(), |source, meter| {
            source.order(&words, candidates, meter)
        });
        let (embedding, rerank) = future::join(embedding, rerank).await;
        let mut told = SignalAnswers::default();
        for (ranking, record) in [rerank, embedding] {
            told.records.extend(record);
            told.rankings.extend(ranking);
        }
        told
    }

    async fn further_words(&self, words: &str, records: &mut Vec<SignalRecord>) -> String {
        let request = Request {
            messages: vec![Message::user(prompt::words(words))],
            max_output_tokens: WORDS,
        };
        let (added, record) = ask(self.expansion.as_ref(), async |model, meter| {
            let reply = model.ask(&request).await?;
            meter.set(reply.usage);
            Ok(reply.text)
        })
        .await;
        records.extend(record);
        shortened(&added.unwrap_or_default())
    }
}

impl SignalAnswers {
    /// Returns the signals that were left out, with the reasons.
    pub fn notes(&self) -> Vec<String> {
        self.records.iter().filter_map(SignalRecord::note).collect()
    }
}

fn shortened(words: &str) -> String {
    words.chars().take(LONGEST).collect()
}
