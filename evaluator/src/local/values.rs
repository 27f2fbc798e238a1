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

/// The agent.
const AGENT: &str = include_str!("programs/Values.java");
/// The name of the compiled agent in a folder.
const JAR: &str = "agent.jar";
/// Bytes of the agent at the most; it takes some ten thousand.
const JAR_LIMIT: u64 = 4 << 20;
/// The folder below `$WORK` that the agent writes to.
pub(super) const VALUES_FOLDER: &str = "values";
/// Options that open the JDK's class reader to the agent.
const EXPORTS: &str = "--add-exports=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED --add-exports=java.base/jdk.internal.org.objectweb.asm.commons=ALL-UNNAMED";
/// Time to compile it on a busy machine.
const COMPILE_TIME: Duration = Duration::from_mins(2);

/// Returns the loop over a batch with the agent in every JVM that it starts.
pub(super) fn with_agent(script: &str) -> String {
    format!(
        "JDK_JAVA_OPTIONS=\"{EXPORTS} -javaagent:$WORK/{JAR}\"\nexport JDK_JAVA_OPTIONS\n{script}"
    )
}

/// Puts the agent into a batch folder.
pub(super) fn put_agent(jar: &Path, folder: &Path) -> Result<(), TargetError> {
    let fail = |e| TargetError::io("the agent could not be put into a batch", folder, e);
    fs::create_dir(folder.join(VALUES_FOLDER)).map_err(fail)?;
    fs::copy(jar, folder.join(JAR)).map(drop).map_err(fail)
}

impl LocalTarget {
    /// Returns the agent, compiled at the first call; none where it does not compile.
    pub(super) async fn compiled_agent(
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
        // A link in place of it would have us read what the command may not.
        ContainedFolder::open(folder.path())
            .and_then(|folder| folder.read(JAR, JAR_LIMIT))
            .and_then(|bytes| fs::write(&jar, bytes))
            .map_err(|e| TargetError::io("the agent could not be kept", &jar, e))?;
        Ok(Some(jar))
    }
}
