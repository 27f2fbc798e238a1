//! Memory accesses in sentences of sanitizers: the operation, the size, and the position
//! relative to the object next to it.

use super::{Access, Operation, Side, group_of};
use patchwright_source::{Pattern, regex};
use regex::Captures;

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
    let address = regex!("0x[0-9a-fA-F]+").find(text)?;
    Some(address.as_str().to_owned())
}

/// Returns the size that a text names.
pub(super) fn size(text: &str) -> Option<u64> {
    group_of(regex!(" of size ([0-9]+)"), text)?.parse().ok()
}

/// Reads the facts that a sentence states about the access.
pub(super) fn read(access: &mut Access, text: &str) {
    if access.operation.is_none() {
        let forms = regex!("^(READ|WRITE) of size|caused by a (READ|WRITE) memory");
        let operation = group_of(forms, text).map(str::to_lowercase);
        access.operation = operation.and_then(|word| Operation::read(&word));
        if access.operation.is_some() || text.starts_with("ACCESS of size") {
            access.size = size(text);
        }
    }
    if let Some(found) = DISTANCE.captures(text).filter(|_| access.side.is_none()) {
        put_beside(access, &found);
        if found.name("variable").is_some() {
            access.object_size = size(text);
        }
    }
    read_variable(access, text);
}

/// Puts an access beside the object of an expression that names its parts `distance`, `side`, and
/// the size of a `block` or a `variable`.
pub(super) fn put_beside(access: &mut Access, found: &Captures<'_>) {
    let group = |name: &str| found.name(name).map(|group| group.as_str());
    let number = |name: &str| group(name)?.replace(',', "").parse().ok();
    access.distance = number("distance");
    access.side = group("side").map(|words| match words {
        "to the right of" | "after" => Side::After,
        "to the left of" | "before" => Side::Before,
        _ => Side::Inside,
    });
    if let Some(size) = number("block") {
        access.object = Some("a heap block".to_owned());
        access.object_size = Some(size);
    } else if let Some(name) = group("variable") {
        access.object = Some(format!("'{name}'"));
    }
}

/// Returns the access that a sentence names with one of two beginnings.
pub(super) fn operation(text: &str, read: &str, write: &str) -> Option<Operation> {
    if text.starts_with(read) {
        return Some(Operation::Read);
    }
    text.starts_with(write).then_some(Operation::Write)
}

/// Reads the position beside a variable of the stack.
fn read_variable(access: &mut Access, text: &str) -> Option<()> {
    let found = VARIABLE.captures(text)?;
    let number = |name: &str| found.name(name)?.as_str().parse::<u64>().ok();
    let (start, end, offset) = (number("start")?, number("end")?, number("offset")?);
    let (side, distance) = match offset {
        offset if offset >= end => (Side::After, offset - end),
        offset if offset < start => (Side::Before, start - offset),
        offset => (Side::Inside, offset - start),
    };
    access.side = Some(side);
    access.distance = Some(distance);
    let name = found.name("name").map(|name| name.as_str());
    access.object = name.map(|name| format!("'{name}'"));
    access.object_size = Some(end.saturating_sub(start));
    Some(())
}

/// `Write of size 4 at 0x.. by thread T1:`
pub(super) fn read_race(access: &mut Access, text: &str) {
    let lower = text.to_ascii_lowercase();
    if !lower.contains(" of size ") || lower.starts_with("previous") {
        return;
    }
    let operation = group_of(regex!("(write|read) of size"), &lower).and_then(Operation::read);
    access.operation = operation.or(access.operation);
    access.size = size(&lower);
    access.address = first_address(text);
}
