//! Slice of a function: the lines whose values reach some lines of it or come from them, and the
//! conditions that decide whether these are reached.

#[cfg(test)]
mod tests;

use crate::engine::Engine;
use crate::flow::Analysis;
use crate::symbol::Symbol;
use std::collections::{BTreeMap, VecDeque};

/// Limit on how many assignments away from the lines a name is followed.
const STEPS: u32 = 3;
/// Limit on how many lines a statement may span that is taken as one.
const STATEMENT: u32 = 6;

/// Describes what some lines of a function depend on.
#[derive(Debug, Default)]
struct Slice {
    /// The lines, each with how many assignments away it is.
    lines: BTreeMap<u32, u32>,
    /// The names that the lines read, each with how many assignments away.
    names: BTreeMap<String, u32>,
}

/// The lines of a function that some of its lines depend on, or that depend on these, each with how
/// many assignments away it is.
pub(crate) fn slice(engine: &Engine, symbol: &Symbol, at: &[u32]) -> BTreeMap<u32, u32> {
    let function = engine.index.analysis(symbol);
    let mut found = Slice::backwards(&function, at);
    found.add_conditions(&function);
    found.lines
}

/// The names that a line depends on, itself or through assignments before it, the nearest first.
pub(crate) fn names_read(function: &Analysis, line: u32) -> Vec<String> {
    let found = Slice::backwards(function, &[line]);
    let mut names: Vec<(u32, String)> = found
        .names
        .into_iter()
        .map(|(name, step)| (step, name))
        .collect();
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

impl Slice {
    /// Follows back what some lines read.
    fn backwards(function: &Analysis, at: &[u32]) -> Self {
        let mut found = Self::default();
        let mut open: VecDeque<(String, u32)> = VecDeque::new();
        for line in at {
            found.lines.insert(*line, 0);
            found.begin(function, *line, &mut open);
        }
        while let Some((name, step)) = open.pop_front() {
            if step < STEPS {
                found.backward(function, at, (&name, step + 1), &mut open);
            }
        }
        found
    }

    /// Takes the names that a line reads, and where what it writes goes.
    fn begin(&mut self, function: &Analysis, line: u32, open: &mut VecDeque<(String, u32)>) {
        let on_line =
            |first: u32, last: u32| (first..=last).contains(&line) && last - first <= STATEMENT;
        let mut written: Vec<&String> = Vec::new();
        let statements = function.statements.iter();
        for one in statements.filter(|one| on_line(one.first, one.last)) {
            for name in one.reads.iter().chain(&one.writes) {
                self.name(name, 0, open);
            }
            written.extend(&one.writes);
        }
        let conditions = function.conditions.iter();
        for name in conditions
            .filter(|one| one.line == line)
            .flat_map(|one| &one.reads)
        {
            self.name(name, 0, open);
        }
        for one in function.statements.iter().filter(|one| one.first > line) {
            if one.reads.iter().any(|name| written.contains(&name)) {
                self.lines.entry(one.first).or_insert(STEPS);
            }
        }
    }

    fn name(&mut self, name: &str, step: u32, open: &mut VecDeque<(String, u32)>) {
        if !self.names.contains_key(name) {
            self.names.insert(name.to_owned(), step);
            open.push_back((name.to_owned(), step));
        }
    }

    /// Follows a name to where it gets its value before the lines, or around a loop.
    fn backward(
        &mut self,
        function: &Analysis,
        at: &[u32],
        (name, step): (&str, u32),
        open: &mut VecDeque<(String, u32)>,
    ) {
        let share_loop = |line: u32, at: u32| {
            let mut loops = function.loops.iter();
            loops.any(|one| one.lines.contains(&line) && one.lines.contains(&at))
        };
        let runs_before = |line: u32| at.iter().any(|at| line <= *at || share_loop(line, *at));
        for one in &function.statements {
            if !one.writes.iter().any(|written| written == name) || !runs_before(one.first) {
                continue;
            }
            for line in one.first..=one.last.min(one.first + STATEMENT) {
                self.lines.entry(line).or_insert(step);
            }
            for read in &one.reads {
                self.name(read, step, open);
            }
        }
    }

    /// Adds the conditions around the lines.
    fn add_conditions(&mut self, function: &Analysis) {
        let mut conditions: Vec<(u32, u32)> = Vec::new();
        for guard in &function.conditions {
            let mut inside = self.lines.range(guard.first..=guard.last);
            let nearest = inside.by_ref().map(|(_, step)| *step).min();
            conditions.extend(nearest.map(|step| (guard.line, step + 1)));
        }
        for (line, step) in conditions {
            self.lines.entry(line).or_insert(step);
        }
    }
}
