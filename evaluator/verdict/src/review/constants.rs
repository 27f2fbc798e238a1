//! Constants of a patch: the integers that its added lines introduce.

use super::code::bare;
use patchwright_source::{FileDiff, Side};
use std::collections::BTreeSet;

/// The most constants that are used.
const MOST: usize = 3;
/// The largest of them: more copies of anything make an input too large.
const LARGEST: u64 = 4096;

/// Returns the integers of added lines that are in no removed line of the same file. A diff
/// that cannot be read has none, and leaves the rung *reviewed* open.
pub(crate) fn constants(diff: &str) -> Vec<u64> {
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
    found.truncate(MOST);
    found
}

/// Returns the integers of a line without comments; digits of names are none.
fn integers(line: &str) -> Vec<u64> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
        .filter_map(integer)
        .collect()
}

/// Returns the value of an integer of a source file, be its suffix what it may.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::constants;

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
