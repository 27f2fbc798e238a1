//! Reports of AddressSanitizer and its relatives: one headline, then stacks
//! with a sentence before each that says what it is about.

use super::draft::Draft;
use super::lines::Log;
use super::{Access, Family, Operation, Role, Side, Strength, Tool, native};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Full,
    mark: r"Sanitizer: ",
    begins: |line| headline(line).is_some(),
    read,
};

/// How far a report may reach. The longest, of a leak check, print some
/// hundred lines for each leak.
const MAX_LINES: usize = 20_000;

const TOOLS: [(&str, Tool); 6] = [
    ("AddressSanitizer: ", Tool::AddressSanitizer),
    ("HWAddressSanitizer: ", Tool::HWAddressSanitizer),
    ("LeakSanitizer: ", Tool::LeakSanitizer),
    ("MemorySanitizer: ", Tool::MemorySanitizer),
    ("ThreadSanitizer: ", Tool::ThreadSanitizer),
    (
        "UndefinedBehaviorSanitizer: ",
        Tool::UndefinedBehaviorSanitizer,
    ),
];

/// Headlines that do not begin with the kind's own name.
const KINDS: [(&str, &str); 18] = [
    ("attempting double-free", "double-free"),
    ("attempting free on address", "bad-free"),
    (
        "attempting to call malloc_usable_size",
        "bad-malloc_usable_size",
    ),
    (
        "attempting to call __sanitizer_get_allocated_size",
        "bad-malloc_usable_size",
    ),
    ("detected memory leaks", "memory-leak"),
    ("requested allocation size", "allocation-size-too-big"),
    ("calloc parameters overflow", "calloc-overflow"),
    ("reallocarray parameters overflow", "reallocarray-overflow"),
    ("allocator is out of memory", "out-of-memory"),
    ("allocator is trying to allocate", "out-of-memory"),
    ("out of memory", "out-of-memory"),
    (MEMORY_LIMIT, "rss-limit-exceeded"),
    ("specified RSS limit exceeded", "rss-limit-exceeded"),
    (
        "invalid alignment requested",
        "invalid-allocation-alignment",
    ),
    ("invalid aligned_alloc", "invalid-allocation-alignment"),
    (
        "invalid allocation alignment",
        "invalid-allocation-alignment",
    ),
    ("tag-mismatch", "tag-mismatch"),
    ("failed to intercept", ""),
];

/// Sentences that say what the stack below them is about, in the order in
/// which they are tried.
const ROLES: [(&str, Role); 23] = [
    ("freed by thread", Role::Freed),
    ("freed by ", Role::Freed),
    ("deallocated by", Role::Freed),
    ("previously allocated", Role::Allocated),
    ("allocated by", Role::Allocated),
    ("allocated from:", Role::Allocated),
    ("allocated here", Role::Allocated),
    ("is located in stack of thread", Role::Allocated),
    ("Location is ", Role::Allocated),
    ("was stored to memory at", Role::Stored),
    ("was created by", Role::Created),
    ("was marked as uninitialized", Role::Created),
    ("Previous ", Role::Previous),
    ("previously acquired by the same thread", Role::Previous),
    ("created by T", Role::Created),
    ("created by main thread", Role::Created),
    ("created at:", Role::Created),
    ("registered at", Role::Created),
    ("allocated by thread", Role::Allocated),
    ("while holding mutex", Role::Crash),
    ("first allocated", Role::Allocated),
    ("last zeroed", Role::Created),
    ("As if synchronized via sleep", Role::Created),
];

/// Sentences that tell nothing about the program.
const NOISE: [&str; 14] = [
    "HINT: this may be a false positive",
    "(longjmp and C++ exceptions",
    "Sanitizer can not provide",
    "AddressSanitizer:DEADLYSIGNAL",
    "HINT: if you don't care about these errors",
    "Unpoisoned bytes",
    "==ABORTING",
    "Exiting",
    "Register values:",
    "NOTE: the stack trace above identifies",
    "NOTE: libFuzzer has rudimentary",
    "Combine libFuzzer with",
    "HINT: LeakSanitizer does not work",
    "Hint: use TSAN_OPTIONS",
];

/// What is printed when the limit of resident memory is hit, without the word
/// `ERROR`.
const MEMORY_LIMIT: &str = "hard rss limit exhausted";

/// Which tool, and the text behind its name.
fn headline(line: &str) -> Option<(Tool, &str)> {
    let at = line.find("Sanitizer: ")?;
    if line.starts_with("==") && line.contains(MEMORY_LIMIT) {
        return Some((Tool::AddressSanitizer, MEMORY_LIMIT));
    }
    if !(line.contains("ERROR: ") || line.contains("WARNING: ")) || line.starts_with("SUMMARY") {
        return None;
    }
    // Anything may stand before it: the program's own unfinished line.
    let from = line.get(..at)?.rfind(' ')? + 1;
    let rest = line.get(from..)?;
    TOOLS
        .iter()
        .find_map(|(name, tool)| Some((*tool, rest.strip_prefix(name)?)))
        .filter(|(_, rest)| !rest.starts_with("failed to intercept"))
}

/// The kind's name, from the text of the headline.
fn kind(tool: Tool, text: &str) -> String {
    if let Some((_, kind)) = KINDS.iter().find(|(phrase, _)| text.starts_with(phrase)) {
        return (*kind).to_owned();
    }
    let ends: &[&str] = match tool {
        Tool::ThreadSanitizer => &[" on unknown", " (", ": "],
        _ => &[" on ", " (", ": ", " of ", " in "],
    };
    let end = ends
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()
        .unwrap_or(text.len());
    let name = text.get(..end).unwrap_or(text).trim_end_matches(':');
    name.split_whitespace()
        .take(6)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect::<Vec<_>>()
        .join("-")
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let (tool, text) = headline(log.line(at)?)?;
    let mut kind = kind(tool, text);
    if tool == Tool::ThreadSanitizer && text.starts_with("data race on vptr") {
        "data-race-on-vptr".clone_into(&mut kind);
    }
    let mut draft = Draft::new(tool, kind);
    draft.say(format!("{tool}: {text}"));
    draft.access.address = first_address(text);
    if text == MEMORY_LIMIT {
        return Some(draft);
    }
    if let Some(size) = text.strip_prefix("negative-size-param: (size=") {
        draft.message = format!("size {}", size.trim_end_matches(')'));
    }
    let mut skipping = false;
    for line in log.from(at + 1, MAX_LINES) {
        if line.starts_with("SUMMARY: ") || headline(line).is_some() {
            break;
        }
        skipping = match line {
            line if line.starts_with("Shadow byte") => true,
            line if line.starts_with("Memory tags around") => true,
            line if line.starts_with("==") => false,
            _ => skipping,
        };
        if !skipping && !read_line(&mut draft, line) {
            break;
        }
    }
    explain_abort(&mut draft, log, at);
    (draft.has_frames() || !draft.kind.is_empty()).then_some(draft)
}

/// Takes one line in; false where the report is over.
fn read_line(draft: &mut Draft, line: &str) -> bool {
    if let Some((number, frame)) = native::read(line) {
        if number == 0 && draft.in_stack() {
            draft.close();
        }
        draft.push(frame);
        return true;
    }
    let text = line.trim();
    // The harness's own lines come when the process is over.
    if text.starts_with("[exit ") || line.starts_with("$ ") {
        return false;
    }
    if text.is_empty() {
        draft.close();
        return true;
    }
    if NOISE.iter().any(|noise| text.contains(noise))
        || text.chars().all(|c| matches!(c, '=' | '-'))
        || is_register(text)
    {
        return true;
    }
    read_access(&mut draft.access, text);
    if draft.tool == Tool::ThreadSanitizer && draft.access.operation.is_none() {
        read_race(&mut draft.access, text);
    }
    let role = match text {
        "and:" => Some(Role::Previous),
        text => ROLES
            .iter()
            .find(|(phrase, _)| text.contains(phrase))
            .map(|(_, role)| *role),
    };
    draft.say(line.trim_end());
    match role {
        Some(role) => draft.expect(role),
        None if text.ends_with(':') || draft.has_frames() => {}
        None => draft.expect(Role::Crash),
    }
    true
}

/// `rax = 0x..  rbx = 0x..`
fn is_register(text: &str) -> bool {
    text.split_once(" = 0x")
        .is_some_and(|(name, _)| (2..=4).contains(&name.trim().len()))
}

/// `0x..` anywhere in a text.
fn first_address(text: &str) -> Option<String> {
    let at = text.find("0x")?;
    let digits: String = text
        .get(at + 2..)?
        .chars()
        .take_while(char::is_ascii_hexdigit)
        .collect();
    (!digits.is_empty()).then(|| format!("0x{digits}"))
}

/// The number before a word: `28-byte region`, `4 bytes to the right`.
fn number_before(text: &str, mark: &str) -> Option<u64> {
    let before = text.get(..text.find(mark)?)?;
    let start = before
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    before.get(start..)?.parse().ok()
}

fn number_after(text: &str, mark: &str) -> Option<u64> {
    let after = text.get(text.find(mark)? + mark.len()..)?;
    let end = after
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len());
    after.get(..end)?.parse().ok()
}

/// What a sentence tells about the access.
fn read_access(access: &mut Access, text: &str) {
    if access.operation.is_none() {
        if text.starts_with("READ of size") || text.contains("caused by a READ memory") {
            access.operation = Some(Operation::Read);
        } else if text.starts_with("WRITE of size") || text.contains("caused by a WRITE memory") {
            access.operation = Some(Operation::Write);
        }
        if access.operation.is_some() || text.starts_with("ACCESS of size") {
            access.size = number_after(text, " of size ");
        }
    }
    read_distance(access, text);
    if text.contains("<== Memory access at offset") {
        read_variable(access, text);
    }
}

/// `.. is located 0 bytes to the right of 28-byte region [..)`, in the words
/// of older and newer releases.
fn read_distance(access: &mut Access, text: &str) {
    if access.side.is_some() || !text.contains(" is located ") {
        return;
    }
    let sides = [
        (" bytes to the right of ", Side::After),
        (" bytes after ", Side::After),
        (" bytes to the left of ", Side::Before),
        (" bytes before ", Side::Before),
        (" bytes inside of ", Side::Inside),
    ];
    let found = sides
        .iter()
        .find_map(|(mark, side)| Some((*side, number_before(text, mark)?)));
    let Some((side, distance)) = found else {
        return;
    };
    access.side = Some(side);
    access.distance = Some(distance);
    if let Some(size) = number_before(text, "-byte region") {
        access.object = Some("a heap block".to_owned());
        access.object_size = Some(size);
    } else if let Some((_, rest)) = text.split_once("global variable '") {
        access.object = rest.split_once('\'').map(|(name, _)| format!("'{name}'"));
        access.object_size = number_after(text, " of size ");
    }
}

/// `[96, 2144) 'buf' (line 261) <== Memory access at offset 2144 overflows ..`
fn read_variable(access: &mut Access, text: &str) {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let bounds = text
        .trim_start_matches('[')
        .split_once(')')
        .and_then(|(bounds, _)| bounds.split_once(','));
    let Some((Some(start), Some(end))) = bounds.map(|(a, b)| (number(a), number(b))) else {
        return;
    };
    let Some(offset) = number_after(text, "Memory access at offset ") else {
        return;
    };
    let (side, distance) = if offset >= end {
        (Side::After, offset - end)
    } else if offset < start {
        (Side::Before, start - offset)
    } else {
        (Side::Inside, offset - start)
    };
    access.side = Some(side);
    access.distance = Some(distance);
    access.object = text
        .split_once('\'')
        .and_then(|(_, rest)| rest.split_once('\''))
        .map(|(name, _)| format!("'{name}'"));
    access.object_size = Some(end.saturating_sub(start));
}

/// `Write of size 4 at 0x.. by thread T1:`
fn read_race(access: &mut Access, text: &str) {
    let lower = text.to_ascii_lowercase();
    if !lower.contains(" of size ") || lower.starts_with("previous") {
        return;
    }
    if lower.contains("write of size") {
        access.operation = Some(Operation::Write);
    } else if lower.contains("read of size") {
        access.operation = Some(Operation::Read);
    }
    access.size = number_after(&lower, " of size ");
    access.address = first_address(text);
}

/// An abort is explained by what the program printed before it.
fn explain_abort(draft: &mut Draft, log: &Log<'_>, at: usize) {
    if draft.kind != "ABRT" {
        return;
    }
    if let Some((kind, sentence)) = super::abort::reason_before(log, at) {
        kind.clone_into(&mut draft.kind);
        draft.message.clone_from(&sentence);
        draft.parts.insert(0, super::draft::Part::Text(sentence));
    }
    // The address of an abort is the process's own number.
    draft.access = Access::default();
}
