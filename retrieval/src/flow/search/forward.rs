//! Forwards: where a value goes.

use super::{Search, Task, same, shared, shared_name};
use crate::error::Result;
use crate::flow::function::{Analysis, Edge, Target};
use crate::flow::models;
use crate::flow::place::{Place, Source};
use crate::symbol::Symbol;

impl Search<'_> {
    pub(super) fn usage(&mut self, task: Task, depth: u32) -> Result<()> {
        match task {
            Task::Place(function, place, written) => {
                self.place_usage(&function, &place, written, depth)?;
            }
            Task::Returned(name) => {
                let callers = self.callers(&name)?;
                let source = Source::Call(name);
                self.follow_targets(&callers, |edge, _| edge.from.source == source, depth);
            }
            Task::Parameter(name, argument) => {
                for function in self.bodies(&name)? {
                    let analysis = self.index.analysis(&function);
                    if let Some(parameter) = analysis.parameters.get(argument) {
                        let place = Place::variable(&parameter.name);
                        self.place_usage(&function, &place, None, depth)?;
                    }
                }
            }
            Task::Shared(name) => {
                let place = shared(&name);
                let taken = |edge: &Edge, analysis: &Analysis| matches!(&edge.from.source, Source::Place(source) if same(analysis, source, &place));
                self.follow_targets(&self.holders(&name)?, taken, depth);
            }
            Task::Out(..) => {}
        }
        Ok(())
    }

    fn place_usage(
        &mut self,
        function: &Symbol,
        place: &Place,
        written: Option<usize>,
        depth: u32,
    ) -> Result<()> {
        let analysis = self.index.analysis(function);
        for edge in &analysis.edges {
            let Source::Place(source) = &edge.from.source else {
                continue;
            };
            if !same(&analysis, source, place) || Some(edge.number) == written {
                continue;
            }
            let reaches = |written: usize| {
                let (reaching, _) =
                    analysis.reaching(Some(edge), |target| same(&analysis, target, place));
                reaching.iter().any(|one| one.number == written)
            };
            if written.is_none_or(reaches) && !self.is_written(edge, source)? {
                self.follow_target(function, &analysis, edge, depth);
                self.out_of_unknown(function, edge, depth)?;
            }
        }
        Ok(())
    }

    fn follow_targets(
        &mut self,
        functions: &[Symbol],
        taken: impl Fn(&Edge, &Analysis) -> bool,
        depth: u32,
    ) {
        for function in functions {
            let analysis = self.index.analysis(function);
            let edges = analysis.edges.iter();
            for edge in edges.filter(|edge| taken(edge, &analysis)) {
                self.follow_target(function, &analysis, edge, depth);
            }
        }
    }

    fn follow_target(&mut self, function: &Symbol, analysis: &Analysis, edge: &Edge, depth: u32) {
        self.step(function, edge, depth);
        let next = match &edge.to.target {
            Target::Place(place) => match shared_name(analysis, place) {
                Some(name) => Task::Shared(name.to_owned()),
                None => Task::Place(function.clone(), place.clone(), Some(edge.number)),
            },
            Target::Return => Task::Returned(function.name.clone()),
            Target::Argument(callee, argument) => Task::Parameter(callee.clone(), *argument),
            Target::Index | Target::Check => return,
        };
        self.push(next, depth + 1);
    }

    /// Returns whether an edge hands a place over only to have it written to.
    fn is_written(&self, edge: &Edge, source: &Place) -> Result<bool> {
        let Target::Argument(callee, index) = &edge.to.target else {
            return Ok(false);
        };
        let plain = !source.content && !self.reads_value(callee, *index)?;
        Ok(plain && self.writes_through(callee, *index)?)
    }

    /// Returns whether a callee in the tree reads what it gets through a parameter.
    fn reads_value(&self, callee: &str, argument: usize) -> Result<bool> {
        let reads = |function: &Symbol| {
            let analysis = self.index.analysis(function);
            let parameter = analysis.parameters.get(argument);
            parameter.is_some_and(|parameter| {
                analysis.edges.iter().any(|edge| {
                    matches!(&edge.from.source, Source::Place(place) if place.root == parameter.name)
                        && !matches!(&edge.to.target, Target::Argument(..))
                })
            })
        };
        Ok(self.bodies(callee)?.iter().any(reads))
    }

    /// A value that goes into a function which the tree does not hold comes
    /// out with its result.
    fn out_of_unknown(&mut self, function: &Symbol, given: &Edge, depth: u32) -> Result<()> {
        let Target::Argument(callee, _) = &given.to.target else {
            return Ok(());
        };
        if !models::computes(callee) || !self.bodies(callee)?.is_empty() {
            return Ok(());
        }
        let source = Source::Call(callee.clone());
        let taken = |edge: &Edge, _: &Analysis| edge.from.source == source && given.is_within(edge);
        self.follow_targets(std::slice::from_ref(function), taken, depth + 1);
        Ok(())
    }
}
