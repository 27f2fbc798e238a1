//! Runs that are driven with a journal in memory, a model that answers as it is
//! told, and no target.

use super::{Drive, EngineCell, Parts, Patience, Speaker, request_of};
use crate::journal::{
    EventKind, Journal, JournalError, NewEvent, Result, SpendingLimits, Standing,
};
use crate::plan::Plan;
use crate::progress::{Notice, Observer};
use crate::record::EndingKind;
use crate::repair::Run;
use crate::signals::Signals;
use crate::task::Mode;
use futures::future::{BoxFuture, FutureExt, ready};
use patchwright_model::price::{Price, Prices};
use patchwright_model::tokens::Counter;
use patchwright_model::{Finish, Model, ModelError, Reply, Request, Usage};
use patchwright_patcher::Guard;
use patchwright_source::Tree;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PATCH: &str = "<patch><edit file=\"a.c\" lines=\"1\"><original>int f(void) { return 1; }</original><replacement>int f(void) { return 2; }</replacement></edit></patch>";
const PRICE: Price = Price {
    input: 2.0,
    cached: 2.0,
    output: 8.0,
};

/// A journal in memory: keeps everything, and fails as a store does when told to.
#[derive(Debug, Default)]
struct MemoryJournal {
    events: Mutex<Vec<NewEvent>>,
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    /// The US dollars booked for the call of each event.
    booked: Mutex<BTreeMap<i64, f64>>,
    lost: AtomicBool,
}

impl MemoryJournal {
    /// Lets somebody else claim the run.
    fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// The kind and the name of each event, in order.
    fn told(&self) -> Vec<(EventKind, String)> {
        let events = self.events.lock().unwrap();
        let told = events.iter().map(|event| (event.kind, event.name.clone()));
        told.collect()
    }

    /// The US dollars that are booked.
    fn booked(&self) -> f64 {
        self.booked.lock().unwrap().values().sum()
    }

    fn ours(&self) -> Result<()> {
        if self.lost.load(Ordering::Relaxed) {
            return Err(JournalError::Superseded("somebody else has it".into()));
        }
        Ok(())
    }

    fn book(&self, number: i64, usd: f64, limits: SpendingLimits) -> Result<()> {
        self.ours()?;
        let limit = limits.run.unwrap_or(f64::INFINITY);
        if self.booked() + usd > limit {
            return Err(JournalError::Money("the run has too little".into()));
        }
        self.booked.lock().unwrap().insert(number, usd);
        Ok(())
    }
}

impl Journal for MemoryJournal {
    fn run(&self) -> &'static str {
        "in-memory"
    }

    fn append(&self, event: NewEvent) -> BoxFuture<'_, Result<i64>> {
        let written = self.ours().map(|()| {
            let mut events = self.events.lock().unwrap();
            events.push(event);
            i64::try_from(events.len()).unwrap()
        });
        ready(written).boxed()
    }

    fn standing(&self) -> BoxFuture<'_, Result<Standing>> {
        ready(self.ours().map(|()| Standing::Held)).boxed()
    }

    fn reserve(&self, number: i64, usd: f64, limits: SpendingLimits) -> BoxFuture<'_, Result<()>> {
        ready(self.book(number, usd, limits)).boxed()
    }

    fn settle(&self, number: i64, usd: f64) -> BoxFuture<'_, Result<()>> {
        ready(self.book(number, usd, SpendingLimits::default())).boxed()
    }

    fn keep<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<String>> {
        let hash = format!("{:x}", Sha256::digest(bytes));
        let mut blobs = self.blobs.lock().unwrap();
        blobs.insert(hash.clone(), bytes.to_vec());
        ready(Ok(hash)).boxed()
    }

    fn blob<'a>(&'a self, hash: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        let blob = self.blobs.lock().unwrap().get(hash).cloned();
        ready(Ok(blob)).boxed()
    }
}

/// Proposes a patch at once; lets the run be lost before it answers, if asked to.
#[derive(Debug)]
struct Author(Option<Arc<MemoryJournal>>);

impl Model for Author {
    fn name(&self) -> &'static str {
        "author"
    }

    fn ask<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            if let Some(journal) = &self.0 {
                journal.lose();
            }
            Ok(Reply {
                text: PATCH.to_owned(),
                finish: Finish::Stop,
                usage: Usage {
                    tokens_in: 100,
                    tokens_out: 50,
                    ..Usage::default()
                },
                model: "author".to_owned(),
            })
        }
        .boxed()
    }
}

fn parts(folder: &Path, model: Author, observer: Observer) -> Arc<Parts> {
    let tree = folder.join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("a.c"), "int f(void) { return 1; }\n").unwrap();
    let settings = patchwright_retrieval::Settings::default();
    Arc::new(Parts {
        lanes: vec![Speaker {
            model: Arc::new(model),
            max_output_tokens: 500,
            window: 100_000,
            counter: Counter::Unknown,
            prices: Some(Prices::of_one("author", PRICE, 1.0)),
            paid: true,
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
        guard: Guard::new(&[]).unwrap(),
        tree: Arc::new(Tree::open(&tree).unwrap()),
        reported: request_of("", 1000),
        signals: Signals::default(),
        observer,
    })
}

#[tokio::test]
async fn what_a_patch_calls_is_shown_by_its_definition() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path(), Author(None), Observer::silent());
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int g;\n+int g = f() + gone();\n";
    let shown = super::locate::called(&parts, diff).await;
    assert_eq!(shown, "a.c:1\n1: int f(void) { return 1; }\n");
}

fn proposing(usd: f64) -> Run {
    let mut plan = Plan {
        mode: Mode::DryRun,
        ..Plan::default()
    };
    plan.limits.attempts = 1;
    plan.limits.rounds = 2;
    plan.limits.usd = Some(usd);
    plan.limits.wall = std::time::Duration::from_mins(10);
    Run::new(plan)
}

fn names(journal: &MemoryJournal) -> Vec<String> {
    let told = journal.told().into_iter();
    let name = |(kind, name)| match kind {
        EventKind::Intent => name,
        EventKind::Outcome => format!("{name}!"),
        EventKind::Note => format!("{name}?"),
    };
    told.map(name).collect()
}

#[tokio::test]
async fn a_run_is_written_down_step_by_step_and_told_to_its_observer() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(MemoryJournal::default());
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let observer = Observer::new(move |notice| {
        let word = match notice {
            Notice::Doing(progress) => progress.doing.clone(),
            Notice::Done(_) => "done".to_owned(),
            Notice::Part(text) | Notice::Remark(text) => (*text).to_owned(),
            Notice::Over => "over".to_owned(),
        };
        heard.lock().unwrap().push(word);
    });
    let parts = parts(folder.path(), Author(None), observer);
    let drive = Drive::new(parts, journal.clone(), CancellationToken::new());
    let run = drive.to_the_end(proposing(1.0)).await.unwrap();
    assert_eq!(run.ending().unwrap().kind, EndingKind::Proposed);
    assert_eq!(
        names(&journal),
        ["context", "context!", "ask", "ask!", "locate", "locate!"]
    );
    // Settled with what the call cost, not with what it might have.
    let usd = (100.0 * PRICE.input + 50.0 * PRICE.output) / 1e6;
    assert!(
        (journal.booked() - usd).abs() < 1e-9,
        "{}",
        journal.booked()
    );
    assert_eq!(
        *told.lock().unwrap(),
        [
            "gathering the code of the crash",
            "done",
            "asking the model",
            "done",
            "placing a patch of 1 edit",
            "done"
        ]
    );
}

#[tokio::test]
async fn a_money_limit_of_the_journal_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(MemoryJournal::default());
    let parts = parts(folder.path(), Author(None), Observer::silent());
    let drive = Drive::new(parts, journal.clone(), CancellationToken::new());
    let run = drive.to_the_end(proposing(0.000_001)).await.unwrap();
    let ending = run.ending().unwrap();
    assert_eq!(ending.kind, EndingKind::BudgetExhausted);
    assert_eq!(ending.detail, "money: the run has too little");
    assert!(journal.booked().abs() < f64::EPSILON);
}

#[tokio::test]
async fn nothing_is_written_to_a_run_that_somebody_else_has() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(MemoryJournal::default());
    let author = Author(Some(journal.clone()));
    let parts = parts(folder.path(), author, Observer::silent());
    let drive = Drive::new(parts, journal.clone(), CancellationToken::new());
    let failed = drive.to_the_end(proposing(1.0)).await.unwrap_err();
    assert!(matches!(failed, JournalError::Superseded(_)), "{failed}");
    assert_eq!(names(&journal), ["context", "context!", "ask"]);
}
