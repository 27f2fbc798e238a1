//! Compares the behaviour of candidates.

use super::Drive;
use super::baseline::{INFRASTRUCTURE_TRIES, ending};
use crate::journal::JournalError;
use crate::record::{
    AgreedInput, Agreement, Attempt, Blob, ChallengeRecord, ChallengeSource, DoubtedInput, Ending,
    EndingKind, Outcome, Split, StepId,
};
use patchwright_target::TargetError;
use patchwright_verdict::{self as verdict, Candidate, ChallengeInput, agreement};
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
                Ok(found) => {
                    let splits = self.splits(&found).await?;
                    return Ok(Outcome::Agreed(record_of(found, &blobs, splits)));
                }
                Err(TargetError::Infrastructure { .. }) if tries < INFRASTRUCTURE_TRIES => {}
                Err(error) => return Ok(stopped(ending(&error))),
            }
        }
    }
}

impl Drive {
    /// Keeps the inputs on which candidates differ from each other.
    async fn splits(&self, found: &verdict::Agreement) -> Result<Vec<Split>, JournalError> {
        let mut splits = Vec::new();
        for split in &found.splits {
            splits.push(Split {
                input: DoubtedInput {
                    name: split.input.name.clone(),
                    blob: Blob::Kept(self.journal.keep(&split.input.bytes).await?),
                    pov: split.input.pov.clone(),
                    change: split.input.change.clone(),
                    before: split.input.before.clone(),
                    ..DoubtedInput::default()
                },
                groups: split.groups.clone(),
            });
        }
        Ok(splits)
    }
}

fn record_of(found: verdict::Agreement, blobs: &[Blob], splits: Vec<Split>) -> Agreement {
    let apart = found.apart.iter().flat_map(|(index, groups)| {
        let blob = blobs.get(*index).cloned().unwrap_or_default();
        groups.iter().map(move |attempts| AgreedInput {
            blob: blob.clone(),
            attempts: attempts.clone(),
        })
    });
    let as_before = found.as_before.iter().map(|(index, attempts)| AgreedInput {
        blob: blobs.get(*index).cloned().unwrap_or_default(),
        attempts: attempts.clone(),
    });
    Agreement {
        apart: apart.collect(),
        as_before: as_before.collect(),
        clusters: found.clusters,
        splits,
        inputs: found.inputs,
        seconds: found.seconds,
    }
}
