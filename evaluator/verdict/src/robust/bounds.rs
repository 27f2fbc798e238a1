//! Bounds of a patch: the constants that it brings, and those behind the macros that it names.
//!
//! A bound often stands in a macro, and the patch names it or a multiple of it. Inputs at, below
//! and above the bound show whether it is right.

use crate::attempt::AttemptFacts;
use crate::review::{bare, integer};
use patchwright_source::{FileDiff, Side};
use std::collections::{BTreeMap, BTreeSet};

const MOST: usize = 6;
/// The most constants of the diff itself that are used.
const MOST_CONSTANTS: usize = 3;
/// The largest of them: more copies of anything make an input too large.
const LARGEST: u64 = 4096;

/// Returns the constants of a patch: macros of a file on the lines that it writes there, times
/// the numbers beside them, then the numbers themselves.
pub(crate) fn bounds(attempt: &AttemptFacts) -> Vec<u64> {
    let numbers = constants(&attempt.diff);
    let mut found: Vec<u64> = Vec::new();
    for touched in &attempt.touched {
        let bytes = attempt.changes.new_content(&touched.path);
        let text = String::from_utf8_lossy(bytes.unwrap_or_default());
        let macros: BTreeMap<&str, u64> = text.lines().filter_map(integer_macro).collect();
        let lines = text.lines().zip(1..);
        for (line, _) in lines.filter(|(_, line)| touched.wrote(*line)) {
            let words = || line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for value in words().filter_map(|word| macros.get(word)) {
                let times = words().filter_map(|word| word.parse::<u64>().ok());
                found.extend(times.filter_map(|times| value.checked_mul(times)));
                found.push(*value);
            }
        }
    }
    found.extend(numbers);
    let mut seen = BTreeSet::new();
    found.retain(|bound| *bound > 1 && seen.insert(*bound));
    found.truncate(MOST);
    found
}

/// Returns the name and value of a macro that is an integer.
fn integer_macro(line: &str) -> Option<(&str, u64)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let (name, value) = rest.strip_prefix("define ")?.trim().split_once(' ')?;
    let value = value.split(['/', ' ']).find(|part| !part.is_empty())?;
    Some((name, integer(value.trim_matches(['(', ')']))?))
}

/// Returns the integers of added lines that are in no removed line of the same file. A diff
/// that cannot be read has none, and leaves the rung *reviewed* open.
fn constants(diff: &str) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    for file in FileDiff::read(diff).unwrap_or_default() {
        let of = |sign| -> Vec<u64> {
            let lines = file.lines(sign).map(|line| bare(&line.text));
            lines.flat_map(|line| integers(&line)).collect()
        };
        let removed: BTreeSet<u64> = of(Side::Old).into_iter().collect();
        for number in of(Side::New) {
            let usable = (2..=LARGEST).contains(&number);
            if usable && !removed.contains(&number) && !found.contains(&number) {
                found.push(number);
            }
        }
    }
    found.truncate(MOST_CONSTANTS);
    found
}

/// Returns the integers of a line without comments; digits of names are none.
fn integers(line: &str) -> Vec<u64> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
        .filter_map(integer)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{bounds, constants};
    use crate::attempt::AttemptFacts;
    use patchwright_source::{Touched, TreePath};

    #[test]
    fn a_bound_may_stand_in_a_macro() {
        let text = "#define ROOM 16 /* bytes */\n# define MASK (0xffu)\n#define F(x) x\nint f(int n) {\n  if (n > 2 * ROOM)\n    return MASK;\n  return n;\n}\n";
        let path = TreePath::new("a.c").unwrap();
        for (lines, expected) in [
            ((5, 5), vec![32, 16, 2]),
            ((6, 6), vec![255, 2]),
            ((7, 7), vec![2]),
        ] {
            let mut attempt = AttemptFacts {
                diff: "--- a/a.c\n+++ b/a.c\n@@ -4,0 +5 @@\n+  if (n > 2 * ROOM)\n".to_owned(),
                ..AttemptFacts::default()
            };
            attempt.changes.files.insert(path.clone(), text.into());
            attempt.touched = vec![Touched {
                path: path.clone(),
                old: vec![],
                new: vec![lines],
            }];
            assert_eq!(bounds(&attempt), expected);
        }
    }

    #[test]
    fn only_what_a_patch_brings_in_counts() {
        for (diff, expected) in [
            (
                "-  if (n <= 7)\n+  if (n <= 7 && n < 9 && a1 > 2.5)\n",
                vec![9],
            ),
            ("-  f();\n+  f(0x10u, 1, 5000); // 3\n", vec![16]),
            ("-  f();\n+  g(\"8\");\n", vec![]),
        ] {
            let diff = format!("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n{diff}");
            assert_eq!(constants(&diff), expected, "{diff}");
        }
    }
}
