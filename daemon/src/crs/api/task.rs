//! `/v1/task/` and `/v1/sarif/`: challenges and reports, taken once however
//! often they are sent.

use super::{Front, Refused, expect_none, read};
use crate::crs::case::queue_id;
use crate::crs::patch_request::PatchRequest;
use crate::crs::protocol::{Broadcast, SarifMessage, TaskDetail, TaskMessage};
use crate::crs::rows::{CaseRow, CaseState, FindingKind, FindingRow, FindingState};
use crate::crs::watch::now;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use patchwright_store::crs::Written;
use patchwright_store::{Store, StoreError};

/// `POST /v1/task/`
pub(super) async fn take(State(front): State<Front>, body: Bytes) -> Result<StatusCode, Refused> {
    let message: TaskMessage = read(&body)?;
    expect_none(message.wrong())?;
    let mut brought = Vec::new();
    for detail in message.tasks {
        tracing::info!(case = detail.task_id, project = detail.project_name, metadata = %serde_json::Value::from(detail.metadata.clone()), "a challenge came");
        brought.push(Written::of(&case(detail))?);
    }
    let store = &front.store;
    store.crs_take(Some(&message.message_id), &brought).await?;
    Ok(StatusCode::ACCEPTED)
}

fn case(detail: TaskDetail) -> CaseRow {
    CaseRow {
        id: detail.task_id.to_lowercase(),
        project: detail.project_name.clone(),
        deadline: Some(detail.deadline),
        detail: Some(detail),
        created: now(),
        ..CaseRow::default()
    }
}

/// `POST /v1/sarif/`
pub(super) async fn take_sarif(
    State(front): State<Front>,
    body: Bytes,
) -> Result<StatusCode, Refused> {
    let message: SarifMessage = read(&body)?;
    let mut wrong = message.wrong();
    let mut findings = Vec::new();
    let store = &front.store;
    for (at, broadcast) in message.broadcasts.into_iter().enumerate() {
        let case = challenge(store, &broadcast.task_id).await?;
        if let Some(detail) = case.and_then(|case| case.detail) {
            findings.push(Written::of(&suspicion(&broadcast, detail))?);
        } else {
            let key = format!("broadcasts[{at}].task_id");
            wrong.insert(key, "is no task that was sent here".into());
        }
    }
    expect_none(wrong)?;
    store.crs_take(Some(&message.message_id), &findings).await?;
    Ok(StatusCode::OK)
}

/// A challenge by its id, in any case of its letters.
async fn challenge(store: &Store, id: &str) -> Result<Option<CaseRow>, StoreError> {
    let case: Option<CaseRow> = store.crs_record(&id.to_lowercase()).await?;
    Ok(case.filter(|case| case.detail.is_some()))
}

fn suspicion(broadcast: &Broadcast, detail: TaskDetail) -> FindingRow {
    let request = PatchRequest {
        project_name: detail.project_name,
        blobs: Vec::new(),
        pov_id: broadcast.sarif_id.to_lowercase(),
        sarif_report: Some(broadcast.sarif.to_string()),
        kind: detail.kind,
    };
    finding(FindingKind::Sarif, &detail.task_id.to_lowercase(), request)
}

/// A finding that nobody has looked at.
pub(super) fn finding(kind: FindingKind, case: &str, request: PatchRequest) -> FindingRow {
    FindingRow {
        id: request.pov_id.clone(),
        case: case.to_owned(),
        kind,
        request,
        round: 0,
        state: FindingState::Open,
        patch: None,
    }
}

/// `DELETE /v1/task/`
pub(super) async fn cancel_all(State(front): State<Front>) -> Result<StatusCode, Refused> {
    let cases: Vec<CaseRow> = front.store.crs_records(None).await?;
    for case in cases.into_iter().filter(|case| case.detail.is_some()) {
        cancel_case(&front, case).await?;
    }
    Ok(StatusCode::OK)
}

/// `DELETE /v1/task/{task_id}/`
pub(super) async fn cancel(
    State(front): State<Front>,
    Path(id): Path<String>,
) -> Result<StatusCode, Refused> {
    let case = challenge(&front.store, &id).await?;
    let case = case.ok_or_else(|| Refused::unknown("the task"))?;
    cancel_case(&front, case).await?;
    Ok(StatusCode::OK)
}

/// Stops a case first and its tasks then: whoever queues one meanwhile sees it
/// stopped. A call that was cut off between the two is made again.
async fn cancel_case(front: &Front, case: CaseRow) -> Result<(), Refused> {
    let store = &front.store;
    let findings: Vec<FindingRow> = store.crs_records(Some(&case.id)).await?;
    let state = CaseState::Canceled;
    store.crs_set(&CaseRow { state, ..case }).await?;
    for finding in findings {
        if finding.is_open() {
            let failed = finding.in_state(FindingState::Failed);
            store.crs_change(&finding, &failed).await?;
        }
        store.cancel(&queue_id(&finding)).await?;
    }
    Ok(())
}
