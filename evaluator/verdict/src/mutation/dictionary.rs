//! Dictionary mutator: inputs changed by the constants of a patch and the numbers of PoVs.
//!
//! Constants (and one less, and one more) and numbers of PoVs replace the numbers of an
//! input. Items (parts of a list, lines, brackets, letters of a word) are repeated up to a
//! constant and one beyond. A format whose lines must agree refuses a change of one line,
//! so items and numbers that occur more than once are also changed everywhere at once. In
//! a binary input, and in one with control characters, constants are written over its header. Apart from these, inputs are brought to
//! the sizes of constants, and the numbers of PoVs to the ends of each width.

use super::text_change::{
    Change, are_apart, changed, last_parts, lines_and_brackets, numbers, parts, repeated_numbers,
    words,
};
use super::{EDGES, LARGEST};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::Range;

/// Numbers of the PoVs that are taken: the longest, which are the rarest.
const TOKENS: usize = 4;
/// Inputs of each kind that are made of one: with one change, and with two.
const EACH: usize = 48;
/// The largest text whose items are repeated, in bytes.
const LARGEST_REPEATED: usize = 1 << 14;
/// The most copies that are made of anything, unless the whole input is short: more make an
/// input too large.
const MOST_TIMES: usize = 1 << 13;
/// Bytes at the begin of a binary input that are set: its header.
const HEAD: usize = 48;

/// The constants and numbers that inputs are changed with.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    constants: Vec<usize>,
    tokens: Vec<String>,
}

impl Dictionary {
    /// Creates a dictionary of the constants of a patch.
    pub(crate) fn new(constants: &[u64]) -> Self {
        let constants = constants.iter();
        Self {
            constants: constants.filter_map(|c| usize::try_from(*c).ok()).collect(),
            tokens: Vec::new(),
        }
    }

    /// Adds the numbers of PoVs that are in no harmless input: the harmful one may reach
    /// the defect on another path.
    pub(crate) fn with_povs(mut self, povs: &[Vec<u8>], harmless: &[Vec<u8>]) -> Self {
        let known: BTreeSet<&str> = harmless.iter().flat_map(|input| said(input)).collect();
        let mut tokens: Vec<&str> = povs.iter().flat_map(|input| said(input)).collect();
        tokens.retain(|token| !known.contains(token));
        tokens.sort_by_key(|token| (usize::MAX - token.len(), *token));
        tokens.dedup();
        let tokens = tokens.into_iter().take(TOKENS);
        self.tokens = tokens.map(str::to_owned).collect();
        self
    }

    /// Returns at most `most` inputs that are made of one, the most promising first.
    pub(crate) fn mutants(&self, input: &[u8], most: usize) -> Vec<Vec<u8>> {
        let text = text(input);
        let mut made = text.map_or_else(Vec::new, |text| self.of_text(text, most));
        // Small lengths and kinds are control characters, which text hardly has.
        if text.is_none_or(|text| text.contains(is_control)) {
            let mut binary = self.of_binary(input).into_iter();
            let in_turn = made
                .into_iter()
                .flat_map(|text| [Some(text), binary.next()]);
            made = in_turn.flatten().collect();
            made.extend(binary);
        }
        let mut seen = BTreeSet::from([input.to_vec()]);
        made.retain(|bytes| bytes.len() <= LARGEST && seen.insert(bytes.clone()));
        made.truncate(most);
        made
    }

    /// Returns inputs of the sizes of the constants, and those in which a number of a PoV is at
    /// the end of a width.
    pub(crate) fn at_bounds(&self, input: &[u8]) -> Vec<Vec<u8>> {
        let sizes = self.constants.iter().flat_map(|size| around(*size));
        let sizes = sizes.filter(|size| (1..=LARGEST).contains(size));
        let sized = sizes.map(|size| input.iter().copied().cycle().take(size).collect());
        let mut made: Vec<Vec<u8>> = sized.collect();
        let text = text(input).unwrap_or_default();
        let mut rare = numbers(text);
        let of_pov = |number: &str| self.tokens.iter().any(|one| one == number);
        rare.retain(|place| text.get(place.clone()).is_some_and(of_pov));
        for place in rare {
            let ends = EDGES.split(' ').map(|end| (place.clone(), end.to_owned()));
            made.extend(ends.map(|end| changed(text, &[&end])));
        }
        made.truncate(EACH);
        made
    }

    fn of_text(&self, text: &str, most: usize) -> Vec<Vec<u8>> {
        let numbers = numbers(text);
        let mut made = Vec::new();
        let tokens = numbers.iter().flat_map(|place| {
            let tokens = self.tokens.iter();
            tokens.map(|token| changed(text, &[&(place.clone(), token.clone())]))
        });
        made.extend(tokens.take(2 * EACH));
        made.extend(repeated_numbers(text, &numbers));
        made.extend(last_parts(text));
        for constant in &self.constants {
            if made.len() < most && text.len() <= LARGEST_REPEATED {
                towards(text, &numbers, *constant, &mut made);
            }
        }
        made
    }

    /// Writes constants wherever a header may hold a length or a count, place by place.
    fn of_binary(&self, input: &[u8]) -> Vec<Vec<u8>> {
        let values: Vec<usize> = self.constants.iter().flat_map(|c| around(*c)).collect();
        let places = 0..input.len().min(HEAD);
        let made = places.flat_map(|at| {
            let forms = values.iter().flat_map(|value| forms(*value));
            forms.filter_map(move |bytes| set(input, at, &bytes))
        });
        made.collect()
    }
}

/// Returns a value in one byte, and in as many more as it needs, in both orders.
fn forms(value: usize) -> Vec<Vec<u8>> {
    let byte = u8::try_from(value).ok().map(|byte| vec![byte]);
    let more = match (u16::try_from(value), u32::try_from(value)) {
        (Ok(value), _) => [value.to_be_bytes().to_vec(), value.to_le_bytes().to_vec()].to_vec(),
        (_, Ok(value)) => [value.to_be_bytes().to_vec(), value.to_le_bytes().to_vec()].to_vec(),
        _ => Vec::new(),
    };
    byte.into_iter().chain(more).collect()
}

/// Returns a constant, one more and one less.
fn around(constant: usize) -> [usize; 3] {
    [
        constant,
        constant.saturating_add(1),
        constant.saturating_sub(1),
    ]
}

fn set(input: &[u8], at: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut made = input.to_vec();
    made.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
    Some(made)
}

fn is_control(sign: char) -> bool {
    sign.is_ascii_control() && !sign.is_whitespace()
}

fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// Returns the numbers that an input names in words.
pub(crate) fn said_numbers(bytes: &[u8]) -> BTreeSet<u64> {
    let said = said(bytes).into_iter();
    said.filter_map(|number| number.trim_start_matches('-').parse().ok())
        .collect()
}

/// Returns the numbers of a text.
fn said(bytes: &[u8]) -> Vec<&str> {
    let text = text(bytes).unwrap_or_default();
    let places = numbers(text).into_iter();
    places.filter_map(|place| text.get(place)).collect()
}

/// Brings a text to a constant: its numbers, words and items one at a time, all items of
/// a kind at once, and items together with a number that refers to the last of them.
fn towards(text: &str, places: &[Range<usize>], constant: usize, made: &mut Vec<Vec<u8>>) {
    let signed = |place: &Range<usize>, value: usize| -> Change {
        let number = text.get(place.clone()).unwrap_or_default();
        let sign = if number.starts_with('-') { "-" } else { "" };
        (place.clone(), format!("{sign}{value}"))
    };
    let values = |value: usize| places.iter().map(move |place| signed(place, value));
    let mut singles: Vec<Change> = around(constant).into_iter().flat_map(values).collect();
    if constant > MOST_TIMES && constant.saturating_mul(text.len()) > LARGEST {
        made.extend(some(&singles, EACH).map(|one| changed(text, &[one])));
        return;
    }
    let asking: Vec<Change> = values(constant.saturating_add(1)).collect();
    let parts = parts(text, constant);
    for in_brackets in [true, false] {
        let all = parts.iter().filter(|(_, ends)| *ends == Some(in_brackets));
        let all: Vec<&Change> = all.map(|(change, _)| change).collect();
        made.extend(all_longer(text, &all, &asking));
    }
    let mut longer: Vec<Change> = parts.into_iter().map(|(change, _)| change).collect();
    longer.extend(lines_and_brackets(text, constant));
    singles.extend(longer.iter().cloned());
    singles.extend(words(text, constant));
    let singles = some(&singles, EACH);
    made.extend(singles.map(|one| changed(text, &[one])));
    let pairs = asking.iter().flat_map(|one| {
        let others = longer.iter().filter(|other| are_apart(one, other));
        others.map(move |other| [one, other])
    });
    let pairs: Vec<[&Change; 2]> = pairs.collect();
    made.extend(some(&pairs, EACH).map(|pair| changed(text, pair)));
}

/// Makes all these items longer, also together with one number that refers to their end.
fn all_longer(text: &str, all: &[&Change], asking: &[Change]) -> Vec<Vec<u8>> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut made = vec![changed(text, all)];
    made.extend(some(asking, EACH / 2).map(|one| {
        let apart = all.iter().copied().filter(|other| are_apart(one, other));
        changed(text, &apart.chain([one]).collect::<Vec<_>>())
    }));
    made
}

/// Chooses among many by a fixed hash of their numbers.
fn some<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let numbered = all.iter().enumerate();
    let mut numbered: Vec<(u64, &T)> = numbered
        .map(|(number, one)| (hasher.hash_one(number), one))
        .collect();
    numbered.sort_by_key(|(hash, _)| *hash);
    numbered.into_iter().take(most).map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::{Dictionary, EACH};
    use proptest::prelude::*;

    const ALL: usize = usize::MAX;

    fn made(dictionary: &Dictionary, input: &str) -> Vec<String> {
        let made = dictionary.mutants(input.as_bytes(), ALL).into_iter();
        made.map(|m| String::from_utf8(m).unwrap()).collect()
    }

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
            let povs = [pov.as_bytes().to_vec()];
            let harmless = [given.as_bytes().to_vec()];
            let dictionary = Dictionary::default().with_povs(&povs, &harmless);
            assert_eq!(made(&dictionary, given), expected, "{pov} {given}");
        }
        let tokens = Dictionary::default().with_povs(&["77".into()], &[]);
        assert_eq!(made(&tokens, &"1 ".repeat(9000)).len(), 2 * EACH + 2);
        assert_eq!(tokens.mutants(b"1 2 3 1", 2), [b"77 2 3 1", b"1 77 3 1"]);
        assert!(tokens.mutants(&[0xff, b'1'], ALL).is_empty());
    }

    #[test]
    fn bounds_are_tried_at_below_and_above() {
        let sizes = Dictionary::new(&[4]).at_bounds(b"ab");
        assert_eq!(sizes, [&b"abab"[..], b"ababa", b"aba"]);
        let dictionary = Dictionary::default().with_povs(&["f(77, 1)".into()], &["f(1)".into()]);
        let made = dictionary.at_bounds(b"f(77, 1)");
        for end in [
            "0",
            "-1",
            "2147483648",
            "1073741824",
            "18446744073709551615",
        ] {
            let expected = format!("f({end}, 1)").into_bytes();
            assert!(made.contains(&expected), "{end}");
        }
        assert!(dictionary.at_bounds(&[0xff]).is_empty());
    }

    #[test]
    fn the_same_change_is_made_everywhere() {
        for (pov, expected) in [
            (
                "|a|b|\n|:-|-:|\nc\n",
                vec![
                    "|a|b|b|\n|:-|-:|-:|\nc\n",
                    "|a|b|b|b|\n|:-|-:|-:|-:|\nc\n",
                    "|a|\n|:-|\nc\n",
                ],
            ),
            (
                "a,b\r\n1,2",
                vec!["a,b,b\r\n1,2,2", "a,b,b,b\r\n1,2,2,2", "a\r\n1"],
            ),
            ("f(7) g(7) 8", vec!["f(8) g(8) 8", "f(6) g(6) 8"]),
            ("a,b\nc", vec![]),
            ("é|\n|", vec!["é|é|\n||", "é|é|é|\n|||", "\n"]),
        ] {
            assert_eq!(made(&Dictionary::default(), pov), expected, "{pov:?}");
        }
        let binary = [0xff, b',', b'\n', b','];
        assert!(Dictionary::default().mutants(&binary, ALL).is_empty());
    }

    #[test]
    fn texts_are_brought_to_a_constant_and_beyond() {
        let made = made(&Dictionary::new(&[3]), "f(a, -1)\nlongword [x]\n");
        for expected in [
            "f(a, -2)\nlongword [x]\n",
            "f(a, -3)\nlongword [x]\n",
            "f(a, -4)\nlongword [x]\n",
            "f(a, -1, -1, -1, -1)\nlongword [x]\n",
            "f(a, -1)\nlon [x]\n",
            "f(a, -1)\nlong [x]\n",
            "f(a, -1)\nlongword [[[[x]]]]\n",
            "f(aaaa, -1)\nlongword [x]\n",
            // A number that refers to the last of the added parts.
            "f(a, -4, -1, -1, -1)\nlongword [x]\n",
            // A larger number together with more lines.
            "f(a, -4)\nlongword [x]\nlongword [x]\nlongword [x]\nlongword [x]\n",
        ] {
            assert!(made.iter().any(|m| m == expected), "{expected:?} {made:#?}");
        }
    }

    #[test]
    fn headers_hold_a_constant_in_every_place() {
        let made = Dictionary::new(&[300]).mutants(b"\0abc", ALL);
        assert!(made.contains(&b"\x01\x2cbc".to_vec()) && made.contains(&b"\0a\x2d\x01".to_vec()));
        let made = Dictionary::new(&[7]).mutants(b"\0ab", ALL);
        assert!(made.contains(&b"\0\x08b".to_vec()) && made.contains(&b"\0\x06b".to_vec()));
        // A length of 40 reads as a bracket, and yet this is no text.
        let made = Dictionary::new(&[16]).mutants(b"\x01(AA", ALL);
        assert!(made.contains(&b"\x01\x11AA".to_vec()), "{made:?}");
        let long = [&b"\x01\x28"[..], &[b'A'; 60]].concat();
        let most = Dictionary::new(&[16, 300]).mutants(&long, 384);
        for begin in [&b"\x01\x11A"[..], b"\x01\x28\x01\x2d"] {
            assert!(most.iter().any(|one| one.starts_with(begin)), "{begin:?}");
        }
    }

    proptest! {
        #[test]
        fn any_input_will_do(input in prop::collection::vec(any::<u8>(), 0..60), text in "[a-z0-9,;|()\\[\\]{}\n é-]{0,60}", constant in 2..4096u64) {
            let dictionary = Dictionary::new(&[constant]).with_povs(&["-77 9".into()], &[]);
            prop_assert!(dictionary.mutants(&input, ALL).len() <= 9 * 48 + 2 * 48 + 16 + 12 + 50 + 96);
            prop_assert!(dictionary.mutants(text.as_bytes(), ALL).len() <= 2 * 48 + 16 + 12 + 50 + 96);
        }
    }
}
