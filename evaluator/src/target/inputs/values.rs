//! Inputs under a debugger, or with an agent in the JVM: what functions return
//! and what the harness gets.

use super::{Call, InputRun, LOOP, OUTPUT_LIMIT, agent};
use crate::beneath::Beneath;
use crate::{Ending, TargetError};
use std::time::Instant;

/// Runs gdb over a batch; `$3` is the program for it.
const VALUES: &str = r#"POV_COMMAND=$1; export POV_COMMAND; printf %s "$3" >"$WORK/values.py"
exec gdb -nx -batch -x "$WORK/values.py" >/dev/null 2>&1 </dev/null"#;
/// What gdb does with a batch.
pub(super) const VALUES_PROGRAM: &str = include_str!("values.py");

impl Call<'_> {
    /// Runs a batch under the debugger, or with the agent.
    pub(super) async fn values(&self, batch: &[usize]) -> Result<Vec<InputRun>, TargetError> {
        let folder = self.write(batch)?;
        let left = self.until.saturating_duration_since(Instant::now());
        let place = if self.target.is_java() {
            let Some(agent) = self.target.agent(self.build.place()?).await? else {
                return Ok(Vec::new());
            };
            agent::put(&agent, folder.path())?;
            let script = agent::with_agent(LOOP);
            self.execute(&script, folder.path(), (left, Some(self.inputs.each)))
                .await?;
            agent::VALUES
        } else {
            self.execute(VALUES, folder.path(), (left, None)).await?;
            "out"
        };
        let outputs = Beneath::open(folder.path())
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
