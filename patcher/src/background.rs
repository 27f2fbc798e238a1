//! Background of a patch: names that are known, and what was tried before.

use crate::diff::parse_diff;
use crate::pristine::{key, says_something};
use crate::{Edit, Hunk};
use std::collections::HashSet;

/// Diffs beyond this many, from the last one back, are not looked at.
const MOST_ATTEMPTS: usize = 50;

/// Knowledge beside the tree.
#[derive(Clone, Copy)]
pub struct Background<'a> {
    /// Returns true when a name is known in the tree or its headers.
    pub knows: &'a dyn Fn(&str) -> bool,
    /// Earlier attempts by their numbers, in order, each with its diff. A
    /// model quotes their lines as if they were in the tree.
    pub attempts: &'a [(u32, String)],
}

impl std::fmt::Debug for Background<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let attempts = self.attempts.iter().map(|(number, _)| number);
        f.debug_list().entries(attempts).finish()
    }
}

impl Background<'_> {
    /// Returns the last attempt that added at least half of some lines which
    /// are not in the tree.
    pub(crate) fn attempt_that_added(&self, lines: &[&String]) -> Option<u32> {
        if !says_something(lines.iter().copied()) {
            return None;
        }
        let wanted: Vec<u64> = lines.iter().map(|line| key(line)).collect();
        let mut attempts = self.attempts.iter().rev().take(MOST_ATTEMPTS);
        let found = attempts.find(|(_, diff)| {
            let added = added_lines(diff);
            let count = wanted.iter().filter(|key| added.contains(key)).count();
            count > 0 && count * 2 >= wanted.len()
        });
        found.map(|(number, _)| *number)
    }
}

/// The lines that a diff adds, without whitespace.
fn added_lines(diff: &str) -> HashSet<u64> {
    let mut added = HashSet::new();
    for edit in parse_diff(diff, false, None) {
        match edit {
            Edit::Hunk(Hunk { old, new, .. }) => {
                let old: HashSet<u64> = old.iter().map(|line| key(line)).collect();
                let new = new.iter().map(|line| key(line));
                added.extend(new.filter(|key| *key != 0 && !old.contains(key)));
            }
            Edit::Create { text, .. } => added.extend(text.lines().map(key)),
            _ => {}
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::Background;

    #[test]
    fn recognises_what_an_attempt_added() {
        let attempts = [
            (
                1,
                "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,3 @@\n a;\n+if (p == NULL) return;\n b;\n",
            ),
            (2, "--- a/a.c\n+++ b/a.c\n@@ -1 +1,2 @@\n a;\n+check(p);\n"),
        ]
        .map(|(number, diff)| (number, diff.to_owned()));
        let background = Background {
            knows: &|_| true,
            attempts: &attempts,
        };
        for (lines, expected) in [
            (vec!["  if (p == NULL)  return;"], Some(1)),
            (vec!["check(p);"], Some(2)),
            (vec!["check(p);", "other(p);"], Some(2)),
            (vec!["check(p);", "other(p);", "third(p);"], None),
            (vec!["a;"], None),
            (vec!["}"], None),
        ] {
            let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
            let lines: Vec<&String> = lines.iter().collect();
            assert_eq!(background.attempt_that_added(&lines), expected, "{lines:?}");
        }
    }
}
