//! Numbers of a PoV in the places of other inputs: a fix that looks at one of
//! two ways to the same place shows where the number that did the harm is said
//! on the other way. Texts only; in other formats nobody knows what a number is.

use std::collections::BTreeSet;
use std::ops::Range;

/// Inputs that are made at most.
const MOST: usize = 128;
/// Numbers that are taken from the PoVs: the longest, which are the rarest.
const NUMBERS: usize = 4;

/// Each given text with one of its numbers replaced by one that stands in a PoV
/// and in no given text.
pub(crate) fn transplants(povs: &[Vec<u8>], given: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let given: Vec<&str> = given.iter().filter_map(|bytes| text(bytes)).collect();
    let known: BTreeSet<&str> = given.iter().flat_map(|text| said(text)).collect();
    let mut harmful: Vec<&str> = povs
        .iter()
        .filter_map(|bytes| text(bytes))
        .flat_map(said)
        .filter(|number| !known.contains(number))
        .collect();
    harmful.sort_by_key(|number| (usize::MAX - number.len(), *number));
    harmful.dedup();
    harmful.truncate(NUMBERS);
    let places = given
        .iter()
        .flat_map(|text| numbers(text).into_iter().map(move |place| (*text, place)));
    places
        .flat_map(|(text, place)| {
            harmful
                .iter()
                .map(move |number| replaced(text, &place, number))
        })
        .take(MOST)
        .collect()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
}

fn said(text: &str) -> Vec<&str> {
    numbers(text)
        .into_iter()
        .filter_map(|place| text.get(place))
        .collect()
}

/// Where numbers stand, signs included; digits of names are none.
pub(crate) fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !of_name(byte) {
            at += 1;
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let end = at + rest.iter().take_while(|byte| of_name(byte)).count();
        let word = bytes.get(at..end).unwrap_or_default();
        if word.iter().all(u8::is_ascii_digit) {
            let signed = at > 0 && bytes.get(at - 1) == Some(&b'-');
            found.push(at - usize::from(signed)..end);
        }
        at = end;
    }
    found
}

fn replaced(text: &str, place: &Range<usize>, number: &str) -> Vec<u8> {
    let mut made = text.to_owned();
    made.replace_range(place.clone(), number);
    made.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::{MOST, transplants};

    #[test]
    fn numbers_of_a_pov_take_the_places_of_others() {
        for (pov, given, expected) in [
            (
                "get(1, -99)",
                "set(-1, x2)\nget(1)",
                vec!["set(-99, x2)\nget(1)", "set(-1, x2)\nget(-99)"],
            ),
            ("get(7)", "get(7)", vec![]),
            ("get(7)", "none", vec![]),
            ("\0 7", "get(1)", vec![]),
            ("get(7, 88)", "é1", vec!["é88", "é7"]),
        ] {
            let made = transplants(&[pov.into()], &[given.into()]);
            let made: Vec<_> = made.iter().map(|m| String::from_utf8_lossy(m)).collect();
            assert_eq!(made, expected, "{pov} {given}");
        }
        let long = "1 ".repeat(9000);
        assert_eq!(transplants(&["77".into()], &[long.into()]).len(), MOST);
        assert!(transplants(&["77".into()], &[vec![0xff, b'1']]).is_empty());
    }
}
