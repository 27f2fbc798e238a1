//! Inputs that are aimed at the numbers which a patch compares with.
//!
//! A bound that stops short shows only on inputs that go beyond it, and given
//! ones are small. So numbers, words, lists and nesting of inputs that reach a
//! touched function are brought to the patch's own numbers and one beyond.
//! Where the patched program refuses such an input this is left to the critic:
//! it may be what the repair is about. Where both accept it and print something
//! else, the patch is refuted. Nothing is tried where the PoV eats up stack,
//! memory or time, for there a bound of any size is the repair.

mod texts;

use super::pool::{ComparedInput, InputKind};
use super::{CHUNK, Comparison, Difference};
use crate::TargetError;
use crate::crash::CrashReport;
use crate::review::{code, diff};
use crate::runner::Outcome;
use std::collections::BTreeSet;
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
/// Least time for all of them, however long a busy machine took for the rest.
const LEAST: Duration = Duration::from_secs(5);
/// Bytes at the begin of a binary input that are set: its header.
const HEAD: usize = 48;
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
            let chunk: Vec<ComparedInput> = inputs.drain(..count).collect();
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

    fn inputs_at(&self, bounds: &[u64]) -> Vec<ComparedInput> {
        let mut seeds: Vec<&ComparedInput> = self.reaching.iter().collect();
        seeds.retain(|seed| seed.bytes.len() <= LARGEST_SEED);
        seeds.sort_by_key(|seed| seed.kind as u8);
        let made = seeds.iter().take(SEEDS).flat_map(|seed| {
            let made = aimed(&seed.bytes, bounds).into_iter().enumerate();
            made.map(|(number, bytes)| ComparedInput {
                kind: match seed.kind {
                    InputKind::Derived => InputKind::Derived,
                    _ => InputKind::Aimed,
                },
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
            Ok(text) if !text.contains('\0') => texts::towards(text, bound, &mut made),
            _ => headers(input, bound, &mut made),
        }
    }
    let mut seen = BTreeSet::from([input.to_vec()]);
    made.retain(|bytes| bytes.len() <= LARGEST && seen.insert(bytes.clone()));
    made
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
