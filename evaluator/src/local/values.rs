//! Values inside the program: what functions return and what the harness gets.
//!
//! Read by gdb for C and C++, by an agent in the JVM for Java. The agent is
//! compiled once a target, by the task's own JDK in the sandbox, because it
//! uses that JDK's class reader. Where there is none, no value is read.

use super::batch::{BatchRun, LOOP, OUTPUT_LIMIT};
use super::{Job, LocalTarget};
use crate::contained_path::ContainedFolder;
use crate::runner::InputRun;
use crate::workspace::Workspace;
use crate::{Ending, TargetError};
use patchwright_source::Language;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs gdb over a batch; `$3` is the program for it.
const VALUES: &str = r#"POV_COMMAND=$1; export POV_COMMAND; printf %s "$3" >"$WORK/values.py"
exec gdb -nx -batch -x "$WORK/values.py" >/dev/null 2>&1 </dev/null"#;
/// What gdb does with a batch.
pub(super) const VALUES_PROGRAM: &str = include_str!("programs/values.py");

/// The agent.
const AGENT: &str = include_str!("programs/Values.java");
/// The name of the compiled agent in a folder.
const JAR: &str = "agent.jar";
/// Where the agent writes, below `$WORK`.
const VALUES_FOLDER: &str = "values";
/// Opens the JDK's class reader to the agent.
const EXPORTS: &str = "--add-exports=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED --add-exports=java.base/jdk.internal.org.objectweb.asm.commons=ALL-UNNAMED";
/// Time to compile it, which a busy machine needs.
const COMPILE_TIME: Duration = Duration::from_mins(2);

impl BatchRun<'_> {
    /// Runs a batch under the debugger, or with the agent.
    pub(super) async fn values(&self, batch: &[usize]) -> Result<Vec<InputRun>, TargetError> {
        let folder = self.write(batch)?;
        let left = self.until.saturating_duration_since(Instant::now());
        let place = if self.target.task.language == Language::Java {
            let Some(agent) = self.target.compiled_agent(self.build.place()?).await? else {
                return Ok(Vec::new());
            };
            put_agent(&agent, folder.path())?;
            let script = with_agent(LOOP);
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
}

/// The loop over a batch, with the agent in every JVM that it starts.
fn with_agent(script: &str) -> String {
    format!(
        "JDK_JAVA_OPTIONS=\"{EXPORTS} -javaagent:$WORK/{JAR}\"\nexport JDK_JAVA_OPTIONS\n{script}"
    )
}

/// Puts the agent into a batch folder.
fn put_agent(jar: &Path, folder: &Path) -> Result<(), TargetError> {
    let fail = |e| TargetError::io("the agent could not be put into a batch", folder, e);
    fs::create_dir(folder.join(VALUES_FOLDER)).map_err(fail)?;
    fs::copy(jar, folder.join(JAR)).map(drop).map_err(fail)
}

impl LocalTarget {
    /// The agent, compiled at the first call; nothing where it cannot be.
    async fn compiled_agent(
        &self,
        workspace: &Arc<Workspace>,
    ) -> Result<Option<PathBuf>, TargetError> {
        let made = self.agent.get_or_try_init(|| self.compile(workspace));
        made.await.cloned()
    }

    async fn compile(&self, workspace: &Arc<Workspace>) -> Result<Option<PathBuf>, TargetError> {
        let folder = self.batch_folder()?;
        let source = folder.path().join("Values.java");
        fs::write(&source, AGENT)
            .map_err(|e| TargetError::io("the agent could not be written", &source, e))?;
        let script = format!(
            "cd \"$WORK\"\njavac -nowarn {EXPORTS} -d classes Values.java\necho Premain-Class: patchwright.Values >manifest\njar cfm {JAR} manifest -C classes ."
        );
        let job = Job {
            wall: COMPILE_TIME,
            work: Some(folder.path()),
            ..Job::new(&script, workspace, "")
        };
        let execution = self.command(job).await?;
        if !execution.ending.success() {
            tracing::info!(log = %execution.text(), "this JDK does not compile the agent");
            return Ok(None);
        }
        let jar = self.scratch.path().join(JAR);
        fs::copy(folder.path().join(JAR), &jar)
            .map_err(|e| TargetError::io("the agent could not be kept", &jar, e))?;
        Ok(Some(jar))
    }
}
