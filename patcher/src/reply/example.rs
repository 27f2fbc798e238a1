//! Announcement of an example in the prose before a block.

/// Words that introduce a fence as something that is not the answer.
const EXAMPLE_WORDS: [&str; 14] = [
    "for example",
    "e.g.",
    "an example",
    "example of",
    "as an example",
    "would look like",
    "previous patch was",
    "previous attempt was",
    "previous patch:",
    "previous attempt:",
    "previously i ",
    "i sent:",
    "the format is",
    "format looks like",
];

/// Returns true when the last sentence of a text announces an example.
pub(super) fn introduces_example(before: &str) -> bool {
    let mut lines = before.lines().rev().take(5);
    let Some(line) = lines.find(|line| !line.trim().is_empty()) else {
        return false;
    };
    let line = line.to_ascii_lowercase();
    let sentence = line.trim().trim_end_matches([':', '.']);
    let last = sentence.rsplit(". ").next().unwrap_or(sentence);
    let with_colon = format!("{last}:");
    EXAMPLE_WORDS.iter().any(|words| with_colon.contains(words))
}
