//! Bounds of a patch: the constants that it brings, and those behind the macros that it names.
//!
//! A bound often stands in a macro, and the patch names it or a multiple of it. Inputs at, below
//! and above the bound show whether it is right.

use crate::attempt::AttemptFacts;
use crate::review::{constants, integer};
use std::collections::BTreeMap;

const MOST: usize = 6;

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
    let mut seen = std::collections::BTreeSet::new();
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

#[cfg(test)]
mod tests {
    use super::bounds;
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
}
