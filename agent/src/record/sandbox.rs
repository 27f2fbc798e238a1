//! Record of the isolation that the commands of a run had.

use patchwright_sandbox::Isolation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The isolation that commands ran in, and the stronger ones that did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxRecord {
    /// `bubblewrap`, `landlock`, `container`, `none`, or `remote` for a service that runs the commands.
    pub isolation: String,
    /// The ways that it leaves open.
    pub leaves_open: Vec<String>,
    /// The isolations that were preferred and do not work here.
    pub not_used: Vec<StrongerSandbox>,
}

/// An isolation that was preferred, and does not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrongerSandbox {
    /// Its name.
    pub isolation: String,
    /// The reason why it does not work.
    pub reason: String,
}

impl From<&Isolation> for SandboxRecord {
    fn from(isolation: &Isolation) -> Self {
        let not_used = isolation.passed_over.iter();
        Self {
            isolation: isolation.kind.name().to_owned(),
            leaves_open: isolation.leaves_open.clone(),
            not_used: not_used
                .map(|(kind, reason)| StrongerSandbox {
                    isolation: kind.name().to_owned(),
                    reason: reason.clone(),
                })
                .collect(),
        }
    }
}

impl fmt::Display for SandboxRecord {
    /// Writes the name, and why it is no stronger one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.isolation)?;
        for stronger in &self.not_used {
            write!(f, "; not {}: {}", stronger.isolation, stronger.reason)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::SandboxRecord;
    use patchwright_sandbox::{Isolation, IsolationChoice};

    #[test]
    fn a_fall_back_is_told_with_its_reason() {
        let isolation = Isolation {
            kind: IsolationChoice::Landlock,
            leaves_open: Vec::new(),
            passed_over: vec![(IsolationChoice::Bubblewrap, "no bwrap".to_owned())],
        };
        let told = SandboxRecord::from(&isolation).to_string();
        assert_eq!(told, "landlock; not bubblewrap: no bwrap");
    }
}
