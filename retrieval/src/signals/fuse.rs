//! Rankings into one, and the ranking that words alone give.

use super::Candidate;
use crate::words::{meaningful, stems_of};
use std::collections::{BTreeMap, BTreeSet};

/// How little the first places of one ranking outweigh agreement of several
/// (reciprocal rank fusion, Cormack, Clarke and Büttcher 2009).
const DAMPING: f64 = 60.0;

/// Fuses rankings by reciprocal rank: what several rank high comes first, and
/// what only one knows comes in between.
///
/// # Example
/// ```
/// use patchwright_retrieval::fuse;
/// assert_eq!(fuse(&[vec![1, 2, 3], vec![2, 3, 4], vec![2, 1]]), [2, 1, 3, 4]);
/// ```
pub fn fuse(rankings: &[Vec<i64>]) -> Vec<i64> {
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    let mut seen: Vec<i64> = Vec::new();
    for ranking in rankings {
        let mut counted = BTreeSet::new();
        for (rank, id) in ranking.iter().enumerate() {
            if !counted.insert(*id) {
                continue;
            }
            let score = scores.entry(*id).or_insert_with(|| {
                seen.push(*id);
                0.0
            });
            *score += 1.0 / (DAMPING + 1.0 + rank as f64);
        }
    }
    let score = |id: &i64| scores.get(id).copied().unwrap_or_default();
    // Stable: of equals, the one that was named first.
    seen.sort_by(|a, b| score(b).total_cmp(&score(a)));
    seen
}

/// Orders candidates by the words of a request alone.
pub fn by_words(words: &str, candidates: &[Candidate]) -> Vec<i64> {
    let stems = meaningful(words);
    let hits = |text: &str| {
        let found = BTreeSet::from_iter(stems_of(text));
        stems.iter().filter(|stem| found.contains(*stem)).count()
    };
    let mut scored: Vec<(usize, i64)> = candidates
        .iter()
        .map(|one| (3 * hits(&one.name) + hits(&one.text), one.id))
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, id)| id).collect()
}
