//! Draft of an edit: carried out at its place on paper, and checked for what it
//! changes.

use super::find::Found;
use super::line_edit::{LineEdit, Reading, SHOWN};
use super::{Piece, text};
use crate::locate::Match;
use crate::merge::{Line, Obstacle, merge};
use crate::pristine::{Pristine, key, says_something};
use crate::splice::Splice;
use crate::{PlacementKind, Refusal, Rule};

/// An edit at one place.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) piece: Piece,
    pub(crate) kind: PlacementKind,
    /// True when the new file shall end with a line end, where a diff says so.
    pub(crate) terminated: Option<bool>,
    /// Number of its last lines that stand once more behind it.
    pub(crate) repeated: Option<usize>,
}

/// Carries an edit out at the place that was found.
pub(super) fn draft(file: &Pristine, edit: &LineEdit<'_>, found: &Found) -> Result<Draft, Refusal> {
    let Found {
        place,
        new: lines,
        reading,
    } = found;
    if stands_already(file, place, reading, edit) {
        let at = place.range.start + 1;
        let reason = format!("what the edit adds stands around line {at} already");
        return Err(Refusal::new(Rule::AlreadyApplied, reason));
    }
    let merged = merge(file, place, &reading.old, lines, edit.hunk)
        .map_err(|obstacle| blocked(file, place, obstacle))?;
    let terminated = termination(file, edit, place);
    let new = text::encode_merged(file, place.range.clone(), &merged, edit.raw)?;
    if terminated.is_none() && is_unchanged(file, place, &merged, &new) {
        return Err(Refusal::new(
            Rule::NoChange,
            "the replacement is what stands there; send a change or leave the edit out",
        ));
    }
    Ok(Draft {
        repeated: repeats_what_follows(file, place, &merged),
        piece: Piece {
            edit: edit.number,
            splice: Splice {
                old: place.range.clone(),
                new,
            },
            shares_context: edit.hunk,
        },
        kind: place.kind,
        terminated,
    })
}

/// The place is known, and what would stand there is not.
fn blocked(file: &Pristine, place: &Match, obstacle: Obstacle) -> Refusal {
    let (Obstacle::LeftOut(at)
    | Obstacle::Repeated(at)
    | Obstacle::Misquoted(at)
    | Obstacle::Exchanged(at)) = obstacle;
    let line = at + 1;
    let reason = match obstacle {
        Obstacle::LeftOut(_) => format!(
            "the original leaves out line {line}, right where the edit changes something; \
             quote it too, so that it is clear whether it stays"
        ),
        Obstacle::Repeated(_) => format!(
            "the original leaves out line {line}, and the new lines hold it again; \
             quote every line from there to the next one that is changed"
        ),
        Obstacle::Misquoted(_) => format!(
            "the original differs from the file at line {line}, which the edit changes; \
             quote it as it is"
        ),
        Obstacle::Exchanged(_) => format!(
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
fn is_unchanged(file: &Pristine, place: &Match, merged: &[Line], new: &[Vec<u8>]) -> bool {
    let kept = place.range.clone().map(Line::Kept);
    let lines = place
        .range
        .clone()
        .map(|at| file.text.raw_line(at + 1).unwrap_or_default());
    merged.iter().cloned().eq(kept) || lines.eq(new.iter().map(Vec::as_slice))
}

/// Returns true when the edit only adds lines around its original, and they are there.
/// A hunk that fits is taken at its word: its context says what is there.
fn stands_already(file: &Pristine, place: &Match, reading: &Reading, edit: &LineEdit<'_>) -> bool {
    let (old, new) = (&reading.old, &edit.new);
    if edit.hunk || new.len() <= old.len() || place.kind == PlacementKind::Similar {
        return false;
    }
    let keys = |lines: &[String]| lines.iter().map(|line| key(line)).collect::<Vec<u64>>();
    let (old_keys, new_keys) = (keys(old), keys(new));
    let mut places = (0..=new.len() - old.len())
        .filter(|offset| new_keys.get(*offset..offset + old.len()) == Some(&old_keys));
    places.any(|offset| {
        let added = new
            .iter()
            .take(offset)
            .chain(new.iter().skip(offset + old.len()));
        let start = place.range.start.checked_sub(offset);
        says_something(added) && start.is_some_and(|start| file.fits(start, new))
    })
}

/// Counts the lines at the end of the result that stand once more behind it.
fn repeats_what_follows(file: &Pristine, place: &Match, merged: &[Line]) -> Option<usize> {
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
        new && tail
            .iter()
            .enumerate()
            .all(|(offset, end)| file.key(place.range.end + offset) == Some(line(end)))
    })
}

/// Returns true when a diff says that the end of the file shall change.
fn termination(file: &Pristine, edit: &LineEdit<'_>, place: &Match) -> Option<bool> {
    let (old, new) = edit.open?;
    let at_end = place.range.end == file.count();
    (at_end && old != new && file.text.ends_with_newline() == new).then_some(!new)
}
