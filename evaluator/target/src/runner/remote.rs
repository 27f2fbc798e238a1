//! Remote targets: builds and executions of commands that ran on another machine, judged
//! by the same rules as local ones.

use super::{Build, Replay, judge, proof};
use crate::Result;
use crate::workspace::Workspace;
use patchwright_sandbox::Execution;
use std::sync::Arc;

impl Build {
    /// Creates a build on another machine, which its target identifies by name, changes
    /// and kind.
    pub fn remote(name: &str, changes: &str, execution: Execution) -> Self {
        Self {
            name: name.to_owned(),
            changes: changes.to_owned(),
            execution,
            workspace: None,
        }
    }

    /// Creates a build in a workspace of this machine.
    pub(crate) fn in_workspace(
        (name, changes): (&str, &str),
        execution: Execution,
        workspace: impl Into<Arc<Workspace>>,
    ) -> Self {
        Self {
            workspace: Some(workspace.into()),
            ..Self::remote(name, changes, execution)
        }
    }
}

impl Replay {
    /// Judges a run; `ran` is the PoV's own proof of having run.
    pub fn judged(execution: Execution, ran: Option<&str>) -> Result<Self> {
        let (outcome, crash) = judge(&execution, proof(ran)?.as_ref());
        Ok(Self {
            outcome,
            crash,
            execution,
            unwatched: Some("no debugger watches a run on another machine".to_owned()),
            answer: None,
        })
    }
}
