//! libFuzzer reports: time-outs, memory limits, and signals that no sanitizer explained.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Role, Strength, Tool, native, phrases, threads};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Full,
    mark: "ERROR: libFuzzer: ",
    begins: |line| headline(line).is_some_and(|text| !is_weak(text)),
    read,
};

/// Deadly signals and exits, which say less than a report printed before them.
pub(super) const DEADLY: Family = Family {
    strength: Strength::Weak,
    mark: "ERROR: libFuzzer: ",
    begins: |line| headline(line).is_some_and(is_weak),
    read,
};

/// The stacks of a JVM's threads may come between the headline and the end.
const MAX_LINES: usize = 8_000;

fn headline(line: &str) -> Option<&str> {
    let (before, text) = line.split_once("ERROR: libFuzzer: ")?;
    before.trim_end().ends_with("==").then_some(text)
}

fn is_weak(text: &str) -> bool {
    text.starts_with("deadly signal") || text.starts_with("fuzz target exited")
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let text = headline(log.line(at)?)?;
    let (kind, sentence) = kind(text);
    let mut draft = Draft::new(Tool::LibFuzzer, kind);
    draft.say(format!("libFuzzer: {sentence}"));
    if is_weak(text)
        && let Some((reason, sentence)) = super::abort::reason_before(log, at)
    {
        reason.clone_into(&mut draft.kind);
        draft.message.clone_from(&sentence);
        draft.say(sentence);
    }
    for (offset, line) in log.from(at + 1, MAX_LINES).enumerate() {
        if line.starts_with("Stack traces of all JVM threads")
            || line.starts_with("Full thread dump")
        {
            read_jvm(&mut draft, log, at + 1 + offset);
            break;
        }
        if line.starts_with("SUMMARY: ") || line.starts_with("[exit ") {
            break;
        }
        if let Some((number, frame)) = native::read(line) {
            draft.open &= number > 0;
            draft.push(frame);
        } else {
            draft.open = false;
        }
    }
    Some(draft)
}

fn kind(text: &str) -> (&'static str, String) {
    let found = phrases::rows("libFuzzer").find(|(_, words)| text.starts_with(words));
    let (kind, words) = found.unwrap_or(("error", text));
    let size = text.strip_prefix("out-of-memory (malloc(");
    let size = size.and_then(|rest| rest.split(')').next());
    let sentence = size.map_or(words.to_owned(), |size| format!("{words} (malloc({size}))"));
    (kind, sentence)
}

/// Takes the stack of the thread that runs the fuzz target; the order of the threads varies.
fn read_jvm(draft: &mut Draft, log: &Log<'_>, at: usize) {
    draft.tool = Tool::Jazzer;
    let threads = threads::read_lines(log.from(at, MAX_LINES));
    if let Some(thread) = threads::busiest_thread(&threads) {
        // Native frames say where the fuzzer was, not the target.
        draft.stacks.clear();
        draft.parts.truncate(1);
        threads::show(draft, thread, Role::Crash);
    }
}
