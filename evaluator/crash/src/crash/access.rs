//! Memory accesses in sentences of sanitizers: the operation, the size, and the position
//! relative to the object next to it.

use super::{Access, Operation, Side};

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

/// Returns the number before a word: `28-byte region`, `4 bytes to the right`.
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
