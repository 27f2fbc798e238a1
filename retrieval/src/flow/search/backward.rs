//! Backwards: where a value comes from.

use super::{Search, Task, is_out, same, shared, shared_name, through_pointers};
use crate::error::Result;
use crate::flow::function::{Analysis, Edge, Target};
use crate::flow::models;
use crate::flow::place::{Place, Source};
use crate::symbol::Symbol;

/// Limit on how many calls deep a pointer is followed to where it is written through.
const WRITE_DEPTH: u32 = 4;

impl Search<'_> {
    pub(super) fn origin(&mut self, task: Task, depth: u32) -> Result<()> {
        match task {
            Task::Place(function, place, at) => self.place_origin(&function, &place, at, depth),
            Task::Returned(name) => {
                let functions = self.bodies(&name)?;
                let returns = |edge: &Edge, _: &Analysis| edge.to.target == Target::Return;
                self.follow_sources_in(functions, returns, depth)
            }
            Task::Out(name, argument) => {
                let functions = self.bodies(&name)?;
                let writes = |edge: &Edge, analysis: &Analysis| is_out(analysis, edge, argument);
                self.follow_sources_in(functions, writes, depth)
            }
            Task::Parameter(name, argument) => {
                let callers = self.callers(&name)?;
                let wanted = Target::Argument(name, argument);
                self.follow_sources_in(callers, |edge, _| edge.to.target == wanted, depth)
            }
            Task::Shared(name) => {
                let holders = self.holders(&name)?;
                let place = shared(&name);
                let writes = |edge: &Edge, analysis: &Analysis| match &edge.to.target {
                    Target::Place(target) => same(analysis, target, &place),
                    _ => false,
                };
                self.follow_sources_in(holders, writes, depth)
            }
        }
    }

    fn place_origin(
        &mut self,
        function: &Symbol,
        place: &Place,
        at: Option<usize>,
        depth: u32,
    ) -> Result<()> {
        let analysis = self.index.analysis(function);
        let reader = at.and_then(|number| analysis.edges.get(number));
        let exact = |target: &Place| {
            same(&analysis, target, place)
                && (target.root == place.root || at.is_none() || place.fields.is_empty())
        };
        let (mut edges, mut before) = analysis.reaching(reader, exact);
        if edges.is_empty() {
            (edges, before) = analysis.reaching(reader, |target| same(&analysis, target, place));
        }
        edges.extend(through_pointers(&analysis, place));
        self.follow_sources(function, &analysis, edges, depth)?;
        if !before {
            return Ok(());
        }
        if let Some(name) = shared_name(&analysis, place) {
            self.push(Task::Shared(name.to_owned()), depth + 1);
        }
        // A field of a parameter belongs to the caller's object as well.
        let mut parameters = analysis.parameters.iter();
        if place.fields.is_empty()
            && let Some(index) = parameters.position(|one| one.name == place.root)
        {
            self.push(Task::Parameter(function.name.clone(), index), depth);
        }
        Ok(())
    }

    fn follow_sources_in(
        &mut self,
        functions: Vec<Symbol>,
        wanted: impl Fn(&Edge, &Analysis) -> bool,
        depth: u32,
    ) -> Result<()> {
        for function in functions {
            let analysis = self.index.analysis(&function);
            let edges = analysis.edges.iter();
            let edges = edges.filter(|edge| wanted(edge, &analysis));
            self.follow_sources(&function, &analysis, edges, depth)?;
        }
        Ok(())
    }

    fn follow_sources<'a>(
        &mut self,
        function: &Symbol,
        analysis: &Analysis,
        edges: impl IntoIterator<Item = &'a Edge>,
        depth: u32,
    ) -> Result<()> {
        for edge in edges {
            let follows_arguments = match &edge.from.source {
                Source::Out(callee, argument) if !self.writes_through(callee, *argument)? => {
                    continue;
                }
                Source::Call(callee) => models::computes(callee) && self.bodies(callee)?.is_empty(),
                source => matches!(source, Source::Out(..)),
            };
            self.follow_source(function, edge, depth);
            let given = analysis.edges.iter();
            for given in given.filter(|given| follows_arguments && goes_into(given, edge)) {
                self.follow_source(function, given, depth + 1);
            }
        }
        Ok(())
    }

    fn follow_source(&mut self, function: &Symbol, edge: &Edge, depth: u32) {
        self.step(function, edge, depth);
        let next = match &edge.from.source {
            Source::Place(place) => Task::Place(function.clone(), place.clone(), Some(edge.number)),
            Source::Call(callee) => Task::Returned(callee.clone()),
            Source::Out(callee, argument) => Task::Out(callee.clone(), *argument),
            Source::Constant => return,
        };
        self.push(next, depth + 1);
    }

    /// Returns whether a callee writes through an argument: its own text says so, or
    /// the models of the C library do.
    pub(super) fn writes_through(&self, callee: &str, argument: usize) -> Result<bool> {
        let mut open = vec![(callee.to_owned(), argument, 0)];
        let mut seen = Vec::new();
        while let Some((callee, argument, depth)) = open.pop() {
            if models::writes(&callee, argument) {
                return Ok(true);
            }
            for function in self.bodies(&callee)? {
                let analysis = self.index.analysis(&function);
                let edges = analysis.edges.iter();
                for edge in edges.filter(|edge| is_out(&analysis, edge, argument)) {
                    let Source::Out(inner, index) = &edge.from.source else {
                        return Ok(true);
                    };
                    let next = (inner.clone(), *index, depth + 1);
                    if depth < WRITE_DEPTH && !seen.contains(&next) {
                        seen.push(next.clone());
                        open.push(next);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// Returns whether an edge hands a call what another one takes from it: `memcpy(a, b, n)` writes
/// `b` to `a`, and the result of a function that the tree does not hold is made of its arguments.
fn goes_into(given: &Edge, taker: &Edge) -> bool {
    let Target::Argument(callee, from) = &given.to.target else {
        return false;
    };
    match &taker.from.source {
        Source::Out(other, argument) => {
            other == callee && given.line == taker.line && models::copies(callee, *from, *argument)
        }
        Source::Call(other) => {
            other == callee
                && given.is_within(taker)
                && matches!(given.from.source, Source::Place(_))
        }
        Source::Place(_) | Source::Constant => false,
    }
}
