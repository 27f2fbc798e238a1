//! The way of a finding through the queue, and what came of it.

use super::{Watch, now, warn};
use crate::crs::case::{self, queue_id};
use crate::crs::cover::doubt_of;
use crate::crs::protocol::encode;
use crate::crs::rows::{CaseRow, CaseState, FindingRow, FindingState, PatchRow};
use patchwright_agent::record::EndingKind;
use patchwright_agent::report::AttemptReport;
use patchwright_agent::task::Task;
use patchwright_store::submissions::{NewTask, TaskRow, TaskState};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Number of times a finding is queued anew when its patches are refused on the other side.
const ROUNDS: i64 = 2;

/// Ending of a finding's task; nothing for a word that is not known.
type Ended = Option<EndingKind>;

/// Decides what becomes of a finding by what is known now. `ended` tells of its task once that
/// is over; nobody waits for a patch any more when it is `late`.
fn settled(
    finding: &FindingRow,
    (ended, late): (Option<Ended>, bool),
    patches: &[PatchRow],
) -> FindingRow {
    let mut stopping: Vec<&String> = patches
        .iter()
        .filter(|patch| !patch.is_refuted() && patch.stops.contains(&finding.id))
        .map(|patch| &patch.id)
        .collect();
    // It keeps the patch that it has.
    stopping.sort_by_key(|id| finding.patch.as_ref() != Some(id));
    let patch = stopping.first().copied().cloned();
    let (state, round) = match (finding.state, &patch, ended) {
        (state @ (FindingState::Failed | FindingState::Errored), ..) => {
            return FindingRow {
                state,
                ..finding.clone()
            };
        }
        (_, Some(_), _) => (FindingState::Stopped, finding.round),
        (FindingState::Stopped, None, _) if finding.round < ROUNDS => {
            (FindingState::Open, finding.round + 1)
        }
        (_, None, Some(Some(EndingKind::InfraError | EndingKind::InvalidTask))) => {
            (FindingState::Errored, finding.round)
        }
        (FindingState::Open, None, None) if !late => (FindingState::Open, finding.round),
        _ => (FindingState::Failed, finding.round),
    };
    FindingRow {
        round,
        state,
        patch,
        ..finding.clone()
    }
}

impl Watch {
    /// Takes in the patches of tasks that have ended, and settles every finding by them. What
    /// runs for a finding that is not open any more ends.
    pub(super) async fn settle(&self, case: &CaseRow) -> anyhow::Result<Vec<FindingRow>> {
        let mut findings: Vec<FindingRow> = self.store().crs_records(Some(&case.id)).await?;
        let mut ended: BTreeMap<String, Ended> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| finding.is_open()) {
            let row = self.service.task(&queue_id(finding)).await?;
            if let Some(row) = row.filter(|row| row.state.is_over()) {
                let kind = ending(&row);
                self.keep_patch(finding, &row, kind).await?;
                ended.insert(finding.id.clone(), kind);
            }
        }
        let patches: Vec<PatchRow> = self.store().crs_records(Some(&case.id)).await?;
        let late = case.is_late(now());
        for finding in &mut findings {
            let after = settled(finding, (ended.get(&finding.id).copied(), late), &patches);
            if after != *finding && self.store().crs_change(finding, &after).await? {
                if finding.is_open() {
                    self.service.cancel(&queue_id(finding)).await?;
                }
                *finding = after;
            }
        }
        Ok(findings)
    }

    /// Queues the open findings that are not in the queue.
    pub(super) async fn queue(
        &self,
        case: &CaseRow,
        findings: &[FindingRow],
    ) -> anyhow::Result<()> {
        for finding in findings.iter().filter(|finding| finding.is_open()) {
            if self.service.task(&queue_id(finding)).await?.is_some() {
                continue;
            }
            match case::task(case, finding, &self.settings, self.store()).await {
                Ok(task) => self.submit_task(case, &task).await?,
                Err(error) if error.may_pass() => {
                    warn("a finding cannot be queued now", &finding.id, &error);
                    self.leave_alone(&case.id);
                }
                Err(error) => {
                    warn("a finding is no task", &finding.id, &error);
                    let errored = FindingRow {
                        state: FindingState::Errored,
                        ..finding.clone()
                    };
                    self.store().crs_change(finding, &errored).await?;
                }
            }
        }
        Ok(())
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
            deadline: case
                .deadline
                .and_then(|time| jiff::Timestamp::from_millisecond(time).ok()),
            origin: origin.to_owned(),
            group: Some(case.id.clone()),
            ..NewTask::default()
        };
        self.service.submit(vec![new]).await?;
        // Whoever stopped the case meanwhile did not see this task.
        let known: Option<CaseRow> = self.store().crs_record(&case.id).await?;
        if known.is_some_and(|case| case.state == CaseState::Canceled) {
            self.service.cancel(&task.id).await?;
        }
        Ok(())
    }

    /// Writes the patch of a task down, if it has one with enough evidence to be given out.
    async fn keep_patch(
        &self,
        finding: &FindingRow,
        row: &TaskRow,
        ended: Ended,
    ) -> anyhow::Result<()> {
        let doubt = ended.filter(|_| row.state == TaskState::Done);
        let doubt = doubt.and_then(doubt_of);
        let Some(doubt) = doubt.filter(|doubt| *doubt <= self.settings.crs.least.doubt()) else {
            return Ok(());
        };
        let report = self.service.report(&row.id).await?;
        let best = report.and_then(|report| report.get("best").cloned());
        let best: Option<AttemptReport> = serde_json::from_value(best.unwrap_or_default())
            .unwrap_or_else(|error| {
                warn("the report of a task cannot be read", &row.id, &error);
                None
            });
        let Some(best) = best else {
            return Ok(());
        };
        let id = format!(
            "{:x}",
            Sha256::digest(format!("{}\n{}", finding.case, best.diff))
        );
        let known: Option<PatchRow> = self.store().crs_record(&id).await?;
        if known.is_some() {
            return Ok(());
        }
        let own = BTreeSet::from([finding.id.clone()]);
        let patch = PatchRow {
            id,
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
        Ok(self.store().crs_set(&patch).await?)
    }
}

fn ending(row: &TaskRow) -> Ended {
    serde_json::from_value(Value::String(row.ending.clone()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::{Ended, ROUNDS, settled};
    use crate::crs::patch_request::PatchRequest;
    use crate::crs::protocol::TaskKind;
    use crate::crs::rows::{Fate, FindingKind, FindingRow, FindingState, PatchRow};
    use patchwright_agent::record::EndingKind;
    use std::collections::BTreeSet;

    fn finding(state: FindingState, round: i64, patch: Option<&str>) -> FindingRow {
        FindingRow {
            id: "f".to_owned(),
            case: "c".to_owned(),
            kind: FindingKind::Pov,
            request: PatchRequest {
                project_name: String::new(),
                blobs: Vec::new(),
                pov_id: String::new(),
                sarif_report: None,
                kind: TaskKind::Full,
            },
            round,
            state,
            patch: patch.map(str::to_owned),
        }
    }

    fn patch(id: &str, fate: Option<Fate>) -> PatchRow {
        PatchRow {
            id: id.to_owned(),
            case: "c".to_owned(),
            finding: "g".to_owned(),
            diff: String::new(),
            doubt: 0,
            stops: BTreeSet::from(["f".to_owned()]),
            tried: BTreeSet::new(),
            fate,
            remote: None,
            sent: 0,
            rests: 0,
            created: 0,
        }
    }

    #[test]
    fn a_finding_goes_with_the_patches_that_stop_it() {
        use FindingState::{Errored, Failed, Open, Stopped};
        let (good, refuted) = (patch("a", None), patch("b", Some(Fate::Failed)));
        let own = patch("own", None);
        let ended = |kind| Some(Some(kind));
        let none: &[PatchRow] = &[];
        type Case<'a> = (FindingRow, Option<Ended>, bool, &'a [PatchRow], FindingRow);
        let cases: &[Case<'_>] = &[
            (
                finding(Open, 0, None),
                None,
                false,
                none,
                finding(Open, 0, None),
            ),
            (
                finding(Open, 0, None),
                None,
                false,
                &[good.clone()],
                finding(Stopped, 0, Some("a")),
            ),
            (
                finding(Stopped, 0, Some("own")),
                None,
                false,
                &[good.clone(), own],
                finding(Stopped, 0, Some("own")),
            ),
            (
                finding(Stopped, 0, Some("b")),
                None,
                false,
                &[refuted.clone(), good],
                finding(Stopped, 0, Some("a")),
            ),
            (
                finding(Stopped, 0, Some("b")),
                None,
                false,
                &[refuted.clone()],
                finding(Open, 1, None),
            ),
            (
                finding(Stopped, ROUNDS, Some("b")),
                None,
                false,
                &[refuted.clone()],
                finding(Failed, ROUNDS, None),
            ),
            (
                finding(Open, 0, None),
                Some(None),
                false,
                none,
                finding(Failed, 0, None),
            ),
            (
                finding(Open, 0, None),
                ended(EndingKind::InfraError),
                false,
                none,
                finding(Errored, 0, None),
            ),
            (
                finding(Open, 0, None),
                ended(EndingKind::NoPatch),
                false,
                &[refuted],
                finding(Failed, 0, None),
            ),
            (
                finding(Open, 0, None),
                None,
                true,
                none,
                finding(Failed, 0, None),
            ),
            (
                finding(Failed, 0, None),
                None,
                false,
                none,
                finding(Failed, 0, None),
            ),
        ];
        for (before, ended, late, patches, expected) in cases {
            let after = settled(before, (*ended, *late), patches);
            assert_eq!(after, *expected, "{before:?} {ended:?} {late} {patches:?}");
        }
    }
}
