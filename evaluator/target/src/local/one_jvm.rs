//! One JVM for many inputs: an agent runs the harness of a Java program on a whole batch,
//! with classes of its own for each input, where the program starts a JVM for each.
//!
//! It is used where it was seen to tell what the program tells: on the PoV, on half of it
//! and on nothing. Everything else is run as the program is started. The rung *silent* is
//! always.

use super::LocalTarget;
use super::batch::{BatchRun, OUTPUT_LIMIT};
use super::jvm_agent::with_agent;
use super::stage::PovRun;
use crate::Result;
use crate::runner::{Capture, InputRun, Inputs, content};
use crate::work_time::WorkTime;
use patchwright_sandbox::process::{Ending, Limit};
use patchwright_source::Language;
use std::time::Duration;

/// Starts the program, whose place the driver takes. The path of the first input is the one
/// that the driver replaces.
const START: &str = r#"for POV in "$NOTES"/in/*; do export POV; break; done
(set -eu; eval "$1") >/dev/null 2>&1 </dev/null || true"#;
/// Bytes of the list of results.
const LIMIT: u64 = 1 << 20;
/// Time for a JVM to start.
const STARTS: Duration = Duration::from_secs(20);
/// Time for the trial of the driver.
const TRIAL: Duration = Duration::from_mins(1);
/// Beginnings of lines that Jazzer writes about itself.
const FUZZER: [&str; 2] = ["INFO: ", "Running: "];

impl LocalTarget {
    /// Tells whether the driver may run the inputs of a PoV: it is tried once, on the
    /// unpatched program.
    async fn drives(&self, of: PovRun<'_>) -> Result<bool> {
        if self.task.language != Language::Java {
            return Ok(false);
        }
        let baseline = self.baseline.get();
        let Some(build) = baseline.and_then(|known| known.builds.get(&of.build.name)) else {
            return Ok(false);
        };
        let fits = &self.driver_fits;
        let tried = fits.get_or_try_init(|| try_driver(PovRun { build, ..of }));
        tried.await.copied()
    }
}

/// Runs three inputs both ways, and tells whether the driver tells the same.
async fn try_driver(of: PovRun<'_>) -> Result<bool> {
    let bytes = content(of.pov)?;
    let half = bytes.get(..bytes.len() / 2).unwrap_or_default().to_vec();
    let inputs = Inputs {
        capture: Capture::Outputs,
        ..Inputs::new(vec![bytes, half, Vec::new()], TRIAL, STARTS)
    };
    let run = BatchRun {
        of,
        inputs: &inputs,
        until: WorkTime::now() + TRIAL,
    };
    let driven = run.in_one_jvm(&[0, 1, 2]).await?;
    if driven.len() < inputs.contents.len() {
        return Ok(false);
    }
    let started = run.one_by_one(&[0, 1, 2], run.until).await?;
    let fails = driven.first().is_some_and(InputRun::is_failure);
    let mut pairs = driven.iter().map(|one| {
        let other = started.iter().find(|other| other.index == one.index);
        other.is_some_and(|other| tells_the_same(one, other))
    });
    let agrees = fails && pairs.all(|same| same);
    tracing::info!(agrees, "one JVM for many inputs");
    Ok(agrees)
}

impl BatchRun<'_> {
    /// Runs as much of a batch as the driver can, and returns what was run.
    pub(super) async fn driven(&self, batch: &[usize]) -> Result<Vec<InputRun>> {
        // Values are compared with those of other calls, which have to be read alike.
        let worth = batch.len() > 1 || matches!(self.inputs.capture, Capture::Values(_));
        let may = worth && self.inputs.memory.is_none();
        if !may || !self.of.target.drives(self.of).await? {
            return Ok(Vec::new());
        }
        self.in_one_jvm(batch).await
    }

    async fn in_one_jvm(&self, batch: &[usize]) -> Result<Vec<InputRun>> {
        let folder = self.write(batch)?;
        let workspace = self.of.build.place()?;
        if !self.of.target.put_agent(workspace, &folder).await? {
            return Ok(Vec::new());
        }
        let left = self.until.left_on_the_wall();
        let each = self.inputs.each.as_millis();
        let start = with_agent(START);
        let script = format!("EACH_MILLISECONDS={each}\nexport EACH_MILLISECONDS\n{start}");
        self.execute(&script, folder.path(), (left + STARTS, None))
            .await?;
        let outputs = folder.left()?;
        let statuses = outputs.read("statuses", LIMIT).unwrap_or_default();
        let statuses = String::from_utf8_lossy(&statuses).into_owned();
        let run = |line: &str| {
            let (name, status) = line.split_once(' ')?;
            let index: usize = name.split('.').next()?.parse().ok()?;
            let ending = match status {
                "hang" => Ending::Limit(Limit::WallTime),
                status => Ending::from_shell(status.parse().ok()?),
            };
            let shown = self.inputs.capture != Capture::Failures || !ending.success();
            let answers = self.folder_of_answers();
            let output = outputs.read(format!("{answers}/{name}"), OUTPUT_LIMIT);
            let output = output.map(|output| self.of.target.told(folder.path(), &output));
            batch.contains(&index).then(|| InputRun {
                index,
                ending,
                output: output.ok().filter(|_| shown).unwrap_or_default(),
            })
        };
        Ok(statuses.lines().filter_map(run).collect())
    }
}

/// Tells whether the driver and the program tell the same of an input: the same end, and
/// the same output unless the input fails. Jazzer writes more than the harness.
fn tells_the_same(driven: &InputRun, started: &InputRun) -> bool {
    if driven.is_failure() || started.is_failure() {
        return driven.is_failure() && started.is_failure();
    }
    let started_text = String::from_utf8_lossy(&started.output);
    let own = |line: &&str| !line.starts_with("NOTE: Picked up");
    let program: Vec<&str> = started_text.lines().filter(own).collect();
    let text = String::from_utf8_lossy(&driven.output);
    let harness: Vec<&str> = text.lines().collect();
    let mut lines = program.iter();
    let fuzzes = lines.any(|line| FUZZER.iter().any(|own| line.starts_with(own)));
    let mut rest = program.iter();
    let mut among = || harness.iter().all(|line| rest.any(|other| other == line));
    driven.ending == started.ending && (program == harness || (fuzzes && among()))
}

#[cfg(test)]
mod tests {
    use super::{Capture, Inputs};
    use crate::local::LocalTarget;
    use crate::runner::{Commands, Pov, Target, TargetTask};
    use patchwright_sandbox::IsolationChoice;
    use patchwright_sandbox::process::Ending;
    use patchwright_sandbox::test_host::host;
    use patchwright_source::Language;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    /// Counts its runs in a static field, and tells them apart by what they read.
    const HARNESS: &str = "import java.nio.file.*;

public class Harness {
    static int runs;

    public static void main(String[] arguments) throws Exception {
        byte[] bytes = Files.readAllBytes(Paths.get(arguments[0]));
        System.out.println(\"run \" + ++runsOUTPUT);
        char first = bytes.length == 0 ? ' ' : (char) bytes[0];
        if (first == 'x') bytes[bytes.length] = 0;
        if (first == 'e') System.exit(3);
        while (first == 'h') Thread.sleep(10); } }
";

    async fn target(folder: &Path, output: &str) -> LocalTarget {
        let tree = folder.join("tree");
        fs::create_dir_all(&tree).unwrap();
        let text = HARNESS.replace("OUTPUT", output);
        fs::write(tree.join("Harness.java"), text).unwrap();
        fs::write(folder.join("pov"), "xx").unwrap();
        let task = TargetTask {
            tree,
            task_folder: folder.to_path_buf(),
            language: Language::Java,
            commands: Commands {
                build: "javac -d \"$OUT\" Harness.java".to_owned(),
                pov: Some("java -cp \"$OUT\" Harness \"$POV\"".to_owned()),
                ..Commands::default()
            },
            povs: vec![Pov {
                file: folder.join("pov"),
                ..Pov::default()
            }],
            ..TargetTask::default()
        };
        let choice = IsolationChoice::Bubblewrap;
        LocalTarget::open(task, choice, host(), &folder.join("scratch"))
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn inputs_share_a_jvm_and_no_state() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path(), "").await;
        let baseline = target.baseline().await.unwrap();
        let (build, pov) = (&baseline.builds[""], &target.task.povs[0]);
        let contents: Vec<Vec<u8>> = ["a", "xyz", "e", "hang", "b", ""]
            .map(|text| text.as_bytes().to_vec())
            .into();
        let inputs = Inputs {
            contents,
            budget: Duration::from_mins(1),
            each: Duration::from_secs(3),
            capture: Capture::Outputs,
            ..Inputs::default()
        };
        let runs = target.run_inputs(build, pov, &inputs).await.unwrap();
        assert_eq!(target.driver_fits.get(), Some(&true));
        let text = |index: usize| String::from_utf8_lossy(&runs[index].output).into_owned();
        let indexes: Vec<usize> = runs.iter().map(|run| run.index).collect();
        assert_eq!(indexes, [0, 1, 2, 3, 4, 5], "{runs:#?}");
        for index in [0, 4, 5] {
            assert_eq!(runs[index].ending, Ending::Exited(0), "{runs:#?}");
            assert_eq!(text(index), "run 1\n");
        }
        assert_eq!(runs[1].ending, Ending::Exited(1));
        let lead = "run 1\nException in thread \"main\" java.lang.ArrayIndexOutOfBoundsException";
        assert!(text(1).starts_with(lead), "{}", text(1));
        assert!(!text(1).contains("patchwright"), "{}", text(1));
        assert!(runs[1].is_failure() && runs[3].is_failure(), "{runs:#?}");
        assert_eq!(runs[2].ending, Ending::Exited(3));
        assert!(!runs[2].is_failure());
    }

    #[tokio::test]
    async fn a_harness_that_tells_the_driver_apart_is_started_for_each_input() {
        let folder = tempfile::tempdir().unwrap();
        let output = " + \" \" + (System.getenv(\"EACH_MILLISECONDS\") == null)";
        let target = target(folder.path(), output).await;
        let baseline = target.baseline().await.unwrap();
        let inputs = Inputs {
            contents: vec![b"a".to_vec(), b"b".to_vec()],
            budget: Duration::from_mins(1),
            each: Duration::from_secs(10),
            capture: Capture::Outputs,
            ..Inputs::default()
        };
        let (build, pov) = (&baseline.builds[""], &target.task.povs[0]);
        let runs = target.run_inputs(build, pov, &inputs).await.unwrap();
        assert_eq!(target.driver_fits.get(), Some(&false));
        let text = String::from_utf8_lossy(&runs[1].output);
        assert!(text.starts_with("run 1 true"), "{runs:#?}");
    }
}
