//! Batches: many inputs in few sandboxes.
//!
//! Starting a sandbox for each input would cost more than the input itself. One process inside
//! one sandbox runs a whole batch and prints the status of each input; only the outputs of
//! failed inputs (or all, on request) are read back.

use super::jvm_agent::{COVERAGE_FOLDER, VALUES_FOLDER, with_agent};
use super::scratch::CommandFolder;
use super::stage::PovRun;
use super::{Job, coverage, fuzzer};
use crate::Result;
use crate::runner::{ALLOW_LEAKS, Capture, InputRun, Inputs, MemoryPattern, program_and_arguments};
use crate::work_time::WorkTime;
use patchwright_sandbox::{Ending, Execution, Limit};
use patchwright_source::Language;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Runs one batch. `$1` is the command of the PoV; with `all` as `$2` the outputs of successful
/// inputs are kept too. The output of the target goes to a file, and it reaches neither what
/// starts it nor the other files, so that it can forge none of them.
const EACH: &str = "judged_each \"$2\" ";
/// The program of [`EACH`] for a command that needs a shell.
const BY_SHELL: &str = r#"sh -eu -c "$own$1" sh"#;
/// Runs one batch of a Java program whose agent writes what is asked for.
const EACH_WITH_AGENT: &str = include_str!("programs/each_with_agent.sh");

/// Switches symbols in sanitizer reports off: resolving them takes most of the time of a
/// failed run, and failed inputs whose report is read are run again alone.
const UNNAMED: &str = include_str!("programs/unnamed.sh");

/// Runs gdb over a batch; `$3` is the program for it, which reads the values that functions return
/// and that the harness receives.
const VALUES: &str = include_str!("programs/values.sh");
/// The commands for gdb with a batch.
const VALUES_PROGRAM: &str = include_str!("programs/values.py");
/// Inputs of one sandbox.
const BATCH: usize = 64;
/// Inputs of one debugger, which needs half a second for each.
const VALUES_BATCH: usize = 3;
/// Bytes of one output that are read back.
pub(super) const OUTPUT_LIMIT: u64 = 4 << 20;
/// The output of an input that printed more than the limit.
const TOO_LONG: &[u8] = b"(more output than is compared)";

/// Runs the inputs on as many processors as the task may use; returns those that were run,
/// in order.
pub(super) async fn run(of: PovRun<'_>, inputs: &Inputs) -> Result<Vec<InputRun>> {
    let batches = BatchRun {
        of,
        inputs,
        until: WorkTime::now() + inputs.budget,
    };
    let next = AtomicUsize::new(0);
    let lanes = (0..batches.lanes()).map(|_| batches.lane(&next));
    let results = futures::future::join_all(lanes).await.into_iter();
    let runs: Vec<Vec<InputRun>> = results.collect::<Result<_>>()?;
    let mut runs: Vec<InputRun> = runs.into_iter().flatten().collect();
    runs.sort_by_key(|run| run.index);
    Ok(runs)
}

pub(super) struct BatchRun<'a> {
    pub(super) of: PovRun<'a>,
    pub(super) inputs: &'a Inputs,
    pub(super) until: WorkTime,
}

impl BatchRun<'_> {
    async fn lane(&self, next: &AtomicUsize) -> Result<Vec<InputRun>> {
        let mut runs = Vec::new();
        // The last batch is not to keep one lane busy while the others wait.
        let fair = self.wanted_indexes().count().div_ceil(self.lanes()).max(1);
        while WorkTime::now() < self.until {
            let java = self.of.target.task.language == Language::Java;
            let size = match self.inputs.capture {
                // One JVM runs a batch.
                _ if java => BATCH,
                Capture::Values(_) => VALUES_BATCH,
                _ => BATCH.min(fair),
            };
            let start = next.fetch_add(size, Ordering::Relaxed);
            let mut left: Vec<usize> = self.wanted_indexes().skip(start).take(size).collect();
            if left.is_empty() {
                break;
            }
            if matches!(self.inputs.capture, Capture::Values(_)) && !java {
                runs.extend(self.debugged(&left).await?);
                continue;
            }
            let mut until = self.until;
            if self.goes_together() {
                let sorted = self.together(&left).await?;
                runs.extend(sorted.fine.iter().map(|index| passed(*index)));
                // A part with a known failure is run, whatever time is left.
                until = until.max(WorkTime::now() + sorted.patience());
                left = sorted.suspects;
            }
            runs.extend(self.rest(left, until).await?);
        }
        Ok(runs)
    }

    /// Runs the inputs that are left of a batch, in the way in which what is captured can be had.
    async fn rest(&self, mut left: Vec<usize>, until: WorkTime) -> Result<Vec<InputRun>> {
        let mut runs = Vec::new();
        let java = self.of.target.task.language == Language::Java;
        let is_watched = java
            && matches!(
                self.inputs.capture,
                Capture::Values(_) | Capture::Coverage(_)
            );
        while !left.is_empty() && WorkTime::now() < until {
            let mut done = self.driven(&left).await?;
            if done.is_empty() && is_watched {
                done = self.watched(&left).await?;
            } else if done.is_empty() {
                done = self.one_by_one(&left, until).await?;
            }
            if done.is_empty() {
                break;
            }
            left.retain(|index| !done.iter().any(|run| run.index == *index));
            runs.extend(done);
        }
        Ok(runs)
    }

    fn lanes(&self) -> usize {
        (self.of.target.task.limits.jobs as usize).clamp(1, 8)
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
        until: WorkTime,
    ) -> Result<Vec<InputRun>> {
        let folder = self.write(batch)?;
        let left = until.left_on_the_wall();
        let script = match self.inputs.capture {
            Capture::Coverage(_) => coverage::counting_loop(),
            _ => EACH.to_owned() + self.of.program()?.unwrap_or(BY_SHELL),
        };
        let execution = self
            .execute(&script, folder.path(), (left, Some(self.inputs.each)))
            .await?;
        let outputs = folder.left()?;
        let told = |output: &[u8]| self.of.target.told(folder.path(), output);
        let has_driver = self.has_driver();
        let mut runs = Vec::new();
        for line in execution.text().lines() {
            let Some((name, status)) = line.split_once(' ') else {
                continue;
            };
            let number = name.split('.').next().unwrap_or_default();
            let (Ok(index), Ok(status)) = (number.parse::<usize>(), status.parse()) else {
                continue;
            };
            let output = match outputs.read(format!("out/{name}"), OUTPUT_LIMIT) {
                Ok(output) if has_driver => fuzzer::without_driver(&told(&output)),
                Ok(output) => told(&output),
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
        let index = batch.get(done).filter(|_| !out_of_budget)?;
        Some(InputRun {
            ending: execution.ending,
            ..passed(*index)
        })
    }

    pub(super) fn write(&self, batch: &[usize]) -> Result<CommandFolder> {
        let folder = self.of.target.batch_folder()?;
        for part in ["in", "out"] {
            folder.make(part)?;
        }
        let ending = self.name_ending();
        for index in batch {
            let bytes = self.inputs.contents.get(*index).map_or(&[][..], |b| b);
            folder.put(&format!("in/{index:08}{ending}"), bytes)?;
        }
        Ok(folder)
    }

    /// Returns the file extension of the PoV, by which some programs choose a format.
    fn name_ending(&self) -> String {
        match self.of.pov.file.extension().and_then(|e| e.to_str()) {
            Some(extension) if extension.chars().all(|c| c.is_ascii_alphanumeric()) => {
                format!(".{extension}")
            }
            _ => String::new(),
        }
    }

    pub(super) async fn execute(
        &self,
        script: &str,
        notes: &Path,
        (wall, idle): (Duration, Option<Duration>),
    ) -> Result<Execution> {
        let command = self.of.command()?;
        let stage = self.of.stage().await?;
        let mut script = script.to_owned();
        if let Some(memory) = self.inputs.memory {
            script.insert_str(0, &filled(memory));
        }
        if self.inputs.leaks_allowed {
            script = format!("{ALLOW_LEAKS}\n{script}");
        }
        let mut environment = Vec::new();
        if matches!(self.inputs.capture, Capture::Failures | Capture::Unnamed) {
            script.insert_str(0, UNNAMED);
        }
        let keep = match &self.inputs.capture {
            Capture::Failures => "bad",
            Capture::Outputs | Capture::Unnamed => "all",
            Capture::Coverage(counted) => {
                environment = coverage::variables(counted);
                "all"
            }
            Capture::Values(functions) => {
                environment.push(("WATCHED", functions.join("\n")));
                // The debugger is much faster without a shell between.
                if let Some((program, arguments)) = program_and_arguments(command) {
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
            notes: Some(notes),
            ..stage.job(&script)
        };
        self.of.target.command(job).await
    }

    /// Runs a batch under the debugger.
    async fn debugged(&self, batch: &[usize]) -> Result<Vec<InputRun>> {
        let folder = self.write(batch)?;
        let left = self.until.left_on_the_wall();
        self.execute(VALUES, folder.path(), (left, None)).await?;
        self.read_back(batch, &folder, "out")
    }

    /// Runs a batch of a Java program with the agent, a JVM for each input.
    async fn watched(&self, batch: &[usize]) -> Result<Vec<InputRun>> {
        let folder = self.write(batch)?;
        let workspace = self.of.build.place()?;
        if !self.of.target.put_agent(workspace, &folder).await? {
            return Ok(Vec::new());
        }
        let left = self.until.left_on_the_wall();
        let limits = (left, Some(self.inputs.each));
        self.execute(&with_agent(EACH_WITH_AGENT), folder.path(), limits)
            .await?;
        self.read_back(batch, &folder, self.folder_of_answers())
    }

    /// Returns the folder for what is captured of each input.
    pub(super) fn folder_of_answers(&self) -> &'static str {
        match self.inputs.capture {
            Capture::Values(_) => VALUES_FOLDER,
            Capture::Coverage(_) => COVERAGE_FOLDER,
            Capture::Failures | Capture::Outputs | Capture::Unnamed => "out",
        }
    }

    /// Tells whether the unpatched program has libFuzzer's driver: no patch hides what it prints
    /// by the words of one. Jazzer's is told apart by `one_jvm`.
    fn has_driver(&self) -> bool {
        let baseline = self.of.target.baseline.get();
        let povs = baseline.iter().flat_map(|baseline| &baseline.povs);
        let mut printed = povs.map(|pov| pov.replay.execution.text());
        self.of.target.task.language != Language::Java
            && printed.any(|text| text.contains("INFO: Seed: "))
    }

    /// Reads what was written about each input; one without an answer was not run.
    fn read_back(
        &self,
        batch: &[usize],
        folder: &CommandFolder,
        answers: &str,
    ) -> Result<Vec<InputRun>> {
        let outputs = folder.left()?;
        let name = |index: &usize| format!("{answers}/{index:08}{}", self.name_ending());
        let runs = batch.iter().filter_map(|index| {
            let output = outputs.read(name(index), OUTPUT_LIMIT).ok()?;
            Some(InputRun {
                output: self.of.target.told(folder.path(), &output),
                ..passed(*index)
            })
        });
        Ok(runs.collect())
    }
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
    use crate::runner::{BuildKind, Capture, Inputs, Target};
    use crate::test_support::{attacking, open, task};
    use patchwright_source::Changes;
    use std::time::Duration;

    /// Returns what two batches print of one input where other words stand before the command.
    async fn printed(before: &str) -> [String; 2] {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let pov = task.commands.pov.take().unwrap();
        task.commands.pov = Some(format!("{before}; {pov}"));
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let inputs = Inputs {
            contents: vec![vec![3, 0]],
            budget: Duration::from_mins(1),
            each: Duration::from_secs(20),
            capture: Capture::Outputs,
            ..Inputs::default()
        };
        let build = baseline.builds.values().next().unwrap();
        let text = async || {
            let runs = target.run_inputs(build, &target.task().povs[0], &inputs);
            let output = runs.await.unwrap().remove(0).output;
            String::from_utf8_lossy(&output).into_owned()
        };
        [text().await, text().await]
    }

    #[tokio::test]
    async fn a_path_that_is_printed_is_the_same_in_every_batch() {
        for text in printed(r#"echo >"$WORK/x" && echo "$WORK/x""#).await {
            assert!(text.starts_with("/patchwright/work/x\n"), "{text}");
        }
    }

    #[tokio::test]
    async fn lines_of_a_driver_are_no_output_of_a_program_that_has_one() {
        let [first, second] = printed("echo INFO: Seed: $$ $(date +%N); echo INFO: said").await;
        assert_eq!(first, second);
        assert!(!first.contains("INFO"), "{first}");
        for text in printed("echo INFO: said").await {
            assert!(text.starts_with("INFO: said\n"), "{text}");
        }
    }

    /// A program that hands only its first argument on, to what fuzzes when it is told how long.
    const FIRST_ONLY: &str = r#"cat >"$OUT"/first <<'END'
case $1 in -runs=0) echo "INFO: Seed: 1";; -*) echo "stat::number_of_executed_units: 5";; esac
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
        let fuzzed = fuzzer::fuzz(target.on(&build, pov), &[], time).await;
        assert_eq!(fuzzed.unwrap(), None);
    }

    /// Tries to write down what comes of the next input, to change it, and to end the loop. It
    /// finds its folder by its own arguments.
    const FORGES: &str = r#"if (b[0] == 77) {
    char line[4096] = "", at[4200];
    int f = open("/proc/self/cmdline", O_RDONLY);
    int k = read(f, line, 4095);
    char *last = line;
    for (char *p = line; p < line + k; p += strlen(p) + 1) last = p;
    char *end = strstr(last, "/in/");
    if (end) *end = 0;
    const char *files[] = {"out/00000001.bin", "in/00000001.bin", "output"};
    for (int i = 0; i < 3; i++) {
      snprintf(at, 4200, "%s/%s", last, files[i]);
      unlink(at);
      f = open(at, O_WRONLY | O_CREAT | O_TRUNC, 0666);
      if (f >= 0) write(f, "\3", 1);
    }
    for (int parent = getppid(); parent > 0; parent = parent == 1 ? 0 : 1) {
      snprintf(at, 4200, "/proc/%d/fd/1", parent);
      f = open(at, O_WRONLY);
      if (f >= 0) dprintf(f, "00000001.bin 0\n");
      if (parent > 1) kill(parent, 9);
    }
    for (int other = 1; other < getpid(); other++) {
      snprintf(at, 4200, "/proc/%d/mem", other);
      if (open(at, O_RDWR) >= 0) abort();
    }
    return 0;
  }
  if (n < 2)"#;

    #[tokio::test]
    async fn a_program_forges_no_result_of_another_input() {
        let folder = tempfile::tempdir().unwrap();
        let (target, build) = attacking(folder.path(), FORGES).await;
        let inputs = Inputs {
            contents: vec![vec![77, 0], vec![200, 0], vec![3, 0]],
            budget: Duration::from_mins(1),
            each: Duration::from_secs(10),
            ..Inputs::default()
        };
        let pov = &target.task().povs[0];
        let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
        let failed: Vec<(usize, bool)> = runs
            .iter()
            .map(|run| (run.index, run.is_failure()))
            .collect();
        assert_eq!(failed, [(0, false), (1, true), (2, false)], "{runs:#?}");
    }
}
