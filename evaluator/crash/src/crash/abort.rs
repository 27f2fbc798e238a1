//! Crashes without a sanitizer: messages of the C library before it aborts, failed
//! assertions, uncaught exceptions, and signals as shells and other parents report them.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Strength, Tool, native};
use patchwright_source::{Frame, UNKNOWN_FUNCTION};

pub(super) const FAMILY: Family = Family {
    // The report of a debugger or a fuzzer for the same crash has a stack.
    strength: Strength::Last,
    mark: concat!(
        "Assertion|smashing|overflow detected|FD_SETSIZE|%n in writable|longjmp causes",
        r"|free|alloc|corrupt|munmap_chunk|mremap_chunk|fastbin|pure virtual|terminat",
        "|stack protector|morestack",
    ),
    begins: |line| reason(line).is_some(),
    read,
};

pub(super) const SIGNAL: Family = Family {
    strength: Strength::Last,
    mark: concat!(
        "Segmentation|Bus error|Floating point|Illegal inst|Aborted|trap|system call",
        "|SIG[A-Z]|signal [0-9]",
    ),
    begins: |line| signal(line).is_some(),
    read: |log, at| {
        let signal = signal(log.line(at)?)?;
        let mut draft = Draft::new(Tool::Signal, signal);
        // The line itself may hold the process id.
        draft.say(format!("the program was killed by SIG{signal}"));
        Some(draft)
    },
};

/// Lines above an abort in which its reason is searched.
const REACH: usize = 40;

/// Messages of the C and C++ libraries, with the kind of each.
const REASONS: [(&str, &str); 30] = [
    ("stack smashing detected", "stack-smashing"),
    ("buffer overflow detected", "buffer-overflow"),
    ("bit out of range 0 - FD_SETSIZE", "buffer-overflow"),
    ("%n in writable segment detected", "format-string"),
    ("longjmp causes uninitialized stack frame", "stack-smashing"),
    ("double free or corruption", "double-free"),
    ("free(): double free detected", "double-free"),
    ("free(): invalid pointer", "invalid-free"),
    ("munmap_chunk(): invalid pointer", "invalid-free"),
    ("realloc(): invalid pointer", "invalid-free"),
    ("free(): invalid size", "heap-corruption"),
    ("free(): invalid next size", "heap-corruption"),
    ("free(): corrupted unsorted chunks", "heap-corruption"),
    ("free(): too many chunks detected", "heap-corruption"),
    ("free(): unaligned chunk", "heap-corruption"),
    ("realloc(): invalid", "heap-corruption"),
    ("malloc(): ", "heap-corruption"),
    ("malloc_consolidate(): ", "heap-corruption"),
    ("corrupted size vs. prev_size", "heap-corruption"),
    ("corrupted double-linked list", "heap-corruption"),
    ("invalid fastbin entry", "heap-corruption"),
    ("sysmalloc: Assertion", "heap-corruption"),
    ("mremap_chunk(): invalid pointer", "heap-corruption"),
    ("pure virtual method called", "pure-virtual-call"),
    (
        "terminate called after throwing an instance of",
        "uncaught-exception",
    ),
    (
        "terminate called without an active exception",
        "uncaught-exception",
    ),
    ("terminate called recursively", "uncaught-exception"),
    ("libc++abi: terminating", "uncaught-exception"),
    ("stack protector: ", "stack-smashing"),
    ("fatal: morestack on g0", "stack-overflow"),
];

/// Words of shells and other parents for a process that a signal ended.
const SIGNALS: [(&str, &str); 18] = [
    ("Segmentation fault", "SEGV"),
    ("Bus error", "BUS"),
    ("Floating point exception", "FPE"),
    ("Illegal instruction", "ILL"),
    ("Aborted", "ABRT"),
    ("Trace/breakpoint trap", "TRAP"),
    ("Bad system call", "SYS"),
    ("SIGSEGV", "SEGV"),
    ("SIGBUS", "BUS"),
    ("SIGFPE", "FPE"),
    ("SIGILL", "ILL"),
    ("SIGABRT", "ABRT"),
    ("SIGTRAP", "TRAP"),
    ("signal 11", "SEGV"),
    ("signal 6", "ABRT"),
    ("signal 8", "FPE"),
    ("signal 7", "BUS"),
    ("signal 4", "ILL"),
];

/// Returns the kind of a message of the C or C++ library.
fn reason(line: &str) -> Option<&'static str> {
    if line.contains("Assertion `") && line.trim_end().ends_with("failed.")
        || line.contains("Assertion failed: ") && line.contains(", function ")
    {
        return Some("assertion-failure");
    }
    let (_, kind) = REASONS.iter().find(|(phrase, _)| line.contains(phrase))?;
    // In quotes it is quoted prose.
    (!line.contains('"') || *kind == "uncaught-exception").then_some(kind)
}

/// Returns the signal that a line reports: the word alone, the word before
/// `(core dumped)`, or a parent's report of its child.
fn signal(line: &str) -> Option<&'static str> {
    let line = line.trim();
    if line.len() > 300 {
        return None;
    }
    let bare = line.trim_end_matches("(core dumped)").trim_end();
    SIGNALS.iter().find_map(|(word, kind)| {
        let number = word.starts_with("signal ");
        let told = line.contains("terminated by")
            || line.contains("killed by")
            || line.contains("terminated with")
            || line.contains("rc=-");
        let shell = bare == *word
            || line.ends_with("(core dumped)") && bare.ends_with(word)
            || bare.ends_with(word) && is_job(bare, word)
            || line.contains(&format!("{word} (core dumped)"))
            || is_job_line(line, word);
        let ends = |text: &str| {
            text.split_once(word)
                .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        (!number && shell || told && ends(line)).then_some(*kind)
    })
}

/// `sh: line 1:  1234 Segmentation fault`
fn is_job(line: &str, word: &str) -> bool {
    let before = line.strip_suffix(word).unwrap_or_default().trim_end();
    before
        .rsplit([' ', ':'])
        .next()
        .is_some_and(|pid| pid.is_empty() || pid.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `./x.sh: line 3: 1234 Segmentation fault      ./crash "$1"`
fn is_job_line(line: &str, word: &str) -> bool {
    line.split_once(word).is_some_and(|(before, after)| {
        // Where the signal's name is long, bash leaves no space behind it.
        let command = after.starts_with("  ") || after.starts_with(['.', '/', '(']);
        before.contains(": ") && command && is_job(&format!("{before}{word}"), word)
    })
}

/// Finds the reason of an abort in the lines before it.
pub(super) fn reason_before(log: &Log<'_>, at: usize) -> Option<(&'static str, String)> {
    let (distance, (kind, line)) = log
        .before(at, REACH)
        .enumerate()
        .find_map(|(distance, line)| Some((distance, (reason(line)?, line))))?;
    let mut sentence = line.trim().to_owned();
    if kind == "uncaught-exception"
        && let Some(what) = log
            .line(at - distance)
            .filter(|next| next.contains("what():"))
    {
        sentence = format!("{sentence}: {}", what.trim());
    }
    Some((kind, sentence))
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let line = log.line(at)?;
    let kind = reason(line)?;
    let mut draft = Draft::new(Tool::Glibc, kind);
    let mut message = line.trim().to_owned();
    if let Some(what) = log.line(at + 1)
        && what.trim_start().starts_with("what():")
    {
        message = format!("{message}: {}", what.trim());
    }
    draft.message.clone_from(&message);
    draft.say(message);
    if kind == "assertion-failure"
        && let Some(frame) = asserted(line)
    {
        draft.push(frame);
    }
    Some(draft)
}

/// `prog: file.c:12: function: Assertion ..`; C++ prints the whole signature.
fn asserted(line: &str) -> Option<Frame> {
    let (before, _) = line.split_once(": Assertion `")?;
    // The place ends at the first `:12: `.
    let mut at = 0;
    while let Some(colon) = before.get(at..)?.find(": ") {
        let head = before.get(..at + colon)?;
        let (file, number, _) = native::read_position(head);
        if number.is_some() {
            let file = file.rsplit_once(": ").map_or(file, |(_, file)| file);
            let function = before.get(at + colon + 2..)?;
            return Some(Frame {
                file: Some(file.to_owned()),
                line: number,
                ..Frame::named(if function.is_empty() {
                    UNKNOWN_FUNCTION
                } else {
                    function
                })
            });
        }
        at += colon + 2;
    }
    None
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
        let frame = asserted("x: /src/a.cc:12: int N::f(int): Assertion `i' failed.").unwrap();
        assert_eq!(frame.to_string(), "int N::f(int) /src/a.cc:12");
    }
}
