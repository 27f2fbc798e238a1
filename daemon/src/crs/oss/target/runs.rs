//! Inputs that are fed to a build by the runner: PoVs one by one, and many at
//! once. What they tell is judged elsewhere.

use super::{INERT, SidecarTarget, failed, machinery};
use crate::crs::oss::sidecar::Ran;
use patchwright_evaluator::runner::{Capture, InputRun, Inputs};
use patchwright_evaluator::{Build, Ending, Execution, Limit, Outcome, Pov, Replay, TargetError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The runner's exit status for a PoV that took too long.
const POV_TIMED_OUT: i32 = 124;
/// Inputs that are sent to the runner at one time.
const LANES: usize = 4;

impl SidecarTarget {
    pub(super) async fn replay_once(
        &self,
        build: &Build,
        pov: &Pov,
    ) -> Result<Replay, TargetError> {
        let input = tokio::fs::read(&pov.file).await.map_err(|source| {
            let place = pov.file.display().to_string();
            TargetError::Infrastructure {
                what: format!("the PoV cannot be read: {source}"),
                where_: place,
                source: Some(source),
            }
        })?;
        let execution = self.run(build, pov, input).await?;
        let ended = execution.ending;
        let mut replay = Replay::judged(execution, pov.ran.as_deref())?;
        // The runner leaves with 0 when nothing happened, and only then.
        if replay.outcome == Outcome::Silent && !ended.success() {
            let reason = format!("the runner reports {ended}, and nothing says why");
            replay.outcome = Outcome::NotRun(reason);
        }
        Ok(replay)
    }

    /// Feeds an input to a build.
    async fn run(
        &self,
        build: &Build,
        pov: &Pov,
        input: Vec<u8>,
    ) -> Result<Execution, TargetError> {
        let harness = pov.harness.as_deref().unwrap_or_default();
        let known = self
            .known(&build.changes)
            .ok_or_else(|| machinery("a build was asked for that was not made here", "target"))?;
        let started = Instant::now();
        let ran = self
            .sidecars
            .run_pov(input.clone(), harness, known.rebuild)
            .await
            .map_err(|error| failed(&error))?;
        let told = match ran {
            Ran::Finished(told) => told,
            Ran::NeedsBuild => {
                self.build_unpatched(&build.changes, &build.name).await?;
                let known = self.known(&build.changes);
                let number = known.and_then(|known| known.rebuild);
                match self.sidecars.run_pov(input, harness, number).await {
                    Ok(Ran::Finished(told)) => told,
                    Ok(Ran::NeedsBuild) => {
                        return Err(machinery("it runs no build without a number", "runner"));
                    }
                    Err(error) => return Err(failed(&error)),
                }
            }
        };
        Ok(self.execution(ending_of_run(told.exit_code), &told, started))
    }

    /// Older runners know no unpatched build: they get one that was patched
    /// with nothing.
    async fn build_unpatched(&self, digest: &str, name: &str) -> Result<(), TargetError> {
        let build = self.build_patch(digest, name, INERT.to_vec()).await?;
        if build.succeeded() {
            return Ok(());
        }
        Err(TargetError::InvalidTask {
            reason: format!(
                "the build of the unpatched tree failed: {}",
                build.execution.ending
            ),
            log: build.execution.text(),
        })
    }

    pub(super) async fn run_all(
        &self,
        build: &Build,
        pov: &Pov,
        inputs: &Inputs,
    ) -> Result<Vec<InputRun>, TargetError> {
        if let Capture::Values(_) = inputs.capture {
            return Ok(Vec::new());
        }
        let (next, until) = (AtomicUsize::new(0), Instant::now() + inputs.budget);
        let wanted: Vec<usize> = if inputs.only.is_empty() {
            (0..inputs.contents.len()).collect()
        } else {
            inputs.only.clone()
        };
        let lane = || async {
            let mut runs = Vec::new();
            while Instant::now() < until {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(index) = wanted.get(at).copied() else {
                    break;
                };
                let Some(content) = inputs.contents.get(index) else {
                    continue;
                };
                let execution = self.run(build, pov, content.clone()).await?;
                let quiet = inputs.capture == Capture::Failures && execution.ending.success();
                runs.push(InputRun {
                    index,
                    ending: execution.ending,
                    output: if quiet {
                        Vec::new()
                    } else {
                        execution.text().into_bytes()
                    },
                });
            }
            Ok::<_, TargetError>(runs)
        };
        let mut runs = Vec::new();
        for lane in futures::future::join_all((0..LANES).map(|_| lane())).await {
            runs.extend(lane?);
        }
        runs.sort_by_key(|run| run.index);
        Ok(runs)
    }
}

/// Returns the result of a PoV: the runner knows signals as negative numbers, the script
/// below it as 128 and more.
fn ending_of_run(status: i32) -> Ending {
    match status {
        POV_TIMED_OUT => Ending::Limit(Limit::WallTime),
        ..0 => Ending::Signal(-status),
        129..=192 => Ending::Signal(status - 128),
        _ => Ending::Exited(status),
    }
}

#[cfg(test)]
mod tests {
    use super::ending_of_run;
    use patchwright_evaluator::{Ending, Limit};

    #[test]
    fn exit_statuses_of_the_runner() {
        for (status, expected) in [
            (0, Ending::Exited(0)),
            (1, Ending::Exited(1)),
            (77, Ending::Exited(77)),
            (124, Ending::Limit(Limit::WallTime)),
            (127, Ending::Exited(127)),
            (-11, Ending::Signal(11)),
            (134, Ending::Signal(6)),
        ] {
            assert_eq!(ending_of_run(status), expected, "{status}");
        }
    }
}
