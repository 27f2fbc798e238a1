//! Searches for the smallest input that shows the crash of a run.

use super::Drive;
use super::baseline::ending;
use crate::journal::JournalError;
use crate::record::{Ending, EndingKind, Outcome, SmallestRecord, StepId};
use patchwright_verdict::minimize;
use serde_json::json;
use std::time::{Duration, Instant};

impl Drive {
    /// Minimises the first PoV that crashes, for no longer than the budget. A search that
    /// cannot be made leaves a run without a smallest input and changes nothing else.
    pub(super) async fn minimize(
        &self,
        id: StepId,
        budget: Duration,
    ) -> Result<Outcome, JournalError> {
        let summary = "searching for the smallest input that shows the crash".to_owned();
        self.intend(id, "minimize", summary, json!({})).await?;
        let stopped = |ending| Outcome::Stopped {
            ending,
            seconds: 0.0,
        };
        let Some(target) = self.parts.target.clone() else {
            let detail = "there is nothing to run";
            return Ok(stopped(Ending::new(EndingKind::InfraError, detail)));
        };
        let baseline = match self.target_baseline().await {
            Ok(baseline) => baseline,
            Err(ending) => return Ok(stopped(ending)),
        };
        let started = Instant::now();
        let found = match minimize(target.as_ref(), &baseline, budget).await {
            Ok(found) => found,
            Err(error) => return Ok(stopped(ending(&error))),
        };
        let mut record = SmallestRecord::default();
        if let Some(found) = found {
            record = SmallestRecord {
                pov: found.name,
                original: found.original as u64,
                bytes: found.bytes.len() as u64,
                input: Some(self.journal.keep(&found.bytes).await?),
                minimal: found.minimal,
                runs: found.runs,
                seconds: 0.0,
            };
        }
        record.seconds = started.elapsed().as_secs_f64();
        Ok(Outcome::Minimized(record))
    }
}
