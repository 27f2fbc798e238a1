//! Optional signals for ranking code, over HTTP: embeddings, a cross-encoder
//! re-ranker, and words that a model adds to a request.
//!
//! None of them is needed, and none is waited for longer than its time limit:
//! one that is down is left out, with a note, and not asked again for a while.
//! How orders are fused and what they change is retrieval's business.

mod cache;
mod embedding;
mod endpoint;
mod rerank;

use crate::model::{self, Message, Model, Request};
use crate::prompt;
use crate::settings::{Expansion, Settings};
use cache::Cache;
use embedding::Embedder;
use endpoint::Endpoint;
use futures::future::{self, BoxFuture};
use patchwright_retrieval::{Candidate, Engine, fuse};
use rerank::Reranker;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a signal that failed is left alone.
const REST: Duration = Duration::from_mins(1);
/// The most characters of a request that signals are given.
const LONGEST: usize = 2_000;
/// The most tokens of a reply that adds words.
const WORDS: u32 = 2_000;

/// Why a signal cannot be asked, or gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignalError {
    /// A setting cannot be used.
    #[error("{key}: {reason}")]
    Setting {
        /// Which.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It was not reached, or broke off.
    #[error("{place} cannot be reached: {reason}")]
    Unreachable {
        /// The address.
        place: String,
        /// What happened.
        reason: String,
    },
    /// It answered with an error.
    #[error("{place} answered {status}: {reason}")]
    Status {
        /// The address.
        place: String,
        /// The status.
        status: u16,
        /// The beginning of what it said.
        reason: String,
    },
    /// It answered something that does not fit the question.
    #[error("{place} sent what does not fit: {reason}")]
    Unfit {
        /// The address.
        place: String,
        /// What does not fit.
        reason: String,
    },
    /// The model that adds words failed.
    #[error("{0}")]
    Model(#[from] model::ModelError),
}

/// The signals that are configured.
#[derive(Debug, Default)]
pub struct Signals {
    embedding: Option<Signal<Embedder>>,
    rerank: Option<Signal<Reranker>>,
    expansion: Option<Signal<Arc<dyn Model>>>,
}

/// One signal with its patience.
#[derive(Debug)]
struct Signal<S> {
    name: &'static str,
    source: S,
    limit: Duration,
    failed: Mutex<Option<Instant>>,
}

/// What came of asking.
#[derive(Debug, Default)]
pub struct Told {
    /// Orders of the candidates' numbers, best first.
    pub rankings: Vec<Vec<i64>>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Signals {
    /// The signals that the settings name, without the model's words.
    ///
    /// # Errors
    /// A key or an address cannot be used.
    pub fn from_settings(settings: &Settings) -> Result<Self, SignalError> {
        let cache = Cache::new(settings.cache.folder.join("signals"));
        let (embedding, rerank) = (&settings.embedding, &settings.rerank);
        let embedder = || -> Result<_, SignalError> {
            let endpoint = Endpoint::new("embedding", &embedding.base_url, &embedding.api_key)?;
            let endpoint = endpoint.with_waits(&settings.model, embedding.timeout);
            let source = Embedder::new(endpoint, embedding, cache.clone());
            Ok(Signal::new("embedding", source, embedding.timeout))
        };
        let reranker = || -> Result<_, SignalError> {
            let endpoint = Endpoint::new("rerank", &rerank.base_url, &rerank.api_key)?;
            let endpoint = endpoint.with_waits(&settings.model, rerank.timeout);
            let source = Reranker::new(endpoint, rerank, cache.clone());
            Ok(Signal::new("rerank", source, rerank.timeout))
        };
        let wanted = (!embedding.name.is_empty(), !rerank.base_url.is_empty());
        Ok(Self {
            embedding: wanted.0.then(embedder).transpose()?,
            rerank: wanted.1.then(reranker).transpose()?,
            expansion: None,
        })
    }

    /// Adds the model that names further words, if the settings want it.
    pub fn with_expansion(mut self, expansion: &Expansion, model: Option<Arc<dyn Model>>) -> Self {
        self.expansion = model
            .filter(|_| expansion.enabled)
            .map(|model| Signal::new("expansion", model, expansion.timeout));
        self
    }

    /// Whether no signal is configured.
    pub fn is_empty(&self) -> bool {
        self.embedding.is_none() && self.rerank.is_none() && self.expansion.is_none()
    }

    /// Asks what is configured which definitions answer some words, and tells
    /// the engine. Gives the notes for people.
    pub async fn consult(&self, engine: &Arc<Engine>, words: &str) -> Vec<String> {
        if self.is_empty() || words.trim().is_empty() || engine.prefers(words) {
            return Vec::new();
        }
        let mut notes = Vec::new();
        let further = self.further_words(words, &mut notes).await;
        let (asked, request) = (Arc::clone(engine), words.to_owned());
        let found = tokio::task::spawn_blocking(move || asked.candidates(&request, &further)).await;
        let Ok(found) = found else {
            return notes;
        };
        let told = self.order(words, &found.list).await;
        notes.extend(told.notes);
        let widened = found.rankings.len() > 1;
        if !told.rankings.is_empty() || widened {
            // Of equals the first is taken: what was asked beside words decides.
            let rankings = [told.rankings, found.rankings].concat();
            engine.prefer(words, fuse(&rankings));
        }
        notes
    }

    /// Asks embeddings and the re-ranker for the order of some candidates.
    pub async fn order(&self, words: &str, candidates: &[Candidate]) -> Told {
        let mut told = Told::default();
        if candidates.is_empty() {
            return told;
        }
        let words: String = words.chars().take(LONGEST).collect();
        let embedding = ask(self.embedding.as_ref(), |source| {
            Box::pin(source.order(&words, candidates))
        });
        let rerank = ask(self.rerank.as_ref(), |source| {
            Box::pin(source.order(&words, candidates))
        });
        let (embedding, rerank) = future::join(embedding, rerank).await;
        for answered in [rerank, embedding] {
            match answered {
                Some(Ok(order)) => told.rankings.push(order),
                Some(Err(note)) => told.notes.push(note),
                None => {}
            }
        }
        told
    }

    async fn further_words(&self, words: &str, notes: &mut Vec<String>) -> String {
        let request = Request {
            messages: vec![Message::user(prompt::words(words))],
            max_output_tokens: WORDS,
        };
        let answered = ask(self.expansion.as_ref(), |model| {
            let request = &request;
            Box::pin(async move { Ok(model.ask(request).await?.text) })
        });
        match answered.await {
            Some(Ok(text)) => text.chars().take(LONGEST).collect(),
            Some(Err(note)) => {
                notes.push(note);
                String::new()
            }
            None => String::new(),
        }
    }
}

impl<S> Signal<S> {
    fn new(name: &'static str, source: S, limit: Duration) -> Self {
        Self {
            name,
            source,
            limit,
            failed: Mutex::new(None),
        }
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

/// Asks a signal within its limit; `None` when there is none, or it rests.
async fn ask<'s, S, T>(
    signal: Option<&'s Signal<S>>,
    question: impl FnOnce(&'s S) -> BoxFuture<'s, Result<T, SignalError>>,
) -> Option<Result<T, String>> {
    let signal = signal.filter(|signal| !signal.rests())?;
    let reason = match tokio::time::timeout(signal.limit, question(&signal.source)).await {
        Ok(Ok(answer)) => return Some(Ok(answer)),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!(
            "no answer within {} ({}.timeout)",
            crate::settings::write_duration(signal.limit),
            signal.name
        ),
    };
    signal.note_failure();
    tracing::warn!(signal = signal.name, reason, "a signal was left out");
    Some(Err(format!("{} was left out: {reason}", signal.name)))
}
