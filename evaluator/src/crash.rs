//! Crash reports: what a sanitizer, a fuzzer, the JVM, a debugger or the C
//! library printed when a program died, read into one shape.
//!
//! [`parse`] finds the report inside a whole log. It never fails on strange
//! text, it only finds nothing, and its time and memory are linear in the part
//! of the log that it looks at (see `log_lines`). Every report family is a module
//! of its own. What it deliberately does not do: judge whether a crash is bad,
//! look at a source tree, or believe that a report is genuine.

mod abort;
mod access;
mod cwe;
mod draft;
mod fold;
mod frame_origin;
mod gdb;
mod hs_err;
mod java;
mod jazzer;
mod libfuzzer;
mod log_lines;
mod native;
mod purify;
mod report;
mod rust;
mod sanitizer;
mod scrub;
mod threads;
mod undefined;
mod valgrind;

pub use fold::fold;
pub use frame_origin::FrameOrigin;
pub use patchwright_source::{Frame, Role};
pub use report::{Access, CrashReport, Operation, Side, Stack, Tool};
pub use scrub::scrub;
pub use threads::{Thread, busiest_thread, read_threads};

use draft::Draft;
pub(crate) use java::{read_frame as read_java_frame, root_cause};
use log_lines::Log;
pub(crate) use log_lines::strip_colours;
pub(crate) use purify::{describe_access, stack_text};
use regex::{Regex, RegexSet};
pub(crate) use scrub::{replace_folder, shorten};
use std::sync::LazyLock;

/// How many places in a log are tried as the beginning of one family's report.
/// More than one, because a program may print a line that only looks like one.
const MAX_STARTS: usize = 16;

/// How much a report says. A sanitizer's report outranks the signal that it
/// ends with, wherever the two stand in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Full,
    Partial,
    Weak,
    Last,
}

/// One kind of report: how it begins and how it is read from there.
struct Family {
    strength: Strength,
    /// A pattern that every first line matches, cheap to look for.
    mark: &'static str,
    begins: fn(&str) -> bool,
    read: fn(&Log<'_>, usize) -> Option<Draft>,
}

const FAMILIES: [Family; 14] = [
    sanitizer::FAMILY,
    libfuzzer::FAMILY,
    jazzer::FAMILY,
    hs_err::FAMILY,
    undefined::FAMILY,
    valgrind::FAMILY,
    java::THROWN,
    rust::FAMILY,
    libfuzzer::DEADLY,
    abort::FAMILY,
    gdb::FAMILY,
    java::PRINTED,
    threads::FAMILY,
    abort::SIGNAL,
];

/// The marks of all families: one pattern that most lines of a log do not
/// match, and a set that tells whose mark a line holds.
static MARKS: LazyLock<Option<(Regex, RegexSet)>> = LazyLock::new(|| {
    let marks = FAMILIES.map(|family| family.mark);
    let any = Regex::new(&marks.join("|")).ok()?;
    Some((any, RegexSet::new(marks).ok()?))
});

/// Finds the crash report in a log: the first of those that say most.
pub fn parse(text: &str) -> Option<CrashReport> {
    let log = Log::new(text);
    let (any, marks) = MARKS.as_ref()?;
    let mut starts: Vec<(Strength, usize, usize)> = Vec::new();
    let mut counts = [0usize; FAMILIES.len()];
    let lines = log.lines().iter().enumerate();
    for (index, line) in lines.filter(|(_, line)| any.is_match(line)) {
        for number in marks.matches(line) {
            let (Some(family), Some(count)) = (FAMILIES.get(number), counts.get_mut(number)) else {
                continue;
            };
            if *count < MAX_STARTS && (family.begins)(line) {
                *count += 1;
                starts.push((family.strength, index, number));
            }
        }
    }
    starts.sort_unstable();
    starts.into_iter().find_map(|(_, index, number)| {
        let draft = (FAMILIES.get(number)?.read)(&log, index)?;
        Some(purify::finish(draft))
    })
}

#[cfg(test)]
mod tests;
