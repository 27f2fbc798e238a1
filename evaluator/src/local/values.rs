//! Values inside the program: return values of functions and values that the harness
//! receives.
//!
//! gdb reads them for C and C++, an agent in the JVM for Java. The agent is compiled once
//! for each target by the task's own JDK in the sandbox, because it uses that JDK's class
//! reader. Without one, no value is read.

use super::{Job, LocalTarget};
use crate::TargetError;
use crate::contained_path::ContainedFolder;
use crate::workspace::Workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Runs gdb over a batch; `$3` is the program for it.
pub(super) const VALUES: &str = r#"POV_COMMAND=$1; export POV_COMMAND; printf %s "$3" >"$WORK/values.py"
exec gdb -nx -batch -x "$WORK/values.py" >/dev/null 2>&1 </dev/null"#;
/// The commands for gdb with a batch.
pub(super) const VALUES_PROGRAM: &str = include_str!("programs/values.py");

/// An agent for the JVM, in one source file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Agent {
    /// Its class, in the package `patchwright`.
    pub(super) class: &'static str,
    /// Its source.
    pub(super) source: &'static str,
    /// The name of the compiled agent in a folder.
    pub(super) jar: &'static str,
}

/// The agent that writes values down.
pub(super) const AGENT: Agent = Agent {
    class: "Values",
    source: include_str!("programs/Values.java"),
    jar: "agent.jar",
};
/// Bytes of an agent at the most; it takes some ten thousand.
const JAR_LIMIT: u64 = 4 << 20;
/// The folder below `$WORK` that the agent writes to.
pub(super) const VALUES_FOLDER: &str = "values";
/// Options that open the JDK's class reader to the agent.
const EXPORTS: &str = "--add-exports=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED --add-exports=java.base/jdk.internal.org.objectweb.asm.commons=ALL-UNNAMED";
/// Time to compile it on a busy machine.
const COMPILE_TIME: Duration = Duration::from_mins(2);

/// Returns a script with an agent in every JVM that it starts.
pub(super) fn with_options(agent: &Agent, script: &str) -> String {
    let jar = agent.jar;
    format!(
        "JDK_JAVA_OPTIONS=\"{EXPORTS} -javaagent:$WORK/{jar}\"\nexport JDK_JAVA_OPTIONS\n{script}"
    )
}

/// Makes the folder in a batch folder that the agent for values writes to.
pub(super) fn make_values_folder(folder: &Path) -> Result<(), TargetError> {
    fs::create_dir(folder.join(VALUES_FOLDER))
        .map_err(|e| TargetError::io("the agent could not be put into a batch", folder, e))
}

impl Agent {
    /// Puts the compiled agent into a batch folder.
    pub(super) fn put(&self, jar: &Path, folder: &Path) -> Result<(), TargetError> {
        let fail = |e| TargetError::io("an agent could not be put into a batch", folder, e);
        fs::copy(jar, folder.join(self.jar)).map(drop).map_err(fail)
    }
}

/// Splits a command line that is one program of the build with its arguments:
/// `"$OUT"/name "$POV"`. Any other one needs a shell.
pub(super) fn plain(command: &str) -> Option<(&str, &str)> {
    if command.contains([';', '|', '&', '<', '>', '\n', '`', '(', ')']) {
        return None;
    }
    let rest = ["\"$OUT\"/", "\"${OUT}\"/", "$OUT/", "\"$OUT/"]
        .iter()
        .find_map(|start| command.trim().strip_prefix(start))?;
    let (program, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
    let program = program.trim_end_matches('"');
    let usual = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    (!program.is_empty() && program.chars().all(usual)).then_some((program, arguments))
}

impl LocalTarget {
    /// Returns the agent, compiled at the first call; none where it does not compile.
    pub(super) async fn compiled_agent(
        &self,
        workspace: &Arc<Workspace>,
    ) -> Result<Option<PathBuf>, TargetError> {
        let made = self
            .agent
            .get_or_try_init(|| self.compile(&AGENT, workspace));
        made.await.cloned()
    }

    /// Compiles an agent; none where this JDK does not.
    pub(super) async fn compile(
        &self,
        agent: &Agent,
        workspace: &Arc<Workspace>,
    ) -> Result<Option<PathBuf>, TargetError> {
        let (class, jar_name) = (agent.class, agent.jar);
        let folder = self.batch_folder()?;
        let source = folder.path().join(format!("{class}.java"));
        fs::write(&source, agent.source)
            .map_err(|e| TargetError::io("the agent could not be written", &source, e))?;
        let script = format!(
            "cd \"$WORK\"\njavac -nowarn {EXPORTS} -d classes {class}.java\necho Premain-Class: patchwright.{class} >manifest\njar cfm {jar_name} manifest -C classes ."
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
        let jar = self.scratch.path().join(jar_name);
        // A link in place of it would have us read what the command may not.
        ContainedFolder::open(folder.path())
            .and_then(|folder| folder.read(jar_name, JAR_LIMIT))
            .and_then(|bytes| fs::write(&jar, bytes))
            .map_err(|e| TargetError::io("the agent could not be kept", &jar, e))?;
        Ok(Some(jar))
    }
}
