//! Compares the behaviour of candidates.

use super::Drive;
use super::failure::{Failure, retried};
use crate::record::{Attempt, ChallengeRecord, ChallengeSource, Outcome, StepId};
use patchwright_verdict::{Candidate, ChallengeInput, agreement};
use serde_json::json;

impl Drive {
    pub(super) async fn agree(
        &self,
        id: StepId,
        inputs: Vec<ChallengeRecord>,
        attempts: Vec<Attempt>,
    ) -> Result<Outcome, Failure> {
        let numbers: Vec<u32> = attempts.iter().map(|attempt| attempt.number).collect();
        let summary = format!("comparing the behaviour of attempts {numbers:?}");
        self.intend(id, "agree", summary, json!({ "attempts": numbers }))
            .await?;
        let target = self.target()?;
        let mut candidates = Vec::new();
        for attempt in &attempts {
            candidates.push(Candidate {
                number: attempt.number,
                changes: self.facts(attempt).await?.changes.clone(),
            });
        }
        let (mut blobs, mut given) = (Vec::new(), Vec::new());
        for ChallengeRecord { name, source } in inputs {
            if let ChallengeSource::Kept(blob) = source
                && !blobs.contains(&blob)
                && let Some(bytes) = self.journal.blob(blob.hash()).await?
            {
                blobs.push(blob);
                given.push(ChallengeInput { name, bytes });
            }
        }
        let baseline = self.target_baseline().await?;
        let compared = || agreement(target.as_ref(), &baseline, &candidates, &given);
        let mut found = retried(compared).await?;
        let agreed = found.apart.iter_mut().chain(&mut found.as_before);
        let agreed = agreed.map(|one| &mut one.blob);
        let splits = found.splits.iter_mut().map(|split| &mut split.input.blob);
        for blob in agreed.chain(splits) {
            self.keep(blob).await?;
        }
        Ok(Outcome::Agreed(found))
    }
}
