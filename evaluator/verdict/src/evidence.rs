//! Evidence: the names of the rungs, in order, and the result of climbing one.
//!
//! Plain data that the rungs fill and the agent stores; [`crate::Ladder`] climbs.

use patchwright_crash::CrashReport;
pub use patchwright_record::RungName;
use patchwright_source::counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of the changed part of an input that are shown.
const CHANGED: usize = 60;

/// The result of climbing one rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RungResult {
    pub name: RungName,
    /// True where it holds, false where it refutes the patch, none where it could not be
    /// climbed.
    pub holds: Option<bool>,
    /// The reason, in one line.
    pub reason: String,
    /// Wall time.
    pub seconds: f64,
    /// The output of the commands.
    pub log: String,
    /// Counts, by what was counted.
    pub counts: BTreeMap<String, u64>,
    /// Feedback for a repairer, where the rung does not hold.
    pub feedback: Option<String>,
    /// The crash that refutes the patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<CrashReport>,
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
    /// Inputs that refute the patch, and serve as PoVs for later attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundInput>,
    /// True where climbing again would give the same result: nothing was flaky, no limit
    /// was hit, and no search was cut short by its time.
    #[serde(default)]
    pub settled: bool,
}

/// An observation that speaks against a patch and refutes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The observation, in one line.
    pub what: String,
    /// The experiment that settled it; none while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// The input that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<DoubtedInput>,
}

/// An input on which the two programs differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubtedInput {
    /// Its name in the log.
    pub name: String,
    pub bytes: Vec<u8>,
    /// The name of the PoV that it is run like.
    pub pov: String,
    /// Its difference to the PoV, in words.
    pub change: String,
    /// The end and the output of the unpatched program.
    pub before: String,
    /// The same of the patched program.
    pub after: String,
    /// The first function that returns another value, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverges: Option<String>,
}

impl Doubt {
    /// Creates a doubt without an input.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ..Self::default()
        }
    }

    /// Tells whether no experiment settled it.
    pub fn is_open(&self) -> bool {
        self.settled.is_none()
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.settled {
            Some(settled) => write!(f, " [settled: {settled}]"),
            None => Ok(()),
        }
    }
}

/// An input that refutes a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundInput {
    pub bytes: Vec<u8>,
    /// The failure that it causes.
    pub reason: String,
    /// The name of the PoV that it was made from; it is run the same way.
    #[serde(default)]
    pub pov: String,
}

impl RungResult {
    /// Creates a result without log, counts and feedback.
    pub(crate) fn new(name: RungName, holds: Option<bool>, reason: impl Into<String>) -> Self {
        Self {
            name,
            holds,
            reason: reason.into(),
            seconds: 0.0,
            log: String::new(),
            counts: BTreeMap::new(),
            feedback: None,
            crash: None,
            doubts: Vec::new(),
            answers: Vec::new(),
            conditions: Vec::new(),
            found: Vec::new(),
            settled: false,
        }
    }

    /// Sets whether climbing again would give the same result.
    pub(crate) fn settled(mut self, settled: bool) -> Self {
        self.settled = settled;
        self
    }

    pub(crate) fn log(mut self, log: impl Into<String>) -> Self {
        self.log = log.into();
        self
    }

    pub(crate) fn feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = Some(feedback.into());
        self
    }

    pub(crate) fn crash(mut self, crash: Option<CrashReport>) -> Self {
        self.crash = crash;
        self
    }

    pub(crate) fn doubts(mut self, doubts: Vec<Doubt>) -> Self {
        self.doubts = doubts;
        self
    }

    pub(crate) fn answers(mut self, answers: Vec<String>) -> Self {
        self.answers = answers;
        self
    }

    pub(crate) fn count(mut self, what: &str, number: u64) -> Self {
        self.counts.insert(what.to_owned(), number);
        self
    }
}

/// Describes the change of one input that gives another.
pub(crate) fn change(from: &[u8], to: &[u8]) -> String {
    let pairs = from.iter().zip(to);
    let head = pairs.take_while(|(old, new)| old == new).count();
    let rest = from.len().min(to.len()) - head;
    let pairs = from.iter().rev().zip(to.iter().rev()).take(rest);
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let middle = |bytes: &[u8]| {
        let part = bytes.get(head..bytes.len() - tail).unwrap_or_default();
        let shown = part.get(..CHANGED.min(part.len())).unwrap_or_default();
        let more = if part.len() > CHANGED { ".." } else { "" };
        (part.len(), format!("\"{}{more}\"", shown.escape_ascii()))
    };
    let bytes = |count: usize| counted(count as u64, "byte");
    match (middle(from), middle(to)) {
        ((0, _), (0, _)) => "it is the PoV itself".to_owned(),
        ((0, _), (count, new)) => format!("{} {new} inserted at offset {head}", bytes(count)),
        ((count, old), (0, _)) => format!("{} {old} removed at offset {head}", bytes(count)),
        ((removed, _), (added, _)) if removed.min(added) > CHANGED && head + tail < added => {
            "it has little in common with the PoV".to_owned()
        }
        ((_, old), (_, new)) => format!("{old} at offset {head} became {new}"),
    }
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn a_change_is_told_by_its_place() {
        for (from, to, expected) in [
            ("abc", "abc", "it is the PoV itself"),
            ("abc", "aXc", "\"b\" at offset 1 became \"X\""),
            ("abc", "abbc", "1 byte \"b\" inserted at offset 2"),
            ("aaaa", "aa", "2 bytes \"aa\" removed at offset 2"),
            ("", "x\n", "2 bytes \"x\\n\" inserted at offset 0"),
            ("x\0", "", "2 bytes \"x\\x00\" removed at offset 0"),
        ] {
            assert_eq!(change(from.as_bytes(), to.as_bytes()), expected);
        }
        let long = change(b"", &[b'a'; 100]);
        assert!(long.contains("100 bytes") && long.contains(".."), "{long}");
        let other = change(&[b'a'; 100], &[b'b'; 100]);
        assert_eq!(other, "it has little in common with the PoV");
    }
}
