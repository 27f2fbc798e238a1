//! The way of a patch to the other side and what is heard of it.

use super::{Watch, now, warn};
use crate::crs::Failure;
use crate::crs::choice::{Terms, to_send};
use crate::crs::competition::Competition;
use crate::crs::protocol::{PATCH_LIMIT, PatchAnswer, decode, is_uuid};
use crate::crs::rows::{CaseRow, Fate, FindingRow, PatchRow};
use patchwright_store::milliseconds;
use serde_json::Value;
use std::time::Duration;
use tracing::{Instrument, info_span};

/// The longest time between two sendings of one patch.
const LONGEST_REST: Duration = Duration::from_mins(1);

impl Watch {
    /// Sends the chosen patches of a challenge and asks after those that were sent.
    pub(super) async fn send(
        &self,
        (case, findings): (&CaseRow, &[FindingRow]),
        competition: &Competition,
    ) -> anyhow::Result<()> {
        let Some(detail) = &case.detail else {
            return Ok(());
        };
        let metadata = Value::from(detail.metadata.clone()).to_string();
        let mut patches: Vec<PatchRow> = self.store().crs_records(Some(&case.id)).await?;
        for patch in &mut patches {
            self.ask_after(competition, patch).await?;
        }
        let terms = Terms {
            doubt: self.settings.crs.least.doubt(),
            hold: milliseconds(self.settings.crs.hold),
            now: now(),
            deadline: case.deadline,
        };
        for place in to_send(findings, &patches, terms) {
            if let Some(patch) = patches.get_mut(place) {
                // In the words that its organisers ask for, with the metadata that they sent along.
                let span = info_span!(
                    "action",
                    otel.name = "submit_patch",
                    crs.action.category = "scoring_submission",
                    crs.action.name = "submit_patch",
                    task.id = patch.case,
                    task.metadata = metadata
                );
                self.submit(competition, patch).instrument(span).await?;
            }
        }
        Ok(())
    }

    async fn submit(&self, competition: &Competition, patch: &mut PatchRow) -> anyhow::Result<()> {
        let diff = match decode(&patch.diff) {
            Some(diff) if diff.len() <= PATCH_LIMIT => Ok(diff),
            Some(diff) => Err(format!(
                "it has {} bytes, the competition takes {PATCH_LIMIT}",
                diff.len()
            )),
            None => Err("its row in the store is damaged".to_owned()),
        };
        let Ok(diff) = diff.inspect_err(|reason| warn("a patch is not sent", &patch.id, reason))
        else {
            patch.fate = Some(Fate::Failed);
            self.store().crs_set(patch).await?;
            return Ok(());
        };
        patch.fate = Some(Fate::Sending);
        patch.sent += 1;
        patch.rests = now() + milliseconds(rest(self.settings.crs.watch, patch.sent));
        self.store().crs_set(patch).await?;
        let answer = competition.submit(&patch.case, &diff).await;
        self.hear(patch, answer).await
    }

    /// Asks after a patch that the other side has and has not judged.
    async fn ask_after(
        &self,
        competition: &Competition,
        patch: &mut PatchRow,
    ) -> anyhow::Result<()> {
        let waits = patch.fate == Some(Fate::Accepted);
        let Some(remote) = patch.remote.clone().filter(|_| waits) else {
            return Ok(());
        };
        match competition.patch(&patch.case, &remote).await {
            Err(error) if error.may_pass() => {
                warn("nothing is heard of a patch", &patch.id, &error);
                Ok(())
            }
            answer => self.hear(patch, answer).await,
        }
    }

    async fn hear(
        &self,
        patch: &mut PatchRow,
        answer: Result<PatchAnswer, Failure>,
    ) -> anyhow::Result<()> {
        let heard = match answer {
            Ok(answer) if is_uuid(&answer.patch_id) => {
                patch.remote = Some(answer.patch_id);
                Ok(answer.status)
            }
            Ok(PatchAnswer { patch_id, .. }) => {
                Err((format!("its id {patch_id:?} is no UUID"), Fate::Failed))
            }
            Err(error) if error.may_pass() => Err((error.to_string(), Fate::Errored)),
            Err(error) => Err((error.to_string(), Fate::Failed)),
        };
        let fate = heard.unwrap_or_else(|(reason, fate)| {
            warn("a patch was not taken", &patch.id, &reason);
            fate
        });
        patch.fate = Some(fate);
        self.store().crs_set(patch).await?;
        Ok(())
    }
}

/// Returns the pause after a patch was sent so often: twice as long each time.
fn rest(first: Duration, sent: i64) -> Duration {
    let doublings = u32::try_from(sent).unwrap_or(u32::MAX).min(16);
    first.saturating_mul(1 << doublings).min(LONGEST_REST)
}
