//! Regression test of a patch: its own diff, and the proof that it tells something.

use crate::blob::Blob;
use serde::{Deserialize, Serialize};

/// A regression test that goes with a patch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RegressionRecord {
    /// Against the pristine tree; empty where there is none.
    pub diff: String,
    /// True where it fails without the patch and passes with it.
    pub holds: bool,
    /// True where it is a script that runs the PoV, false where it is in the project's
    /// own framework.
    pub script: bool,
    /// The reason, in one line.
    pub reason: String,
    /// Refuted attempts that it was run on.
    pub refuted: u64,
    /// Those of them on which it fails.
    pub refuted_fail: u64,
    /// The output of the run that decided.
    pub log: Blob,
    /// Duration in seconds.
    pub seconds: f64,
}

/// The tests of the project, for whoever writes another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFiles {
    /// The command that runs them.
    pub command: String,
    /// Their files, rendered; empty where there are none.
    pub text: String,
}

impl RegressionRecord {
    /// Tells whether it fails on every refuted attempt that it was run on, and there was one.
    pub fn is_strong(&self) -> bool {
        self.holds && self.refuted > 0 && self.refuted == self.refuted_fail
    }
}
