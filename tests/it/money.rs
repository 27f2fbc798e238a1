//! Limits on money: many runs at once over one store never exceed a limit, whatever
//! their models do. In-process, so that a thousand runs are affordable.

use futures::FutureExt;
use futures::StreamExt;
use futures::future::BoxFuture;
use patchwright_agent::drive::{Drive, EngineCell, Parts, Patience, Speaker, request_of};
use patchwright_agent::plan::Plan;
use patchwright_agent::progress::Observer;
use patchwright_agent::repair::Run;
use patchwright_agent::signals::Signals;
use patchwright_agent::task::Mode;
use patchwright_model::price::{Price, Prices};
use patchwright_model::tokens::Counter;
use patchwright_model::{Finish, Model, ModelError, Reply, Request, Usage};
use patchwright_patcher::Guard;
use patchwright_source::Tree;
use patchwright_store::{Journal, Store};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs that are driven at the same time.
const AT_ONCE: usize = 4;
/// US dollars of one run, and of all of them for each run that there is.
const RUN: f64 = 0.05;
const SHARE: f64 = 0.02;
/// US dollars per million tokens.
const PRICE: Price = Price {
    input: 2.0,
    cached: 0.5,
    output: 8.0,
};
/// Tries of one call that may be charged.
const TRIES: u64 = 2;

const QUERIES: &str = "<queries><symbol>f</symbol><file>a.c</file><text>int</text></queries>";
const PATCH: &str = "<patch><edit file=\"a.c\" lines=\"1\"><original>int f(void) { return 1; }</original><replacement>int f(void) { return 2; }</replacement></edit></patch>";

/// Numbers that look random and are the same every time.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// A model that answers, breaks off, refuses and fails as the dice fall, and
/// charges all that it may.
#[derive(Debug)]
struct Whimsical {
    dice: Mutex<Dice>,
    charged: Mutex<f64>,
}

impl Model for Whimsical {
    fn name(&self) -> &'static str {
        "whimsical"
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            let count = Counter::Unknown.count_request(request);
            let (kind, usage, pause) = {
                let mut dice = self.dice.lock().unwrap();
                let most_in = count + count / 20;
                let most_out = u64::from(request.max_output_tokens);
                let usage = Usage {
                    tokens_in: dice.below(TRIES * most_in + 1),
                    tokens_out: dice.below(TRIES * most_out + 1),
                    ..Usage::default()
                };
                (dice.below(10), usage, dice.below(3))
            };
            // The money is gone whether the reply arrives or not.
            if kind != 8 {
                *self.charged.lock().unwrap() += PRICE.of(&usage);
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let said = |text: &str, finish| {
                Ok(Reply {
                    text: text.to_owned(),
                    finish,
                    usage,
                    model: "whimsical".to_owned(),
                })
            };
            match kind {
                0..=4 => said(QUERIES, Finish::Stop),
                5 => said("nonsense", Finish::Stop),
                6 => said(PATCH, Finish::Length),
                7 => Err(ModelError::Retry {
                    after: None,
                    reason: "broke off".to_owned(),
                    spent: Some(usage),
                }),
                8 => Err(ModelError::fatal("no key")),
                _ => said(PATCH, Finish::Stop),
            }
        }
        .boxed()
    }
}

fn parts(model: Arc<Whimsical>, (tree, cache): (&Path, &Path), total: f64) -> Arc<Parts> {
    let settings = patchwright_retrieval::Settings::default();
    Arc::new(Parts {
        lanes: vec![Speaker {
            model,
            max_output_tokens: 500,
            window: 100_000,
            counter: Counter::Unknown,
            prices: Some(Prices::of_one("whimsical", PRICE, TRIES as f64)),
            paid: true,
        }],
        critic: None,
        patience: Patience {
            at_most: Duration::ZERO,
            each: Duration::ZERO,
        },
        usd_day: Some(total),
        usd_total: Some(total * 2.0),
        target: None,
        verdicts: None,
        engine: EngineCell::open(tree.to_owned(), cache.to_owned(), settings),
        guard: Guard::new(&[]).unwrap(),
        tree: Arc::new(Tree::open(tree).unwrap()),
        reported: request_of("", 1000),
        signals: Signals::default(),
        observer: Observer::silent(),
    })
}

fn run(dice: &mut Dice) -> Run {
    let mut plan = Plan {
        mode: Mode::DryRun,
        lanes: 1 + dice.below(3) as u32,
        ..Plan::default()
    };
    plan.limits.attempts = 3;
    plan.limits.rounds = 6;
    plan.limits.format_retries = 3;
    plan.limits.usd = Some(RUN);
    plan.limits.wall = std::time::Duration::from_mins(10);
    Run::new(plan)
}

/// Drives one run; some are dropped in the middle, as if their process had died.
async fn drive(number: usize, store: &Store, places: (&Path, &Path), total: f64) -> (String, f64) {
    let mut dice = Dice(20_261_122 + number as u64);
    let id = format!("run-{number}");
    store.create_run(&id, ("task", "{}"), "{}").await.unwrap();
    let journal = Journal::claim(store, &id).await.unwrap();
    let model = Arc::new(Whimsical {
        dice: Mutex::new(Dice(number as u64)),
        charged: Mutex::new(0.0),
    });
    let run = run(&mut dice);
    let parts = parts(model.clone(), places, total);
    let driven = Drive::new(parts, Arc::new(journal), CancellationToken::new());
    let patience = match dice.below(5) {
        0 => Duration::from_millis(20 + dice.below(100)),
        _ => Duration::from_mins(5),
    };
    let ending = match tokio::time::timeout(patience, driven.to_the_end(run)).await {
        Ok(finished) => finished.unwrap().ending().unwrap().kind.as_str(),
        Err(_) => "killed",
    };
    let charged = *model.charged.lock().unwrap();
    (ending.to_owned(), charged)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_limit_is_passed_by_any_number_of_runs_at_once() {
    let count = match option_env!("PATCHWRIGHT_SOAK") {
        Some(_) => 1000,
        None => 60,
    };
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("a.c"), "int f(void) { return 1; }\n").unwrap();
    let cache = folder.path().join("cache");
    let store = Store::open(&folder.path().join("state")).await.unwrap();
    let total = SHARE * count as f64;
    let runs = futures::stream::iter(0..count)
        .map(|number| drive(number, &store, (&tree, &cache), total))
        .buffer_unordered(AT_ONCE);
    let finished: Vec<(String, f64)> = runs.collect().await;
    let mut sum = 0.0;
    for (ending, charged) in &finished {
        assert!(*charged <= RUN + 1e-9, "{ending}: {charged}");
        sum += charged;
    }
    println!("{count} runs, {AT_ONCE} at once: {sum:.2} of {total:.2} USD");
    assert!(sum <= total + 1e-9, "{sum} of {total}");
    let ended = |word: &str| finished.iter().filter(|(ending, _)| ending == word).count();
    // The dice make every kind of end, and the limit of all is really reached.
    for word in ["budget_exhausted", "proposed", "infra_error", "killed"] {
        assert!(ended(word) > 0, "{word}: {finished:?}");
    }
    assert!(sum > total * 0.5, "{sum} of {total}: {finished:?}");
}
