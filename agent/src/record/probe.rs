//! Probes of a round: which build is asked, and what was asked before.

use patchwright_patcher::Probe;
use serde::{Deserialize, Serialize};

/// The word by which a probe asks the lane's last patch that was built.
const ATTEMPT: [&str; 4] = ["attempt", "patch", "patched", "last"];

/// A probe with the build that it is asked of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeQuestion {
    /// The file, as it was written.
    pub file: String,
    /// The line of the pristine tree.
    pub line: u32,
    /// The expression, as it was written.
    pub expression: String,
    /// The attempt whose build is asked; nothing for the unpatched program.
    pub attempt: Option<u32>,
}

/// The answers to probes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// One text for each probe, in order.
    pub answers: Vec<String>,
    /// Seconds spent in commands.
    pub seconds: f64,
}

/// One probe of a round as the model is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeTold {
    /// The question.
    pub expression: String,
    /// Where.
    pub place: String,
    /// The build in words.
    pub build: String,
    /// The round that answered it before.
    pub round: Option<u32>,
    /// The answer of this round.
    pub answer: String,
}

impl ProbeQuestion {
    /// Settles which build is asked; `built` is the last attempt that was.
    pub(crate) fn of(probe: &Probe, built: Option<u32>) -> Self {
        let wants_attempt = probe
            .build
            .as_deref()
            .is_some_and(|word| ATTEMPT.contains(&word));
        Self {
            file: probe.file.clone(),
            line: probe.line,
            expression: probe
                .expression
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            attempt: built.filter(|_| wants_attempt),
        }
    }

    pub(crate) fn told(&self, round: Option<u32>, answer: String) -> ProbeTold {
        ProbeTold {
            expression: self
                .expression
                .replace('`', "'")
                .chars()
                .take(200)
                .collect(),
            place: format!("{}:{}", self.file, self.line),
            build: self.attempt.map_or_else(
                || "the unpatched program".to_owned(),
                |number| format!("the program with the patch of attempt {number}"),
            ),
            round,
            answer,
        }
    }
}
