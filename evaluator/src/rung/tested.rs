//! *tested*: no test fails that passed at the baseline.
//!
//! Without a test command the rung cannot be climbed: no tests is never
//! "tests passed".

use super::excerpt;
use crate::ladder::{AttemptFacts, RungName, RungResult};
use crate::target::{Baseline, Target, TestRun};
use crate::{Ending, Limit, TargetError};

pub(crate) async fn climb(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<RungResult, TargetError> {
    let Some(before) = &baseline.tests else {
        return Ok(RungResult::new(
            RungName::Tested,
            None,
            "the task has no tests",
        ));
    };
    let name = target.task().main_build();
    let build = super::builds::build(target, attempt, &name).await?;
    let Some(now) = target.test(&build).await? else {
        return Ok(RungResult::new(
            RungName::Tested,
            None,
            "the task has no tests",
        ));
    };
    let result = judge(before, &now);
    if result.holds != Some(false) {
        return Ok(result);
    }
    // A test that fails now and passes on a second look is flaky, not broken.
    match target.test(&build).await? {
        Some(again) if judge(before, &again).holds == Some(true) => {
            let reason = "the test command failed once and succeeded when repeated";
            let log = again.execution.text();
            Ok(RungResult::new(RungName::Tested, Some(true), reason)
                .count("flaky", 1)
                .log(log))
        }
        _ => Ok(result),
    }
}

pub(crate) fn judge(before: &TestRun, now: &TestRun) -> RungResult {
    let log = now.execution.text();
    let (old, new) = (before.execution.ending, now.execution.ending);
    if new.success() {
        return RungResult::new(RungName::Tested, Some(true), "the test command succeeds").log(log);
    }
    if !old.success() {
        let reason = "the test command fails without the patch too, and names no tests";
        return RungResult::new(RungName::Tested, None, reason).log(log);
    }
    let reason = match new {
        Ending::Limit(Limit::WallTime) => "the tests did not end in time".to_owned(),
        ending => format!("the test command fails: {ending}"),
    };
    let feedback = excerpt(&reason, &log);
    RungResult::new(RungName::Tested, Some(false), reason)
        .feedback(feedback)
        .log(log)
}
