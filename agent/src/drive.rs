//! Performs the steps of a run: the only async loop.
//!
//! It asks the run what can be done, does it, writes down what came of it, and
//! hands that back. It decides nothing: limits that need a clock or a purse are
//! turned into outcomes like everything else.

mod ask;
mod baseline;
mod challenge;
mod climb;
mod context;
mod convert;
mod failure;
#[cfg(test)]
mod journal_tests;
mod locate;
mod parts;
mod probe;
mod recency;
mod regression;
mod summary;
mod task_files;
#[cfg(test)]
mod tests;

pub use convert::{facts, request_of};
pub use failure::{ending as ending_of, last_lines};
pub use parts::{EngineCell, Parts, Patience, Speaker};
pub use recency::open_engine;
pub use summary::sentence;

use crate::journal::{Event, EventKind, Journal, NewEvent, Result, Standing};
use crate::progress::{Notice, Progress};
use crate::record::{Ending, EndingKind, Outcome, Step, StepId};
use crate::repair::Run;
use crate::telemetry::{metrics, spans};
use failure::Failure;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use patchwright_target::Target;
use patchwright_verdict::AttemptFacts;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// As good as no limit, and still a time that can be added to another.
const UNLIMITED: Duration = Duration::from_hours(24 * 365);

/// Interval at which a driver checks, while a step runs, that the run is still its own.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Why a run that somebody stopped has ended.
const CANCELED: &str = "stopped by request";

type Performed = (StepId, Result<Outcome>);
type Flying<'a> = FuturesUnordered<BoxFuture<'a, Performed>>;

/// One run being driven.
#[derive(Debug)]
pub struct Drive {
    parts: Arc<Parts>,
    journal: Arc<dyn Journal>,
    stop: CancellationToken,
    clean_builds: climb::CleanBuilds,
    /// Tokens of calls that are being made.
    in_flight: AtomicU64,
    /// The facts of attempts that are being evaluated.
    facts: Mutex<BTreeMap<u32, Arc<AttemptFacts>>>,
}

impl Drive {
    /// Drives a run of these parts, writing to this journal, until it ends or
    /// somebody says stop.
    pub fn new(parts: Arc<Parts>, journal: Arc<dyn Journal>, stop: CancellationToken) -> Self {
        Self {
            parts,
            journal,
            stop,
            clean_builds: climb::CleanBuilds::default(),
            in_flight: AtomicU64::default(),
            facts: Mutex::default(),
        }
    }

    /// Goes on until the run has ended, somebody says stop, or it would have to
    /// wait longer for a model than it may. In the last two cases it has no ending,
    /// and can go on later from its journal.
    ///
    /// # Errors
    /// When the store fails or the run was claimed by somebody else; everything
    /// that was written before stands.
    pub async fn to_the_end(&self, run: Run) -> Result<Run> {
        let span = spans::run(self.journal.run());
        let run = self.go_on(run).instrument(span.clone()).await?;
        if let Some(ending) = run.ending() {
            span.record("patchwright.ending", ending.kind.as_str());
            metrics::run(ending.kind);
        }
        Ok(run)
    }

    async fn go_on(&self, mut run: Run) -> Result<Run> {
        let mut flying: Flying<'_> = FuturesUnordered::new();
        let mut ended: VecDeque<Performed> = VecDeque::new();
        let mut busy = BTreeSet::new();
        let mut since = Instant::now();
        let mut waited = Duration::ZERO;
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while run.ending().is_none() {
            let paused = run.paused().map(|(until, _)| until.to_owned());
            if let Some(until) = &paused
                && waited + ask::left(until) > self.parts.patience.at_most
            {
                return Ok(run);
            }
            for (id, step) in run.ready() {
                if busy.insert(id) {
                    let progress = Progress::of(id, &step, &run);
                    self.parts.observer.tell(&Notice::Doing(progress));
                    flying.push(self.perform(id, step, run.clone()));
                }
            }
            let left = time_left(&run);
            let (id, outcome) = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Ok(run),
                Some((id, outcome)) = next(&mut flying, &mut ended) => (id, outcome?),
                _ = heartbeat.tick() => {
                    // What runs for a run that is somebody else's by now ends
                    // here: the commands die with the futures that wait for them.
                    match meanwhile(&mut flying, &mut ended, self.journal.standing()).await? {
                        Standing::Held => continue,
                        Standing::Canceled => stopped(&run, EndingKind::Canceled, CANCELED),
                    }
                }
                () = tokio::time::sleep(left.saturating_sub(since.elapsed())) => {
                    stopped(&run, EndingKind::Deadline, "the time limit of the run is reached")
                }
            };
            busy.remove(&id);
            let seconds = if paused.is_some() {
                waited += since.elapsed();
                0.0
            } else {
                since.elapsed().as_secs_f64()
            };
            since = Instant::now();
            let recorded = self.record(id, &outcome, seconds);
            meanwhile(&mut flying, &mut ended, recorded).await?;
            self.parts.observer.tell(&Notice::Done(&outcome));
            run = run.feed(id, outcome).worked(seconds);
            for remark in run.take_remarks() {
                self.parts.observer.remark(&format!("  note: {remark}"));
            }
        }
        Ok(run)
    }

    /// Performs a step of a run, as it is when the step begins.
    fn perform(&self, id: StepId, step: Step, run: Run) -> BoxFuture<'_, Performed> {
        let (span, stage) = (spans::step(id, &step), spans::name_of(&step));
        let performed = async move {
            let since = Instant::now();
            let done = match self.take(id, step, &run).await {
                Err(Failure::Ends(ending)) => Ok(ending.into()),
                Err(Failure::Journal(error)) => Err(error),
                Ok(outcome) => Ok(outcome),
            };
            metrics::step(stage, since.elapsed().as_secs_f64());
            (id, done)
        };
        Box::pin(performed.instrument(span))
    }

    /// Takes a step and returns what came of it.
    async fn take(&self, id: StepId, step: Step, run: &Run) -> Result<Outcome, Failure> {
        match step {
            Step::Baseline => self.baseline(id, run.plan.crash.as_ref()).await,
            Step::Context {
                round,
                request,
                frames,
                memory,
            } => {
                let asked = (request, frames);
                self.context(id, asked, (round, memory), run).await
            }
            Step::Ask { purpose, messages } => Ok(self.ask(id, (purpose, messages), run).await?),
            Step::Wait { until, reason } => Ok(self.wait(id, &until, &reason).await?),
            Step::Retrieve {
                round,
                queries,
                memory,
            } => self.retrieve(id, queries, (round, memory), run).await,
            Step::Probe { probes } => self.probe(id, probes, run).await,
            Step::Locate { patch } => Ok(self.locate(id, patch, run).await?),
            Step::Climb { attempt, rung } => self.climb(id, (attempt, rung), run).await,
            Step::Challenge {
                attempt,
                inputs,
                log,
            } => self.challenge(id, attempt, (inputs, log), run).await,
            Step::Agree { attempts, inputs } => self.agree(id, (attempts, inputs), run).await,
            Step::Minimize { budget } => self.minimize(id, budget).await,
            Step::TestFiles { attempt } => {
                Ok(self.test_files(id, (run, run.attempt(attempt))).await?)
            }
            Step::Prove {
                attempt,
                test,
                refuted,
            } => self.prove(id, test, (attempt, refuted), run).await,
            Step::End { ending } => Err(ending.into()),
        }
    }

    /// The target, for steps that run something.
    fn target(&self) -> Result<&Arc<dyn Target>, Ending> {
        let missing = || Ending::new(EndingKind::InfraError, "a dry run has no target");
        self.parts.target.as_ref().ok_or_else(missing)
    }

    /// Writes down that a step is about to be done.
    async fn intend(&self, id: StepId, name: &str, summary: String, body: Value) -> Result<i64> {
        let content = (name, summary, body);
        self.write(id, EventKind::Intent, content).await
    }

    async fn record(&self, id: StepId, outcome: &Outcome, seconds: f64) -> Result<()> {
        let body = json!({ "seconds": seconds, "outcome": outcome });
        let content = (summary::kind(outcome), sentence(outcome), body);
        self.write(id, EventKind::Outcome, content).await?;
        Ok(())
    }

    async fn write(
        &self,
        step: StepId,
        kind: EventKind,
        (name, summary, body): (&str, String, Value),
    ) -> Result<i64> {
        let name = name.to_owned();
        let event = NewEvent {
            step,
            kind,
            name,
            summary,
            body,
        };
        self.journal.append(event).await
    }
}

/// Returns the working time that a run has left; while it is paused none goes by.
fn time_left(run: &Run) -> Duration {
    if run.paused().is_some() {
        return UNLIMITED;
    }
    let spent = Duration::from_secs_f64(run.spent().seconds.total);
    run.limits().wall.saturating_sub(spent)
}

/// The next step that is done.
async fn next(flying: &mut Flying<'_>, ended: &mut VecDeque<Performed>) -> Option<Performed> {
    match ended.pop_front() {
        Some(performed) => Some(performed),
        None => flying.next().await,
    }
}

/// Waits for something while the steps go on: one of them may hold the lock of
/// the store that is waited for.
async fn meanwhile<T>(
    flying: &mut Flying<'_>,
    ended: &mut VecDeque<Performed>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(performed) = flying.next() => ended.push_back(performed),
        }
    }
}

/// Waits until the task of a run is canceled, for whoever prepares what the run
/// needs before it is driven.
///
/// # Errors
/// When the run was claimed by somebody else.
pub async fn canceled(journal: &dyn Journal) -> Result<Ending> {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        if journal.standing().await? == Standing::Canceled {
            return Ok(Ending::new(EndingKind::Canceled, CANCELED));
        }
    }
}

/// A run as far as its journal tells: every outcome on record fed again.
pub fn resume(mut run: Run, events: &[Event]) -> Result<Run, serde_json::Error> {
    let outcomes = events.iter();
    for event in outcomes.filter(|event| event.kind == EventKind::Outcome) {
        let body = |name: &str| event.body.get(name).cloned().unwrap_or_default();
        let outcome: Outcome = serde_json::from_value(body("outcome"))?;
        let id = StepId {
            lane: event.lane,
            number: event.step,
        };
        let seconds = body("seconds").as_f64().unwrap_or_default();
        run = run.feed(id, outcome).worked(seconds);
    }
    // Whoever watched was told before.
    run.take_remarks();
    Ok(run)
}

fn stopped(run: &Run, kind: EndingKind, detail: &str) -> (StepId, Outcome) {
    let next = run.ready();
    let id = next.first().map_or_else(StepId::default, |(id, _)| *id);
    (id, Ending::new(kind, detail).into())
}
