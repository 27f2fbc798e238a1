//! Memory accesses in sentences of sanitizers: the operation, the size, and the position
//! relative to the object next to it.

use super::{Access, Operation, Side};
use patchwright_source::Pattern;

/// `.. is located 0 bytes to the right of 28-byte region [..)`, in the words of older and
/// newer releases.
static DISTANCE: Pattern = Pattern::new(
    r"(?x)\ is\ located\ .*?(?P<distance>\d+)\ bytes\ (?P<side>to\ the\ right\ of|after|to\ the\ left\ of|before|inside\ of)\ 
          (?:.*?\b(?P<block>\d+)-byte\ region|.*?global\ variable\ '(?P<variable>[^']*)')?",
);
/// `[96, 2144) 'buf' (line 261) <== Memory access at offset 2144 overflows ..`
static VARIABLE: Pattern = Pattern::new(
    r"^\[(?P<start>\d+),\s*(?P<end>\d+)\)[^']*(?:'(?P<name>[^']*)')?.*<== Memory access at offset (?P<offset>\d+)",
);

/// Returns the first `0x..` of a text.
pub(super) fn first_address(text: &str) -> Option<String> {
    let at = text.find("0x")?;
    let digits: String = text
        .get(at + 2..)?
        .chars()
        .take_while(char::is_ascii_hexdigit)
        .collect();
    (!digits.is_empty()).then(|| format!("0x{digits}"))
}

fn number_after(text: &str, mark: &str) -> Option<u64> {
    let after = text.get(text.find(mark)? + mark.len()..)?;
    let end = after
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len());
    after.get(..end)?.parse().ok()
}

/// Reads the facts that a sentence states about the access.
pub(super) fn read(access: &mut Access, text: &str) {
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
    read_variable(access, text);
}

/// Reads the position beside a heap block or a global variable.
fn read_distance(access: &mut Access, text: &str) {
    let Some(found) = DISTANCE.captures(text).filter(|_| access.side.is_none()) else {
        return;
    };
    let group = |name: &str| found.name(name).map(|group| group.as_str());
    let number = |name: &str| group(name)?.parse().ok();
    access.distance = number("distance");
    access.side = group("side").map(side);
    if let Some(size) = number("block") {
        access.object = Some("a heap block".to_owned());
        access.object_size = Some(size);
    } else if let Some(name) = group("variable") {
        access.object = Some(format!("'{name}'"));
        access.object_size = number_after(text, " of size ");
    }
}

/// Returns the access that a sentence names with one of two beginnings.
pub(super) fn operation(text: &str, read: &str, write: &str) -> Option<Operation> {
    if text.starts_with(read) {
        return Some(Operation::Read);
    }
    text.starts_with(write).then_some(Operation::Write)
}

/// Returns the side that words of a sanitizer or of Valgrind name.
pub(super) fn side(words: &str) -> Side {
    match words {
        "to the right of" | "after" => Side::After,
        "to the left of" | "before" => Side::Before,
        _ => Side::Inside,
    }
}

/// Reads the position beside a variable of the stack.
fn read_variable(access: &mut Access, text: &str) {
    let Some(found) = VARIABLE.captures(text) else {
        return;
    };
    let number = |name: &str| found.name(name)?.as_str().parse::<u64>().ok();
    let (Some(start), Some(end), Some(offset)) = (number("start"), number("end"), number("offset"))
    else {
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
    access.object = found
        .name("name")
        .map(|name| format!("'{}'", name.as_str()));
    access.object_size = Some(end.saturating_sub(start));
}

/// `Write of size 4 at 0x.. by thread T1:`
pub(super) fn read_race(access: &mut Access, text: &str) {
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
