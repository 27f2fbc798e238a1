//! Pages and fragments that are read.

use super::Review;
use super::refused::{Answer, Failed, Refused, html};
use axum::Json;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use patchwright_page::{self as page, DiffStyle, ListView, Viewer};
use patchwright_store::reviews::{Decision, ListFilter};
use serde::Deserialize;

/// Events of one fragment of the story.
const EARLIER: usize = 400;
/// Letters of a filter; no task has a longer name.
const LONGEST: usize = 200;

/// The filter of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListParameters {
    text: String,
    state: String,
    ending: String,
    time: Option<String>,
    id: Option<String>,
}

/// The list of tasks.
pub(super) async fn list(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Query(wanted): Query<ListParameters>,
) -> Answer {
    let cut = |text: String| -> String {
        let plain = text.chars().filter(|one| !one.is_control());
        plain.take(LONGEST).collect()
    };
    let filter = ListFilter {
        text: cut(wanted.text),
        state: cut(wanted.state),
        ending: cut(wanted.ending),
        after: wanted.time.map(cut).zip(wanted.id.map(cut)),
        limit: None,
    };
    let view = ListView {
        page: review.store.listed(&filter).await?,
        counts: review.store.listed_counts().await?,
        now: patchwright_store::now(),
        viewer,
        filter,
    };
    Ok(html(page::list(&view)?))
}

/// The page of a run.
pub(super) async fn run(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(run): Path<String>,
) -> Answer {
    Ok(html(page::run(&review.run_view(&run, viewer).await?)?))
}

/// A place in a story.
#[derive(Debug, Deserialize)]
pub(super) struct StoryParameters {
    before: i64,
}

/// The events before a place.
pub(super) async fn story(
    State(review): State<Review>,
    Path(run): Path<String>,
    Query(wanted): Query<StoryParameters>,
) -> Answer {
    let mut headings = review.store.headings(&run, 0, u32::MAX).await?;
    headings.retain(|heading| heading.kind != "intent" && heading.number < wanted.before);
    let headings = headings.split_off(headings.len().saturating_sub(EARLIER));
    Ok(html(page::story_lines(&run, &headings)?))
}

/// The texts of an event.
pub(super) async fn event(
    State(review): State<Review>,
    Path((run, number)): Path<(String, i64)>,
) -> Answer {
    let before = number.saturating_sub(1);
    let found = review.store.events_after(&run, before, 1).await?;
    let event = found.first().filter(|event| event.number == number);
    let event = event.ok_or_else(|| Refused::missing(format!("the run has no event {number}")))?;
    Ok(html(page::event(event)?))
}

/// Form of a log.
#[derive(Debug, Default, Deserialize)]
pub(super) struct LogParameters {
    #[serde(default)]
    whole: bool,
}

/// A log: a fragment, or all of it to be kept.
pub(super) async fn log(
    State(review): State<Review>,
    Path((run, hash)): Path<(String, String)>,
    Query(wanted): Query<LogParameters>,
) -> Answer {
    let gone = || Refused::missing("this log is not kept".to_owned());
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return Err(gone().into());
    }
    let bytes = review.store.blob(&hash).await?.ok_or_else(gone)?;
    if wanted.whole {
        return Ok(download("log.txt", "text/plain; charset=utf-8", bytes));
    }
    let run: String = run
        .chars()
        .filter(|one| one.is_ascii_alphanumeric() || "._-".contains(*one))
        .collect();
    let whole = format!("{}/runs/{run}/logs/{hash}?whole=true", page::ROOT);
    Ok(html(page::log(&bytes, &whole)?))
}

/// Bytes that a browser keeps and does not show.
pub(super) fn download(name: &str, kind: &'static str, bytes: Vec<u8>) -> Response {
    let kept = format!("attachment; filename=\"{name}\"");
    let headers = [(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, kept)];
    (headers, bytes).into_response()
}

/// The form of a diff.
#[derive(Debug, Default, Deserialize)]
pub(super) struct DiffParameters {
    #[serde(default)]
    view: String,
}

/// The page of a candidate.
pub(super) async fn candidate(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path((run, number)): Path<(String, u32)>,
    Query(wanted): Query<DiffParameters>,
) -> Answer {
    let style = DiffStyle::read(&wanted.view).unwrap_or_default();
    let view = review.candidate_view((&run, number), style, viewer).await?;
    let text = page::candidate(&view)?;
    Ok(html(text.ok_or_else(|| {
        Refused::missing(format!("the run has no attempt {number}"))
    })?))
}

/// Lines around a diff.
#[derive(Debug, Deserialize)]
pub(super) struct SourceParameters {
    file: String,
    from: u32,
    to: u32,
    #[serde(default)]
    shift: i64,
    #[serde(default)]
    view: String,
}

/// Lines of the unpatched tree, as rows of a diff.
pub(super) async fn source(
    State(review): State<Review>,
    Path((run, _)): Path<(String, u32)>,
    Query(wanted): Query<SourceParameters>,
) -> Answer {
    let place = (wanted.file.as_str(), wanted.from, wanted.to);
    let style = DiffStyle::read(&wanted.view).unwrap_or_default();
    let lines = review.source_lines(&run, place, wanted.shift).await?;
    Ok(html(page::source(&lines, style)?))
}

pub(super) async fn plots(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
) -> Answer {
    Ok(html(page::plots(&review.plots_view(viewer).await?)?))
}

pub(super) async fn decisions_json(
    State(review): State<Review>,
) -> Result<Json<Vec<Decision>>, Failed> {
    Ok(Json(review.store.decisions(None).await?))
}

pub(super) async fn decisions_csv(State(review): State<Review>) -> Answer {
    let decisions = review.store.decisions(None).await?;
    let text = patchwright_store::reviews::csv(&decisions)?.into_bytes();
    Ok(download("decisions.csv", "text/csv; charset=utf-8", text))
}

/// A file of the server's own.
pub(super) fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse + Clone {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "max-age=300")], text)
}
