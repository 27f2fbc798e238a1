//! The flow of values in one function.
//!
//! The function's own lines are parsed, whatever the rest of its file looks
//! like, and walked once: every assignment, argument and return becomes an
//! edge, every block a number. Order and blocks decide which assignments reach
//! a place ([`Analysis::reaching`]); there is no control-flow graph.

use crate::flow::place::{Place, Source, Taken};
use patchwright_source::words;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// Where a value goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Place(Place),
    /// The value that the function returns.
    Return,
    /// An argument of a call: the callee and the index.
    Argument(String, usize),
    /// The index of an element.
    Index,
    /// A condition.
    Check,
}

/// A target with its text.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    pub(crate) target: Target,
    pub(crate) text: String,
    /// True when older values of the target are lost.
    pub(super) kills: bool,
}

impl Goal {
    pub(super) fn new(target: Target, text: impl Into<String>) -> Self {
        Self {
            target,
            text: text.into(),
            kills: false,
        }
    }

    /// A place whose older values are lost.
    pub(super) fn instead(place: Place, text: impl Into<String>) -> Self {
        Self {
            kills: true,
            ..Self::new(Target::Place(place), text)
        }
    }
}

/// One step of a value.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    /// Its place among the edges of its function.
    pub(crate) number: usize,
    pub(crate) line: u32,
    /// Where the source is read.
    pub(super) reads: usize,
    /// Where the target is written: after everything on the right of it.
    pub(super) writes: usize,
    pub(crate) from: Taken,
    pub(crate) to: Goal,
    /// The blocks around, outermost first.
    pub(super) blocks: Vec<u32>,
}

impl Edge {
    /// Returns whether the text of this edge lies in that of another.
    pub(crate) fn is_within(&self, outer: &Edge) -> bool {
        outer.reads <= self.reads && self.writes <= outer.writes
    }

    /// Returns how the value moves.
    pub(crate) fn kind(&self) -> &'static str {
        match (&self.to.target, &self.from.source) {
            (Target::Return, _) => "return",
            (Target::Argument(..), _) => "argument",
            (Target::Index, _) => "index",
            (Target::Check, _) => "check",
            (Target::Place(_), Source::Call(_)) => "result",
            (Target::Place(_), Source::Out(..)) => "out",
            (Target::Place(_), _) => "assign",
        }
    }
}

/// Describes how a condition guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardKind {
    /// The condition holds.
    Holds,
    /// The condition does not hold (an `else`).
    Fails,
    /// The condition did not hold, or an earlier statement had left.
    Passed,
    /// The condition holds at the start of each round of a loop.
    Loop,
    /// The value of a `switch` is this case.
    Case,
    /// The preprocessor's condition holds.
    Preprocessor,
}

words!(GuardKind: Holds "holds", Fails "fails", Passed "passed", Loop "loop", Case "case",
    Preprocessor "preprocessor");

/// A condition and the lines that it guards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardFact {
    /// The first guarded line.
    pub line: u32,
    /// The last guarded line.
    pub end_line: u32,
    /// Where the condition stands.
    pub condition_line: u32,
    pub kind: GuardKind,
    /// The condition as written, on one line.
    pub condition: String,
}

/// A statement, or the part of one that writes or reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) writes: Vec<String>,
    pub(crate) reads: Vec<String>,
}

/// A condition and the lines that it decides about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) line: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) reads: Vec<String>,
}

/// A call as it is written.
#[derive(Debug)]
pub(crate) struct Call {
    /// The last name of what is called.
    pub(crate) name: String,
    /// The names that get its result or are passed by address.
    pub(crate) sets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// True when assigning to it assigns to the argument (C++ `&`, macros).
    pub(crate) by_name: bool,
}

/// A loop: its bytes and its lines.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) bytes: Range<usize>,
    pub(crate) lines: RangeInclusive<u32>,
}

/// Facts about one function.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) calls: Vec<Call>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) guards: Vec<GuardFact>,
    /// The names that are the function's own.
    pub(crate) locals: BTreeSet<String>,
    pub(crate) loops: Vec<Loop>,
}

impl Analysis {
    /// The edges that write a place which the edge `reader` reads, as far as
    /// their values may still be there; and whether the value from before the
    /// function may be, too. Without a reader, all that write it.
    pub(crate) fn reaching(
        &self,
        reader: Option<&Edge>,
        matches: impl Fn(&Place) -> bool,
    ) -> (Vec<&Edge>, bool) {
        let mut found = Vec::new();
        let mut lost_after: Option<usize> = None;
        for edge in self.edges.iter().rev() {
            let Target::Place(target) = &edge.to.target else {
                continue;
            };
            if !matches(target) {
                continue;
            }
            let Some(reader) = reader else {
                found.push(edge);
                continue;
            };
            if edge.writes > reader.reads {
                if self.share_loop(edge.reads, reader.reads) {
                    found.push(edge);
                }
                continue;
            }
            // Several edges of one assignment are lost or kept together.
            if lost_after.is_some_and(|writes| edge.writes < writes) {
                continue;
            }
            found.push(edge);
            if edge.to.kills && !target.content && reader.blocks.starts_with(&edge.blocks) {
                lost_after = Some(edge.writes);
            }
        }
        found.reverse();
        (found, lost_after.is_none())
    }

    fn share_loop(&self, a: usize, b: usize) -> bool {
        self.loops
            .iter()
            .any(|one| one.bytes.contains(&a) && one.bytes.contains(&b))
    }
}
