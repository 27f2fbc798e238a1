//! Crash reports: the output of a sanitizer, a fuzzer, the JVM, a debugger or the C
//! library when a program died, parsed into one shape.
//!
//! [`parse`] finds the report inside a whole log. It never fails on strange text, it
//! only finds nothing, and its time and memory are linear in the part of the log that
//! it reads (see `log_lines`). Every report family is a module of its own. It does not
//! judge the severity of a crash, does not look at a source tree, and does not assume
//! that a report is genuine.

mod abort;
mod access;
mod around;
mod chromium;
mod command_line;
mod commands_in_text;
mod cwe;
mod draft;
mod failure_words;
mod fold;
mod forms;
mod frame_origin;
mod gdb;
mod hs_err;
mod ips;
mod java;
mod jazzer;
mod libfuzzer;
mod log_lines;
mod log_prefix;
mod native;
mod other_files;
mod pasted;
pub(crate) mod phrases;
mod plain_name;
mod prose;
mod purify;
mod report;
mod rust;
mod sanitizer;
mod scrub;
mod threads;
mod undefined;
mod valgrind;

pub use command_line::CommandLine;
use draft::Draft;
pub use fold::fold;
pub use forms::is_only_shown;
pub use frame_origin::FrameOrigin;
pub(crate) use java::{read_frame as read_java_frame, root_cause};
use log_lines::Log;
pub(crate) use log_lines::strip_colours;
pub(crate) use log_lines::{ends, visible};
pub use pasted::{read_leading, read_pasted};
use patchwright_source::built_in_regex_set;
pub(crate) use patchwright_source::{Frame, Role};
pub use plain_name::plain_name;
pub use prose::{Place, ReportInWords, read_words};
pub(crate) use purify::describe_access;
pub use purify::stack_text;
use regex::{Regex, RegexSet};
pub use report::{Access, CrashReport, Operation, Side, Stack, Tool};
pub use scrub::scrub;
pub(crate) use scrub::{replace_folder, shorten};
use std::sync::LazyLock;
pub use threads::{Thread, busiest_thread, read_threads};

/// Lines of a log that are tried as the beginning of one family's report: more than
/// one, because a program may print a line that only looks like a beginning.
const MAX_STARTS: usize = 16;

/// The amount of detail of a family's reports. A sanitizer's report outranks the signal
/// that it ends with, in whatever order they stand in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Full,
    Partial,
    Weak,
    Last,
    /// The signal, which says least of all.
    Least,
}

/// One kind of report: recognises its first line and reads it from there.
struct Family {
    strength: Strength,
    /// An expression that every first line matches and that is cheap to search.
    mark: &'static str,
    /// Tells whether a line with the mark is one.
    begins: fn(&str) -> bool,
    read: fn(&Log<'_>, usize) -> Option<Draft>,
}

const FAMILIES: [Family; 16] = [
    sanitizer::FAMILY,
    libfuzzer::FAMILY,
    jazzer::FAMILY,
    hs_err::FAMILY,
    hs_err::HEADLESS,
    undefined::FAMILY,
    valgrind::FAMILY,
    java::THROWN,
    rust::FAMILY,
    chromium::FAMILY,
    libfuzzer::DEADLY,
    abort::FAMILY,
    gdb::FAMILY,
    java::PRINTED,
    threads::FAMILY,
    abort::SIGNAL,
];

/// Families, and the set of their marks, which most lines of a log do not have.
struct Families {
    list: Vec<Family>,
    marks: RegexSet,
}

impl Families {
    fn new(families: Vec<Family>) -> Self {
        let marks = built_in_regex_set(families.iter().map(|family| family.mark));
        Self {
            list: families,
            marks,
        }
    }

    /// Finds the families whose reports begin with a line.
    fn begun<'a>(&'a self, line: &'a str) -> impl Iterator<Item = (usize, &'a Family)> {
        let marked = self.marks.is_match(line).then(|| self.marks.matches(line));
        let marked = marked.into_iter().flatten();
        let families = marked.filter_map(move |number| Some((number, self.list.get(number)?)));
        families.filter(move |(_, family)| (family.begins)(line))
    }
}

/// The families of reports that programs print.
static PRINTED: LazyLock<Families> = LazyLock::new(|| Families::new(FAMILIES.into()));
/// The same, with the forms that only people paste.
static PASTED: LazyLock<Families> = LazyLock::new(|| {
    let forms = FAMILIES.into_iter().chain([
        forms::family(),
        abort::TOLD,
        sanitizer::HEADLESS,
        sanitizer::BEHEADED,
        java::HEADLESS,
        undefined::TOLD,
    ]);
    Families::new(forms.collect())
});

/// Finds the crash report in the output of a run: the first of those with the most detail.
pub fn parse(text: &str) -> Option<CrashReport> {
    parse_with(&PRINTED, text)
}

fn parse_with(known: &Families, text: &str) -> Option<CrashReport> {
    let log = Log::new(text);
    let mut starts: Vec<(Strength, usize, usize)> = Vec::new();
    for (index, line) in log.lines().iter().enumerate() {
        for (number, family) in known.begun(line) {
            let of_family = starts.iter().filter(|(_, _, other)| *other == number);
            if of_family.count() < MAX_STARTS {
                starts.push((family.strength, index, number));
            }
        }
    }
    starts.sort_unstable();
    let starts = starts.into_iter();
    let mut drafts =
        starts.filter_map(|(_, index, number)| (known.list.get(number)?.read)(&log, index));
    let first = drafts.next()?;
    // Of an error at which Valgrind's text was cut, another tool may have the stack.
    let bare = first.tool == Tool::Valgrind && !first.has_frames();
    let better = bare.then(|| drafts.find(Draft::has_frames)).flatten();
    let mut draft = better.unwrap_or(first);
    let is_cut = native::is_cut(&log) || forms::is_cut(&log);
    draft.cut |= draft.has_frames() && is_cut;
    native::drop_half(&mut draft, &log);
    Some(purify::finish(draft))
}

/// Returns the first part of a line that a group of an expression found.
fn group_of<'a>(form: &Regex, line: &'a str) -> Option<&'a str> {
    let found = form.captures(line)?;
    let group = found.iter().skip(1).flatten().next()?;
    Some(group.as_str())
}

#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod tests;
