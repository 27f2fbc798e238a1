//! Call neighbourhood of a crash: further functions of the files that it went
//! through, named by their first lines because they ran on the way, or may have. Their code is
//! not shown for it, and no file either.

use crate::context::Wanted;
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::symbol::Symbol;
use patchwright_source::Role;
use patchwright_source::TreePath;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Limit on how many functions are asked what they call.
const ASKED: usize = 24;
/// Limit on how many calls away from the stack a function may be.
const HOPS: usize = 3;

/// Functions of the files of a crash's stacks, the likeliest to matter first.
/// The longer of two that are as near to the stack comes first.
pub(super) fn functions_near(
    engine: &Engine,
    located: &[Located],
    wanted: &[Wanted],
) -> Vec<Symbol> {
    let mut found = Neighbourhood::default();
    let places: Vec<&Located> = located
        .iter()
        .filter(|place| !place.is_harness && place.role != Role::Created)
        .collect();
    for place in &places {
        found.files.insert(place.symbol.path.clone());
    }
    for one in wanted {
        found.add(&one.symbol, one.weight);
    }
    let mut level: Vec<Caller> = places
        .iter()
        .map(|place| Caller {
            symbol: place.symbol.clone(),
            weight: engine.ranking.crash.next_frame.powf(f64::from(place.rank)),
            line: place.line,
        })
        .collect();
    for _ in 0..HOPS {
        level.sort_by(|a, b| {
            let by_weight = b.weight.total_cmp(&a.weight);
            by_weight.then(a.symbol.id.cmp(&b.symbol.id))
        });
        level = std::mem::take(&mut level)
            .into_iter()
            .flat_map(|caller| found.follow(engine, &caller))
            .collect();
    }
    found.by_weight()
}

/// A function whose calls are looked at.
struct Caller {
    symbol: Symbol,
    weight: f64,
    /// Where it called on, if it stands on a stack.
    line: Option<u32>,
}

/// The files and names met on the way along the calls.
#[derive(Default)]
struct Neighbourhood {
    /// The files of the stacks.
    files: BTreeSet<TreePath>,
    weights: BTreeMap<i64, (f64, Symbol)>,
    asked: BTreeSet<i64>,
    /// Resolved names by file: the functions of a file mostly call the same ones.
    meant: HashMap<(TreePath, String), Option<Symbol>>,
}

impl Neighbourhood {
    /// Takes a function in, and whether it lies in one of the files.
    fn add(&mut self, symbol: &Symbol, weight: f64) -> bool {
        if !self.files.contains(&symbol.path) || !symbol.kind.is_callable() {
            return false;
        }
        let known = self.weights.get(&symbol.id);
        if known.is_none_or(|known| known.0 < weight) {
            self.weights.insert(symbol.id, (weight, symbol.clone()));
        }
        true
    }

    fn meant(&mut self, engine: &Engine, name: String, path: &TreePath) -> Option<Symbol> {
        let known = self.meant.entry((path.clone(), name));
        known
            .or_insert_with_key(|(path, name)| engine.meant(name, path))
            .clone()
    }

    /// Returns what a function calls in the files, each with its weight.
    fn follow(
        &mut self,
        engine: &Engine,
        Caller {
            symbol: caller,
            weight,
            line,
        }: &Caller,
    ) -> Vec<Caller> {
        if self.asked.len() >= ASKED || !self.asked.insert(caller.id) {
            return Vec::new();
        }
        let mut next = Vec::new();
        for (callee, at) in engine.calls_from(caller) {
            let Some(symbol) = self.meant(engine, callee, &caller.path) else {
                continue;
            };
            let is_later = line.is_some_and(|line| at.iter().all(|at| *at > line));
            let weights = &engine.ranking.crash;
            let weight = weight * weights.next_frame * if is_later { weights.later } else { 1.0 };
            if self.add(&symbol, weight) {
                next.push(Caller {
                    symbol,
                    weight,
                    line: None,
                });
            }
        }
        next
    }

    fn by_weight(self) -> Vec<Symbol> {
        let mut all: Vec<(f64, Symbol)> = self
            .weights
            .into_values()
            .filter(|(_, symbol)| symbol.body_line.is_some())
            .map(|(weight, symbol)| (symbol.end_line - symbol.start_line, weight, symbol))
            .map(|(length, weight, symbol)| (weight * f64::from(length).sqrt(), symbol))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
        all.into_iter().map(|(_, symbol)| symbol).collect()
    }
}
