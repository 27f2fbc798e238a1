//! Runs many inputs in few sandboxes.
//!
//! Starting a sandbox and a shell for each input would cost more than the
//! input itself. One shell inside one sandbox runs a whole batch, and says
//! after each input how it ended; only the outputs of those that did not end
//! well (or all, when asked for) are brought out.

use super::local::LocalTarget;
use super::{Build, Pov};
use crate::beneath::Beneath;
use crate::target::local::Job;
use crate::{Ending, Execution, Limit, TargetError};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The loop over one batch. `$1` is the command of the PoV, `$2` says whether
/// outputs of good ends are kept too. What the target prints goes to a file,
/// so that it cannot speak in the loop's name.
const LOOP: &str = r#"set +e
for input in "$WORK"/in/*; do
  name=${input##*/}
  (set -eu; POV=$input; export POV; eval "$1") >"$WORK/output" 2>&1 </dev/null
  status=$?
  if [ "$status" -ne 0 ] || [ "$2" = all ]; then mv "$WORK/output" "$WORK/out/$name"; fi
  echo "$name $status"
done
"#;

/// One process for a whole folder of inputs.
const WHOLE: &str = r#"POV="$WORK/in"; export POV; eval "$1""#;

/// Inputs that go into one sandbox.
const BATCH: usize = 64;
/// Bytes of one output that are read back.
const OUTPUT_LIMIT: u64 = 256 << 10;

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The inputs' bytes.
    pub contents: Vec<Vec<u8>>,
    /// Time for all of them; what does not fit is not run.
    pub budget: Duration,
    /// Time for one of them.
    pub each: Duration,
    /// Whether the outputs of good ends are wanted too.
    pub all_outputs: bool,
}

/// How one input ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRun {
    /// Its place among the inputs.
    pub index: usize,
    /// How the command ended.
    pub ending: Ending,
    /// What it printed; empty for good ends unless all outputs were asked for.
    pub output: Vec<u8>,
}

/// Runs the inputs on as many processors as the task may use; those that were run, in order.
pub(super) async fn run(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    inputs: &Inputs,
) -> Result<Vec<InputRun>, TargetError> {
    let call = Call {
        target,
        build,
        pov,
        inputs,
        until: Instant::now() + inputs.budget,
    };
    let next = AtomicUsize::new(0);
    let lanes = (target.jobs() as usize).clamp(1, 8);
    let results = futures::future::join_all((0..lanes).map(|_| call.lane(&next))).await;
    let mut runs = Vec::new();
    for result in results {
        runs.extend(result?);
    }
    runs.sort_by_key(|run: &InputRun| run.index);
    Ok(runs)
}

struct Call<'a> {
    target: &'a LocalTarget,
    build: &'a Build,
    pov: &'a Pov,
    inputs: &'a Inputs,
    until: Instant,
}

impl Call<'_> {
    async fn lane(&self, next: &AtomicUsize) -> Result<Vec<InputRun>, TargetError> {
        let mut runs = Vec::new();
        while Instant::now() < self.until {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let mut left: Vec<usize> =
                (start..(start + BATCH).min(self.inputs.contents.len())).collect();
            if left.is_empty() {
                break;
            }
            if self.pov.batch && !self.inputs.all_outputs && self.all_are_fine(&left).await? {
                runs.extend(left.iter().map(|index| fine(*index)));
                continue;
            }
            while !left.is_empty() && Instant::now() < self.until {
                let done = self.one_by_one(&left).await?;
                if done.is_empty() {
                    break;
                }
                left.retain(|index| !done.iter().any(|run| run.index == *index));
                runs.extend(done);
            }
        }
        Ok(runs)
    }

    /// Runs a batch in one process; true when that ended well.
    async fn all_are_fine(&self, batch: &[usize]) -> Result<bool, TargetError> {
        let folder = self.write(batch)?;
        let wall = self.inputs.each * u32::try_from(batch.len()).unwrap_or(u32::MAX);
        let execution = self.execute(WHOLE, folder.path(), (wall, None)).await?;
        Ok(execution.ending.success())
    }

    /// Runs a batch input by input; stops early at one that does not end.
    async fn one_by_one(&self, batch: &[usize]) -> Result<Vec<InputRun>, TargetError> {
        let folder = self.write(batch)?;
        let left = self.until.saturating_duration_since(Instant::now());
        let execution = self
            .execute(LOOP, folder.path(), (left, Some(self.inputs.each)))
            .await?;
        let outputs = Beneath::open(folder.path())
            .map_err(|e| TargetError::io("a batch cannot be read", folder.path(), e))?;
        let mut runs = Vec::new();
        for line in execution.text().lines() {
            let Some((name, status)) = line.split_once(' ') else {
                continue;
            };
            let number = name.split('.').next().unwrap_or_default();
            let (Ok(index), Ok(status)) = (number.parse::<usize>(), status.parse()) else {
                continue;
            };
            let output = outputs.read(&format!("out/{name}"), OUTPUT_LIMIT);
            runs.push(InputRun {
                index,
                ending: Ending::from_shell(status),
                output: output.unwrap_or_default(),
            });
        }
        runs.extend(Self::unfinished(batch, runs.len(), &execution, left));
        Ok(runs)
    }

    /// The input at which a batch stopped, when it is to blame.
    fn unfinished(
        batch: &[usize],
        done: usize,
        execution: &Execution,
        left: Duration,
    ) -> Option<InputRun> {
        let Ending::Limit(limit) = execution.ending else {
            return None;
        };
        let out_of_budget = limit == Limit::WallTime && execution.seconds >= left.as_secs_f64();
        if out_of_budget {
            return None;
        }
        batch.get(done).map(|index| InputRun {
            index: *index,
            ending: execution.ending,
            output: Vec::new(),
        })
    }

    fn write(&self, batch: &[usize]) -> Result<tempfile::TempDir, TargetError> {
        let folder = self.target.batch_folder()?;
        let fail = |e| TargetError::io("a batch could not be written", folder.path(), e);
        for part in ["in", "out"] {
            fs::create_dir(folder.path().join(part)).map_err(fail)?;
        }
        // Some programs tell the format from the name.
        let ending = match self.pov.file.extension().and_then(|e| e.to_str()) {
            Some(extension) if extension.chars().all(|c| c.is_ascii_alphanumeric()) => {
                format!(".{extension}")
            }
            _ => String::new(),
        };
        for index in batch {
            let bytes = self.inputs.contents.get(*index).map_or(&[][..], |b| b);
            let name = format!("in/{index:08}{ending}");
            fs::write(folder.path().join(name), bytes).map_err(fail)?;
        }
        Ok(folder)
    }

    async fn execute(
        &self,
        script: &str,
        work: &Path,
        (wall, idle): (Duration, Option<Duration>),
    ) -> Result<Execution, TargetError> {
        let keep = if self.inputs.all_outputs {
            "all"
        } else {
            "bad"
        };
        let command = self.target.pov_command(self.pov)?;
        let arguments: [OsString; 2] = [command.into(), keep.into()];
        let job = Job {
            wall,
            idle,
            arguments: &arguments,
            work: Some(work),
            harness: self.pov.harness.as_deref(),
            ..Job::new(script, &self.build.workspace, &self.build.name)
        };
        self.target.command(job).await
    }
}

fn fine(index: usize) -> InputRun {
    InputRun {
        index,
        ending: Ending::Exited(0),
        output: Vec::new(),
    }
}
