//! Nearer inputs: a crashing input brought step by step towards harmless ones.
//!
//! Most random changes of a text give a syntax error, which never comes to the patch. What
//! makes an input harmful is mostly its size: a number that is too large, a run that is too
//! long, a part too many. So numbers and runs are cut to a fraction of their length, numbers
//! become the largest of a width, and blocks are left out, as in delta debugging; everything
//! else stays as it is.

use std::collections::BTreeSet;
use std::ops::Range;

/// Places of one kind that are shortened: the longest.
const PLACES: usize = 4;
/// The shortest run of equal bytes that is shortened.
const SHORTEST_RUN: usize = 8;
/// Parts that an input is cut into; each is left out once.
const PARTS: [usize; 3] = [2, 4, 8];
/// The largest integers of two widths: the last numbers that many programs accept.
const LARGEST: [&str; 2] = ["9223372036854775807", "2147483647"];

/// Returns inputs nearer to harmless ones, each once.
pub(crate) fn nearer(input: &[u8]) -> Vec<Vec<u8>> {
    let are_digits = |last: u8, byte: u8| last.is_ascii_digit() && byte.is_ascii_digit();
    let numbers = runs(input, are_digits, 2);
    let equal = runs(input, |last, byte| last == byte, SHORTEST_RUN);
    let mut made = Vec::new();
    for place in &numbers {
        let digits = input.get(place.clone()).unwrap_or_default();
        let smaller = LARGEST.iter().map(|largest| largest.as_bytes());
        let smaller = smaller.filter(|one| (one.len(), *one) < (digits.len(), digits));
        made.extend(smaller.map(|one| {
            let mut made = input.to_vec();
            made.splice(place.clone(), one.iter().copied());
            made
        }));
    }
    for places in [numbers, equal] {
        for place in &places {
            for keep in lengths(place.len()) {
                made.push(without(input, place.start + keep..place.end));
            }
        }
    }
    for parts in PARTS.into_iter().filter(|parts| *parts <= input.len()) {
        for part in 0..parts {
            let at = |part: usize| part * input.len() / parts;
            made.push(without(input, at(part)..at(part + 1)));
        }
    }
    let mut seen = BTreeSet::from([input.to_vec()]);
    made.retain(|bytes| seen.insert(bytes.clone()));
    made
}

/// Returns one less than a length, and its halves down to one.
fn lengths(length: usize) -> Vec<usize> {
    let halves = std::iter::successors(Some(length / 2), |half| Some(half / 2));
    let halves = halves.take_while(|half| *half > 0);
    let mut lengths = vec![length - 1];
    lengths.extend(halves);
    lengths.dedup();
    lengths
}

/// Finds the longest runs of bytes in which each follows the one before.
fn runs(input: &[u8], follows: impl Fn(u8, u8) -> bool, shortest: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for run in input.chunk_by(|last, byte| follows(*last, *byte)) {
        let end = start + run.len();
        if run.len() >= shortest {
            found.push(start..end);
        }
        start = end;
    }
    found.sort_by_key(|run| (std::cmp::Reverse(run.len()), run.start));
    found.truncate(PLACES);
    found
}

fn without(input: &[u8], place: Range<usize>) -> Vec<u8> {
    let mut made = input.to_vec();
    made.drain(place);
    made
}

#[cfg(test)]
mod tests {
    use super::nearer;

    #[test]
    fn what_is_too_large_becomes_smaller() {
        for (input, expected) in [
            (
                "f(12345678)",
                vec!["f(1234567)", "f(1234)", "f(12)", "f(1)"],
            ),
            ("1e99", vec!["1e9"]),
            (
                "[-9999999999999999999]",
                vec!["[-9223372036854775807]", "[-2147483647]"],
            ),
            ("<aaaaaaaaa>", vec!["<aaaaaaaa>", "<aaaa>", "<aa>", "<a>"]),
            ("ab", vec!["b", "a"]),
            ("a,b,c,d,", vec!["c,d,", "a,b,", "b,c,d,", "a,c,d,"]),
        ] {
            let made = nearer(input.as_bytes());
            let made: Vec<String> = made
                .into_iter()
                .map(|bytes| String::from_utf8(bytes).unwrap())
                .collect();
            for one in expected {
                assert!(made.iter().any(|other| other == one), "{one}: {made:?}");
            }
            assert!(!made.iter().any(|other| other == input), "{made:?}");
        }
        assert!(nearer(b"").is_empty() && nearer(b"x").is_empty());
        assert!(nearer(&vec![7; 100_000]).len() < 64);
    }
}
