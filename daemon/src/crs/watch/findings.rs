//! The way of a finding through the queue, and what came of it.

use super::{Watch, now, warn};
use crate::crs::case::{self, queue_id};
use crate::crs::cover::doubt_of;
use crate::crs::protocol::encode;
use patchwright_agent::record::EndingKind;
use patchwright_agent::report::AttemptReport;
use patchwright_agent::task::Task;
use patchwright_store::crs::{CaseRow, CaseState, FindingRow, FindingState, PatchRow};
use patchwright_store::submissions::{NewTask, TaskRow, TaskState};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

impl Watch {
    /// Sees what came of the findings whose tasks have ended.
    pub(super) async fn collect(&self, case: &CaseRow) -> anyhow::Result<()> {
        for finding in self.open(case).await? {
            let row = self.service.task(&queue_id(&finding)).await?;
            let Some(row) = row.filter(|row| row.state.is_over()) else {
                continue;
            };
            let (state, patch) = match ending(&row) {
                Some(EndingKind::InfraError | EndingKind::InvalidTask) => {
                    (FindingState::Errored, None)
                }
                kind => match self.patch(&finding, &row, kind).await? {
                    Some(patch) => (FindingState::Patched, Some(patch)),
                    None => (FindingState::Failed, None),
                },
            };
            self.settle(&finding, state, patch).await?;
        }
        Ok(())
    }

    /// Queues the open findings that are not in the queue.
    pub(super) async fn queue(&self, case: &CaseRow) -> anyhow::Result<()> {
        for finding in self.open(case).await? {
            if self.service.task(&queue_id(&finding)).await?.is_some() {
                continue;
            }
            match case::task(case, &finding, &self.settings, self.store()).await {
                Ok(task) => self.submit_task(case, &task).await?,
                Err(error) if error.may_pass() => {
                    warn("a finding cannot be queued now", &finding.id, &error);
                    self.leave_alone(&case.id);
                }
                Err(error) => {
                    warn("a finding is no task", &finding.id, &error);
                    self.settle(&finding, FindingState::Errored, None).await?;
                }
            }
        }
        Ok(())
    }

    /// Writes down what came of a finding; false when somebody else did before.
    pub(super) async fn settle(
        &self,
        finding: &FindingRow,
        state: FindingState,
        patch: Option<String>,
    ) -> anyhow::Result<bool> {
        let after = FindingRow {
            state,
            patch,
            ..finding.clone()
        };
        Ok(self.store().crs_change_finding(finding, &after).await?)
    }

    async fn submit_task(&self, case: &CaseRow, task: &Task) -> anyhow::Result<()> {
        let text = serde_json::to_string(task)?;
        let origin = match case.detail {
            Some(_) => "crs",
            None => "patch-service",
        };
        let new = NewTask {
            id: task.id.clone(),
            task: text,
            priority: 0,
            deadline: case
                .deadline
                .and_then(|time| jiff::Timestamp::from_millisecond(time).ok()),
            origin: origin.to_owned(),
            group: Some(case.id.clone()),
            place: None,
            quota: None,
        };
        self.service.submit(vec![new]).await?;
        // Whoever stopped the case meanwhile did not see this task.
        let known = self.store().crs_case(&case.id).await?;
        if known.is_some_and(|case| case.state == CaseState::Canceled) {
            self.service.cancel(&task.id).await?;
        }
        Ok(())
    }

    /// Nothing is sought any more for what is still open.
    pub(super) async fn give_up(&self, case: &CaseRow) -> anyhow::Result<()> {
        for finding in self.open(case).await? {
            self.service.cancel(&queue_id(&finding)).await?;
            self.settle(&finding, FindingState::Failed, None).await?;
        }
        Ok(())
    }

    async fn open(&self, case: &CaseRow) -> anyhow::Result<Vec<FindingRow>> {
        let findings = self.store().crs_findings(&case.id).await?.into_iter();
        Ok(findings
            .filter(|finding| finding.state == FindingState::Open)
            .collect())
    }

    /// Writes the patch of a task down and yields its id. One that the other
    /// side refused before is none.
    async fn patch(
        &self,
        finding: &FindingRow,
        row: &TaskRow,
        ending: Option<EndingKind>,
    ) -> anyhow::Result<Option<String>> {
        let doubt = ending.filter(|_| row.state == TaskState::Done);
        let doubt = doubt.and_then(doubt_of).map(i64::from);
        // A patch with less evidence than anybody would be given is none.
        let Some(doubt) = doubt.filter(|doubt| *doubt <= self.settings.crs.least.doubt()) else {
            return Ok(None);
        };
        let report = self.service.report(&row.id).await?;
        let best = report.and_then(|report| report.get("best").cloned());
        let best: Option<AttemptReport> = serde_json::from_value(best.unwrap_or_default())
            .unwrap_or_else(|error| {
                warn("the report of a task cannot be read", &row.id, &error);
                None
            });
        let Some(best) = best else {
            return Ok(None);
        };
        let id = format!(
            "{:x}",
            Sha256::digest(format!("{}\n{}", finding.case, best.diff))
        );
        let known = self.store().crs_patches(&finding.case).await?.into_iter();
        if let Some(known) = known.into_iter().find(|patch| patch.id == id) {
            return Ok((!known.is_refuted()).then_some(id));
        }
        let own = BTreeSet::from([finding.id.clone()]);
        let patch = PatchRow {
            id: id.clone(),
            case: finding.case.clone(),
            finding: finding.id.clone(),
            diff: encode(&best.diff_bytes()),
            doubt,
            stops: own.clone(),
            tried: own,
            fate: None,
            remote: None,
            sent: 0,
            rests: 0,
            created: now(),
        };
        self.store().crs_set_patch(&patch).await?;
        Ok(Some(id))
    }
}

fn ending(row: &TaskRow) -> Option<EndingKind> {
    serde_json::from_value(Value::String(row.ending.clone()?)).ok()
}
