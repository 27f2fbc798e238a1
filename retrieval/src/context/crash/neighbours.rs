//! Functions beside those of a stack, to be named without their code: what a fix changes off the
//! stack mostly lies in the files of the stack, and who sees a name can ask for its code.
//!
//! The long ones, those named like a function of the stack and those to which its calls lead come
//! first; the weights were fitted to the maintainers' fixes (`benches/quality/real.json`).

use super::length;
use super::returned::LEAST;
use crate::context::Wanted;
use crate::engine::Engine;
use crate::error::Result;
use crate::rank::is_aside;
use crate::symbol::Symbol;
use itertools::Itertools;
use std::collections::HashMap;

/// Limit on how many files are looked through.
const FILES: usize = 4;
/// Functions of a file's stack, from the top, with which names are compared.
const NAMES: usize = 4;

/// Returns the functions of the files in which the wanted ones lie, the likeliest first.
pub(super) fn of(engine: &Engine, wanted: &[Wanted]) -> Result<Vec<Symbol>> {
    let files = wanted.iter().map(|one| &one.symbol.path).unique();
    let files = files.filter(|path| !is_aside(path)).take(FILES);
    let weights = &engine.ranking.crash;
    let reached = wanted.iter().map(|one| (one.symbol.id, one.weight));
    let reached: HashMap<i64, f64> = reached.collect();
    let mut scored = Vec::new();
    for path in files {
        let here = wanted.iter().filter(|one| one.symbol.path == *path);
        let kept = here.filter(|one| one.kept).take(NAMES);
        let names: Vec<&str> = kept.map(|one| one.symbol.name.as_str()).collect();
        for function in engine.index.functions_in(path)? {
            let weight = reached.get(&function.id).copied().unwrap_or_default();
            let weight = weight.max(LEAST);
            let names = names.iter();
            let alike = names.map(|name| strsim::sorensen_dice(name, &function.name));
            let score = length(&function).ln()
                + weights.alike * alike.fold(0.0, f64::max)
                + weights.reached * (weight / LEAST).ln();
            scored.push((score, function));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
    Ok(scored.into_iter().map(|(_, symbol)| symbol).collect())
}
