//! Forwards: where a value goes.

use super::{Result, Search, Task, same, shared, shared_name};
use crate::flow::function::{Analysis, Edge, Target};
use crate::flow::models;
use crate::flow::place::{Place, Source};
use crate::symbol::Symbol;
use std::sync::Arc;

impl Search<'_> {
    pub(super) fn usage(&mut self, task: Task, depth: u32) -> Result<()> {
        match task {
            Task::Place(function, place, written) => {
                self.place_usage(&function, &place, written, depth)
            }
            Task::Returned(name) => {
                for caller in self.callers(&name)? {
                    let analysis = self.index.analysis(&caller);
                    let taken = |edge: &Edge| matches!(&edge.source, Source::Call(callee) if *callee == name);
                    self.follow_targets(&caller, &analysis, taken, depth);
                }
                Ok(())
            }
            Task::Parameter(name, argument) => {
                for function in self.bodies(&name)? {
                    let analysis = self.index.analysis(&function);
                    if let Some(parameter) = analysis.parameters.get(argument) {
                        let place = Place::variable(&parameter.name);
                        self.place_usage(&function, &place, None, depth)?;
                    }
                }
                Ok(())
            }
            Task::Shared(name) => {
                for holder in self.holders(&name)? {
                    let analysis = self.index.analysis(&holder);
                    let place = shared(&name);
                    let taken = |edge: &Edge| matches!(&edge.source, Source::Place(source) if same(&analysis, source, &place));
                    self.follow_targets(&holder, &analysis, taken, depth);
                }
                Ok(())
            }
            Task::Out(..) => Ok(()),
        }
    }

    fn place_usage(
        &mut self,
        function: &Symbol,
        place: &Place,
        written: Option<usize>,
        depth: u32,
    ) -> Result<()> {
        let analysis = self.index.analysis(function);
        for (index, edge) in analysis.edges.iter().enumerate() {
            let Source::Place(source) = &edge.source else {
                continue;
            };
            let reads = same(&analysis, source, place);
            if !reads || Some(index) == written {
                continue;
            }
            let (reaching, _) =
                analysis.reaching(Some(index), |target| same(&analysis, target, place));
            if written.is_none_or(|written| reaching.contains(&written))
                && !self.is_written(edge, source)?
            {
                self.step(function, index, edge, depth);
                self.follow_target(function, &analysis, index, depth);
                self.out_of_unknown(function, &analysis, edge, depth)?;
            }
        }
        Ok(())
    }

    fn follow_targets(
        &mut self,
        function: &Symbol,
        analysis: &Arc<Analysis>,
        taken: impl Fn(&Edge) -> bool,
        depth: u32,
    ) {
        for (index, edge) in analysis.edges.iter().enumerate() {
            if taken(edge) {
                self.step(function, index, edge, depth);
                self.follow_target(function, analysis, index, depth);
            }
        }
    }

    fn follow_target(&mut self, function: &Symbol, analysis: &Analysis, index: usize, depth: u32) {
        let Some(edge) = analysis.edges.get(index) else {
            return;
        };
        match &edge.target {
            Target::Place(place) => {
                if let Some(name) = shared_name(analysis, place) {
                    self.push(Task::Shared(name.to_owned()), depth + 1);
                } else {
                    let place = place.clone();
                    self.push(Task::Place(function.clone(), place, Some(index)), depth + 1);
                }
            }
            Target::Return => self.push(Task::Returned(function.name.clone()), depth + 1),
            Target::Argument(callee, argument) => {
                self.push(Task::Parameter(callee.clone(), *argument), depth + 1);
            }
            Target::Index | Target::Check => {}
        }
    }

    /// Returns whether an edge hands a place over only to have it written to.
    fn is_written(&self, edge: &Edge, source: &Place) -> Result<bool> {
        match &edge.target {
            Target::Argument(callee, index) => {
                let plain = !source.content && !self.reads_value(callee, *index)?;
                Ok(plain && self.writes_through(callee, *index)?)
            }
            _ => Ok(false),
        }
    }

    /// Returns whether a callee in the tree reads what it gets through a parameter.
    fn reads_value(&self, callee: &str, argument: usize) -> Result<bool> {
        for function in self.bodies(callee)? {
            let analysis = self.index.analysis(&function);
            let Some(parameter) = analysis.parameters.get(argument) else {
                continue;
            };
            let reads = analysis.edges.iter().any(|edge| {
                matches!(&edge.source, Source::Place(place) if place.root == parameter.name)
                    && !matches!(&edge.target, Target::Argument(..))
            });
            if reads {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A value that goes into a function which the tree does not hold comes
    /// out with its result.
    fn out_of_unknown(
        &mut self,
        function: &Symbol,
        analysis: &Arc<Analysis>,
        given: &Edge,
        depth: u32,
    ) -> Result<()> {
        let Target::Argument(callee, _) = &given.target else {
            return Ok(());
        };
        if !models::computes(callee) || !self.bodies(callee)?.is_empty() {
            return Ok(());
        }
        let taken = |edge: &Edge| {
            matches!(&edge.source, Source::Call(other) if other == callee) && given.is_within(edge)
        };
        self.follow_targets(function, analysis, taken, depth + 1);
        Ok(())
    }
}
