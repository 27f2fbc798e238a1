//! Likeness of files to the PoVs: which of many test files come closest to the faulty code.
//!
//! A project has thousands of test files, of which few use the feature that crashes; those that
//! share the rare words and byte strings of a PoV mostly do. Pieces of four bytes serve for text
//! and binary files alike (n-gram similarity, Damashek 1995), weighted by how few files have them
//! (inverse document frequency, Sparck Jones 1972). Each choice halves the weight of what it
//! shares, so that the next one brings something else (maximal marginal relevance, Carbonell and
//! Goldstein 1998).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Bytes of a piece.
const PIECE: usize = 4;
/// The most bytes of a PoV whose pieces are looked for.
const MOST_BYTES: usize = 1 << 14;

/// Returns so many of the files, with their names, those first that are most alike to the PoVs;
/// files that share nothing with them follow, spread over all of these.
pub(super) fn choose(
    povs: &[Vec<u8>],
    files: Vec<(String, Vec<u8>)>,
    most: usize,
) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<Option<(String, Vec<u8>)>> = files.into_iter().map(Some).collect();
    let mut chosen = Vec::new();
    for at in most_alike(&shared(povs, &files), most) {
        chosen.extend(files.get_mut(at).and_then(Option::take));
    }
    let left = most - chosen.len();
    let others: Vec<_> = files.into_iter().flatten().collect();
    let step = others.len().div_ceil(left.max(1)).max(1);
    chosen.extend(others.into_iter().step_by(step).take(left));
    chosen
}

/// Returns the places of files that share pieces with the PoVs, the best choice first.
fn most_alike(shared: &[Vec<usize>], most: usize) -> Vec<usize> {
    let mut weights = weights(shared);
    let gain = |shares: &[usize], weights: &BTreeMap<usize, f64>| -> u64 {
        let sum: f64 = shares.iter().filter_map(|piece| weights.get(piece)).sum();
        (sum * 1e6) as u64
    };
    let alike = shared.iter().enumerate();
    let alike = alike.filter(|(_, shares)| !shares.is_empty());
    let first = alike.map(|(at, shares)| (gain(shares, &weights), Reverse(at)));
    let mut heap: BinaryHeap<_> = first.collect();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let Some((before, Reverse(at))) = heap.pop() else {
            break;
        };
        let shares = shared.get(at).map_or(&[][..], Vec::as_slice);
        // Weights only fall, so one that weighs as much as before is the heaviest.
        let now = gain(shares, &weights);
        if now < before {
            heap.push((now, Reverse(at)));
            continue;
        }
        chosen.push(at);
        for piece in shares {
            weights.entry(*piece).and_modify(|weight| *weight /= 2.0);
        }
    }
    chosen
}

/// Returns which pieces of the PoVs each file has, by their numbers.
fn shared(povs: &[Vec<u8>], files: &[Option<(String, Vec<u8>)>]) -> Vec<Vec<usize>> {
    let pieces = povs.iter().flat_map(|pov| {
        let head = pov.get(..pov.len().min(MOST_BYTES)).unwrap_or_default();
        head.windows(PIECE)
    });
    let pieces: BTreeSet<&[u8]> = pieces.collect();
    let numbers: BTreeMap<&[u8], usize> = pieces.into_iter().zip(0..).collect();
    let of = |(_, file): &(String, Vec<u8>)| {
        let known = file.windows(PIECE).filter_map(|piece| numbers.get(piece));
        let known: BTreeSet<usize> = known.copied().collect();
        known.into_iter().collect()
    };
    files.iter().flatten().map(of).collect()
}

/// Returns the weights of the pieces by their numbers: the fewer files have one, the more.
fn weights(shared: &[Vec<usize>]) -> BTreeMap<usize, f64> {
    let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
    for piece in shared.iter().flatten() {
        *weights.entry(*piece).or_default() += 1.0;
    }
    let all = shared.len() as f64 + 1.0;
    for files_with in weights.values_mut() {
        *files_with = (all / (*files_with + 0.5)).ln().max(0.0);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::choose;

    fn names(pov: &str, texts: &[&str], most: usize) -> Vec<String> {
        let files = texts.iter().enumerate();
        let files = files.map(|(at, text)| (at.to_string(), text.as_bytes().to_vec()));
        let chosen = choose(&[pov.as_bytes().to_vec()], files.collect(), most);
        chosen.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn files_that_share_what_is_rare_come_first() {
        let texts = [
            "<schema><element/></schema>",
            "<schema><element/><element/></schema>",
            "<schema><complexContent><extension/></complexContent></schema>",
            "<schema><element name='a'/></schema>",
            "nothing",
        ];
        let pov = "<schema><element><extension mixed=1/></element></schema>";
        assert_eq!(names(pov, &texts, 1), ["2"]);
        let all = names(pov, &texts, 9);
        assert_eq!((all.len(), all[4].as_str()), (5, "4"));
    }

    #[test]
    fn a_second_choice_brings_something_else() {
        let texts = ["alpha beta", "alpha beta", "gamma!", "delta", "other"];
        assert_eq!(names("alpha beta gamma!", &texts, 2), ["0", "2"]);
    }

    #[test]
    fn without_likeness_they_are_spread() {
        let texts: Vec<String> = (0..50).map(|number| format!("{number:02}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let chosen = names("unlike", &texts, 10);
        assert_eq!((chosen.len(), chosen[1].as_str()), (10, "5"));
        assert!(names("unlike", &[], 3).is_empty());
        assert!(names("unlike", &texts, 0).is_empty());
    }
}
