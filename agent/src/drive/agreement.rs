//! Compares the behaviour of candidates.

use super::Drive;
use super::baseline::{INFRASTRUCTURE_TRIES, ending};
use crate::journal::JournalError;
use crate::record::{
    AgreedInput, AgreementRecord, Attempt, ChallengeRecord, ChallengeSource, Ending, EndingKind,
    Outcome, StepId,
};
use patchwright_evaluator::{Agreement, Candidate, ChallengeInput, TargetError, agreement};
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
                && let Some(bytes) = self.journal.blob(&blob).await?
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
                Ok(found) => return Ok(Outcome::Agreed(record_of(found, &blobs))),
                Err(TargetError::Infrastructure { .. }) if tries < INFRASTRUCTURE_TRIES => {}
                Err(error) => return Ok(stopped(ending(&error))),
            }
        }
    }
}

fn record_of(found: Agreement, blobs: &[String]) -> AgreementRecord {
    let apart = found.apart.iter().flat_map(|(index, groups)| {
        let blob = blobs.get(*index).cloned().unwrap_or_default();
        groups.iter().map(move |attempts| AgreedInput {
            blob: blob.clone(),
            attempts: attempts.clone(),
        })
    });
    AgreementRecord {
        apart: apart.collect(),
        clusters: found.clusters,
        inputs: found.inputs,
        seconds: found.seconds,
    }
}
