//! Announcement of an example in the prose before a block.

use patchwright_source::regex;

/// Returns true when the last sentence of a text announces an example.
pub(super) fn introduces_example(before: &str) -> bool {
    let mut lines = before.lines().rev().take(5);
    let Some(line) = lines.find(|line| !line.trim().is_empty()) else {
        return false;
    };
    let line = line.to_ascii_lowercase();
    let sentence = line.trim().trim_end_matches([':', '.']);
    let last = sentence.rsplit(". ").next().unwrap_or(sentence);
    let words = regex!(
        r"for example|e\.g\.|an example|example of|would look like|previous (?:patch|attempt)(?: was|:)|previously i |i sent:|the format is|format looks like"
    );
    words.is_match(&format!("{last}:"))
}
