//! The way of a finding through the queue, and what came of it.

use super::{Watch, now, warn};
use crate::crs::case::{self, queue_id};
use crate::crs::cover::doubt_of;
use crate::crs::protocol::encode;
use crate::crs::rows::{CaseRow, CaseState, FindingRow, FindingState, PatchRow};
use patchwright_agent::record::EndingKind;
use patchwright_agent::task::Task;
use patchwright_store::StoreError;
use patchwright_store::submissions::{NewTask, TaskRow, TaskState};

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
    let state = match (finding.state, &patch, ended) {
        (FindingState::Failed | FindingState::Errored, ..) => return finding.clone(),
        (_, Some(_), _) => FindingState::Stopped,
        (FindingState::Stopped, None, _) if finding.round < ROUNDS => FindingState::Open,
        (_, None, Some(Some(EndingKind::InfraError | EndingKind::InvalidTask))) => {
            FindingState::Errored
        }
        (FindingState::Open, None, None) if !late => FindingState::Open,
        _ => FindingState::Failed,
    };
    let anew = state == FindingState::Open && !finding.is_open();
    FindingRow {
        round: finding.round + i64::from(anew),
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
            let row = self.store().task(&queue_id(finding)).await?;
            if let Some(row) = row.filter(|row| row.state.is_over()) {
                let kind = row.ending.as_deref().and_then(EndingKind::read);
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
                    self.store().cancel(&queue_id(finding)).await?;
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
            if self.store().task(&queue_id(finding)).await?.is_some() {
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
                    let errored = finding.in_state(FindingState::Errored);
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
            self.store().cancel(&task.id).await?;
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
        let report = match self.service.report(&row.id).await {
            Err(error @ StoreError::Damaged { .. }) => {
                warn("a task is passed over", &row.id, &error);
                None
            }
            report => report?,
        };
        let Some(best) = report.and_then(|report| report.best) else {
            return Ok(());
        };
        let named = format!("{}\n{}", finding.case, best.diff);
        let id = format!("{:x}", Sha256::digest(named));
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
            created: now(),
            ..PatchRow::default()
        };
        Ok(self.store().crs_set(&patch).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::settled;
    use crate::crs::rows::{FindingRow, PatchRow};
    use patchwright_agent::record::EndingKind;
    use serde_json::json;

    /// `"stopped 1 a"`: a state, a round, and the patch, if any.
    fn finding(text: &str) -> FindingRow {
        let words: Vec<&str> = text.split(' ').collect();
        let request = json!({
            "project_name": "p", "blobs": [], "pov_id": "f", "sarif_report": null, "type": "full",
        });
        let finding = json!({
            "id": "f", "case": "c", "kind": "pov", "request": request, "state": words[0],
            "round": words[1].parse::<i64>().unwrap(), "patch": words.get(2),
        });
        serde_json::from_value(finding).unwrap()
    }

    /// `"a b!"`: two patches that stop it, of which the other side refused the second.
    fn patches(text: &str) -> Vec<PatchRow> {
        let patch = |word: &str| {
            let patch = json!({
                "id": word.trim_end_matches('!'), "case": "c", "finding": "g", "diff": "",
                "doubt": 0, "stops": ["f"], "tried": [], "remote": null, "sent": 0, "rests": 0,
                "created": 0, "fate": word.ends_with('!').then_some("failed"),
            });
            serde_json::from_value(patch).unwrap()
        };
        text.split_whitespace().map(patch).collect()
    }

    #[test]
    fn a_finding_goes_with_the_patches_that_stop_it() {
        let infrastructure = Some(Some(EndingKind::InfraError));
        let no_patch = Some(Some(EndingKind::NoPatch));
        for (before, known, known_patches, after) in [
            ("open 0", (None, false), "", "open 0"),
            ("open 0", (None, false), "a", "stopped 0 a"),
            ("stopped 0 own", (None, false), "a own", "stopped 0 own"),
            ("stopped 0 b", (None, false), "b! a", "stopped 0 a"),
            ("stopped 0 b", (None, false), "b!", "open 1"),
            ("stopped 2 b", (None, false), "b!", "failed 2"),
            ("open 0", (Some(None), false), "", "failed 0"),
            ("open 0", (infrastructure, false), "", "errored 0"),
            ("open 0", (no_patch, false), "b!", "failed 0"),
            ("open 0", (None, true), "", "failed 0"),
            ("failed 0", (None, false), "a", "failed 0"),
        ] {
            let found = settled(&finding(before), known, &patches(known_patches));
            assert_eq!(found, finding(after), "{before} {known:?} {known_patches}");
        }
    }
}
