//! The events of a task as they happen, as a stream of server-sent events.
//!
//! Each carries the run and its number as its id. Whoever connects again with
//! `Last-Event-ID` gets what came after; a run that was begun anew is told from
//! its first event.

use super::Api;
use super::extract::TaskId;
use super::limit::free;
use super::problem::Problem;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream, StreamExt};
use patchwright_agent::journal::Event;
use patchwright_store::submissions::{TaskRow, TaskVersion};
use patchwright_store::{Store, StoreError};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

/// Events that are read at once.
const BATCH: u32 = 64;
/// The id of the last event of a task.
const END: &str = "end";
/// Pause before a browser connects again, and interval of keep-alive comments.
const AGAIN: Duration = Duration::from_secs(2);
const ALIVE: Duration = Duration::from_secs(15);

/// Follows what happens to a task
///
/// Every event of the run's journal, then one named `end` with the task as it ended. The stream goes on where
/// `Last-Event-ID` says; after the end it is answered with 204, so that a browser stops asking.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/events", tag = "results",
    params(
        ("id" = String, Path, description = "The task's id", pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was received"),
    ),
    responses(
        (status = 200, description = "The events", body = String, content_type = "text/event-stream"),
        (status = 204, description = "There is nothing more to tell"),
    )
)]
pub(crate) async fn events(
    State(api): State<Api>,
    TaskId(id): TaskId,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let task = api.task(&id).await?;
    let last = headers.get("last-event-id");
    let last = last
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if last == END && task.state.is_over() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let busy = "as many event streams are open as are allowed (http.streams)";
    let place = free(&api.streams, busy)?;
    let follow = Follow {
        changes: api.service.watcher.follow(&id),
        store: api.service.store().clone(),
        id,
        place: Place::read(last),
        waiting: VecDeque::new(),
        over: false,
        stop: api.stop.clone(),
        _place: place,
    };
    Ok(streamed(stream::unfold(follow, |mut follow| async move {
        Some((follow.next().await?, follow))
    })))
}

/// Answers with events as they happen, on a connection that is kept alive.
pub(crate) fn streamed(events: impl Stream<Item = Message> + Send + 'static) -> Response {
    let events = Sse::new(events.map(Ok::<_, Infallible>));
    let kept_alive = events.keep_alive(KeepAlive::new().interval(ALIVE));
    kept_alive.into_response()
}

/// Position of a caller: a run and the number of its event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    run: String,
    number: i64,
}

impl Place {
    /// Reads a position; text that cannot be read is the beginning.
    fn read(id: &str) -> Self {
        let parts = id.rsplit_once(':');
        let place = parts.and_then(|(run, number)| Some((run, number.parse().ok()?)));
        match place {
            Some((run, number)) if number >= 0 => Self {
                run: run.to_owned(),
                number,
            },
            _ => Self::default(),
        }
    }

    fn id(&self) -> String {
        format!("{}:{}", self.run, self.number)
    }
}

/// One caller who follows a task.
struct Follow {
    store: Store,
    id: String,
    place: Place,
    waiting: VecDeque<Event>,
    changes: watch::Receiver<TaskVersion>,
    over: bool,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Follow {
    /// The next event; `None` when the stream is over. A store that fails ends
    /// it: the caller comes again with the id that it has.
    async fn next(&mut self) -> Option<Message> {
        while !self.over {
            if let Some(event) = self.waiting.pop_front() {
                self.place.number = event.number;
                return told(&self.place.id(), &event.name, &event);
            }
            match self.look().await {
                Ok(Some(task)) => {
                    self.over = true;
                    return told(END, END, &task);
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "an event stream ends because the store failed");
                    return None;
                }
            }
            if self.waiting.is_empty() {
                let changed = self.stop.run_until_cancelled(self.changes.changed());
                changed.await?.ok()?;
            }
        }
        None
    }

    /// Reads what is new; the task, when it has ended and everything was told.
    async fn look(&mut self) -> Result<Option<TaskRow>, StoreError> {
        // The state first: whatever was written before the end is read after it.
        let Some(task) = self.store.task(&self.id).await? else {
            return Ok(None);
        };
        if let Some(run) = &task.run {
            if *run != self.place.run {
                let run = run.clone();
                self.place = Place { run, number: 0 };
            }
            let events = self.store.events_after(run, self.place.number, BATCH);
            self.waiting.extend(events.await?);
        }
        let ended = task.state.is_over() && self.waiting.is_empty();
        Ok(ended.then_some(task))
    }
}

fn told(id: &str, name: &str, data: &impl serde::Serialize) -> Option<Message> {
    let event = Message::default().id(id).event(name).retry(AGAIN);
    event.json_data(data).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_is_read_or_is_the_beginning() {
        for (text, run, number) in [
            ("task-2026-ab:17", "task-2026-ab", 17),
            ("a:b:3", "a:b", 3),
            ("", "", 0),
            ("17", "", 0),
            ("run:x", "", 0),
            ("run:-4", "", 0),
            ("run:99999999999999999999", "", 0),
        ] {
            let place = Place::read(text);
            assert_eq!((place.run.as_str(), place.number), (run, number), "{text}");
        }
        assert_eq!(Place::read("a:7").id(), "a:7");
    }
}
