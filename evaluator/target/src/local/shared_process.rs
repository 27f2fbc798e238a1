//! Shared process: one process of a program that takes many inputs.
//!
//! A batch that fails is halved until the failing inputs are few, and these are run one by
//! one. Most inputs pass, so a batch takes a few processes.

use super::batch::BatchRun;
use super::fuzzer;
use crate::Result;
use crate::runner::{Capture, Outcome, judge};
use crate::work_time::WorkTime;
use patchwright_sandbox::Ending;
use std::time::Duration;

/// The command for a whole folder of inputs in one process.
const WHOLE: &str = r#"judged sh -eu -c "$own$1" sh "$NOTES/in""#;
/// The largest number of inputs that are run one by one to find a failing one.
const FEW: usize = 4;
/// Time for finding the failing inputs of a process, beyond the time of all inputs: enough
/// for a dozen starts of a JVM.
const PURSUIT: Duration = Duration::from_secs(15);

/// A batch, split by its results.
#[derive(Debug, Default)]
pub(super) struct BatchSplit {
    /// Inputs that pass.
    pub(super) fine: Vec<usize>,
    /// Inputs of processes that failed; an input in neither list was not run.
    pub(super) suspects: Vec<usize>,
}

impl BatchSplit {
    /// Returns the time for the suspects, however little is left.
    pub(super) fn patience(&self) -> Duration {
        if self.suspects.is_empty() {
            Duration::ZERO
        } else {
            PURSUIT
        }
    }
}

/// The end of a process for many inputs.
enum BatchEnd {
    Well,
    Badly,
    Late,
}

impl BatchRun<'_> {
    /// Tells whether inputs may share a process.
    pub(super) fn goes_together(&self) -> bool {
        (self.of.pov.batch || self.inputs.many) && self.inputs.capture == Capture::Failures
    }

    /// Splits a batch into passing and suspected inputs with few processes.
    pub(super) async fn together(&self, batch: &[usize]) -> Result<BatchSplit> {
        let mut sorted = BatchSplit::default();
        let mut until = self.until;
        let mut open = vec![batch];
        while let Some(part) = open.pop() {
            if part.len() < batch.len() && WorkTime::now() > until {
                break;
            }
            match self.at_once(part).await? {
                BatchEnd::Well => sorted.fine.extend(part),
                BatchEnd::Badly if part.len() > FEW => {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                    if part.len() == batch.len() {
                        until = until.max(WorkTime::now() + PURSUIT);
                    }
                }
                BatchEnd::Badly | BatchEnd::Late => sorted.suspects.extend(part),
            }
        }
        Ok(sorted)
    }

    /// Runs a part of a batch in one process.
    async fn at_once(&self, part: &[usize]) -> Result<BatchEnd> {
        let folder = self.write(part)?;
        let left = self.until.left_on_the_wall();
        let limits = (wall(self.inputs.each, part.len(), left), None);
        let many = fuzzer::command_for_many(self.of.command()?);
        let many = many.filter(|_| self.inputs.many);
        let script = many.as_deref().unwrap_or(WHOLE);
        let execution = self.execute(script, folder.path(), limits).await?;
        let fine = match &many {
            // It was seen to continue after refused inputs.
            Some(_) => judge(&execution, None).0 == Outcome::Silent,
            None => execution.ending.success(),
        };
        Ok(match execution.ending {
            _ if fine => BatchEnd::Well,
            Ending::Limit(_) => BatchEnd::Late,
            Ending::Exited(_) | Ending::Signal(_) => BatchEnd::Badly,
        })
    }
}

/// Returns the time limit of a batch in one process. One input may take ten times the
/// usual, so all together take a tenth of that each. An input that hangs must leave time
/// to find it among the others, and a slow start is allowed for.
fn wall(each: Duration, inputs: usize, left: Duration) -> Duration {
    let inputs = u32::try_from(inputs).unwrap_or(u32::MAX);
    let fair = each + each.saturating_mul(inputs) / 10;
    fair.min(each.saturating_mul(2).max(left / 2))
}

#[cfg(test)]
mod tests {
    use super::wall;
    use crate::runner::{BuildKind, Inputs, Target};
    use crate::test_support::{open, task};
    use patchwright_sandbox::{Ending, Limit};
    use patchwright_source::Changes;
    use std::time::Duration;

    #[test]
    fn a_batch_takes_no_longer_than_its_inputs_and_leaves_time() {
        for (each, inputs, left, expected) in [
            (2_000, 64, 60_000, 14_800),
            (2_000, 64, 10_000, 5_000),
            (10_000, 64, 10_000, 20_000),
            (2_000, 1, 60_000, 2_200),
            (2_000, 64, 0, 4_000),
        ] {
            let [each, left, expected] = [each, left, expected].map(Duration::from_millis);
            assert_eq!(wall(each, inputs, left), expected);
        }
    }

    /// A program that takes many inputs and crashes at some.
    const CRASHES: &str = r#"cat >"$OUT"/many <<'END'
for file; do case $(cat "$file") in crash) echo "$ASAN_OPTIONS"; kill -SEGV $$;; esac; done
END"#;

    #[tokio::test]
    async fn those_that_crash_among_many_are_found_by_halves() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.commands.build = CRASHES.to_owned();
        task.commands.pov = Some(r#"sh "$OUT"/many "$POV""#.to_owned());
        let own = task.builds.get_mut("address").unwrap();
        own.insert("ASAN_OPTIONS".to_owned(), "detect_leaks=0".to_owned());
        let target = open(task, folder.path()).await;
        let unchanged = Changes::default();
        let build = target.build(&unchanged, "address", BuildKind::Clean);
        let build = build.await.unwrap();
        let text = |number| {
            if [5, 40].contains(&number) {
                "crash"
            } else {
                "fine"
            }
        };
        let inputs = Inputs {
            contents: (0..64).map(|number| text(number).into()).collect(),
            budget: Duration::from_secs(30),
            each: Duration::from_secs(5),
            many: true,
            ..Inputs::default()
        };
        let pov = &target.task().povs[0];
        let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
        let places: Vec<_> = runs.iter().map(|run| run.index).collect();
        assert_eq!(places, (0..64).collect::<Vec<_>>());
        let bad = runs.iter().filter(|run| !run.ending.success());
        let bad: Vec<_> = bad
            .map(|run| (run.index, run.ending, first_line(&run.output)))
            .collect();
        // Reports without names, whatever else the task wants of a sanitizer.
        let told = "detect_leaks=0:symbolize=0".to_owned();
        let crash = |index| (index, Ending::Signal(11), told.clone());
        assert_eq!(bad, [crash(5), crash(40)]);
    }

    fn first_line(output: &[u8]) -> String {
        let text = String::from_utf8_lossy(output);
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// A program that takes many inputs and hangs at one that says so.
    const MANY: &str = r#"cat >"$OUT"/many <<'END'
for file; do case $(cat "$file") in hang) sleep 1000;; esac; done
END"#;

    #[tokio::test]
    async fn one_that_hangs_among_many_is_found_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.commands.build = MANY.to_owned();
        task.commands.pov = Some(r#"sh "$OUT"/many "$POV""#.to_owned());
        let target = open(task, folder.path()).await;
        let unchanged = Changes::default();
        let build = target.build(&unchanged, "address", BuildKind::Clean);
        let build = build.await.unwrap();
        let text = |number| if number == 5 { "hang" } else { "fine" };
        let inputs = Inputs {
            contents: (0..20).map(|number| text(number).into()).collect(),
            budget: Duration::from_secs(30),
            each: Duration::from_secs(1),
            many: true,
            ..Inputs::default()
        };
        let pov = &target.task().povs[0];
        let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
        let bad: Vec<_> = runs.iter().filter(|run| !run.ending.success()).collect();
        assert_eq!(runs.len(), 20);
        assert_eq!(bad.len(), 1);
        let ending = (bad[0].index, bad[0].ending);
        assert_eq!(ending, (5, Ending::Limit(Limit::WallTime)));
    }
}
