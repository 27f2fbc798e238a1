//! Intent of a request: the kind of help it asks for, told by its words alone, and how the
//! budget is divided for it. Rules only: the same words give the same intent.

use patchwright_source::words;

/// The six kinds of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Intent {
    DefinitionLookup,
    UsageExploration,
    Implementation,
    BugFix,
    Refactor,
    TestWriting,
}

words!(Intent: DefinitionLookup "DEFINITION_LOOKUP", UsageExploration "USAGE_EXPLORATION",
    Implementation "IMPLEMENTATION", BugFix "BUG_FIX", Refactor "REFACTOR",
    TestWriting "TEST_WRITING");

/// The phrases of each kind of request, and what each of them weighs. A phrase ends where a
/// word does; ` * ` stands for up to four words.
const PHRASES: &str = include_str!("intent/phrases.txt");

/// Words that ask for something when a request begins with them.
const TO_DO: &str = "add allow build change cache configure create disallow enable ensure extend implement \
     improve introduce let limit make only optimize permit prevent provide reduce remove \
     replace require restrict return send set speed store strip support update use warn write";

/// Weight of a beginning that asks for something to be done.
const BEGINS: u32 = 4;
/// From this many words on, words that ask for nothing are a statement.
const STATEMENT: usize = 5;

/// The intent of a request and how sure that is, 0 to 1.
pub(crate) fn detect(text: &str) -> (Intent, f64) {
    if is_stack_trace(text) {
        return (Intent::BugFix, 0.9);
    }
    let words: Vec<String> = text
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let mut scores: Vec<(u32, Intent)> = Intent::ALL
        .into_iter()
        .map(|intent| {
            let said: u32 = marks_of(intent)
                .map(|(weight, phrases)| {
                    let said = phrases.split(", ").filter(|phrase| says(&words, phrase));
                    weight * said.count() as u32
                })
                .sum();
            let begins = intent == Intent::Implementation && asks_to_do(&words);
            (said + if begins { BEGINS } else { 0 }, intent)
        })
        .collect();
    scores.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    match scores.as_slice() {
        [(best, intent), (second, _), ..] if *best > 0 => {
            let lead = f64::from(best - second) / f64::from(*best);
            (*intent, (0.5 + 0.4 * lead).min(0.9))
        }
        // Who says what is, and asks for nothing, reports a flaw.
        _ if words.len() >= STATEMENT && !asks_to_do(&words) => (Intent::BugFix, 0.4),
        _ => (Intent::Implementation, 0.3),
    }
}

/// The phrases of one kind of request with their weights.
fn marks_of(intent: Intent) -> impl Iterator<Item = (u32, &'static str)> {
    PHRASES.lines().filter_map(move |line| {
        let (mark, phrases) = line.split_once(": ")?;
        let weight = mark.strip_prefix(intent.as_str())?.trim().parse().ok()?;
        Some((weight, phrases))
    })
}

/// Returns whether a request begins with what shall be done.
fn asks_to_do(words: &[String]) -> bool {
    let first = words.iter().find(|word| *word != "please");
    first.is_some_and(|word| TO_DO.split(' ').any(|one| one == word))
}

/// Words of reports of crashes.
const TRACES: [&str; 6] = [
    "Traceback (most recent call last)",
    "ERROR: AddressSanitizer",
    "runtime error:",
    "SUMMARY: ",
    "Exception in thread",
    "== Java Exception",
];

fn is_stack_trace(text: &str) -> bool {
    TRACES.iter().any(|mark| text.contains(mark))
        || text.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with("at ") && line.ends_with(')') || line.starts_with("#0 0x")
        })
}

/// Returns whether the words of a phrase follow each other; `*` skips up to four.
fn says(words: &[String], phrase: &str) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    (0..words.len()).any(|start| follows(words.get(start..).unwrap_or_default(), &parts))
}

fn follows(words: &[String], parts: &[&str]) -> bool {
    match parts {
        [] => true,
        ["*", rest @ ..] => {
            (1..=4).any(|skip| words.get(skip..).is_some_and(|left| follows(left, rest)))
        }
        [part, rest @ ..] => match words {
            [word, left @ ..] => word == part && follows(left, rest),
            [] => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Intent, detect};

    #[test]
    fn tells_intents_apart() {
        for (text, expected) in [
            ("where is ChatGPT defined?", Intent::DefinitionLookup),
            (
                "what is the SweepConfig class and where is it defined?",
                Intent::DefinitionLookup,
            ),
            ("who calls get_relevant_context", Intent::UsageExploration),
            (
                "where is the token counter used across the code",
                Intent::UsageExploration,
            ),
            (
                "implement a new symbol resolver that uses tree-sitter",
                Intent::Implementation,
            ),
            (
                "add validation for file paths in the modify agent",
                Intent::Implementation,
            ),
            (
                "make the code review process faster by parallelizing",
                Intent::Implementation,
            ),
            ("fix the bug in context_pruning.py", Intent::BugFix),
            (
                "sweep bot is not correctly parsing file change requests",
                Intent::BugFix,
            ),
            (
                "users are reporting that the log parsing misses error lines",
                Intent::BugFix,
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\"",
                Intent::BugFix,
            ),
            (
                "==1==ERROR: AddressSanitizer: heap-buffer-overflow",
                Intent::BugFix,
            ),
            (
                "rename parse_row to read_row and clean up its callers",
                Intent::Refactor,
            ),
            ("write tests for ChatGPT", Intent::TestWriting),
            ("add unit tests for the zip reader", Intent::TestWriting),
            ("", Intent::Implementation),
            ("segfault in png_read_row", Intent::BugFix),
            ("double free in xmlFreeDoc", Intent::BugFix),
            ("NULL deref of ctx in evp_cipher", Intent::BugFix),
            ("OOM while parsing a font", Intent::BugFix),
            ("buffer overrun in copy_row", Intent::BugFix),
            ("the parser aborts on empty input", Intent::BugFix),
        ] {
            assert_eq!(detect(text).0, expected, "{text}");
        }
        assert!(detect("Traceback (most recent call last):").1 >= 0.9);
        assert!(detect("hello").1 < 0.5);
    }
}
