//! Backwards: where a value comes from.

use super::{
    Result, Search, Task, out_edges, parameter_index, same, shared, shared_name, through_pointers,
};
use crate::flow::function::{Analysis, Edge, Target};
use crate::flow::models;
use crate::flow::place::{Place, Source};
use crate::symbol::Symbol;
use std::sync::Arc;

/// Limit on how many calls deep a pointer is followed to where it is written through.
const WRITE_DEPTH: u32 = 4;

impl Search<'_> {
    pub(super) fn origin(&mut self, task: Task, depth: u32) -> Result<()> {
        match task {
            Task::Place(function, place, at) => self.place_origin(&function, &place, at, depth),
            Task::Returned(name) => self.returned_origin(&name, depth),
            Task::Out(name, index) => self.out_origin(&name, index, depth),
            Task::Parameter(name, index) => self.parameter_origin(&name, index, depth),
            Task::Shared(name) => {
                for holder in self.holders(&name)? {
                    let place = shared(&name);
                    let analysis = self.index.analysis(&holder);
                    let (edges, _) =
                        analysis.reaching(None, |target| same(&analysis, target, &place));
                    self.follow_sources(&holder, &analysis, &edges, depth)?;
                }
                Ok(())
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
        let exact = |target: &Place| {
            same(&analysis, target, place)
                && (target.root == place.root || at.is_none() || place.fields.is_empty())
        };
        let (mut edges, mut before) = analysis.reaching(at, exact);
        if edges.is_empty() {
            (edges, before) = analysis.reaching(at, |target| same(&analysis, target, place));
        }
        edges.extend(through_pointers(&analysis, place));
        self.follow_sources(function, &analysis, &edges, depth)?;
        if !before {
            return Ok(());
        }
        if let Some(name) = shared_name(&analysis, place) {
            self.push(Task::Shared(name.to_owned()), depth + 1);
        }
        // A field of a parameter belongs to the caller's object as well.
        if place.fields.is_empty()
            && let Some(index) = parameter_index(&analysis, &place.root)
        {
            self.push(Task::Parameter(function.name.clone(), index), depth);
        }
        Ok(())
    }

    fn follow_sources(
        &mut self,
        function: &Symbol,
        analysis: &Arc<Analysis>,
        edges: &[usize],
        depth: u32,
    ) -> Result<()> {
        for index in edges {
            let Some(edge) = analysis.edges.get(*index) else {
                continue;
            };
            if let Source::Out(callee, argument) = &edge.source {
                if self.writes_through(callee, *argument)? {
                    self.step(function, *index, edge, depth);
                    self.push(Task::Out(callee.clone(), *argument), depth + 1);
                    self.copied(function, analysis, *index, depth);
                }
                continue;
            }
            self.step(function, *index, edge, depth);
            self.follow_source(function, *index, edge, depth);
            if let Source::Call(callee) = &edge.source
                && models::computes(callee)
                && self.bodies(callee)?.is_empty()
            {
                self.through_unknown(function, analysis, *index, depth);
            }
        }
        Ok(())
    }

    /// The result of a function that the tree does not hold comes from its
    /// arguments.
    fn through_unknown(
        &mut self,
        function: &Symbol,
        analysis: &Analysis,
        taking: usize,
        depth: u32,
    ) {
        let Some(taker) = analysis.edges.get(taking) else {
            return;
        };
        let Source::Call(callee) = &taker.source else {
            return;
        };
        for (index, edge) in analysis.edges.iter().enumerate() {
            let given = matches!(&edge.target, Target::Argument(other, _) if other == callee);
            if given && edge.is_within(taker) && matches!(edge.source, Source::Place(_)) {
                self.step(function, index, edge, depth + 1);
                self.follow_source(function, index, edge, depth + 1);
            }
        }
    }

    fn follow_source(&mut self, function: &Symbol, index: usize, edge: &Edge, depth: u32) {
        match &edge.source {
            Source::Place(place) => {
                let place = place.clone();
                self.push(Task::Place(function.clone(), place, Some(index)), depth + 1);
            }
            Source::Call(callee) => self.push(Task::Returned(callee.clone()), depth + 1),
            Source::Out(..) | Source::Constant => {}
        }
    }

    /// `memcpy(a, b, n)`: from `a` on to `b`.
    fn copied(&mut self, function: &Symbol, analysis: &Analysis, out: usize, depth: u32) {
        let Some(Edge {
            source: Source::Out(callee, argument),
            line,
            ..
        }) = analysis.edges.get(out)
        else {
            return;
        };
        for (index, edge) in analysis.edges.iter().enumerate() {
            let Target::Argument(other, from) = &edge.target else {
                continue;
            };
            if other == callee && edge.line == *line && models::copies(callee, *from, *argument) {
                self.step(function, index, edge, depth + 1);
                self.follow_source(function, index, edge, depth + 1);
            }
        }
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
                for edge in out_edges(&analysis, argument) {
                    let source = analysis.edges.get(edge).map(|edge| &edge.source);
                    let Some(Source::Out(inner, index)) = source else {
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

    fn returned_origin(&mut self, name: &str, depth: u32) -> Result<()> {
        for function in self.bodies(name)? {
            let analysis = self.index.analysis(&function);
            let returns = analysis.edges_that(|edge| edge.target == Target::Return);
            self.follow_sources(&function, &analysis, &returns, depth)?;
        }
        Ok(())
    }

    fn out_origin(&mut self, name: &str, argument: usize, depth: u32) -> Result<()> {
        for function in self.bodies(name)? {
            let analysis = self.index.analysis(&function);
            let edges = out_edges(&analysis, argument);
            self.follow_sources(&function, &analysis, &edges, depth)?;
        }
        Ok(())
    }

    fn parameter_origin(&mut self, name: &str, argument: usize, depth: u32) -> Result<()> {
        for caller in self.callers(name)? {
            let analysis = self.index.analysis(&caller);
            let wanted = Target::Argument(name.to_owned(), argument);
            let edges = analysis.edges_that(|edge| edge.target == wanted);
            self.follow_sources(&caller, &analysis, &edges, depth)?;
        }
        Ok(())
    }
}
