//! Retrieval: the code that goes with an issue, and the answers of a round.
//! Blocking work, done beside the loop.

use super::Drive;
use super::ask::{InFlight, beyond};
use super::failure::Failure;
use super::summary::head;
use crate::journal::Result;
use crate::record::{
    ContextText, CrashFrame, Ending, EndingKind, Outcome, Retrieved, RunLimits, SignalRecord,
    Spent, StepId,
};
use crate::repair::Run;
use crate::telemetry::metrics;
use itertools::Itertools;
use patchwright_patcher::RawQuery;
use patchwright_retrieval::{Answer, Engine, Memory, Query, Request, RetrievalError};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Drive {
    pub(super) async fn context(
        &self,
        id: StepId,
        (text, frames): (String, Vec<CrashFrame>),
        (round, mut memory): (u32, Memory),
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let summary = format!("gathering the code of a crash with {} frames", frames.len());
        let request = json!({ "request": text, "frames": frames });
        self.intend(id, "context", summary, request).await?;
        let nearest = frames.clone();
        let request = Request {
            text,
            frames,
            ..self.parts.reported.clone()
        };
        let mut signals = Vec::new();
        // Where the index fails, the context itself says so.
        if !self.parts.signals.is_empty()
            && let Ok(engine) = self.parts.engine.get(&nearest).await
            && let Ok(words) = engine.words_of(&request)
        {
            let asked = (&engine, words.as_str());
            signals = self.consult(id, asked, (run.limits(), run.spent())).await?;
        }
        self.with_engine(&nearest, move |engine| {
            let context = engine.context(&request)?;
            let text = memory.render_context(round, &context);
            Ok(Outcome::Context(ContextText {
                text,
                memory,
                signals,
            }))
        })
        .await
    }

    pub(super) async fn retrieve(
        &self,
        id: StepId,
        queries: Vec<RawQuery>,
        (round, mut memory): (u32, Memory),
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let words = queries.iter();
        let mut words = words.map(|query| format!("{}:{}", query.kind, query.body.trim()));
        let summary = format!("round {round}: {}", head(&words.join(", ")));
        let request = json!({ "round": round, "queries": queries });
        self.intend(id, "retrieve", summary, request).await?;
        let queries = queries.iter();
        let queries: Vec<Query> = queries
            .filter_map(|query| Query::read(&query.kind, &query.body, &query.attributes).ok())
            .collect();
        let (mut signals, mut spent) = (Vec::new(), run.spent().clone());
        if !self.parts.signals.is_empty()
            && let Ok(engine) = self.parts.engine.get(&[]).await
        {
            for query in &queries {
                if let Query::Search { words } = query {
                    let purse = (run.limits(), &spent);
                    let asked = self.consult(id, (&engine, words), purse).await?;
                    spent.add_signals(&asked);
                    signals.extend(asked);
                }
            }
        }
        self.with_engine(&[], move |engine| {
            let answers: Vec<Answer> = engine.answer_round(&memory, &queries);
            let missed = answers.iter().filter(|answer| answer.miss.is_some());
            let missed = missed.count() as u32;
            let found = answers.len() as u32 - missed;
            let text = memory.render(round, &answers);
            Ok(Outcome::Retrieved(Retrieved {
                text,
                memory,
                found,
                missed,
                signals,
            }))
        })
        .await
    }

    /// Does something with the index, away from the async threads.
    async fn with_engine<F>(&self, frames: &[CrashFrame], work: F) -> Result<Outcome, Failure>
    where
        F: FnOnce(&Engine) -> Result<Outcome, RetrievalError> + Send + 'static,
    {
        let failed = |detail: String| {
            let detail = format!("the code index cannot be used: {detail}");
            Failure::Ends(Ending::new(EndingKind::InfraError, detail))
        };
        let engine: Arc<Engine> = self.parts.engine.get(frames).await.map_err(failed)?;
        let done = tokio::task::spawn_blocking(move || work(&engine)).await;
        let done = done.map_err(|error| failed(error.to_string()))?;
        done.map_err(|error| failed(error.to_string()))
    }

    /// Asks about some words; gives what it took and why a signal was left out,
    /// which people see at once.
    pub(super) async fn consult(
        &self,
        id: StepId,
        (engine, words): (&Arc<Engine>, &str),
        (limits, spent): (&RunLimits, &Spent),
    ) -> Result<Vec<SignalRecord>> {
        let signals = &self.parts.signals;
        let Some(question) = signals.question(engine, words).await else {
            return Ok(Vec::new());
        };
        let estimate = signals.estimate(&question.words, &question.found.list);
        let most = estimate.tokens;
        let others = self.in_flight.fetch_add(most, Ordering::Relaxed);
        let _in_flight = InFlight(&self.in_flight, most);
        let mut refused = beyond(limits, spent, others + most).filter(|_| most > 0);
        let mut booked = None;
        if most > 0 && refused.is_none() {
            let names = estimate.names();
            let summary = format!("asking {names} (about {most} tokens)");
            let body = json!({ "signals": names, "tokens": most, "usd_at_most": estimate.usd });
            let number = self.intend(id, "signals", summary, body).await?;
            refused = self.reserve(number, estimate.priced(), limits.usd).await?;
            booked = Some(number);
        }
        if let Some(reason) = refused {
            let records = estimate.left_out(&reason);
            self.tell_what_is_missing(&records);
            return Ok(records);
        }
        let records = signals.decide(engine, question).await;
        if let Some(number) = booked {
            let usd = records.iter().map(|one| one.usd).sum();
            self.journal.settle(number, usd).await?;
        }
        for one in &records {
            metrics::spent(&one.signal, one.usd);
        }
        self.tell_what_is_missing(&records);
        Ok(records)
    }

    fn tell_what_is_missing(&self, records: &[SignalRecord]) {
        for note in records.iter().filter_map(SignalRecord::note) {
            self.parts.observer.remark(&format!("note: {note}"));
        }
    }
}
