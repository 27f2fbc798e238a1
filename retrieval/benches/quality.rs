//! Quality of the context of requests and crash reports, beside two others.
//!
//! `cargo bench -p patchwright-retrieval --bench quality [-- [--half HALF] [--ours] [--show CASE]
//! [--trees FOLDER] [--cases FOLDER] [--requests FILE] [--fit GROUP] [NAME...]]`: fetches the
//! trees of `quality/trees.toml` once, runs every case and those of a further folder and file (or those
//! whose name holds NAME) through ours, through a plain dump of the fifteen best files, and
//! through a pipeline of four stages rebuilt from its published description, and prints recall,
//! fix lines, wrong files, efficiency and time. HALF is `tuned`, `held`, `fresh`, `unseen`,
//! `harvested`, `measured-once` or `real`; cases of the last two are run only when they are named. It
//! judges nothing: a worse figure does not fail. With `--fit crash` or `--fit request` it fits the
//! weights of `src/ranking.json` to the cases instead, and prints them.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program for a person at a terminal; a broken case shall stop it"
)]

#[path = "quality/baseline.rs"]
mod baseline;
#[path = "quality/cases.rs"]
mod cases;
#[path = "quality/fit.rs"]
mod fit;
#[path = "quality/frames.rs"]
mod frames;
#[path = "quality/score.rs"]
mod score;
#[path = "quality/stages.rs"]
mod stages;
#[path = "quality/table.rs"]
mod table;
#[path = "quality/world.rs"]
mod world;

use cases::Case;
use score::{Outcome, Score};
use world::World;

/// A way to make a context.
type System = fn(&World, &Case) -> Outcome;

/// States what is run on every case.
const SYSTEMS: [(&str, System); 3] = [
    ("ours", ours),
    ("four stages", stages::run),
    ("dump of 15 files", baseline::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let (half, show) = (value("--half"), value("--show"));
    let only_ours = arguments.iter().any(|argument| argument == "--ours");
    let names = names(&arguments);
    let store = cases::store(value("--trees"));
    let (further, requested) = (value("--cases"), value("--requests"));
    let mut all = cases::read(half.as_deref(), further.as_deref(), requested.as_deref());
    all.retain(|case| names.is_empty() || names.iter().any(|name| case.id.contains(*name)));
    if let Some(group) = value("--fit") {
        return fit::run(&store, &all, &group);
    }
    let mut scores: Vec<Vec<Score>> = SYSTEMS.iter().map(|_| Vec::new()).collect();
    let mut world: Option<World> = None;
    println!(
        "{:<44} recall  fix   wrong   eff  tokens     ms  missing",
        "ours"
    );
    for case in &all {
        let Some(place) = cases::prepare(&store, case) else {
            println!("{:<44} skipped: its tree cannot be fetched", case.id);
            continue;
        };
        if world.as_ref().is_none_or(|world| world.tree != place.tree) {
            world = Some(World::open(&place.tree));
        }
        let world = world.as_ref().unwrap();
        for (number, (_, system)) in SYSTEMS.iter().enumerate() {
            if only_ours && number > 0 {
                continue;
            }
            let outcome = system(world, case);
            let score = Score::of(case, &score::hunks(world, case, &place), &outcome);
            if number == 0 {
                table::line(case, &score);
            }
            scores[number].push(score);
        }
        if show.as_ref() == Some(&case.id) {
            println!("{}", world.engine.context(&case.request).unwrap().render());
        }
    }
    for (number, (name, _)) in SYSTEMS.iter().enumerate() {
        if !scores[number].is_empty() {
            table::summarize(name, &scores[number]);
        }
    }
}

/// Returns the arguments that name cases: no options, and no values of these.
fn names(arguments: &[String]) -> Vec<&String> {
    let of_option =
        |at: usize| at > 0 && arguments[at - 1].starts_with("--") && arguments[at - 1] != "--ours";
    let named = arguments.iter().enumerate();
    let named = named.filter(|(at, name)| !name.starts_with("--") && !of_option(*at));
    named.map(|(_, name)| name).collect()
}

/// The second call is measured: the first reads what later ones share.
fn ours(world: &World, case: &Case) -> Outcome {
    world.engine.context(&case.request).unwrap();
    ours_once(world, case)
}

fn ours_once(world: &World, case: &Case) -> Outcome {
    let context = world.engine.context(&case.request).unwrap();
    Outcome {
        symbols: context
            .snippets
            .iter()
            .flat_map(|one| one.symbols.clone())
            .collect(),
        shown: context
            .snippets
            .iter()
            .map(|one| (one.path.clone(), one.ranges()))
            .collect(),
        tokens: context.tokens,
        milliseconds: context.elapsed_ms,
        intent: Some(context.intent),
    }
}
