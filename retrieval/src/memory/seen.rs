//! Which lines of which file were shown in which round.

use crate::{Snippet, snippet::Piece};
use patchwright_source::TreePath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Line ranges by file, each with the round in which it was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen(BTreeMap<TreePath, Vec<Shown>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    first: u32,
    last: u32,
    round: u32,
}

impl Seen {
    pub(super) fn add(&mut self, path: &TreePath, ranges: &[(u32, u32)], round: u32) {
        let file = self.0.entry(path.clone()).or_default();
        file.extend(ranges.iter().map(|(first, last)| Shown {
            first: *first,
            last: *last,
            round,
        }));
    }

    pub(super) fn forget(&mut self, before: u32) {
        self.0.retain(|_, file| {
            file.retain(|shown| shown.round >= before);
            !file.is_empty()
        });
    }

    /// The lines of a snippet that were not shown, and the last round in which
    /// some of the others were.
    pub(super) fn fresh(&self, snippet: &Snippet) -> (Vec<Piece>, Option<u32>) {
        let Some(file) = self.0.get(&snippet.path) else {
            return (snippet.pieces.clone(), None);
        };
        let round_of = |line: u32| {
            file.iter()
                .filter(|shown| (shown.first..=shown.last).contains(&line))
                .map(|shown| shown.round)
                .max()
        };
        let mut fresh: Vec<Piece> = Vec::new();
        let mut before = None;
        for piece in &snippet.pieces {
            for (number, line) in (piece.start_line..).zip(&piece.lines) {
                if let Some(round) = round_of(number) {
                    before = before.max(Some(round));
                } else {
                    push_line(&mut fresh, number, line);
                }
            }
        }
        (fresh, before)
    }
}

fn push_line(pieces: &mut Vec<Piece>, number: u32, line: &str) {
    match pieces.last_mut() {
        Some(open) if open.end_line() + 1 == number => open.lines.push(line.to_owned()),
        _ => pieces.push(Piece {
            start_line: number,
            lines: vec![line.to_owned()],
        }),
    }
}
