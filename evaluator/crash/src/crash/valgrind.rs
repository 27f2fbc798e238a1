//! Errors of Valgrind: memcheck's, and the thread checkers'.
//!
//! ```text
//! ==12== Invalid read of size 4
//! ==12==    at 0x109189: main (bad.c:7)
//! ==12==  Address 0x4a57068 is 0 bytes after a block of size 40 alloc'd
//! ==12==    at 0x4844899: malloc (vg_replace_malloc.c:381)
//! ```

use super::draft::Draft;
use super::log_lines::Log;
use super::{Access, Family, Operation, Role, Side, Strength, Tool, native};
use patchwright_source::{Frame, UNKNOWN_FUNCTION};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r"^==[0-9]+== [A-Z0-9]",
    begins: |line| body(line).and_then(kind).is_some(),
    read,
};

const MAX_LINES: usize = 2_000;

/// Beginnings of errors, with the kind of each.
const KINDS: [(&str, &str); 22] = [
    ("Invalid read of size", "invalid-read"),
    ("Invalid write of size", "invalid-write"),
    ("Invalid free() / delete", "invalid-free"),
    ("Mismatched free() / delete", "alloc-dealloc-mismatch"),
    ("Mismatched new/delete", "new-delete-type-mismatch"),
    (
        "Conditional jump or move depends on uninitialised",
        "use-of-uninitialized-value",
    ),
    ("Use of uninitialised value", "use-of-uninitialized-value"),
    ("Uninitialised byte(s)", "use-of-uninitialized-value"),
    ("Syscall param", "use-of-uninitialized-value"),
    ("Source and destination overlap in", "overlapping-memory"),
    ("Argument '", "negative-size-param"),
    ("Jump to the invalid address", "invalid-jump"),
    ("Illegal memory pool address", "invalid-read"),
    ("Possible data race", "data-race"),
    ("Thread #", "thread-error"),
    ("Exiting thread still holds", "lock-leak"),
    ("Stack overflow in thread", "stack-overflow"),
    (
        "Process terminating with default action of signal 11",
        "SEGV",
    ),
    (
        "Process terminating with default action of signal 6",
        "ABRT",
    ),
    ("Process terminating with default action of signal 8", "FPE"),
    ("Process terminating with default action of signal 4", "ILL"),
    ("Process terminating with default action of signal 7", "BUS"),
];

/// Returns the text of one of Valgrind's lines, with its indentation.
fn body(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("==")?;
    let (pid, rest) = rest.split_once("==")?;
    pid.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(rest)
}

fn kind(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix(' ')?;
    if text.contains(" bytes in ") && text.contains(" are definitely lost in loss record") {
        return Some("memory-leak");
    }
    let (_, kind) = KINDS.iter().find(|(phrase, _)| text.starts_with(phrase))?;
    Some(kind)
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let headline = body(log.line(at)?)?;
    let mut kind = kind(headline)?;
    let headline = headline.trim();
    if kind == "thread-error" && !headline.contains("lock") {
        return None;
    }
    let mut draft = Draft::new(Tool::Valgrind, kind);
    draft.say(format!("Valgrind: {headline}"));
    if kind == "memory-leak" {
        draft.expect(Role::Allocated);
    }
    read_access(&mut draft, headline);
    for line in log.from(at + 1, MAX_LINES) {
        let Some(text) = body(line) else {
            // The program's own output may come between.
            if draft.has_frames() {
                break;
            }
            continue;
        };
        if let Some(frame) = read_frame(text) {
            draft.push(frame);
            continue;
        }
        let text = text.trim();
        if text.is_empty() {
            if draft.has_frames() {
                break;
            }
            continue;
        }
        if let Some(better) = read_note(&mut draft, text) {
            kind = better;
        }
    }
    kind.clone_into(&mut draft.kind);
    Some(draft)
}

fn read_access(draft: &mut Draft, headline: &str) {
    draft.access.operation = if headline.starts_with("Invalid read") {
        Some(Operation::Read)
    } else if headline.starts_with("Invalid write") {
        Some(Operation::Write)
    } else {
        None
    };
    if draft.access.operation.is_some() {
        draft.access.size = headline
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse().ok());
    }
}

/// Reads a sentence between the stacks; returns the kind where the sentence names a more precise one.
fn read_note(draft: &mut Draft, text: &str) -> Option<&'static str> {
    draft.say(text);
    let address = text
        .strip_prefix("Address ")
        .and_then(|rest| rest.split(' ').next());
    if let Some(address) = address {
        draft.access.address = Some(address.to_owned());
    }
    read_distance(&mut draft.access, text);
    let role = role(text);
    draft.expect(role);
    let is_access = matches!(draft.kind.as_str(), "invalid-read" | "invalid-write");
    let outside = matches!(draft.access.side, Some(Side::Before | Side::After));
    match role {
        Role::Freed if draft.kind == "invalid-free" => Some("double-free"),
        Role::Freed if is_access => Some("use-after-free"),
        Role::Allocated if is_access && outside && text.starts_with("Address ") => {
            Some("heap-buffer-overflow")
        }
        _ => None,
    }
}

fn role(text: &str) -> Role {
    if text.ends_with("free'd") && text.contains(" a block of size ") {
        Role::Freed
    } else if text.ends_with("alloc'd") || text.starts_with("Block was alloc'd at") {
        Role::Allocated
    } else if text.contains("was created by") || text.ends_with(" was created") {
        Role::Created
    } else if text.starts_with("This conflicts with a previous") {
        Role::Previous
    } else {
        Role::Crash
    }
}

/// `Address 0x4a57068 is 0 bytes after a block of size 40 alloc'd`
fn read_distance(access: &mut Access, text: &str) {
    let Some((before, rest)) = text.split_once(" bytes ") else {
        return;
    };
    let Some(distance) = before.rsplit(' ').next().and_then(number) else {
        return;
    };
    let sides = [
        ("after a block", Side::After),
        ("before a block", Side::Before),
        ("inside a block", Side::Inside),
    ];
    let Some((_, side)) = sides.iter().find(|(words, _)| rest.starts_with(words)) else {
        return;
    };
    access.distance = Some(distance);
    access.side = Some(*side);
    access.object = Some("a heap block".to_owned());
    access.object_size = rest
        .split_once(" of size ")
        .and_then(|(_, rest)| number(rest.split(' ').next()?));
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

/// `at 0x109189: N::f(int) (bad.cc:7)` or `by 0x48: ??? (in /usr/lib/x.so)`.
fn read_frame(text: &str) -> Option<Frame> {
    let text = text.trim_start();
    let rest = text
        .strip_prefix("at 0x")
        .or_else(|| text.strip_prefix("by 0x"))?;
    let (_, rest) = rest.split_once(": ")?;
    let (name, place) = match rest
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
    {
        Some((name, place)) => (name, Some(place)),
        None => (rest, None),
    };
    let mut frame = Frame::named(if name == "???" {
        UNKNOWN_FUNCTION
    } else {
        name
    });
    match place {
        Some(place) if place.starts_with("in ") => {
            frame.module = place.get(3..).map(ToOwned::to_owned);
        }
        Some(place) => {
            let (file, line, _) = native::read_position(place);
            // Valgrind's own replacements of the allocator.
            if file.starts_with("vg_replace") {
                frame.module = Some("/usr/lib/valgrind".to_owned());
            } else {
                frame.file = Some(file.to_owned());
                frame.line = line;
            }
        }
        None => {}
    }
    Some(frame)
}
