//! Rungs: their names, in order, and the result of climbing one.

use crate::blob::Blob;
use crate::crash::Crash;
use crate::doubt::{Doubt, DoubtedInput};
use patchwright_source::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rungs, lowest first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum RungName {
    /// Every edit was located and allowed.
    #[default]
    Applies,
    /// No new syntax error.
    Parses,
    /// The build command succeeds.
    Builds,
    /// Every PoV ran, and none crashes or hangs.
    Silent,
    /// No test fails that passed before.
    Tested,
    /// Mutations of the PoVs do not crash it either.
    Robust,
    /// It behaves as before on harmless inputs.
    #[serde(rename = "same elsewhere")]
    SameElsewhere,
    /// The diff hides nothing and deletes nothing.
    Reviewed,
}

words!(RungName: Applies "applies", Parses "parses", Builds "builds", Silent "silent",
    Tested "tested", Robust "robust", SameElsewhere "same elsewhere", Reviewed "reviewed");

impl RungName {
    /// Returns the rung above.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|rung| *rung > self)
    }
}

/// The result of climbing one rung.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    pub name: RungName,
    /// True where it holds, false where it refutes the patch, none where it could not be
    /// climbed.
    pub holds: Option<bool>,
    /// The reason, in one line.
    pub reason: String,
    /// Wall time.
    pub seconds: f64,
    /// The output of the commands.
    pub log: Blob,
    /// Counts of inputs, tests and so on, by what was counted.
    pub counts: BTreeMap<String, u64>,
    /// Feedback for a repairer, where the rung does not hold.
    pub feedback: Option<String>,
    /// The crash that refutes the patch.
    pub crash: Option<Crash>,
    /// Inputs that refute the patch, and serve as PoVs for later attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundInput>,
    /// Observations that refute nothing and are for a critic or a person to weigh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// Answers of the patched program to inputs that crash the unpatched one, where nothing
    /// can be compared, and to challenges that both answer alike: each with its input, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// Conditions of the patch that no accepted input shows both ways: each with its line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// True where climbing again would give the same result: nothing was flaky, no limit
    /// was hit, and no search was cut short by its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
}

/// An input that refutes a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundInput {
    pub blob: Blob,
    /// The failure that it causes.
    pub reason: String,
    /// The name of the PoV that it was made from; it is run the same way.
    #[serde(default)]
    pub pov: String,
}

impl Rung {
    /// Creates a result without log, counts and feedback.
    pub fn new(name: RungName, holds: Option<bool>, reason: impl Into<String>) -> Self {
        Self {
            name,
            holds,
            reason: reason.into(),
            ..Self::default()
        }
    }

    /// Returns the differences of behaviour that nothing settled, each with its input.
    pub fn open_differences(&self) -> Vec<(&Doubt, &DoubtedInput)> {
        let open = self.doubts.iter().filter(|doubt| doubt.is_open());
        open.filter_map(|doubt| Some((doubt, doubt.input.as_ref()?)))
            .collect()
    }

    /// Says in one line whether it holds, and why; `open` is what a rung is that was not climbed.
    pub fn in_words(&self, open: &str) -> String {
        let word = match self.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => open,
        };
        format!("{} {word}: {}", self.name, self.reason)
    }

    /// Sets whether climbing again would give the same result.
    pub fn settled(mut self, settled: bool) -> Self {
        self.settled = settled;
        self
    }

    /// Sets the output of the commands.
    pub fn log(mut self, log: impl Into<String>) -> Self {
        self.log = Blob::from(log.into().into_bytes());
        self
    }

    pub fn feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = Some(feedback.into());
        self
    }

    /// Sets the crash that refutes the patch.
    pub fn crash(mut self, crash: Option<Crash>) -> Self {
        self.crash = crash;
        self
    }

    pub fn doubts(mut self, doubts: Vec<Doubt>) -> Self {
        self.doubts = doubts;
        self
    }

    pub fn count(mut self, what: &str, number: u64) -> Self {
        self.counts.insert(what.to_owned(), number);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Rung;

    /// A rung as the journals of the first version hold it.
    const STORED: &str = r#"{"name":"same elsewhere","holds":null,"reason":"differs","seconds":1.5,"log":"ab","counts":{"counted":3},"feedback":null,"crash":{"text":"ERROR","frames":[]},"found":[{"blob":"cd","reason":"crashes","pov":"p"}],"doubts":[{"what":"other","input":{"name":"mutant 1","blob":"ef","pov":"p","text":"x","change":"y","before":"0","after":"1"}},{"what":"gone","settled":"by an experiment"}],"answers":["0"]}"#;

    #[test]
    fn a_stored_rung_is_read_and_written_as_it_was() {
        let rung: Rung = serde_json::from_str(STORED).unwrap();
        assert_eq!(serde_json::to_string(&rung).unwrap(), STORED);
        assert_eq!(rung.open_differences().len(), 1);
    }
}
