//! PoVs with the same change in several places, and texts that are fine with a
//! number of a PoV in them.
//!
//! They run one by one and have little time: a large number that ends a loop
//! makes the loop last, which is no failure of the patch.

use super::failure::{Failure, FailureJudge};
use super::{Group, LOOKED_AT, Search};
use crate::mutation::{parallel, transplants};
use crate::rung::given_inputs;
use crate::runner::{Inputs, Outcome};
use crate::{Ending, TargetError};
use std::time::Duration;

/// They get one in so many parts of the time.
const SHARE: u32 = 4;
/// Least and most time for one of them, which has as often as long as the PoV.
const EACH: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
const TIMES: u32 = 5;

impl Search<'_> {
    /// Gives them to the patched program. Where the PoV is a hang, hangs of
    /// loops could not be told from it, and nothing is run.
    pub(super) async fn transplanted(
        &mut self,
        judge: &FailureJudge<'_>,
        group: &Group<'_>,
        budget: Duration,
    ) -> Result<Option<Failure>, TargetError> {
        let before = &group.before.replay;
        if before.outcome == Outcome::Hung {
            return Ok(None);
        }
        let given = given_inputs::inputs(self.target.task(), group.pov)?.into_iter();
        let given: Vec<Vec<u8>> = given.map(|(_, bytes)| bytes).collect();
        let usual = Duration::from_secs_f64(before.execution.seconds.min(60.0));
        let mut contents = parallel(&group.seeds);
        contents.extend(transplants(&group.seeds, &given));
        let inputs = Inputs {
            contents,
            budget: budget / SHARE,
            each: (usual * TIMES).clamp(EACH.0, EACH.1),
            ..Inputs::default()
        };
        let new = judge.builds.1;
        let runs = self.target.run_inputs(new, group.pov, &inputs).await?;
        self.runs += runs.len() as u64;
        let ended = |ending| !matches!(ending, Ending::Limit(_));
        let failed = runs
            .iter()
            .filter(|run| ended(run.ending) && run.is_failure());
        for run in failed.take(LOOKED_AT) {
            let bytes = inputs.contents.get(run.index).map_or(&[][..], |b| b);
            if let Some(found) = self.weigh(judge.look(bytes).await?) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
