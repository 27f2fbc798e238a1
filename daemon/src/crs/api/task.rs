//! `/v1/task/` and `/v1/sarif/`: challenges and reports, taken once however
//! often they are sent.

use super::Front;
use super::refused::{Refused, read};
use crate::crs::case::queue_id;
use crate::crs::patch_request::PatchRequest;
use crate::crs::protocol::{SarifMessage, TaskDetail, TaskMessage, Wrong};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use patchwright_store::crs::{Brought, CaseRow, CaseState, FindingKind, FindingRow, FindingState};
use serde::Serialize;

/// `POST /v1/task/`
pub(super) async fn take(State(front): State<Front>, body: Bytes) -> Result<StatusCode, Refused> {
    let message: TaskMessage = read(&body)?;
    let wrong = message.wrong();
    if !wrong.is_empty() {
        return Err(Refused::wrong(wrong));
    }
    let mut brought = Brought {
        message: Some(message.message_id),
        ..Brought::default()
    };
    for detail in message.tasks {
        tracing::info!(case = detail.task_id, project = detail.project_name, metadata = %serde_json::Value::from(detail.metadata.clone()), "a challenge came");
        brought.cases.push(case(detail)?);
    }
    front.service.store().crs_take(&brought).await?;
    Ok(StatusCode::ACCEPTED)
}

fn case(detail: TaskDetail) -> Result<CaseRow, Refused> {
    let text = written(&detail)?;
    Ok(CaseRow {
        id: detail.task_id.to_lowercase(),
        project: detail.project_name,
        detail: Some(text),
        prepared: None,
        state: CaseState::Pending,
        problem: None,
        deadline: Some(detail.deadline),
        created: 0,
    })
}

/// `POST /v1/sarif/`
pub(super) async fn take_sarif(
    State(front): State<Front>,
    body: Bytes,
) -> Result<StatusCode, Refused> {
    let message: SarifMessage = read(&body)?;
    let mut wrong = message.wrong();
    let mut findings = Vec::new();
    for (at, broadcast) in message.broadcasts.into_iter().enumerate() {
        let task = broadcast.task_id.to_lowercase();
        let case = front.service.store().crs_case(&task).await?;
        if let Some(case) = case.filter(|case| case.detail.is_some()) {
            findings.push(suspicion(&case, &broadcast.sarif_id, &broadcast.sarif)?);
        } else {
            let key = format!("broadcasts[{at}].task_id");
            wrong.insert(key, "is no task that was sent here".into());
        }
    }
    if !wrong.is_empty() {
        return Err(Refused::wrong(wrong));
    }
    let brought = Brought {
        message: Some(message.message_id),
        cases: Vec::new(),
        findings,
    };
    front.service.store().crs_take(&brought).await?;
    Ok(StatusCode::OK)
}

fn suspicion(case: &CaseRow, id: &str, sarif: &serde_json::Value) -> Result<FindingRow, Refused> {
    let detail: TaskDetail = read(case.detail.as_deref().unwrap_or_default().as_bytes())?;
    let request = PatchRequest {
        project_name: case.project.clone(),
        blobs: Vec::new(),
        pov_id: id.to_lowercase(),
        sarif_report: Some(sarif.to_string()),
        kind: detail.kind,
    };
    finding(FindingKind::Sarif, &case.id, &request)
}

/// A finding that nobody has looked at.
pub(super) fn finding(
    kind: FindingKind,
    case: &str,
    request: &PatchRequest,
) -> Result<FindingRow, Refused> {
    Ok(FindingRow {
        id: request.pov_id.clone(),
        case: case.to_owned(),
        kind,
        request: written(request)?,
        round: 0,
        state: FindingState::Open,
        patch: None,
    })
}

/// A message as the store keeps it.
pub(super) fn written(message: &impl Serialize) -> Result<String, Refused> {
    serde_json::to_string(message)
        .map_err(|error| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// `DELETE /v1/task/`
pub(super) async fn cancel_all(State(front): State<Front>) -> Result<StatusCode, Refused> {
    for case in front.service.store().crs_cases(None).await? {
        if case.detail.is_some() {
            cancel_case(&front, &case.id).await?;
        }
    }
    Ok(StatusCode::OK)
}

/// `DELETE /v1/task/{task_id}/`
pub(super) async fn cancel(
    State(front): State<Front>,
    Path(id): Path<String>,
) -> Result<StatusCode, Refused> {
    let case = front.service.store().crs_case(&id.to_lowercase()).await?;
    let case = case.filter(|case| case.detail.is_some());
    cancel_case(
        &front,
        &case.ok_or_else(|| Refused::unknown("the task"))?.id,
    )
    .await?;
    Ok(StatusCode::OK)
}

/// Stops a case first and its tasks then: whoever queues one meanwhile sees it
/// stopped. A call that was cut off between the two is made again.
async fn cancel_case(front: &Front, case: &str) -> Result<(), Refused> {
    let store = front.service.store();
    store.crs_cancel(case).await?;
    for finding in store.crs_findings(case).await? {
        front.service.cancel(&queue_id(&finding)).await?;
    }
    Ok(())
}

/// A message with nothing wrong but this key.
pub(super) fn only(key: &str, reason: impl Into<String>) -> Refused {
    Refused::wrong(Wrong::from([(key.to_owned(), reason.into())]))
}
