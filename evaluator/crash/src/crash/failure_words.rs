//! Words for kinds of failures, as people say them.

use patchwright_source::built_in_regex;
use regex::Regex;
use std::sync::LazyLock;

/// Kinds of failures with the words for each, the most precise first.
const KINDS: &str = r"heap-use-after-free: use.?after.?free|\buaf\b|dangling pointer
double-free: double.?free|freed twice
heap-buffer-overflow: heap.{0,14}(?:over|under)[ -]?(?:flow|read|write|run)
stack-buffer-overflow: stack.{0,9}buffer.{0,4}over[ -]?(?:flow|read|run)|stack smashing
stack-overflow: stack.?overflow|stack exhaustion|(?:infinite|endless|unbounded|uncontrolled|deep) recursion|recurses? (?:forever|endlessly)
integer-overflow: integer (?:over|under)flow
buffer-overflow: out.?of.?bounds?|\boob\b|buffer.{0,4}(?:over|under)[ -]?(?:flow|read|write|run)|\bover[ -]?(?:read|write|run)s?\b|off.by.one|(?:reads?|writes?|reading|writing|run) (?:past|beyond|behind|outside)|past the end
invalid-read: invalid (?:memory )?read
invalid-write: invalid (?:memory )?write
null-pointer-use: null.?(?:pointer|ptr|deref)|nullptr|dereferenc\w+ null|\bnpe\b
integer-divide-by-zero: divi(?:de|sion).{0,4}by.?zero|floating point exception|sigfpe
use-of-uninitialized-value: uninitiali[sz]ed
memory-leak: memory leak|leaks? memory
out-of-memory: out.?of.?memory|\boom\b|(?:excessive|huge|too much|all) memory|memory exhaustion
assertion-failure: assert
data-race: data race|race condition|deadlock
timeout: (?:infinite|endless) loop|loops? (?:forever|endlessly|infinitely)|\bhang(?:s|ing)?\b|\bhung\b|never (?:returns|ends|terminates|finish\w+|stops)|freez|\bstuck\b|100 ?% (?:of )?(?:the )?cpu|time[sd]?.?out\b|runs? forever
uncaught-exception: (?:uncaught|unhandled|unexpected) (?:\w+ )?exception|throws?\b|\w*exception\b
crash: \bdie[sd]\b|seg.?(?:mentation.)?fault|\bsegv|sigsegv|crash|\baborts?\b|aborted|core dump|access violation|bus error
wrong-output: wrong|incorrect|garbage|instead of|should (?:be|return|print|give)|\bbut (?:got|gets|returns|prints)|unexpected|corrupt|regression|truncat|missing from|is lost|are lost|ignored";
/// Kinds that say little, and least at the end.
const GENERAL: [&str; 3] = ["crash", "uncaught-exception", "wrong-output"];
static KIND_WORDS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let rows = KINDS.lines().filter_map(|row| row.split_once(": "));
    rows.map(|(kind, words)| (kind, built_in_regex(&format!("(?i){words}"))))
        .collect()
});
/// Words before a kind that deny it.
static DENIED: LazyLock<Regex> = LazyLock::new(|| {
    built_in_regex(
        r"(?i)(?:\bno|\bnot|n't|without|instead of|rather than|\bnever|\bexpected)(?: \w+)?\W*$",
    )
});

pub(super) fn vagueness(kind: &str) -> Option<usize> {
    GENERAL.iter().position(|general| *general == kind)
}

/// Returns the kind of failure that a text names first; a precise word beats a general one.
pub(super) fn kind(text: &str) -> Option<&'static str> {
    let denied = |at: usize| DENIED.is_match(text.get(..at).unwrap_or_default());
    let stated = |words: &Regex| {
        let mut found = words.find_iter(text).map(|found| found.start());
        found.find(|at| !denied(*at))
    };
    let kinds = KIND_WORDS.iter();
    let kinds = kinds.filter_map(|(kind, words)| Some((stated(words)?, *kind)));
    let first = kinds.min_by_key(|(at, kind)| (vagueness(kind), *at));
    first.map(|(_, kind)| kind)
}
