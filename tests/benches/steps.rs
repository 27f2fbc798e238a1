//! The cost of a step of the loop when the model answers at once: reading the
//! reply, answering queries on a small tree, counting tokens, and two journal
//! events that survive a power cut.
//!
//! `cargo bench -p patchwright-tests --bench steps --profile dev`

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program for a person at a terminal; what is broken shall stop it"
)]

use futures::FutureExt;
use futures::future::BoxFuture;
use patchwright_agent::drive::{Drive, EngineCell, Parts, Patience, Speaker, request_of};
use patchwright_agent::journal::EventKind;
use patchwright_agent::plan::Plan;
use patchwright_agent::progress::Observer;
use patchwright_agent::repair::Run;
use patchwright_agent::signals::Signals;
use patchwright_agent::task::Mode;
use patchwright_model::tokens::Counter;
use patchwright_model::{Finish, Model, ModelError, Reply, Request, Usage};
use patchwright_patcher::Guard;
use patchwright_source::Tree;
use patchwright_store::{Journal, Store};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const QUERIES: &str = "<analysis>The bound is not checked.</analysis><queries><symbol>copy</symbol><callers>copy</callers><text>memcpy</text></queries>";
const SOURCE: &str = "#include <string.h>\nvoid copy(char *to, const char *from, int n) {\n  memcpy(to, from, n);\n}\nvoid use(char *to) { copy(to, \"x\", 2); }\n";
/// Rounds of one run.
const ROUNDS: u32 = 40;
/// Runs that are measured.
const RUNS: usize = 9;

/// Asks for the same code again and again, at once.
#[derive(Debug)]
struct Instantly;

impl Model for Instantly {
    fn name(&self) -> &'static str {
        "instantly"
    }

    fn ask<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            Ok(Reply {
                text: QUERIES.to_owned(),
                finish: Finish::Stop,
                usage: Usage::default(),
                model: "instantly".to_owned(),
            })
        }
        .boxed()
    }
}

fn parts(folder: &Path) -> Arc<Parts> {
    let tree = folder.join("tree");
    let settings = patchwright_retrieval::Settings::default();
    Arc::new(Parts {
        lanes: vec![Speaker {
            model: Arc::new(Instantly),
            max_output_tokens: 4000,
            window: 1_000_000,
            counter: Counter::Unknown,
            prices: None,
            paid: false,
        }],
        critic: None,
        patience: Patience {
            at_most: Duration::ZERO,
            each: Duration::ZERO,
        },
        usd_day: None,
        usd_total: None,
        target: None,
        verdicts: None,
        engine: EngineCell::open(tree.clone(), folder.join("cache"), settings),
        guard: Guard::new(&[]).expect("no pattern is wrong"),
        tree: Arc::new(Tree::open(&tree).expect("the tree is there")),
        reported: request_of("", 8000),
        signals: Signals::default(),
        observer: Observer::silent(),
    })
}

/// Drives one run and tells how many milliseconds a step took.
async fn measure(number: usize, folder: &Path, store: &Store) -> (f64, usize) {
    let mut plan = Plan {
        mode: Mode::DryRun,
        ..Plan::default()
    };
    plan.limits.rounds = ROUNDS;
    plan.limits.wall = std::time::Duration::from_hours(1);
    let id = format!("run-{number}");
    let made = store.create_run(&id, ("task", "{}"), "{}").await;
    made.expect("the store takes a run");
    let journal = Journal::claim(store, &id).await.expect("the run is ours");
    let parts = parts(folder);
    parts.engine.get(&[]).await.expect("the tree is indexed");
    let drive = Drive::new(parts, Arc::new(journal), CancellationToken::new());
    let started = Instant::now();
    drive.to_the_end(Run::new(plan)).await.expect("it ends");
    let elapsed = started.elapsed();
    let events = store.events(&id).await.expect("it is written down");
    let steps = events
        .iter()
        .filter(|event| event.kind == EventKind::Outcome);
    let steps = steps.count();
    (elapsed.as_secs_f64() * 1000.0 / steps as f64, steps)
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("there is room");
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).expect("there is room");
    std::fs::write(tree.join("a.c"), SOURCE).expect("there is room");
    let store = Store::open(&folder.path().join("state")).await;
    let store = store.expect("a store can be made");
    let mut each = Vec::new();
    let mut steps = 0;
    for number in 0..RUNS {
        let (milliseconds, count) = measure(number, folder.path(), &store).await;
        each.push(milliseconds);
        steps = count;
    }
    each.sort_by(f64::total_cmp);
    let median = each.get(RUNS / 2).copied().unwrap_or_default();
    let worst = each.last().copied().unwrap_or_default();
    println!("{RUNS} runs of {steps} steps: {median:.2} ms a step (median), {worst:.2} ms (worst)");
}
