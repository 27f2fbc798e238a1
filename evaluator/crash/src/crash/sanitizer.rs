//! Sanitizer reports (AddressSanitizer and its relatives): a headline, then stacks, each
//! after a sentence that names its role.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Access, Family, Role, Stack, Strength, Tool, abort, access, native, phrases};
use patchwright_source::{Pattern, regex};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Full,
    mark: r"Sanitizer:? ",
    begins: |line| headline(line).is_some(),
    read,
};

/// The last line of a report, where its head was not pasted: the stack above it, or else the
/// place that it names. Programs end whole reports with it too, so only pasted texts are
/// searched for it.
pub(super) const HEADLESS: Family = Family {
    strength: Strength::Last,
    mark: r"SUMMARY: \w+Sanitizer: ",
    begins: |line| SUMMARY.is_match(line),
    read: read_headless,
};

/// The access of a report whose first line was not pasted, and the stacks below it.
pub(super) const BEHEADED: Family = Family {
    strength: Strength::Last,
    mark: r"^\s*(?:Atomic )?(?:[Rr]ead|[Ww]rite|READ|WRITE) of size \d+ at 0x|^\s*(?:Direct|Indirect) leak of \d+ byte",
    begins: |line| line.contains(" of size ") || line.contains(" leak of "),
    read: read_beheaded,
};

/// `KIND a.c:1:2 in f`, or `KIND (module+0x1) (BuildId: ab) in f`.
static SUMMARY: Pattern = Pattern::new(
    r"SUMMARY: (?<tool>\w+Sanitizer): (?:(?<leaked>\d+ byte\(s\) leaked)|(?<kind>[A-Za-z][\w ()-]*?) (?<place>[^\s(]+:\d+|\([^\s()]+\+0x[0-9a-f]+\))(?: \(BuildId: \w+\))?(?: in (?<function>.+)| in)?\s*$)",
);

/// The most lines of a report. The longest are those of leak checks, with some
/// hundred lines for each leak.
const MAX_LINES: usize = 20_000;

/// Headline for an exceeded limit of resident memory, which lacks the word `ERROR`.
const MEMORY_LIMIT: &str = "hard rss limit exhausted";

/// Returns the tool of a headline and the text after its name.
fn headline(line: &str) -> Option<(Tool, &str)> {
    // The first releases wrote no colon behind their name; without one, later ones tell of a
    // failure of their own.
    let old = |_: &usize| line.contains(" on ") && !line.contains(" failed to ");
    let at = line
        .find("Sanitizer: ")
        .or_else(|| line.find("Sanitizer ").filter(old))?;
    if line.starts_with("==") && line.contains(MEMORY_LIMIT) {
        return Some((Tool::AddressSanitizer, MEMORY_LIMIT));
    }
    if !(line.contains("ERROR: ") || line.contains("WARNING: ")) || line.starts_with("SUMMARY") {
        return None;
    }
    // Anything may stand before it: the program's own unfinished line.
    let from = line.get(..at)?.rfind(' ')? + 1;
    let rest = line.get(from..)?;
    let (name, rest) = rest.split_once(' ')?;
    let name = name.trim_end_matches(':');
    let tool = Tool::read(name)?;
    Some((tool, rest)).filter(|(_, rest)| !rest.starts_with("failed to intercept"))
}

/// Returns the kind, from the text of the headline.
fn kind(tool: Tool, text: &str) -> String {
    if let Some(kind) = phrases::find("sanitizers", |phrase| text.starts_with(phrase)) {
        return kind.to_owned();
    }
    let end = if tool == Tool::ThreadSanitizer {
        regex!(r" on unknown| \(|: ")
    } else {
        regex!(r" on | \(|: | of | in ")
    };
    let name = end.split(text).next().unwrap_or(text);
    let name = name.trim_end_matches(':');
    name.split_whitespace()
        .take(6)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect::<Vec<_>>()
        .join("-")
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let (tool, text) = headline(log.line(at)?)?;
    // A kind that was cut in its middle is none.
    if text.trim_end().ends_with('-') {
        return None;
    }
    let mut draft = Draft::new(tool, kind(tool, text));
    draft.say(format!("{tool}: {text}"));
    draft.access.address = access::first_address(text);
    if text == MEMORY_LIMIT {
        return Some(draft);
    }
    if let Some(size) = text.strip_prefix("negative-size-param: (size=") {
        draft.message = format!("size {}", size.trim_end_matches(')'));
    }
    let mut skipping = false;
    for line in log.from(at + 1, MAX_LINES) {
        // A check of its own that failed has a stack of the sanitizer.
        if regex!("^SUMMARY: |Sanitizer:? CHECK failed: ").is_match(line)
            || headline(line).is_some()
        {
            break;
        }
        if line.starts_with("Shadow byte") || line.starts_with("Memory tags around") {
            skipping = true;
        } else if line.starts_with("==") {
            skipping = false;
        }
        if !skipping && !read_line(&mut draft, line) {
            break;
        }
    }
    if draft.kind == "ABRT" {
        abort::explain(&mut draft, abort::reason_before(log, at));
        // The address of an abort is the process id.
        draft.access = Access::default();
    }
    (draft.has_frames() || !draft.kind.is_empty()).then_some(draft)
}

fn read_headless(log: &Log<'_>, at: usize) -> Option<Draft> {
    let found = SUMMARY.captures(log.line(at)?)?;
    let group = |name: &str| found.name(name).map_or("", |group| group.as_str());
    let tool = Tool::read(group("tool"))?;
    let leaked = found.name("leaked").is_some();
    let mut draft = Draft::new(tool, kind(tool, group("kind")));
    if leaked {
        draft = Draft::new(Tool::LeakSanitizer, "memory-leak");
        draft.expect(Role::Allocated);
    }
    draft.cut = true;
    let from = at.saturating_sub(MAX_LINES);
    let above = log.from(from, at - from);
    for line in above.skip_while(|line| native::read(line).is_none()) {
        read_line(&mut draft, line);
    }
    if leaked {
        return Some(draft);
    }
    let top = native::read_place(&format!("{} {}", group("function"), group("place")));
    let named = |stack: &Stack| {
        let mut frames = stack.frames.iter();
        frames.any(|frame| frame.function == top.function)
    };
    let mut stacks = draft.stacks.iter_mut();
    match stacks.find(|stack| stack.role == Role::Crash) {
        Some(stack) if named(stack) => {}
        Some(stack) => stack.frames.insert(0, top),
        None => {
            draft.say(log.line(at)?.trim());
            draft.place(top);
        }
    }
    Some(draft)
}

fn read_beheaded(log: &Log<'_>, at: usize) -> Option<Draft> {
    let access = log.line(at)?.trim();
    let (tool, kind) = match access {
        _ if access.contains(" leak of ") => (Tool::LeakSanitizer, "memory-leak"),
        _ if access.contains(" by ") => (Tool::ThreadSanitizer, "data-race"),
        _ if access.starts_with("READ") => (Tool::AddressSanitizer, "invalid-read"),
        _ => (Tool::AddressSanitizer, "invalid-write"),
    };
    // Its last line, where it is there, knows the kind.
    if log.from(at, MAX_LINES).any(|line| SUMMARY.is_match(line)) {
        return None;
    }
    let mut draft = Draft::new(tool, kind);
    draft.cut = true;
    let mut lines = log.from(at, MAX_LINES);
    while lines.next().is_some_and(|line| read_line(&mut draft, line)) {}
    if draft.stacks.iter().any(|stack| stack.role == Role::Freed) {
        "heap-use-after-free".clone_into(&mut draft.kind);
    }
    draft.has_frames().then_some(draft)
}

/// Reads one line; returns false where the report ends.
fn read_line(draft: &mut Draft, line: &str) -> bool {
    if let Some((number, frame)) = native::read(line) {
        draft.open &= number > 0;
        draft.push(frame);
        return true;
    }
    if native::is_frame_start(line) {
        draft.cut = true;
        return true;
    }
    let text = line.trim();
    // Lines of the harness come after the process has ended.
    if text.starts_with("[exit ") || line.starts_with("$ ") {
        return false;
    }
    if text.is_empty() {
        draft.open = false;
        return true;
    }
    if phrases::find("noise of sanitizers", |noise| text.contains(noise)).is_some()
        || text.chars().all(|c| matches!(c, '=' | '-'))
        || regex!(r"^\S{2,4}\s* = 0x").is_match(text)
    {
        return true;
    }
    access::read(&mut draft.access, text);
    // A tag says only that the memory is not the pointer's; the cause below is a guess from
    // what lies around it, and mostly right.
    if let Some(cause) = text.strip_prefix("Cause: ")
        && !cause.contains(' ')
    {
        cause.clone_into(&mut draft.kind);
    }
    if draft.tool == Tool::ThreadSanitizer && draft.access.operation.is_none() {
        access::read_race(&mut draft.access, text);
    }
    let role = match text {
        "and:" => Some(Role::Previous),
        text => phrases::find("stacks of sanitizers", |phrase| text.contains(phrase))
            .and_then(Role::read),
    };
    draft.say(line.trim_end());
    match role {
        Some(role) => draft.expect(role),
        None if text.ends_with(':') || draft.has_frames() => {}
        None => draft.expect(Role::Crash),
    }
    true
}
