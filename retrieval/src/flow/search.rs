//! Follows values backwards to their origins and forwards to their uses,
//! through parameters, returns, arguments that are written to, fields and
//! globals.
//!
//! Fields are told apart by their names, not by their objects, once a value
//! leaves its function.

use crate::error::Result;
use crate::flow::function::{Analysis, Edge, Target};
use crate::flow::place::{Place, Source};
use crate::flow::{Direction, FlowStep};
use crate::index::Index;
use crate::symbol::{Symbol, SymbolKind};
use std::collections::{BTreeSet, VecDeque};

/// Limit on how many functions that use a field or global are looked at.
const SHARED_FUNCTIONS: usize = 80;

/// Limit on how many callers or callees of one name are followed.
const NAMESAKES: usize = 12;

/// The next thing to follow.
#[derive(Debug, Clone)]
pub(super) enum Task {
    /// A place as it is read by an edge (or anywhere) in a function.
    Place(Symbol, Place, Option<usize>),
    /// The value that a function of this name returns.
    Returned(String),
    /// The value that a function of this name writes through an argument.
    Out(String, usize),
    /// The value of a parameter: of the arguments by callers, and in the callee.
    Parameter(String, usize),
    /// A field or global, wherever it is.
    Shared(String),
}

/// Most steps from the asked place.
const DEPTH: u32 = 6;
/// Most steps in each direction.
const STEPS: usize = 40;

/// One search, in one direction.
pub(crate) struct Search<'i> {
    index: &'i Index,
    direction: Direction,
    steps: Vec<FlowStep>,
    /// The edges that are steps, by their functions and numbers.
    seen: BTreeSet<(i64, usize)>,
    done: BTreeSet<String>,
    queue: VecDeque<(Task, u32)>,
}

mod backward;
mod forward;

impl<'i> Search<'i> {
    /// The steps from some starting points in one direction, the nearest first.
    pub(crate) fn run(
        index: &'i Index,
        direction: Direction,
        seeds: &[Task],
    ) -> Result<Vec<FlowStep>> {
        let mut search = Self {
            index,
            direction,
            steps: Vec::new(),
            seen: BTreeSet::new(),
            done: BTreeSet::new(),
            queue: VecDeque::new(),
        };
        for seed in seeds {
            search.push(seed.clone(), 1);
        }
        while let Some((task, depth)) = search.queue.pop_front() {
            if depth > DEPTH || search.steps.len() >= STEPS {
                break;
            }
            match direction {
                Direction::Origin => search.origin(task, depth)?,
                Direction::Use => search.usage(task, depth)?,
            }
        }
        let mut found = search.steps;
        found.truncate(STEPS);
        found.sort_by(|a, b| (a.depth, &a.path, a.line).cmp(&(b.depth, &b.path, b.line)));
        Ok(found)
    }

    pub(super) fn push(&mut self, task: Task, depth: u32) {
        let key = match &task {
            Task::Place(function, place, at) => format!("{} {place:?} {at:?}", function.id),
            other => format!("{other:?}"),
        };
        if self.done.insert(key) {
            self.queue.push_back((task, depth));
        }
    }

    fn step(&mut self, function: &Symbol, edge: &Edge, depth: u32) {
        if !self.seen.insert((function.id, edge.number)) {
            return;
        }
        self.steps.push(FlowStep {
            path: function.path.clone(),
            line: edge.line,
            function: function.qualified(),
            from: edge.from.text.clone(),
            to: edge.to.text.clone(),
            kind: edge.kind(),
            direction: self.direction,
            depth,
        });
    }

    /// The functions and macros of a name; for a field that holds functions,
    /// those that are put into it.
    fn bodies(&self, name: &str) -> Result<Vec<Symbol>> {
        let mut found = self.bodies_named(name)?;
        let is_field = |symbol: &Symbol| symbol.kind == SymbolKind::Field;
        if found.is_empty() && self.index.named(name)?.iter().any(is_field) {
            for pointed in self.put_into(name)? {
                found.append(&mut self.bodies_named(&pointed)?);
            }
        }
        found.truncate(NAMESAKES);
        Ok(found)
    }

    fn bodies_named(&self, name: &str) -> Result<Vec<Symbol>> {
        let mut found = self.index.named(name)?;
        found.retain(|symbol| {
            symbol.body_line.is_some()
                && (symbol.kind.is_callable() || symbol.kind == SymbolKind::Macro)
        });
        Ok(found)
    }

    /// The plain names that are assigned to a field.
    fn put_into(&self, field: &str) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for holder in self.holders(field)? {
            let analysis = self.index.analysis(&holder);
            for edge in &analysis.edges {
                if let (Source::Place(source), Target::Place(target)) =
                    (&edge.from.source, &edge.to.target)
                    && target.fields.last().is_some_and(|last| last == field)
                    && source.fields.is_empty()
                {
                    names.insert(source.root.clone());
                }
            }
        }
        Ok(names)
    }

    fn callers(&self, name: &str) -> Result<Vec<Symbol>> {
        let calls = self.index.callers(name, 1, NAMESAKES)?;
        Ok(calls.into_iter().filter_map(|call| call.caller).collect())
    }

    /// The functions that use a field or global, and its own definition.
    fn holders(&self, name: &str) -> Result<Vec<Symbol>> {
        let mut found = self.index.named(name)?;
        found.retain(|symbol| matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Field));
        for site in self.index.references(name)? {
            if found.len() >= SHARED_FUNCTIONS {
                break;
            }
            let holds = |one: &Symbol| one.path == site.path && one.holds(site.line);
            if found.iter().any(holds) {
                continue;
            }
            let around = match self.index.enclosing_function(&site.path, site.line)? {
                Some(function) => Some(function),
                None => self.index.variable_around(&site.path, site.line)?,
            };
            found.extend(around);
        }
        Ok(found)
    }
}

/// Returns whether an edge writes what a parameter points to, or a parameter by its name.
fn is_out(analysis: &Analysis, edge: &Edge, argument: usize) -> bool {
    let parameter = analysis.parameters.get(argument);
    parameter.is_some_and(|parameter| {
        matches!(&edge.to.target, Target::Place(place) if place.root == parameter.name
            && place.fields.is_empty()
            && (place.content || parameter.by_name))
    })
}

/// Edges that write to a variable through a pointer that holds its address.
fn through_pointers<'a>(analysis: &'a Analysis, place: &Place) -> impl Iterator<Item = &'a Edge> {
    let mut pointers = BTreeSet::new();
    for edge in &analysis.edges {
        if let (Source::Place(source), Target::Place(target)) = (&edge.from.source, &edge.to.target)
            && source.address
            && source.root == place.root
            && source.fields == place.fields
            && target.fields.is_empty()
        {
            pointers.insert(target.root.as_str());
        }
    }
    analysis.edges.iter().filter(move |edge| {
        matches!(&edge.to.target, Target::Place(target) if target.content
            && target.fields.is_empty()
            && pointers.contains(target.root.as_str()))
    })
}

/// The name under which other functions know a place, if they can.
fn shared_name<'p>(analysis: &Analysis, place: &'p Place) -> Option<&'p str> {
    match place.fields.last() {
        Some(field) => Some(field),
        None if place.root.ends_with("()") || analysis.locals.contains(&place.root) => None,
        None => Some(&place.root),
    }
}

/// Returns whether two places of a function are the same, objects aside.
fn same(analysis: &Analysis, a: &Place, b: &Place) -> bool {
    match (shared_name(analysis, a), shared_name(analysis, b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.root == b.root,
        _ => false,
    }
}

/// A field or global, as no function's local could be.
fn shared(name: &str) -> Place {
    Place {
        fields: vec![name.to_owned()],
        ..Place::variable("")
    }
}
