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
use super::{Family, Role, Side, Strength, Tool, abort, access, group_of, native, phrases};
use patchwright_source::{Frame, Pattern, regex};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r"^==[0-9]+== [A-Z0-9]",
    begins: |line| body(line).and_then(kind).is_some(),
    read,
};

const MAX_LINES: usize = 2_000;
/// Lines between two parts of an error that may be anything: words of the reporter.
const GAP: usize = 12;

static FRAME: Pattern = Pattern::new(
    r"^(?:at|by) 0x[0-9A-Fa-f]+: (?:\?\?\?|(?P<function>.+?))(?: \((?:in (?P<module>[^()]+)|(?P<file>[^()]+?)(?::(?P<line>\d+)(?::\d+)?)?)\))?$",
);
/// `Address 0x4a57068 is 0 bytes after a block of size 40 alloc'd`
static DISTANCE: Pattern = Pattern::new(
    r"(?P<distance>[\d,]+) bytes (?P<side>after|before|inside) a block(?:.* of size (?P<block>[\d,]+))?",
);

/// Returns the text of one of Valgrind's lines, with its indentation.
fn body(line: &str) -> Option<&str> {
    group_of(regex!("^==[0-9]*==(.*)"), line)
}

fn kind(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix(' ')?;
    if text.contains(" bytes in ") && text.contains(" are definitely lost in loss record") {
        return Some("memory-leak");
    }
    phrases::find("Valgrind", |phrase| text.starts_with(phrase))
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
    draft.access.operation = access::operation(headline, "Invalid read", "Invalid write");
    if draft.access.operation.is_some() {
        draft.access.size = access::size(headline);
    }
    let mut gap = 0;
    for line in log.from(at + 1, MAX_LINES) {
        let Some(text) = body(line) else {
            // The program's own output may come between.
            gap += 1;
            if draft.has_frames() && gap > GAP {
                break;
            }
            continue;
        };
        // Behind a gap, only what explains the error belongs to it.
        let explains = regex!(r"^\s*(?:Address 0x|Block was alloc'd|This conflicts with)");
        if gap > 0 && draft.has_frames() && !explains.is_match(text) {
            break;
        }
        gap = 0;
        if let Some(frame) = read_frame(text) {
            // A frame ends with its place; a name without the beginning of one is half a name.
            let whole = text.ends_with([')', '?']);
            draft.cut |= !whole;
            if whole || text.contains(" (") {
                draft.push(frame);
            }
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
    if kind == "ABRT" {
        abort::explain(&mut draft, abort::reason_before(log, at));
    }
    Some(draft)
}

/// Reads a sentence between the stacks; returns the kind where the sentence names a more precise one.
fn read_note(draft: &mut Draft, text: &str) -> Option<&'static str> {
    draft.say(text);
    if let Some(address) = group_of(regex!("^Address ([^ ]*)"), text) {
        draft.access.address = Some(address.to_owned());
    }
    if let Some(found) = DISTANCE.captures(text) {
        draft.access.object = Some("a heap block".to_owned());
        draft.access.object_size = None;
        access::put_beside(&mut draft.access, &found);
    }
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

/// `at 0x109189: N::f(int) (bad.cc:7)` or `by 0x48: ??? (in /usr/lib/x.so)`.
fn read_frame(text: &str) -> Option<Frame> {
    let found = FRAME.captures(native::uncut(text.trim_start()))?;
    let mut frame = native::captured(&found).unwrap_or_else(native::unnamed);
    // Valgrind's own replacements of the allocator.
    let replaced = |file: &mut String| file.starts_with("vg_replace");
    if frame.file.take_if(replaced).is_some() {
        frame.line = None;
        frame.module = Some("/usr/lib/valgrind".to_owned());
    }
    Some(frame)
}
