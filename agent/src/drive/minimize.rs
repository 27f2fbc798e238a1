//! Searches for the smallest input that shows the crash of a run.

use super::Drive;
use super::failure::Failure;
use crate::record::{Outcome, SmallestRecord, StepId};
use patchwright_verdict::minimize;
use serde_json::json;
use std::time::{Duration, Instant};

impl Drive {
    /// Minimises the first PoV that crashes, for no longer than the budget. A search that
    /// cannot be made leaves a run without a smallest input and changes nothing else.
    pub(super) async fn minimize(&self, id: StepId, budget: Duration) -> Result<Outcome, Failure> {
        let summary = "searching for the smallest input that shows the crash".to_owned();
        self.intend(id, "minimize", summary, json!({})).await?;
        let target = self.target()?;
        let baseline = self.target_baseline().await?;
        let started = Instant::now();
        let found = minimize(target.as_ref(), &baseline, budget).await?;
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
