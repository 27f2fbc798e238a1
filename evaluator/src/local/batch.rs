//! Batches: many inputs in few sandboxes.
//!
//! Starting a sandbox and a shell for each input would cost more than the input itself. One
//! shell inside one sandbox runs a whole batch and prints the status of each input; only
//! the outputs of failed inputs (or all, on request) are read back.

use super::values::{
    AGENT, VALUES, VALUES_FOLDER, VALUES_PROGRAM, make_values_folder, plain, with_options,
};
use super::{Job, LocalTarget, coverage, fuzzer};
use crate::contained_path::ContainedFolder;
use crate::runner::{Build, Capture, InputRun, Inputs, MemoryPattern, Outcome, Pov, judge};
use crate::{Ending, Execution, Limit, TargetError};
use patchwright_source::Language;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The loop over one batch. `$1` is the command of the PoV; with `all` as `$2` the outputs
/// of successful inputs are kept too. The output of the target goes to a file, so that it
/// cannot forge a line of the loop.
const LOOP: &str = r#"set +e
for input in "$WORK"/in/*; do
  name=${input##*/}
  (set -eu; POV=$input; export POV; eval "$1") >"$WORK/output" 2>&1 </dev/null
  status=$?
  if [ "$status" -ne 0 ] || [ "$2" = all ]; then mv "$WORK/output" "$WORK/out/$name"; fi
  echo "$name $status"
done
"#;

/// Switches symbols in sanitizer reports off: resolving them takes most of the time of a
/// failed run, and failed inputs are run again alone.
const UNNAMED: &str = r#"for tool in ASAN LSAN MSAN TSAN UBSAN; do
  eval "export ${tool}_OPTIONS=\"\${${tool}_OPTIONS:+\$${tool}_OPTIONS:}symbolize=0\""
done
"#;

/// Lets programs go on after an error, and keeps reports out of their outputs. Nothing goes
/// on after a fatal signal: without the sanitizer's handlers it ends the program as such, and
/// not with an exit status that looks like an answer.
const RECOVERING: &str = r#"signals=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0
for tool in ASAN UBSAN; do
  eval "export ${tool}_OPTIONS=\"\${${tool}_OPTIONS:+\$${tool}_OPTIONS:}halt_on_error=0:detect_leaks=0:log_path=$WORK/report:$signals\""
done
"#;

/// Inputs of one sandbox.
const BATCH: usize = 64;
/// Inputs of one debugger, which needs half a second for each.
const VALUES_BATCH: usize = 3;
/// Bytes of one output that are read back.
const OUTPUT_LIMIT: u64 = 4 << 20;
/// The output of an input that printed more than the limit.
const TOO_LONG: &[u8] = b"(more output than is compared)";
/// The command for a whole folder of inputs in one process.
const WHOLE: &str = r#"POV="$WORK/in"; export POV; eval "$1""#;
/// The largest number of inputs that are run one by one to find a failing one.
const FEW: usize = 4;
/// Time for finding the failing inputs of a process, beyond the time of all inputs: enough
/// for a dozen starts of a JVM.
const PURSUIT: Duration = Duration::from_secs(15);

/// Runs the inputs on as many processors as the task may use; returns those that were run,
/// in order.
pub(super) async fn run(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    inputs: &Inputs,
) -> Result<Vec<InputRun>, TargetError> {
    let batches = BatchRun {
        target,
        build,
        pov,
        inputs,
        until: Instant::now() + inputs.budget,
    };
    let next = AtomicUsize::new(0);
    let lanes = (target.task.limits.jobs as usize).clamp(1, 8);
    let results = futures::future::join_all((0..lanes).map(|_| batches.lane(&next))).await;
    let mut runs = Vec::new();
    for result in results {
        runs.extend(result?);
    }
    runs.sort_by_key(|run: &InputRun| run.index);
    Ok(runs)
}

pub(super) struct BatchRun<'a> {
    pub(super) target: &'a LocalTarget,
    pub(super) build: &'a Build,
    pub(super) pov: &'a Pov,
    pub(super) inputs: &'a Inputs,
    pub(super) until: Instant,
}

impl BatchRun<'_> {
    async fn lane(&self, next: &AtomicUsize) -> Result<Vec<InputRun>, TargetError> {
        let mut runs = Vec::new();
        while Instant::now() < self.until {
            let size = match self.inputs.capture {
                Capture::Values(_) => VALUES_BATCH,
                Capture::Failures | Capture::Outputs | Capture::Coverage(_) => BATCH,
            };
            let start = next.fetch_add(size, Ordering::Relaxed);
            let mut left: Vec<usize> = self.wanted_indexes().skip(start).take(size).collect();
            if left.is_empty() {
                break;
            }
            if let Capture::Values(_) = self.inputs.capture {
                runs.extend(self.values(&left).await?);
                continue;
            }
            let mut until = self.until;
            if self.goes_together() {
                let sorted = self.together(&left).await?;
                runs.extend(sorted.fine.iter().map(|index| passed(*index)));
                // A part with a known failure is run, whatever time is left.
                until = until.max(Instant::now() + sorted.patience());
                left = sorted.suspects;
            }
            while !left.is_empty() && Instant::now() < until {
                let mut done = self.driven(&left).await?;
                if done.is_empty() {
                    done = self.one_by_one(&left, until).await?;
                }
                if done.is_empty() {
                    break;
                }
                left.retain(|index| !done.iter().any(|run| run.index == *index));
                runs.extend(done);
            }
        }
        Ok(runs)
    }

    fn wanted_indexes(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        if self.inputs.only.is_empty() {
            Box::new(0..self.inputs.contents.len())
        } else {
            Box::new(self.inputs.only.iter().copied())
        }
    }

    /// Runs a batch input by input; stops at an input that does not end.
    pub(super) async fn one_by_one(
        &self,
        batch: &[usize],
        until: Instant,
    ) -> Result<Vec<InputRun>, TargetError> {
        let folder = self.write(batch)?;
        let left = until.saturating_duration_since(Instant::now());
        let script = match self.inputs.capture {
            Capture::Coverage(_) => coverage::counting_loop(),
            _ => LOOP.to_owned(),
        };
        let execution = self
            .execute(&script, folder.path(), (left, Some(self.inputs.each)))
            .await?;
        let outputs = ContainedFolder::open(folder.path())
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
            let output = match outputs.read(&format!("out/{name}"), OUTPUT_LIMIT) {
                Ok(output) => output,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
                Err(_) => TOO_LONG.to_vec(),
            };
            runs.push(InputRun {
                index,
                ending: Ending::from_shell(status),
                output,
            });
        }
        runs.extend(Self::unfinished(batch, runs.len(), &execution, left));
        Ok(runs)
    }

    /// Returns the input at which a batch stopped, where it hit a limit of its own.
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

    pub(super) fn write(&self, batch: &[usize]) -> Result<tempfile::TempDir, TargetError> {
        let folder = self.target.batch_folder()?;
        let fail = |e| TargetError::io("a batch could not be written", folder.path(), e);
        for part in ["in", "out"] {
            fs::create_dir(folder.path().join(part)).map_err(fail)?;
        }
        let ending = self.name_ending();
        for index in batch {
            let bytes = self.inputs.contents.get(*index).map_or(&[][..], |b| b);
            let name = format!("in/{index:08}{ending}");
            fs::write(folder.path().join(name), bytes).map_err(fail)?;
        }
        Ok(folder)
    }

    /// Returns the file extension of the PoV, by which some programs choose a format.
    fn name_ending(&self) -> String {
        match self.pov.file.extension().and_then(|e| e.to_str()) {
            Some(extension) if extension.chars().all(|c| c.is_ascii_alphanumeric()) => {
                format!(".{extension}")
            }
            _ => String::new(),
        }
    }

    pub(super) async fn execute(
        &self,
        script: &str,
        work: &Path,
        (wall, idle): (Duration, Option<Duration>),
    ) -> Result<Execution, TargetError> {
        let command = self.target.pov_command(self.pov)?;
        let mut script = script.to_owned();
        if let Some(memory) = self.inputs.memory {
            script.insert_str(0, &filled(memory));
        }
        if self.inputs.recovers {
            script.insert_str(0, RECOVERING);
        }
        let mut environment = Vec::new();
        let keep = match &self.inputs.capture {
            Capture::Failures => {
                script.insert_str(0, UNNAMED);
                "bad"
            }
            Capture::Outputs => "all",
            Capture::Coverage(counted) => {
                environment = coverage::variables(counted);
                "all"
            }
            Capture::Values(functions) => {
                environment.push(("WATCHED", functions.join("\n")));
                // The debugger is much faster without a shell between.
                if let Some((program, arguments)) = plain(command) {
                    environment.push(("PROGRAM", program.to_owned()));
                    environment.push(("ARGUMENTS", arguments.to_owned()));
                }
                "all"
            }
        };
        let arguments: [OsString; 3] = [command.into(), keep.into(), VALUES_PROGRAM.into()];
        let job = Job {
            wall,
            idle,
            arguments: &arguments,
            environment: &environment,
            work: Some(work),
            harness: self.pov.harness.as_deref(),
            ..Job::new(&script, self.build.place()?, &self.build.name)
        };
        self.target.command(job).await
    }
}

/// A batch, split by its results.
#[derive(Debug, Default)]
struct BatchSplit {
    fine: Vec<usize>,
    /// Inputs of processes that failed; an input in neither list was not run.
    suspects: Vec<usize>,
}

impl BatchSplit {
    /// Returns the time for the suspects, however little is left.
    fn patience(&self) -> Duration {
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
    /// Runs a batch under the debugger, or with the agent.
    async fn values(&self, batch: &[usize]) -> Result<Vec<InputRun>, TargetError> {
        let folder = self.write(batch)?;
        let left = self.until.saturating_duration_since(Instant::now());
        let place = if self.target.task.language == Language::Java {
            let Some(agent) = self.target.compiled_agent(self.build.place()?).await? else {
                return Ok(Vec::new());
            };
            AGENT.put(&agent, folder.path())?;
            make_values_folder(folder.path())?;
            let script = with_options(&AGENT, LOOP);
            self.execute(&script, folder.path(), (left, Some(self.inputs.each)))
                .await?;
            VALUES_FOLDER
        } else {
            self.execute(VALUES, folder.path(), (left, None)).await?;
            "out"
        };
        let outputs = ContainedFolder::open(folder.path())
            .map_err(|e| TargetError::io("a batch cannot be read", folder.path(), e))?;
        let name = |index: &usize| format!("{place}/{index:08}{}", self.name_ending());
        Ok(batch
            .iter()
            .filter_map(|index| {
                Some(InputRun {
                    index: *index,
                    ending: Ending::Exited(0),
                    output: outputs.read(&name(index), OUTPUT_LIMIT).ok()?,
                })
            })
            .collect())
    }

    /// Tells whether inputs may share a process.
    fn goes_together(&self) -> bool {
        (self.pov.batch || self.inputs.many) && self.inputs.capture == Capture::Failures
    }

    /// Splits a batch into passing and suspected inputs with few processes.
    async fn together(&self, batch: &[usize]) -> Result<BatchSplit, TargetError> {
        let mut sorted = BatchSplit::default();
        let mut until = self.until;
        let mut open = vec![batch];
        while let Some(part) = open.pop() {
            if part.len() < batch.len() && Instant::now() > until {
                break;
            }
            match self.at_once(part).await? {
                BatchEnd::Well => sorted.fine.extend(part),
                BatchEnd::Badly if part.len() > FEW => {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                    if part.len() == batch.len() {
                        until = until.max(Instant::now() + PURSUIT);
                    }
                }
                BatchEnd::Badly | BatchEnd::Late => sorted.suspects.extend(part),
            }
        }
        Ok(sorted)
    }

    /// Runs a part of a batch in one process.
    async fn at_once(&self, part: &[usize]) -> Result<BatchEnd, TargetError> {
        let folder = self.write(part)?;
        let left = self.until.saturating_duration_since(Instant::now());
        let limits = (wall(self.inputs.each, part.len(), left), None);
        let many = self
            .target
            .pov_command(self.pov)
            .map(fuzzer::command_for_many)?;
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

/// Makes the allocator fill memory with a pattern: the sanitizer's by its options, the C
/// library's by its own.
fn filled(memory: MemoryPattern) -> String {
    let MemoryPattern { fill, redzone } = memory;
    format!(
        "MALLOC_PERTURB_={fill}\nASAN_OPTIONS=\"${{ASAN_OPTIONS:+$ASAN_OPTIONS:}}malloc_fill_byte={fill}:max_malloc_fill_size=1073741824:free_fill_byte={fill}:max_free_fill_size=1073741824:redzone={redzone}:max_redzone=2048\"\nexport MALLOC_PERTURB_ ASAN_OPTIONS\n"
    )
}

fn passed(index: usize) -> InputRun {
    InputRun {
        index,
        ending: Ending::Exited(0),
        output: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fuzzer;
    use super::{Inputs, plain, wall};
    use crate::local::tests::{open, task};
    use crate::runner::{BuildKind, Target};
    use crate::{Changes, Ending, Limit};
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

    /// A program that takes many inputs, says when it starts, and crashes at some.
    const STARTS: &str = r#"cat >"$OUT"/many <<'END'
echo start >>"$OUT"/starts
for file; do case $(cat "$file") in crash) echo "$ASAN_OPTIONS"; kill -SEGV $$;; esac; done
END"#;

    #[tokio::test]
    async fn those_that_crash_among_many_are_found_by_halves() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.commands.build = STARTS.to_owned();
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
        let starts = build.place().unwrap().part("out").join("starts");
        // One for all, two for each half that holds a crash, then eight by themselves.
        let starts = std::fs::read_to_string(starts).unwrap().lines().count();
        assert_eq!(starts, 23);
    }

    fn first_line(output: &[u8]) -> String {
        let text = String::from_utf8_lossy(output);
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// A program that hands only its first argument on, to what fuzzes until it is told to stop.
    const FIRST_ONLY: &str = r#"cat >"$OUT"/first <<'END'
echo "$1" >>"$OUT"/asked
case $1 in -runs=0) echo "INFO: Seed: 1";; -*) sleep 1000;; esac
END"#;

    #[tokio::test]
    async fn a_fuzzer_that_is_not_told_its_time_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.commands.build = FIRST_ONLY.to_owned();
        task.commands.pov = Some(r#"sh "$OUT"/first "$POV""#.to_owned());
        let target = open(task, folder.path()).await;
        let unchanged = Changes::default();
        let build = target.build(&unchanged, "address", BuildKind::Clean);
        let build = build.await.unwrap();
        let pov = &target.task().povs[0];
        let time = Duration::from_secs(1);
        let fuzzed = fuzzer::fuzz(&target, &build, pov, (&[], time)).await;
        assert_eq!(fuzzed.unwrap(), None);
        let asked = build.place().unwrap().part("out").join("asked");
        assert_eq!(std::fs::read_to_string(asked).unwrap(), "-runs=0\n");
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

    #[test]
    fn takes_plain_command_lines_apart() {
        for (command, expected) in [
            ("\"$OUT\"/harness \"$POV\"", Some(("harness", "\"$POV\""))),
            ("$OUT/bin/x -a $POV", Some(("bin/x", "-a $POV"))),
            ("\"$OUT/x\" y", Some(("x", "y"))),
            ("\"$OUT\"/x <\"$POV\"", None),
            ("cd x && \"$OUT\"/x", None),
            ("java -jar x", None),
            ("\"$OUT\"/$HARNESS", None),
        ] {
            assert_eq!(plain(command), expected, "{command}");
        }
    }
}
