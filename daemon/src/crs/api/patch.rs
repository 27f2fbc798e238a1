//! `/v1/patch/`: one PoV in, its patch out.

use super::task::finding;
use super::{Front, Refused, expect_none, read};
use crate::crs::case::{self, queue_id};
use crate::crs::patch_request::PatchRequest;
use crate::crs::protocol::Refusal;
use crate::crs::rows::{CaseRow, CaseState, FindingKind, FindingRow, FindingState, PatchRow};
use crate::crs::watch::now;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use patchwright_store::crs::Written;
use patchwright_store::submissions::TaskState;
use serde_json::{Value, json};

/// `POST /v1/patch/`
pub(super) async fn take(
    State(front): State<Front>,
    body: Bytes,
) -> Result<Json<Refusal>, Refused> {
    let mut request: PatchRequest = read(&body)?;
    expect_none(request.wrong())?;
    request.pov_id = request.pov_id.to_lowercase();
    let store = &front.store;
    let known: Option<FindingRow> = store.crs_record(&request.pov_id).await?;
    match known {
        Some(known) if known.request == request => {
            return Ok(taken("this PoV was handed in before"));
        }
        Some(_) => return Err(Refused::only("pov_id", "is the id of another PoV")),
        None => {}
    }
    let case = case_of(&front, &request).await?;
    let finding = finding(FindingKind::Pov, &case.id, request);
    let brought = [Written::of(&case)?, Written::of(&finding)?];
    store.crs_take(None, &brought).await?;
    Ok(taken("a patch is sought"))
}

fn taken(message: &str) -> Json<Refusal> {
    Json(Refusal {
        message: message.to_owned(),
        fields: None,
    })
}

/// The newest challenge of the project that is still open, else the project as
/// the settings know it.
async fn case_of(front: &Front, request: &PatchRequest) -> Result<CaseRow, Refused> {
    let name = &request.project_name;
    let cases: Vec<CaseRow> = front.store.crs_records(None).await?;
    let open = cases.into_iter().rev().find(|case| {
        case.project == *name
            && case.detail.is_some()
            && case.is_open(now())
            && !case.is_late(now())
    });
    if let Some(case) = open {
        return Ok(case);
    }
    let wrong = |reason: String| Refused::only("project_name", reason);
    match case::template(name, &front.settings) {
        Ok(Some(_)) => Ok(CaseRow {
            id: format!("project:{name}"),
            project: name.clone(),
            state: CaseState::Waiting,
            created: now(),
            ..CaseRow::default()
        }),
        Ok(None) => Err(wrong("is no project that is known here".to_owned())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// `GET /v1/patch/{pov_id}/`
pub(super) async fn tell(
    State(front): State<Front>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refused> {
    let store = &front.store;
    let known: Option<FindingRow> = store.crs_record(&id.to_lowercase()).await?;
    let known = known.filter(|finding| finding.kind == FindingKind::Pov);
    let finding = known.ok_or_else(|| Refused::unknown("the PoV"))?;
    let patch = patch_of(&front, &finding).await?;
    let status = state(&front, &finding, patch.as_ref()).await?;
    Ok(Json(json!({
        "pov_id": finding.id,
        "status": status,
        "patch_diff": patch.map(|patch| patch.diff),
    })))
}

/// The patch of a finding, if its evidence is enough to give it out.
async fn patch_of(front: &Front, finding: &FindingRow) -> Result<Option<PatchRow>, Refused> {
    let Some(id) = &finding.patch else {
        return Ok(None);
    };
    let patch: Option<PatchRow> = front.store.crs_record(id).await?;
    let least = front.settings.crs.least.doubt();
    Ok(patch.filter(|patch| patch.doubt <= least))
}

/// The state of a finding's task; never pending or canceled.
async fn state(
    front: &Front,
    finding: &FindingRow,
    patch: Option<&PatchRow>,
) -> Result<CaseState, Refused> {
    Ok(match finding.state {
        FindingState::Stopped if patch.is_some() => CaseState::Succeeded,
        FindingState::Stopped | FindingState::Failed => CaseState::Failed,
        FindingState::Errored => CaseState::Errored,
        FindingState::Open => match front.store.task(&queue_id(finding)).await? {
            None => CaseState::Waiting,
            Some(row) if row.state == TaskState::Queued => CaseState::Waiting,
            Some(_) => CaseState::Processing,
        },
    })
}
