//! A cross-encoder behind `/rerank`, in the shapes of Jina, Cohere and
//! text-embeddings-inference.
//!
//! The first two (and vLLM, LiteLLM) take `documents` and answer
//! `{"results": [{"index", "relevance_score"}]}`; the third takes `texts` and
//! answers `[{"index", "score"}]`.

use super::SignalError;
use super::cost::{Meter, count};
use super::endpoint::Endpoint;
use super::signal::{by_score, texts_of};
use patchwright_config::RerankApi;
use patchwright_retrieval::Candidate;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model that compares a request with texts.
#[derive(Debug)]
pub(super) struct Reranker {
    endpoint: Endpoint,
    api: RerankApi,
    /// True when the endpoint was found to take `texts`.
    takes_texts: AtomicBool,
}

impl Reranker {
    pub(super) fn new(endpoint: Endpoint, api: RerankApi) -> Self {
        Self {
            endpoint,
            api,
            takes_texts: AtomicBool::new(api == RerankApi::Texts),
        }
    }

    /// The candidates' numbers, most relevant first.
    pub(super) async fn order(
        &self,
        words: &str,
        candidates: &[Candidate],
        meter: Arc<Meter>,
    ) -> Result<Vec<i64>, SignalError> {
        let scores = if let Some(scores) = self.kept(words, candidates) {
            scores
        } else {
            let answer = self.ask(words, candidates, &meter).await?;
            let scores = read(&answer, candidates.len());
            let scores = scores.map_err(|reason| self.endpoint.unfit(&reason))?;
            self.endpoint.keep(&texts_of(words, candidates), &scores);
            scores
        };
        Ok(by_score(scores, candidates))
    }

    /// The tokens that would be sent.
    pub(super) fn tokens(&self, words: &str, candidates: &[Candidate]) -> u64 {
        if self.kept(words, candidates).is_some() {
            return 0;
        }
        tokens_of(words, candidates)
    }

    /// The scores that were kept for a question.
    fn kept(&self, words: &str, candidates: &[Candidate]) -> Option<Vec<f32>> {
        let scores = self.endpoint.kept(&texts_of(words, candidates));
        scores.filter(|scores| scores.len() == candidates.len())
    }

    async fn ask(
        &self,
        words: &str,
        candidates: &[Candidate],
        meter: &Meter,
    ) -> Result<Value, SignalError> {
        let tokens = tokens_of(words, candidates);
        let texts: Vec<&str> = candidates.iter().map(|one| one.text.as_str()).collect();
        let as_texts = json!({ "query": words, "texts": texts, "truncate": true });
        let in_texts = || self.endpoint.ask(&as_texts, tokens, meter);
        if self.takes_texts.load(Ordering::Relaxed) {
            return in_texts().await;
        }
        let mut body = json!({
            "query": words, "documents": texts, "top_n": texts.len(), "return_documents": false,
        });
        if let (Some(fields), false) = (body.as_object_mut(), self.endpoint.model.is_empty()) {
            fields.insert("model".to_owned(), json!(self.endpoint.model));
        }
        match self.endpoint.ask(&body, tokens, meter).await {
            Err(SignalError::Status {
                status: 400 | 422, ..
            }) if self.api == RerankApi::Auto => {
                let answered = in_texts().await?;
                self.takes_texts.store(true, Ordering::Relaxed);
                Ok(answered)
            }
            answered => answered,
        }
    }
}

/// The tokens of a question: the words stand before every text.
fn tokens_of(words: &str, candidates: &[Candidate]) -> u64 {
    let each: u64 = candidates.iter().map(|one| count(&one.text)).sum();
    each + count(words) * candidates.len() as u64
}

/// The scores in the order of the texts. Texts that the endpoint left out come
/// last.
fn read(answer: &Value, wanted: usize) -> Result<Vec<f32>, String> {
    let list = [answer.get("results"), answer.get("data"), Some(answer)]
        .into_iter()
        .flatten()
        .find_map(Value::as_array)
        .ok_or_else(|| "no list of results".to_owned())?;
    let mut scores = vec![f32::MIN; wanted];
    for (at, item) in list.iter().enumerate() {
        let index = item.get("index").and_then(Value::as_u64);
        let index = index.ok_or_else(|| format!("result {at} has no index"))?;
        let score = ["relevance_score", "score"]
            .iter()
            .find_map(|name| item.get(*name)?.as_f64());
        let score = score
            .map(|score| score as f32)
            .filter(|score| score.is_finite())
            .ok_or_else(|| format!("result {at} has no score"))?;
        let slot = usize::try_from(index)
            .ok()
            .and_then(|at| scores.get_mut(at));
        *slot.ok_or_else(|| format!("there is no text {index}"))? = score;
    }
    if list.is_empty() && wanted > 0 {
        return Err("an empty list of results".to_owned());
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::read;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn the_three_shapes_are_read() {
        let jina = json!({ "model": "jina-reranker-v2", "usage": { "total_tokens": 9 }, "results": [
            { "index": 1, "relevance_score": 0.9, "document": { "text": "b" } },
            { "index": 0, "relevance_score": 0.1, "document": { "text": "a" } },
        ]});
        let cohere = json!({ "id": "x", "meta": { "api_version": { "version": "2" } }, "results": [
            { "index": 1, "relevance_score": 0.9 },
            { "index": 0, "relevance_score": 0.1 },
        ]});
        let inference = json!([
            { "index": 1, "score": 0.9, "text": null },
            { "index": 0, "score": 0.1 },
        ]);
        for answer in [jina, cohere, inference] {
            assert_eq!(read(&answer, 2).unwrap(), [0.1, 0.9], "{answer}");
        }
        // An endpoint that sends only its best.
        let best = json!([{ "index": 1, "score": -4.5 }]);
        assert_eq!(read(&best, 2).unwrap(), [f32::MIN, -4.5]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (answer, reason) in [
            (json!({}), "no list"),
            (json!([]), "an empty list"),
            (json!({ "results": [{ "relevance_score": 1 }] }), "no index"),
            (json!([{ "index": 0, "score": "high" }]), "no score"),
            (json!([{ "index": 7, "score": 1 }]), "no text 7"),
            (json!([{ "index": -1, "score": 1 }]), "no index"),
        ] {
            let told = read(&answer, 2).unwrap_err();
            assert!(told.contains(reason), "{answer}: {told}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read_or_refused(index in any::<u64>(), score in any::<f64>(), text in ".{0,40}") {
            let _ = read(&json!([{ "index": index, "score": score }]), 3);
            let value: Value = serde_json::from_str(&text).unwrap_or(json!({ "results": [text] }));
            let _ = read(&value, 3);
        }
    }
}
