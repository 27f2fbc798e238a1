//! Live updates of a run's page, as server-sent events that hold the changed parts.

use super::Review;
use super::refused::{Answer, Refused};
use crate::api::events::streamed;
use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::sse::Event;
use futures::stream;
use patchwright_page::{self as page, Viewer, is_live};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// Between two looks at the journal.
const GLANCE: Duration = Duration::from_millis(400);
/// Events that are told at once.
const BATCH: u32 = 64;

/// The place from which a page follows.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FollowParameters {
    #[serde(default)]
    after: i64,
}

/// Follows a run.
pub(super) async fn events(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(run): Path<String>,
    Query(wanted): Query<FollowParameters>,
    headers: HeaderMap,
) -> Answer {
    if review.store.listed_run(&run).await?.is_none() {
        return Err(Refused::missing(format!("there is no run {run:?}")).into());
    }
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.parse().ok());
    let busy = "as many event streams are open as are allowed (http.streams)";
    let place = review.streams.clone().try_acquire_owned();
    let place = place.map_err(|_| Refused::missing(busy))?;
    let follow = Follow {
        review,
        viewer,
        run,
        after: last.unwrap_or(wanted.after),
        room: 0,
        was_told: false,
        end: Some(Event::default().event("end").data("{}")),
        _place: place,
    };
    Ok(streamed(stream::unfold(follow, |mut follow| async move {
        Some((follow.next().await?, follow))
    })))
}

/// One page that follows a run.
struct Follow {
    review: Review,
    viewer: Viewer,
    run: String,
    after: i64,
    /// Rows of attempts that the page has room for.
    room: u32,
    /// True when everything was told but the end.
    was_told: bool,
    /// The last event, until it is told.
    end: Option<Event>,
    _place: OwnedSemaphorePermit,
}

impl Follow {
    /// The next event; `None` when the stream is over. A store that fails ends it: the
    /// page comes again with the number that it has.
    async fn next(&mut self) -> Option<Event> {
        if self.was_told {
            return self.end.take();
        }
        loop {
            match self.look().await {
                Ok(Some(event)) => return Some(event),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        "a page is not kept up to date"
                    );
                    return None;
                }
            }
            let glance = tokio::time::sleep(GLANCE);
            self.review.stop.run_until_cancelled(glance).await?;
        }
    }

    /// Reads what is new; nothing when nothing is.
    async fn look(&mut self) -> anyhow::Result<Option<Event>> {
        // The state first: whatever was written before the end is read after it.
        let store = &self.review.store;
        let row = store.listed_run(&self.run).await?;
        let ended = row.is_none_or(|row| !is_live(&row.state));
        let mut headings = store.headings(&self.run, self.after, BATCH).await?;
        if headings.is_empty() && !ended {
            return Ok(None);
        }
        self.after = headings.last().map_or(self.after, |last| last.number);
        if ended && headings.len() < BATCH as usize {
            self.was_told = true;
        }
        headings.retain(|heading| heading.kind != "intent");
        let story = page::story(&self.run, &headings)?;
        let mut view = self.review.run_view(&self.run, self.viewer.clone()).await?;
        self.room = self.room.max(view.attempts_limit);
        view.attempts_limit = self.room;
        let parts: BTreeMap<&str, String> = page::changing_parts(&view)?.into_iter().collect();
        let event = Event::default().event("change").id(self.after.to_string());
        Ok(Some(
            event.json_data(json!({ "story": story, "parts": parts }))?,
        ))
    }
}
