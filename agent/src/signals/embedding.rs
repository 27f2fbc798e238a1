//! Embeddings by OpenAI's `/embeddings`: candidates in the order of how near
//! their vectors lie to the request's.

use super::SignalError;
use super::cost::{Meter, count};
use super::endpoint::Endpoint;
use super::signal::{by_score, texts_of};
use patchwright_retrieval::Candidate;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most texts that go into one call; some servers take no more.
const BATCH: usize = 32;

/// The candidates' numbers, nearest first.
pub(super) async fn order(
    endpoint: &Endpoint,
    words: &str,
    candidates: &[Candidate],
    meter: Arc<Meter>,
) -> Result<Vec<i64>, SignalError> {
    let texts = texts_of(words, candidates);
    let mut vectors: Vec<Option<Vec<f32>>> =
        texts.iter().map(|text| endpoint.kept(&[text])).collect();
    let all = texts.iter().zip(&mut vectors);
    let mut missing: Vec<_> = all.filter(|(_, vector)| vector.is_none()).collect();
    for batch in missing.chunks_mut(BATCH) {
        let input: Vec<&str> = batch.iter().map(|(text, _)| **text).collect();
        let body = json!({ "model": endpoint.model, "input": input, "encoding_format": "float" });
        let tokens = input.iter().map(|text| count(text)).sum();
        let answer = endpoint.ask(&body, tokens, &meter).await?;
        let found = read(&answer, input.len()).map_err(|reason| endpoint.unfit(&reason))?;
        for ((text, slot), vector) in batch.iter_mut().zip(found) {
            endpoint.keep(&[text], &vector);
            **slot = Some(vector);
        }
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
    let size = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.len() != size) {
        return Err(endpoint.unfit("vectors of several lengths"));
    }
    let Some((request, others)) = vectors.split_first() else {
        return Ok(Vec::new());
    };
    let scores = others.iter().map(|vector| cosine(request, vector));
    Ok(by_score(scores, candidates))
}

/// The tokens that would be sent.
pub(super) fn tokens(endpoint: &Endpoint, words: &str, candidates: &[Candidate]) -> u64 {
    let texts = texts_of(words, candidates).into_iter();
    let missing = texts.filter(|text| endpoint.kept(&[text]).is_none());
    missing.map(count).sum()
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
