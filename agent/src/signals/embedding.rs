//! Embeddings by OpenAI's `/embeddings`: candidates in the order of how near
//! their vectors lie to the request's.

use super::SignalError;
use super::cache::Cache;
use super::cost::{Meter, count};
use super::endpoint::Endpoint;
use super::signal::by_score;
use patchwright_config::Embedding;
use patchwright_retrieval::Candidate;
use serde_json::{Value, json};

/// Most texts that go into one call; some servers take no more.
const BATCH: usize = 32;
const PATH: &str = "/embeddings";

/// A model that embeds text.
#[derive(Debug)]
pub(super) struct Embedder {
    endpoint: Endpoint,
    model: String,
    cache: Cache,
}

impl Embedder {
    pub(super) fn new(endpoint: Endpoint, settings: &Embedding, cache: Cache) -> Self {
        Self {
            endpoint,
            model: settings.name.clone(),
            cache,
        }
    }

    /// The candidates' numbers, nearest first.
    pub(super) async fn order(
        &self,
        words: &str,
        candidates: &[Candidate],
        meter: &Meter,
    ) -> Result<Vec<i64>, SignalError> {
        let vectors = self.embed(&texts_of(words, candidates), meter).await?;
        let Some((request, others)) = vectors.split_first() else {
            return Ok(Vec::new());
        };
        let scores = others.iter().map(|vector| cosine(request, vector));
        Ok(by_score(scores, candidates))
    }

    /// The tokens that would be sent.
    pub(super) fn tokens(&self, words: &str, candidates: &[Candidate]) -> u64 {
        let texts = texts_of(words, candidates);
        let kept = self.kept(&texts);
        let missing = texts.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
        missing.map(|(text, _)| count(text)).sum()
    }

    /// The vectors that were kept.
    fn kept(&self, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let address = self.endpoint.address(PATH);
        let kept = |text: &&str| self.cache.get(&self.key(&address, text));
        texts.iter().map(kept).collect()
    }

    fn key<'k>(&'k self, address: &'k str, text: &'k str) -> [&'k str; 4] {
        ["embedding", address, &self.model, text]
    }

    async fn embed(&self, texts: &[&str], meter: &Meter) -> Result<Vec<Vec<f32>>, SignalError> {
        let address = self.endpoint.address(PATH);
        let mut vectors = self.kept(texts);
        let missing: Vec<usize> = (0..texts.len())
            .filter(|at| vectors.get(*at).is_some_and(Option::is_none))
            .collect();
        for batch in missing.chunks(BATCH) {
            let input: Vec<&str> = batch
                .iter()
                .filter_map(|at| texts.get(*at).copied())
                .collect();
            let body = json!({ "model": self.model, "input": input, "encoding_format": "float" });
            let tokens = input.iter().map(|text| count(text)).sum();
            let answer = meter.ask(tokens, self.endpoint.post(PATH, &body)).await?;
            let found =
                read(&answer, input.len()).map_err(|reason| self.endpoint.unfit(PATH, reason))?;
            for ((at, text), vector) in batch.iter().zip(&input).zip(found) {
                self.cache.put(&self.key(&address, text), &vector);
                if let Some(slot) = vectors.get_mut(*at) {
                    *slot = Some(vector);
                }
            }
        }
        let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
        let size = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != size) {
            let reason = "vectors of several lengths".to_owned();
            return Err(self.endpoint.unfit(PATH, reason));
        }
        Ok(vectors)
    }
}

fn texts_of<'t>(words: &'t str, candidates: &'t [Candidate]) -> Vec<&'t str> {
    let texts = candidates.iter().map(|one| one.text.as_str());
    std::iter::once(words).chain(texts).collect()
}

/// The vectors of an answer in the order of the texts.
fn read(answer: &Value, wanted: usize) -> Result<Vec<Vec<f32>>, String> {
    let data = answer.get("data").and_then(Value::as_array);
    let data = data.ok_or_else(|| "no list \"data\"".to_owned())?;
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); wanted];
    for (at, item) in data.iter().enumerate() {
        let index = item.get("index").and_then(Value::as_u64);
        let index = index.map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let numbers = item.get("embedding").and_then(Value::as_array);
        let numbers = numbers.ok_or_else(|| format!("item {at} has no list \"embedding\""))?;
        let vector: Option<Vec<f32>> = numbers
            .iter()
            .map(|number| Some(number.as_f64()? as f32).filter(|number| number.is_finite()))
            .collect();
        let slot = vectors.get_mut(index);
        *slot.ok_or_else(|| format!("there is no text {index}"))? =
            vector.ok_or_else(|| format!("item {at} holds what is no number"))?;
    }
    match vectors.iter().position(Vec::is_empty) {
        Some(at) => Err(format!("no vector for text {at} of {wanted}")),
        None => Ok(vectors),
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let lengths = (product(a, a) * product(b, b)).sqrt();
    if lengths > 0.0 {
        product(a, b) / lengths
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::{cosine, read};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn vectors_are_put_in_the_order_of_the_texts() {
        let answer = json!({ "data": [
            { "index": 1, "embedding": [0.0, 1.0] },
            { "index": 0, "embedding": [1, 0] },
        ]});
        assert_eq!(read(&answer, 2).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let without_index = json!({ "data": [{ "embedding": [0.5] }, { "embedding": [0.25] }] });
        assert_eq!(read(&without_index, 2).unwrap(), [[0.5], [0.25]]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (answer, reason) in [
            (json!({}), "no list"),
            (json!({ "data": [] }), "no vector for text 0 of 1"),
            (
                json!({ "data": [{ "index": 9, "embedding": [1] }] }),
                "no text 9",
            ),
            (
                json!({ "data": [{ "index": 0, "embedding": ["x"] }] }),
                "no number",
            ),
            (
                json!({ "data": [{ "index": 0, "embedding": "AAAA" }] }),
                "no list",
            ),
            (
                json!({ "data": [{ "index": 0, "embedding": [1e300] }] }),
                "no number",
            ),
        ] {
            let told = read(&answer, 1).unwrap_err();
            assert!(told.contains(reason), "{answer}: {told}");
        }
    }

    #[test]
    fn nearness_is_the_angle() {
        assert!(cosine(&[1.0, 0.0], &[9.0, 0.1]) > cosine(&[1.0, 0.0], &[1.0, 1.0]));
        assert!(cosine(&[0.0], &[1.0]).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn any_answer_is_read_or_refused(text in ".{0,80}", wanted in 0_usize..4) {
            let value: Value = serde_json::from_str(&text).unwrap_or(json!({ "data": text }));
            let _ = read(&value, wanted);
        }
    }
}
