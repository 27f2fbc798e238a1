//! Places a patch in the pristine tree, or says why it has no place.

use super::{Drive, Parts};
use crate::journal::JournalError;
use crate::record::{Located, LocatedPatch, Outcome, StepId};
use patchwright_patcher::{Patch, Prepared, Refusal};
use serde_json::json;

impl Drive {
    pub(super) async fn locate(&self, id: StepId, patch: Patch) -> Result<Outcome, JournalError> {
        let summary = format!("placing a patch of {} edits", patch.edits.len());
        self.intend(id, "locate", summary, json!({ "patch": patch }))
            .await?;
        let located = match prepare(&self.parts, &patch).await {
            Ok(prepared) => Located::Placed(LocatedPatch {
                latin1: prepared.diff.as_bytes() != prepared.diff_bytes,
                diff: prepared.diff,
                normal_form: prepared.normal_form,
                warnings: prepared.warnings,
            }),
            Err(refusals) => Located::Refused {
                reasons: refusals
                    .iter()
                    .map(|refusal| refusal.to_string().trim_end().to_owned())
                    .collect(),
            },
        };
        Ok(Outcome::Located(located))
    }
}

/// Places a patch; what names exist is asked of the index, when there is one.
pub(super) async fn prepare(parts: &Parts, patch: &Patch) -> Result<Prepared, Vec<Refusal>> {
    let engine = parts.engine.get(&[]).await.ok();
    let knows = |name: &str| engine.as_ref().is_none_or(|engine| engine.knows(name));
    patchwright_patcher::prepare(&parts.tree, patch, &parts.guard, &knows)
}
