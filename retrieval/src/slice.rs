//! Slice of a function: the lines whose values reach some lines of it or come from them, and the
//! conditions that decide whether these are reached.

#[cfg(test)]
mod tests;

use crate::engine::Engine;
use crate::flow::Analysis;
use crate::symbol::Symbol;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Limit on how many assignments away from the lines a name is followed.
const STEPS: u32 = 3;
/// Limit on how many lines a statement may span that is taken as one.
const STATEMENT: u32 = 6;

/// Describes what some lines of a function depend on.
#[derive(Debug)]
struct Slice<'f> {
    function: &'f Analysis,
    /// The lines that are asked about.
    at: &'f [u32],
    /// The lines, each with how many assignments away it is.
    lines: BTreeMap<u32, u32>,
    /// The names that the lines read.
    names: BTreeSet<String>,
    /// Those that are still to be followed, each with how many assignments away it is.
    open: VecDeque<(String, u32)>,
}

/// The lines of a function that some of its lines depend on, or that depend on these, each with how
/// many assignments away it is.
pub(crate) fn slice(engine: &Engine, symbol: &Symbol, at: &[u32]) -> BTreeMap<u32, u32> {
    let function = engine.index.analysis(symbol);
    let mut found = Slice::backwards(&function, at);
    found.add_conditions();
    found.lines
}

/// The names that a line depends on, itself or through assignments before it.
pub(crate) fn names_read(function: &Analysis, line: u32) -> BTreeSet<String> {
    Slice::backwards(function, &[line]).names
}

impl<'f> Slice<'f> {
    /// Follows back what some lines read.
    fn backwards(function: &'f Analysis, at: &'f [u32]) -> Self {
        let mut found = Self {
            function,
            at,
            lines: BTreeMap::new(),
            names: BTreeSet::new(),
            open: VecDeque::new(),
        };
        for line in at {
            found.lines.insert(*line, 0);
            found.begin(*line);
        }
        while let Some((name, step)) = found.open.pop_front() {
            if step < STEPS {
                found.follow(&name, step + 1);
            }
        }
        found
    }

    /// Takes the names that a line reads, and where what it writes goes.
    fn begin(&mut self, line: u32) {
        let on_line =
            |first: u32, last: u32| (first..=last).contains(&line) && last - first <= STATEMENT;
        let statements = self.function.statements.iter();
        let mut written: Vec<&String> = Vec::new();
        for one in statements
            .clone()
            .filter(|one| on_line(one.first, one.last))
        {
            self.take(one.reads.iter().chain(&one.writes), 0);
            written.extend(&one.writes);
        }
        let conditions = self.function.conditions.iter();
        let conditions = conditions.filter(|one| one.line == line);
        self.take(conditions.flat_map(|one| &one.reads), 0);
        for one in statements.filter(|one| one.first > line) {
            if one.reads.iter().any(|name| written.contains(&name)) {
                self.lines.entry(one.first).or_insert(STEPS);
            }
        }
    }

    fn take<'n>(&mut self, names: impl Iterator<Item = &'n String>, step: u32) {
        for name in names {
            if self.names.insert(name.clone()) {
                self.open.push_back((name.clone(), step));
            }
        }
    }

    /// Follows a name to where it gets its value before the lines, or around a loop.
    fn follow(&mut self, name: &str, step: u32) {
        let (function, at) = (self.function, self.at);
        let share_loop = |line: u32, at: u32| {
            let mut loops = function.loops.iter();
            loops.any(|one| one.lines.contains(&line) && one.lines.contains(&at))
        };
        let runs_before = |line: u32| at.iter().any(|at| line <= *at || share_loop(line, *at));
        let statements = function.statements.iter();
        for one in statements.filter(|one| runs_before(one.first)) {
            if !one.writes.iter().any(|written| written == name) {
                continue;
            }
            for line in one.first..=one.last.min(one.first + STATEMENT) {
                self.lines.entry(line).or_insert(step);
            }
            self.take(one.reads.iter(), step);
        }
    }

    /// Adds the conditions around the lines.
    fn add_conditions(&mut self) {
        let mut conditions: Vec<(u32, u32)> = Vec::new();
        for guard in &self.function.conditions {
            let inside = self.lines.range(guard.first..=guard.last);
            let nearest = inside.map(|(_, step)| *step).min();
            conditions.extend(nearest.map(|step| (guard.line, step + 1)));
        }
        for (line, step) in conditions {
            self.lines.entry(line).or_insert(step);
        }
    }
}
