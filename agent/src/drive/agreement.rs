//! Compares the behaviour of candidates.

use super::Drive;
use super::baseline::{INFRASTRUCTURE_TRIES, ending};
use crate::journal::JournalError;
use crate::record::{
    Attempt, ChallengeRecord, ChallengeSource, Ending, EndingKind, Outcome, StepId,
};
use patchwright_target::TargetError;
use patchwright_verdict::{Candidate, ChallengeInput, agreement};
use serde_json::json;

impl Drive {
    pub(super) async fn agree(
        &self,
        id: StepId,
        inputs: Vec<ChallengeRecord>,
        attempts: Vec<Attempt>,
    ) -> Result<Outcome, JournalError> {
        let numbers: Vec<u32> = attempts.iter().map(|attempt| attempt.number).collect();
        let summary = format!("comparing the behaviour of attempts {numbers:?}");
        self.intend(id, "agree", summary, json!({ "attempts": numbers }))
            .await?;
        let stopped = |ending| Outcome::Stopped {
            ending,
            seconds: 0.0,
        };
        let Some(target) = self.parts.target.clone() else {
            let detail = "there is nothing to compare";
            return Ok(stopped(Ending::new(EndingKind::InfraError, detail)));
        };
        let mut candidates = Vec::new();
        for attempt in &attempts {
            match self.facts(attempt).await {
                Ok(facts) => candidates.push(Candidate {
                    number: attempt.number,
                    changes: facts.changes.clone(),
                }),
                Err(ending) => return Ok(stopped(ending)),
            }
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
        let baseline = match self.target_baseline().await {
            Ok(baseline) => baseline,
            Err(ending) => return Ok(stopped(ending)),
        };
        let mut tries = 0;
        loop {
            tries += 1;
            match agreement(target.as_ref(), &baseline, &candidates, &given).await {
                Ok(mut found) => {
                    let agreed = found.apart.iter_mut().chain(&mut found.as_before);
                    let agreed = agreed.map(|one| &mut one.blob);
                    let splits = found.splits.iter_mut().map(|split| &mut split.input.blob);
                    for blob in agreed.chain(splits) {
                        self.keep(blob).await?;
                    }
                    return Ok(Outcome::Agreed(found));
                }
                Err(TargetError::Infrastructure { .. }) if tries < INFRASTRUCTURE_TRIES => {}
                Err(error) => return Ok(stopped(ending(&error))),
            }
        }
    }
}
