//! Inputs that are aimed at the numbers which a patch compares with.
//!
//! A bound that stops short shows only on inputs that go beyond it, and given
//! ones are small. So numbers, words, lists and nesting of inputs that reach a
//! touched function are brought to the patch's own numbers and one beyond.
//! Where the patched program refuses such an input this is left to the critic:
//! it may be what the repair is about. Where both accept it and print something
//! else, the patch is refuted. Nothing is tried where the PoV eats up stack,
//! memory or time, for there a bound of any size is the repair.

use super::pool::{Input, Kind};
use super::{CHUNK, Comparison, Difference};
use crate::TargetError;
use crate::crash::CrashReport;
use crate::mutation::numbers;
use crate::rung::reviewed::{code, diff};
use crate::target::Outcome;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Numbers of a patch that are aimed at.
const BOUNDS: usize = 3;
/// The largest of them: more copies of anything make an input too large.
const LARGEST_BOUND: u64 = 4096;
/// Inputs that others are made from.
const SEEDS: usize = 4;
/// The largest such input, in bytes.
const LARGEST_SEED: usize = 1 << 14;
/// The largest input that is made, in bytes.
const LARGEST: usize = 1 << 20;
/// Inputs that are made of one: with one change, and with two at once, a number
/// that asks for the last of many things among them.
const SINGLES: usize = 48;
const PAIRS: usize = 48;
/// Least time for all of them, however long a busy machine took for the rest.
const LEAST: Duration = Duration::from_secs(5);
/// Bytes at the begin of a binary input that are set: its header.
const HEAD: usize = 48;
/// What stands between the parts of a list.
const SEPARATORS: [char; 3] = [',', ';', '|'];
/// Brackets that a part of a list may open.
const OPENING: [char; 3] = ['(', '[', '{'];
/// What ends a part of a list besides separators.
const CLOSING: [char; 4] = [')', ']', '}', '\n'];

impl Comparison<'_> {
    /// Compares the outputs of inputs that are aimed at the patch's numbers.
    pub(super) async fn aimed(
        &mut self,
        diff: &str,
        left: Duration,
    ) -> Result<Option<Difference>, TargetError> {
        let bounds = bounds(diff);
        if bounds.is_empty() || self.is_exhaustion() {
            return Ok(None);
        }
        let (started, left) = (Instant::now(), left.max(LEAST));
        let mut inputs = self.inputs_at(&bounds);
        while !inputs.is_empty() {
            let left = left.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            let count = self.fits(left).min(CHUNK).min(inputs.len());
            let chunk: Vec<Input> = inputs.drain(..count).collect();
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
        }
        Ok(None)
    }

    fn is_exhaustion(&self) -> bool {
        let before = &self.before.replay;
        let crash = before.crash.as_ref();
        let overflows = crash.is_some_and(CrashReport::is_stack_overflow);
        overflows || matches!(before.outcome, Outcome::Hung | Outcome::Exhausted(_))
    }

    fn inputs_at(&self, bounds: &[u64]) -> Vec<Input> {
        let mut seeds: Vec<&Input> = self.reaching.iter().collect();
        seeds.retain(|seed| seed.bytes.len() <= LARGEST_SEED);
        seeds.sort_by_key(|seed| seed.kind as u8);
        let made = seeds.iter().take(SEEDS).flat_map(|seed| {
            let made = aimed(&seed.bytes, bounds).into_iter().enumerate();
            made.map(|(number, bytes)| Input {
                kind: Kind::Aimed,
                name: format!("{}, changed towards a bound ({number})", seed.name),
                bytes,
                parent: None,
                fresh: false,
            })
        });
        made.collect()
    }
}

/// The numbers that a patch brings in.
fn bounds(text: &str) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    for file in diff::read(text) {
        let of = |sign| -> Vec<u64> {
            let lines = file.lines(sign).map(|line| code::bare(&line.text));
            lines.flat_map(|line| integers(&line)).collect()
        };
        let removed: BTreeSet<u64> = of(diff::Sign::Removed).into_iter().collect();
        for number in of(diff::Sign::Added) {
            let usable = (2..=LARGEST_BOUND).contains(&number);
            if usable && !removed.contains(&number) && !found.contains(&number) {
                found.push(number);
            }
        }
    }
    found.truncate(BOUNDS);
    found
}

/// The integers in a line without comments and texts; digits of names are none.
fn integers(line: &str) -> Vec<u64> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
        .filter_map(|word| {
            let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
            match word.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => word.parse().ok(),
            }
        })
        .collect()
}

/// An input brought to the bounds in many ways.
fn aimed(input: &[u8], bounds: &[u64]) -> Vec<Vec<u8>> {
    let mut made = Vec::new();
    for bound in bounds {
        let bound = usize::try_from(*bound).unwrap_or(usize::MAX);
        match std::str::from_utf8(input) {
            Ok(text) if !text.contains('\0') => texts(text, bound, &mut made),
            _ => headers(input, bound, &mut made),
        }
    }
    let mut seen = BTreeSet::from([input.to_vec()]);
    made.retain(|bytes| bytes.len() <= LARGEST && seen.insert(bytes.clone()));
    made
}

/// A change of a text: what stands in a place gives way to something else.
type Change = (Range<usize>, String);

fn texts(text: &str, bound: usize, made: &mut Vec<Vec<u8>>) {
    let mut asking = Vec::new();
    let mut singles = Vec::new();
    for place in numbers(text) {
        let sign = if text.get(place.clone()).is_some_and(|n| n.starts_with('-')) {
            "-"
        } else {
            ""
        };
        singles.push((place.clone(), format!("{sign}{bound}")));
        asking.push((place, format!("{sign}{}", bound + 1)));
    }
    let lists = lists(text, bound);
    let mut longer: Vec<Change> = lists.iter().map(|list| list.change.clone()).collect();
    longer.extend(lines_and_brackets(text, bound));
    for in_brackets in [true, false] {
        let all = lists
            .iter()
            .filter(|list| list.in_brackets == Some(in_brackets));
        let all: Vec<&Change> = all.map(|list| &list.change).collect();
        made.extend(all_longer(text, &all, &asking));
    }
    singles.extend(asking.iter().cloned());
    singles.extend(longer.iter().cloned());
    singles.extend(words(text, bound));
    made.extend(
        some(singles, SINGLES)
            .iter()
            .map(|one| changed(text, &[one])),
    );
    let pairs = asking.iter().flat_map(|one| {
        let others = longer.iter().filter(|other| are_apart(one, other));
        others.map(move |other| (one, other))
    });
    let pairs = some(pairs, PAIRS);
    made.extend(
        pairs
            .iter()
            .map(|(one, other)| changed(text, &[one, other])),
    );
}

/// A text with all its lists longer than the bound, and one number that asks
/// for the end of one of them.
fn all_longer(text: &str, all: &[&Change], asking: &[Change]) -> Vec<Vec<u8>> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut made = vec![changed(text, all)];
    let asked = asking.iter().map(|one| {
        let apart = all.iter().copied().filter(|other| are_apart(one, other));
        changed(text, &apart.chain([one]).collect::<Vec<_>>())
    });
    made.extend(some(asked, SINGLES / 2));
    made
}

fn are_apart(one: &Change, other: &Change) -> bool {
    other.0.end <= one.0.start || one.0.end <= other.0.start
}

/// A list with one of its parts repeated.
struct List {
    change: Change,
    /// For the last part, whether a bracket ends the list, or a line does.
    in_brackets: Option<bool>,
}

/// Lists with more parts than the bound.
fn lists(text: &str, bound: usize) -> Vec<List> {
    let mut found = Vec::new();
    for (at, separator) in text.match_indices(SEPARATORS) {
        let rest = text.get(at + separator.len()..).unwrap_or_default();
        let ends = |c: char| SEPARATORS.contains(&c) || CLOSING.contains(&c);
        let end = rest.find(ends).unwrap_or(rest.len());
        let (inside, after) = rest.split_at(end);
        // What opens a bracket is only half of a part.
        if inside.contains(OPENING) {
            continue;
        }
        let place = at + separator.len() + end;
        let part = text.get(at..place).unwrap_or_default();
        found.push(List {
            change: (place..place, part.repeat(bound)),
            in_brackets: match after.chars().next() {
                Some(')' | ']' | '}') => Some(true),
                Some('\n') | None => Some(false),
                Some(_) => None,
            },
        });
    }
    found
}

/// Lines repeated as often as the bound, and brackets nested as deep.
fn lines_and_brackets(text: &str, bound: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        found.push((end..end, line.repeat(bound)));
        start = end;
    }
    for (open, close) in [('[', ']'), ('{', '}'), ('(', ')')] {
        let Some((first, last)) = text.find(open).zip(text.rfind(close)) else {
            continue;
        };
        if let Some(inside) = text.get(first..=last) {
            let (open, close) = (open.to_string(), close.to_string());
            let deep = format!("{}{inside}{}", open.repeat(bound), close.repeat(bound));
            found.push((first..last + 1, deep));
        }
    }
    found
}

/// Words as long as the bound, and one letter longer.
fn words(text: &str, bound: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let place = at..at + word.len();
        at += part.len();
        if !word.chars().all(char::is_alphabetic) {
            continue;
        }
        let Some(last) = word.chars().next_back() else {
            continue;
        };
        for length in [bound, bound + 1] {
            let letters = word.chars().chain(std::iter::repeat(last));
            found.push((place.clone(), letters.take(length).collect()));
        }
    }
    found
}

/// A binary input with the bound where its header may hold a length or a count.
fn headers(input: &[u8], bound: usize, made: &mut Vec<Vec<u8>>) {
    for value in [bound, bound + 1] {
        let Ok(value) = u16::try_from(value) else {
            continue;
        };
        for at in 0..input.len().min(HEAD) {
            if let Ok(byte) = u8::try_from(value) {
                made.extend(set(input, at, &[byte]));
            }
            made.extend(set(input, at, &value.to_be_bytes()));
            made.extend(set(input, at, &value.to_le_bytes()));
        }
    }
}

fn set(input: &[u8], at: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut made = input.to_vec();
    made.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
    Some(made)
}

/// A fair choice among many, the same every time.
fn some<T>(all: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    let mut numbered: Vec<(u64, T)> = all
        .into_iter()
        .enumerate()
        .map(|(number, one)| {
            let mut hasher = DefaultHasher::new();
            number.hash(&mut hasher);
            (hasher.finish(), one)
        })
        .collect();
    numbered.sort_by_key(|(hash, _)| *hash);
    numbered.truncate(most);
    numbered.into_iter().map(|(_, one)| one).collect()
}

/// A text with some changes made, which do not overlap.
fn changed(text: &str, changes: &[&Change]) -> Vec<u8> {
    let mut changes = changes.to_vec();
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut made = text.to_owned();
    for (place, with) in changes {
        made.replace_range(place.clone(), with);
    }
    made.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::{aimed, bounds};
    use proptest::prelude::*;

    #[test]
    fn the_numbers_that_a_patch_brings_in_are_its_bounds() {
        for (diff, expected) in [
            (
                "-  if (n <= 7)\n+  if (n <= 7 && n < 9 && a1 > 2.5)\n",
                vec![9],
            ),
            ("-  f();\n+  f(0x10u, 1, 5000); // 3\n", vec![16]),
            ("-  f();\n+  g(\"8\");\n", vec![]),
        ] {
            let diff = format!("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n{diff}");
            assert_eq!(bounds(&diff), expected, "{diff}");
        }
    }

    #[test]
    fn texts_are_brought_to_a_bound_and_beyond() {
        let made = aimed(b"f(a, -1)\nlongword [x]\n", &[3]);
        let made: Vec<_> = made.iter().map(|m| String::from_utf8_lossy(m)).collect();
        for expected in [
            "f(a, -3)\nlongword [x]\n",
            "f(a, -4)\nlongword [x]\n",
            "f(a, -1, -1, -1, -1)\nlongword [x]\n",
            "f(a, -1)\nlon [x]\n",
            "f(a, -1)\nlong [x]\n",
            "f(a, -1)\nlongword [[[[x]]]]\n",
            "f(aaaa, -1)\nlongword [x]\n",
            // A number that asks for more than there was, where there is more.
            "f(a, -4, -1, -1, -1)\nlongword [x]\n",
            // A number that asks for more, and more lines, at once.
            "f(a, -4)\nlongword [x]\nlongword [x]\nlongword [x]\nlongword [x]\n",
        ] {
            assert!(made.iter().any(|m| m == expected), "{expected:?} {made:#?}");
        }
    }

    #[test]
    fn headers_hold_the_bound_in_every_place() {
        let made = aimed(b"\0abc", &[300]);
        assert!(made.contains(&b"\x01\x2cbc".to_vec()) && made.contains(&b"\0a\x2d\x01".to_vec()));
        assert!(aimed(b"\0ab", &[7]).contains(&b"\0\x08b".to_vec()));
    }

    proptest! {
        #[test]
        fn any_input_will_do(input in prop::collection::vec(any::<u8>(), 0..60), text in "[a-z0-9,;|()\\[\\]{}\n é-]{0,60}", bound in 2..4096u64) {
            prop_assert!(aimed(&input, &[bound]).len() <= 288);
            prop_assert!(aimed(text.as_bytes(), &[bound]).len() <= 146);
        }
    }
}
