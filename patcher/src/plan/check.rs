//! Checks of an edit at its place: what would stand there, and what does already.

use super::line_edit::{LineEdit, Reading, SHOWN};
use crate::locate::Match;
use crate::merge::{Line, Obstacle};
use crate::pristine::{Pristine, key, says_something};
use crate::{PlacementKind, Refusal, Rule};

/// The place is known, and what would stand there is not.
pub(super) fn blocked(
    file: &Pristine,
    place: &Match,
    (obstacle, at): (Obstacle, usize),
) -> Refusal {
    let line = at + 1;
    let reason = match obstacle {
        Obstacle::LeftOut => format!(
            "the original leaves out line {line}, right where the edit changes something; \
             quote it too, so that it is clear whether it stays"
        ),
        Obstacle::Repeated => format!(
            "the original leaves out line {line}, and the new lines hold it again; \
             quote every line from there to the next one that is changed"
        ),
        Obstacle::Misquoted => format!(
            "the original differs from the file at line {line}, which the edit changes; \
             quote it as it is"
        ),
        Obstacle::Exchanged => format!(
            "the lines around what is added stand the other way round in the file, line {line} \
             among them; quote them in the order of the file"
        ),
    };
    let start = at.saturating_sub(SHOWN / 2).max(place.range.start);
    Refusal {
        nearest: file.excerpt(start, start + SHOWN),
        ..Refusal::new(Rule::NotFound, reason)
    }
}

/// Returns true when the lines of the result are those of the file.
pub(super) fn is_unchanged(
    file: &Pristine,
    place: &Match,
    merged: &[Line],
    new: &[Vec<u8>],
) -> bool {
    let range = place.range.clone();
    let kept = range.clone().map(Line::Kept);
    let lines = range.map(|at| file.text.raw_line(at + 1).unwrap_or_default());
    merged.iter().cloned().eq(kept) || lines.eq(new.iter().map(Vec::as_slice))
}

/// Returns true when the edit only adds lines around its original, and they are there.
/// A hunk that fits is taken at its word: its context says what is there.
pub(super) fn stands_already(
    file: &Pristine,
    place: &Match,
    reading: &Reading,
    edit: &LineEdit<'_>,
) -> bool {
    let (old, new) = (&reading.old, &edit.new);
    if edit.hunk || new.len() <= old.len() || place.kind == PlacementKind::Similar {
        return false;
    }
    let keys = |lines: &[String]| lines.iter().map(|line| key(line)).collect::<Vec<u64>>();
    let (old_keys, new_keys) = (keys(old), keys(new));
    let mut places = (0..=new.len() - old.len())
        .filter(|offset| new_keys.get(*offset..offset + old.len()) == Some(&old_keys));
    places.any(|offset| {
        let before = new.iter().take(offset);
        let added = before.chain(new.iter().skip(offset + old.len()));
        let start = place.range.start.checked_sub(offset);
        says_something(added) && start.is_some_and(|start| file.fits(start, new))
    })
}

/// Counts the lines at the end of the result that stand once more behind it.
pub(super) fn repeated_behind(file: &Pristine, place: &Match, merged: &[Line]) -> Option<usize> {
    let line = |line: &Line| match line {
        Line::Kept(at) => file.key(*at).unwrap_or_default(),
        Line::New(line) => key(line),
    };
    let longest = merged
        .len()
        .min(file.count().saturating_sub(place.range.end));
    (2..=longest.min(50)).rev().find(|count| {
        let tail = merged.get(merged.len() - count..).unwrap_or_default();
        let new = tail.iter().any(|line| matches!(line, Line::New(_)));
        let mut pairs = (place.range.end..).zip(tail);
        new && pairs.all(|(at, end)| file.key(at) == Some(line(end)))
    })
}

/// Returns true when a diff says that the end of the file shall change.
pub(super) fn termination(file: &Pristine, edit: &LineEdit<'_>, place: &Match) -> Option<bool> {
    let (old, new) = edit.open?;
    let at_end = place.range.end == file.count();
    (at_end && old != new && file.text.ends_with_newline() == new).then_some(!new)
}
