//! Crashes without a sanitizer: messages of the C library before it aborts, failed
//! assertions, uncaught exceptions, and signals as shells and other parents report them.

use super::draft::{Draft, Part};
use super::log_lines::Log;
use super::{Family, Strength, Tool, group_of, native, phrases};
use patchwright_source::{Frame, built_in_regex, regex};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const FAMILY: Family = Family {
    // The report of a debugger or a fuzzer for the same crash has a stack.
    strength: Strength::Last,
    mark: concat!(
        "[Aa]ssertion|smashing|overflow detected|FD_SETSIZE|%n in writable|longjmp causes",
        r"|free|alloc|corrupt|munmap_chunk|mremap_chunk|fastbin|pure virtual|terminat",
        "|stack protector|morestack",
    ),
    begins: |line| reason(line).is_some(),
    read,
};

pub(super) const SIGNAL: Family = Family {
    strength: Strength::Least,
    mark: concat!(
        "[Ss]egmentation|Bus error|Floating point|Illegal inst|Aborted|trap|system call",
        "|SIG[A-Z]|signal [0-9]",
    ),
    begins: |line| signal(line).is_some(),
    read: |log, at| Some(killed_by(signal(log.line(at)?)?)),
};

/// The same in the words of other parents, launchers and debuggers. Programs print such words of their own
/// accord, so only pasted texts are searched for them.
pub(super) const TOLD: Family = Family {
    strength: Strength::Last,
    mark: r"exited on signal|process has died|Program received signal|crashed with signal|^SIG[A-Z]+: ",
    begins: |line| told(line).is_some(),
    read: |log, at| {
        let signal = told(log.line(at)?)?;
        let kind = phrases::find("numbers", |number| number == signal).unwrap_or(signal);
        Some(killed_by(kind))
    },
};

fn killed_by(signal: &str) -> Draft {
    let mut draft = Draft::new(Tool::Signal, signal);
    // The line itself may hold the process id.
    draft.say(format!("the program was killed by SIG{signal}"));
    draft
}

/// Returns the signal of such a line, by its name or its number.
fn told(line: &str) -> Option<&str> {
    let forms = regex!(
        r"(?:exited on signal |crashed with signal |process has died \[pid \d+, exit code -|Program received signal SIG)([A-Z]+|\d+)|^SIG([A-Z]+): "
    );
    group_of(forms, line)
}

/// Lines above an abort in which its reason is searched.
const REACH: usize = 40;

/// Forms of failed assertions.
static ASSERTIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = phrases::rows("assertions").map(|(_, form)| built_in_regex(form));
    forms.collect()
});

/// Returns the kind of a message of the C or C++ library.
fn reason(line: &str) -> Option<&'static str> {
    if ASSERTIONS.iter().any(|form| form.is_match(line)) {
        return Some("assertion-failure");
    }
    let kind = of_message(line)?;
    // In quotes it is quoted prose.
    (!line.contains('"') || kind == "uncaught-exception").then_some(kind)
}

/// Returns the kind of a message of the C or C++ library, wherever it stands.
pub(super) fn of_message(line: &str) -> Option<&'static str> {
    phrases::find("aborts", |phrase| line.contains(phrase))
}

/// Returns the signal that a line reports: the word alone, the word before
/// `(core dumped)`, or a parent's report of its child.
pub(super) fn signal(line: &str) -> Option<&'static str> {
    let line = line.trim();
    if line.len() > 300 {
        return None;
    }
    let bare = line.trim_end_matches("(core dumped)").trim_end();
    let told = regex!("terminated (?:by|with)|killed by|rc=-").is_match(line);
    phrases::find("signals", |word| {
        let number = word.starts_with("signal ");
        let shell = bare == word
            || line.ends_with("(core dumped)") && bare.ends_with(word)
            || bare.strip_suffix(word).is_some_and(is_job)
            || line.contains(&format!("{word} (core dumped)"))
            || is_job_line(line, word);
        let (_, rest) = line.split_once(word).unwrap_or_default();
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        !number && shell || told && line.contains(word) && !is_number
    })
}

/// `sh: line 1:  1234 Segmentation fault`
fn is_job(before: &str) -> bool {
    regex!("(?:^|[ :])[0-9]*$").is_match(before.trim_end())
}

/// `./x.sh: line 3: 1234 Segmentation fault      ./crash "$1"`
fn is_job_line(line: &str, word: &str) -> bool {
    line.split_once(word).is_some_and(|(before, after)| {
        // Where the signal's name is long, bash leaves no space behind it.
        let command = after.starts_with("  ") || after.starts_with(['.', '/', '(']);
        before.contains(": ") && command && is_job(before)
    })
}

/// Explains an abort by the message that the program printed before it.
pub(super) fn explain(draft: &mut Draft, reason: Option<(&'static str, String)>) {
    if let Some((kind, sentence)) = reason {
        kind.clone_into(&mut draft.kind);
        draft.message.clone_from(&sentence);
        draft.parts.insert(0, Part::Text(sentence));
    }
}

/// Finds the reason of an abort in the lines before it.
pub(super) fn reason_before(log: &Log<'_>, at: usize) -> Option<(&'static str, String)> {
    find_before(log, at, reason)
}

/// The same in a text that a person wrote, who may quote the message.
pub(super) fn reason_told(log: &Log<'_>, at: usize) -> Option<(&'static str, String)> {
    reason_before(log, at).or_else(|| find_before(log, at, of_message))
}

fn find_before(
    log: &Log<'_>,
    at: usize,
    kind: fn(&str) -> Option<&'static str>,
) -> Option<(&'static str, String)> {
    let (above, kind) = log.find_above(at, REACH, kind)?;
    let sentence = log.line(above)?.trim_start_matches(['#', ' ']);
    let sentence = sentence.trim_end().to_owned();
    let what = log.line(above + 1);
    let what = what.filter(|next| kind == "uncaught-exception" && next.contains("what():"));
    Some((kind, with_what(sentence, what)))
}

/// Adds what an exception says of itself.
fn with_what(sentence: String, what: Option<&str>) -> String {
    match what {
        Some(what) => format!("{sentence}: {}", what.trim()),
        None => sentence,
    }
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let line = log.line(at)?;
    let kind = reason(line)?;
    // A title has an assertion alone; its place stands where the program printed it.
    let failed = line.find("Assertion ").and_then(|at| line.get(at..));
    let failed = failed.filter(|_| asserted(line).is_none());
    let mut below = log.from(at + 1, REACH);
    let placed = failed.and_then(|failed| {
        below.find(|line| line.contains(failed.trim_end()) && asserted(line).is_some())
    });
    let line = placed.unwrap_or(line);
    let mut draft = Draft::new(Tool::Glibc, kind);
    let what = log.line(at + 1).map(str::trim);
    let what = what.filter(|what| what.starts_with("what():"));
    let message = with_what(line.trim().to_owned(), what);
    draft.message.clone_from(&message);
    draft.say(message);
    if let Some(frame) = asserted(line) {
        draft.push(frame);
    }
    Some(draft)
}

/// `prog: file.c:12: function: Assertion ..`; C++ prints the whole signature.
fn asserted(line: &str) -> Option<Frame> {
    let found = ASSERTIONS.iter().find_map(|form| form.captures(line))?;
    native::captured(&found)
}

#[cfg(test)]
mod tests {
    use super::{asserted, reason, signal};

    #[test]
    fn knows_the_words_of_libraries() {
        for (line, expected) in [
            (
                "*** stack smashing detected ***: terminated",
                Some("stack-smashing"),
            ),
            ("free(): invalid pointer", Some("invalid-free")),
            ("double free or corruption (out)", Some("double-free")),
            (
                "a: a.c:3: main: Assertion `x > 0' failed.",
                Some("assertion-failure"),
            ),
            ("expected \"free(): invalid pointer\" in log", None),
            ("all is well", None),
        ] {
            assert_eq!(reason(line), expected, "{line}");
        }
    }

    #[test]
    fn knows_the_words_of_shells() {
        for (line, expected) in [
            ("Segmentation fault", Some("SEGV")),
            ("Segmentation fault (core dumped)", Some("SEGV")),
            (
                "sh: line 1:  1234 Aborted                 ./crash",
                Some("ABRT"),
            ),
            (
                "bash: line 1: 77 Floating point exception(core dumped) ./x",
                Some("FPE"),
            ),
            ("bash: line 1: 77 Floating point exceptions are fine", None),
            ("child terminated by signal 11", Some("SEGV")),
            ("child terminated by signal 115", None),
            (
                "Program terminated with signal SIGSEGV, Segmentation fault.",
                Some("SEGV"),
            ),
            ("Aborted by the user", None),
            ("a test for Segmentation faults", None),
        ] {
            assert_eq!(signal(line), expected, "{line}");
        }
    }

    #[test]
    fn finds_the_place_of_an_assertion() {
        for (line, expected) in [
            (
                "x: /src/a.cc:12: int N::f(int): Assertion `i' failed.",
                "int N::f(int) /src/a.cc:12",
            ),
            (
                "Assertion failed: (i > 0), function f, file a.c, line 12.",
                "f a.c:12",
            ),
            (
                "Assertion failed: i > 0, file C:\\src\\a.c, line 12",
                "?? C:\\src\\a.c:12",
            ),
            ("Assertion failed: i > 0 (a.c: f: 12)", "f a.c:12"),
            (
                "Assertion failure: isObject(), at /js/Value.h:812",
                "?? /js/Value.h:812",
            ),
            (
                "ICE: Assertion 'a == b' failed at /j/stmt.c(parse):1756.",
                "parse /j/stmt.c:1756",
            ),
            (
                "ERROR:../glib/a.c:12:f: assertion failed: (i)",
                "f ../glib/a.c:12",
            ),
        ] {
            assert_eq!(asserted(line).unwrap().to_string(), expected, "{line}");
            assert_eq!(reason(line), Some("assertion-failure"), "{line}");
        }
    }
}
