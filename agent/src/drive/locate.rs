//! Places a patch in the pristine tree, or says why it has no place.

use super::{Drive, Parts};
use crate::journal::JournalError;
use crate::record::{Attempt, Located, LocatedPatch, Outcome, StepId};
use patchwright_patcher::{Background, Patch, Prepared, Refusal};
use serde_json::json;

impl Drive {
    /// Places the patch of a lane that has made these attempts before.
    pub(super) async fn locate(
        &self,
        id: StepId,
        patch: Patch,
        attempts: Vec<Attempt>,
    ) -> Result<Outcome, JournalError> {
        let attempts = attempts.into_iter().map(|made| (made.number, made.diff));
        let attempts: Vec<(u32, String)> = attempts.collect();
        let summary = format!("placing a patch of {} edits", patch.edits.len());
        self.intend(id, "locate", summary, json!({ "patch": patch }))
            .await?;
        let located = match prepare(&self.parts, &patch, &attempts).await {
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

/// Places a patch; what names exist is asked of the index, when there is one. The
/// attempts before it decide only what a refusal says.
pub(super) async fn prepare(
    parts: &Parts,
    patch: &Patch,
    attempts: &[(u32, String)],
) -> Result<Prepared, Vec<Refusal>> {
    let engine = parts.engine.get(&[]).await.ok();
    let knows = |name: &str| engine.as_ref().is_none_or(|engine| engine.knows(name));
    let background = Background {
        knows: &knows,
        attempts,
    };
    patchwright_patcher::prepare_after(&parts.tree, patch, &parts.guard, &background)
}
