//! Agent for the JVM: classes of ours that a Java program is started with. They run many
//! inputs in one JVM, write down how methods end, and count lines and branches.
//!
//! They change the program's classes while these are loaded, with the class reader and
//! writer of the task's own JDK (11 to 23 have one). So nothing is downloaded, nothing is
//! added to the build, and no class file of a project is newer than what reads it. They are
//! compiled once for each target, in the sandbox. Breakpoints at the begin and end of
//! methods (JDI) would need no class reader, but stop the program at every call, and do not
//! count branches. JaCoCo counts these, but knows no values, and is at hand only where a
//! build downloads it. Where the agent does not compile, no value is read and nothing is
//! counted.

use super::disguise::{EXPORTED, fresh_name};
use super::scratch::CommandFolder;
use super::{Job, LocalTarget};
use crate::workspace::Workspace;
use crate::{Result, TargetError};
use std::sync::Arc;
use std::time::Duration;

/// Its classes, all in the package `patchwright`.
const SOURCES: [(&str, &str); 4] = [
    ("Agent.java", include_str!("programs/Agent.java")),
    ("Coverage.java", include_str!("programs/Coverage.java")),
    ("ManyInputs.java", include_str!("programs/ManyInputs.java")),
    ("Values.java", include_str!("programs/Values.java")),
];
/// The name of the compiled agent in a folder.
const JAR: &str = "agent.jar";
/// Bytes of it at the most; it takes some ten thousand.
const JAR_LIMIT: u64 = 4 << 20;
/// The folders below `$NOTES` that it writes to.
pub(super) const VALUES_FOLDER: &str = "values";
pub(super) const COVERAGE_FOLDER: &str = "coverage";
/// Options that open the JDK's class reader to it.
const EXPORTS: &str = "--add-exports=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED --add-exports=java.base/jdk.internal.org.objectweb.asm.commons=ALL-UNNAMED";
/// Time to compile it on a busy machine.
const COMPILE_TIME: Duration = Duration::from_mins(2);

/// Returns a script with the agent in every JVM that it starts. The agent is part of the
/// program, and writes where the program could.
pub(super) fn with_agent(script: &str) -> String {
    format!(
        "{EXPORTED}JDK_JAVA_OPTIONS=\"{EXPORTS} -javaagent:$NOTES/{JAR} ${{JDK_JAVA_OPTIONS-}}\"\nexport JDK_JAVA_OPTIONS\njudged() {{ \"$@\"; }}\n{script}"
    )
}

impl LocalTarget {
    /// Puts the agent and the folders that it writes to into a batch folder; false where
    /// it does not compile.
    pub(super) async fn put_agent(
        &self,
        workspace: &Arc<Workspace>,
        folder: &CommandFolder,
    ) -> Result<bool> {
        let Some(jar) = self.compiled_agent(workspace).await? else {
            return Ok(false);
        };
        folder.put(JAR, jar)?;
        for part in [VALUES_FOLDER, COVERAGE_FOLDER] {
            folder.make(part)?;
        }
        Ok(true)
    }

    /// Returns the agent, compiled at the first call; none where it does not compile.
    pub(super) async fn compiled_agent(&self, workspace: &Arc<Workspace>) -> Result<Option<&[u8]>> {
        let made = self.agent.get_or_try_init(|| self.compile(workspace));
        Ok(made.await?.as_deref())
    }

    async fn compile(&self, workspace: &Arc<Workspace>) -> Result<Option<Vec<u8>>> {
        let folder = self.batch_folder()?;
        // A class of the program that had the agent's name would take its place.
        let package = fresh_name();
        for (name, text) in SOURCES {
            folder.put(name, text.replace("patchwright", &package).as_bytes())?;
        }
        let script = format!(
            "cd \"$NOTES\"\nunset JDK_JAVA_OPTIONS JAVA_TOOL_OPTIONS\njavac -nowarn {EXPORTS} -d classes *.java\necho Premain-Class: {package}.Agent >manifest\njar cfm {JAR} manifest -C classes ."
        );
        let job = Job {
            wall: COMPILE_TIME,
            notes: Some(folder.path()),
            ..Job::new(&script, workspace, "")
        };
        let execution = self.command(job).await?;
        if !execution.ending.success() {
            tracing::info!(log = %execution.text(), "this JDK does not compile the agent");
            return Ok(None);
        }
        let jar = folder.left()?.read(JAR, JAR_LIMIT);
        let jar = jar.map_err(|e| TargetError::io("the agent cannot be read", JAR, e))?;
        Ok(Some(jar))
    }
}
