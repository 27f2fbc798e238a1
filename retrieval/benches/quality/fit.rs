//! Fitting of the weights that rank what a context shows (`src/ranking.json`).
//!
//! Each weight in turn is made smaller and larger, and what makes the contexts of the cases
//! better is kept, until nothing does. A weight that moves costs a little, so that few cases do
//! not move it. Before the weights are fitted to all cases, they are fitted five times to those
//! of four fifths of the packages: what that brings on the last fifth is what another package
//! may expect.

use super::cases::{self, Case};
use super::ours_once;
use super::score::{self, Hunks, Score};
use super::world::World;
use patchwright_retrieval::Ranking;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Factors that are tried on a weight.
const FACTORS: [f64; 4] = [0.7, 0.85, 1.18, 1.4];
/// Least gain for each case that a change must bring.
const LEAST: f64 = 1e-3;
/// Cost of a weight that is e times what it was.
const PULL: f64 = 1e-2;
const FOLDS: usize = 5;
const SWEEPS: usize = 4;

/// Weights by their section and name.
type Flat = BTreeMap<(String, String), f64>;

pub(super) fn run(store: &Path, cases: &[Case], group: &str) {
    let sections: &[&str] = if group == "crash" {
        &["crash", "packing"]
    } else {
        &["request"]
    };
    let is_meant = |case: &&Case| {
        // What is called unseen is measured and never tuned on.
        case.is_crash == (group == "crash") && case.half != "unseen"
    };
    let mut bench = Bench::open(store, cases.iter().filter(is_meant));
    let start = flat(&Ranking::shipped());
    let names: Vec<_> = start
        .keys()
        .filter(|(section, _)| sections.contains(&section.as_str()))
        .cloned()
        .collect();
    let packages: BTreeSet<&str> = bench.cases.iter().map(|(case, ..)| package(case)).collect();
    let fold_of: HashMap<&str, usize> = packages
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at % FOLDS))
        .collect();
    let folds: Vec<usize> = bench
        .cases
        .iter()
        .map(|(case, ..)| fold_of[package(case)])
        .collect();
    let before = bench.measure(&start);
    let mut after = vec![[f64::NAN; 4]; before.len()];
    for fold in 0..FOLDS {
        let is_in = |at: usize| folds[at] != fold;
        let fitted = bench.fit(&start, &names, &is_in);
        let measured = bench.measure(&fitted);
        for (at, figures) in measured.iter().enumerate().filter(|(at, _)| !is_in(*at)) {
            after[at] = *figures;
        }
        println!("without fold {fold}: {}", changes(&start, &fitted));
    }
    let fitted = bench.fit(&start, &names, &|_| true);
    let on_all = bench.measure(&fitted);
    println!(
        "{} cases: recall, fix lines, right files, efficiency",
        before.len()
    );
    for (title, figures) in [
        ("shipped", &before),
        ("each package left out", &after),
        ("fitted to all", &on_all),
    ] {
        let means = means(figures);
        println!(
            "{title:<24}{:.3} {:.3} {:.3} {:.3}",
            means[0], means[1], means[2], means[3]
        );
    }
    println!("changed: {}", changes(&start, &fitted));
    println!(
        "{}",
        serde_json::to_string_pretty(&ranking(&fitted)).unwrap()
    );
}

/// All cases with their trees open.
struct Bench<'c> {
    worlds: Vec<World>,
    /// A case, the number of its tree, and what its fix changes.
    cases: Vec<(&'c Case, usize, Hunks)>,
    known: HashMap<String, Vec<[f64; 4]>>,
}

impl<'c> Bench<'c> {
    fn open(store: &Path, cases: impl Iterator<Item = &'c Case>) -> Self {
        let mut bench = Self {
            worlds: Vec::new(),
            cases: Vec::new(),
            known: HashMap::new(),
        };
        let mut trees: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for case in cases {
            let Some(place) = cases::prepare(store, case) else {
                println!("{:<44} skipped: its tree cannot be fetched", case.id);
                continue;
            };
            let world = *trees.entry(place.tree.clone()).or_insert_with(|| {
                bench.worlds.push(World::open(&place.tree));
                bench.worlds.len() - 1
            });
            let hunks = score::hunks(&bench.worlds[world], case, &place);
            bench.cases.push((case, world, hunks));
        }
        bench
    }

    /// The figures of each case: recall, fix lines, right files, efficiency.
    fn measure(&mut self, weights: &Flat) -> Vec<[f64; 4]> {
        let key = format!("{weights:?}");
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let ranking = ranking(weights);
        for world in &mut self.worlds {
            world.engine.rank_by(ranking.clone());
        }
        let figures = self.cases.iter().map(|(case, world, hunks)| {
            let score = Score::of(case, hunks, &ours_once(&self.worlds[*world], case));
            [
                score.recall,
                score.fix_lines,
                1.0 - score.wrong_files,
                score.efficiency,
            ]
        });
        let figures: Vec<_> = figures.collect();
        self.known.insert(key, figures.clone());
        figures
    }

    /// Returns how good the weights are for the chosen cases.
    fn worth(&mut self, start: &Flat, weights: &Flat, is_in: &dyn Fn(usize) -> bool) -> f64 {
        let figures = self.measure(weights);
        let chosen: Vec<[f64; 4]> = (0..figures.len())
            .filter(|at| is_in(*at))
            .map(|at| figures[at])
            .collect();
        let [recall, fix_lines, right_files, efficiency] = means(&chosen);
        let moved: f64 = weights
            .iter()
            .map(|(name, value)| (value / start[name]).ln().abs())
            .sum();
        recall + fix_lines + 0.25 * right_files + 0.5 * efficiency - PULL * moved
    }

    fn fit(
        &mut self,
        start: &Flat,
        names: &[(String, String)],
        is_in: &dyn Fn(usize) -> bool,
    ) -> Flat {
        let mut best = start.clone();
        let mut worth = self.worth(start, &best, is_in);
        for _ in 0..SWEEPS {
            let before = worth;
            for name in names {
                let tried = FACTORS.map(|factor| {
                    let mut weights = best.clone();
                    *weights.get_mut(name).unwrap() *= factor;
                    weights
                });
                for weights in tried {
                    let now = self.worth(start, &weights, is_in);
                    if now > worth + LEAST {
                        (best, worth) = (weights, now);
                    }
                }
            }
            if worth <= before {
                break;
            }
        }
        best
    }
}

/// The package of a case: its tree without the version.
fn package(case: &Case) -> &str {
    case.tree
        .rsplit_once('-')
        .map_or(&case.tree, |(name, _)| name)
}

fn means(figures: &[[f64; 4]]) -> [f64; 4] {
    [0, 1, 2, 3].map(|column| {
        let values: Vec<f64> = figures
            .iter()
            .map(|row| row[column])
            .filter(|value| !value.is_nan())
            .collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    })
}

fn flat(ranking: &Ranking) -> Flat {
    let value = serde_json::to_value(ranking).unwrap();
    let mut flat = Flat::new();
    for (section, weights) in value.as_object().unwrap() {
        for (name, weight) in weights.as_object().unwrap() {
            flat.insert((section.clone(), name.clone()), weight.as_f64().unwrap());
        }
    }
    flat
}

fn ranking(weights: &Flat) -> Ranking {
    let mut sections: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for ((section, name), weight) in weights {
        let rounded = (weight * 1000.0).round() / 1000.0;
        sections.entry(section).or_default().insert(name, rounded);
    }
    serde_json::from_value(serde_json::to_value(sections).unwrap()).unwrap()
}

fn changes(start: &Flat, fitted: &Flat) -> String {
    let changed = fitted
        .iter()
        .filter(|(name, value)| (start[*name] - **value).abs() > f64::EPSILON);
    let told = changed.map(|((_, name), value)| format!("{name} {value:.3}"));
    told.collect::<Vec<_>>().join(", ")
}
