//! Observed run: how the calls end in which chosen functions are called from outside the
//! project, while the tests, or a PoV, run, and what they are given.
//!
//! Foreign code ran beside the agent that writes this, so every line of the text is taken or
//! left by itself.

use super::{Counted, Coverage};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// End of a call that has more ends than are kept.
const AND_SO_ON: &str = "and so on";

/// Functions, lines and time of an observed run.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The functions, as [`super::Capture::Values`] names them.
    pub functions: Vec<String>,
    /// The lines that are counted in the same run.
    pub counted: Counted,
    /// The most time.
    pub most: Duration,
}

/// A call from outside the project, as from a test, however often it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObservedCall {
    pub function: String,
    /// Its receiver and arguments, as far as they tell what they hold.
    pub arguments: String,
}

/// Observations of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedRun {
    /// The calls, and all the ways in which each ended.
    pub calls: BTreeMap<ObservedCall, BTreeSet<String>>,
    /// Texts and bytes that these calls were given.
    pub given: BTreeSet<Vec<u8>>,
    /// Counts of the lines.
    pub coverage: Coverage,
}

impl ObservedRun {
    /// Adds what the agent in one process wrote about calls.
    pub fn read(&mut self, text: &str) {
        for line in text.lines() {
            self.take(line);
        }
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once('\t')?;
        match kind {
            "call" => {
                let mut parts = rest.splitn(3, '\t');
                let call = ObservedCall {
                    function: parts.next()?.to_owned(),
                    arguments: parts.next()?.to_owned(),
                };
                let end = parts.next()?.to_owned();
                self.calls.entry(call).or_default().insert(end);
            }
            "input" => {
                self.given.insert(hex::decode(rest).ok()?);
            }
            _ => {}
        }
        Some(())
    }

    /// Forgets the calls with more ends than are kept: which ones were kept is chance.
    pub fn without_endless(mut self) -> Self {
        self.calls.retain(|_, ends| !ends.contains(AND_SO_ON));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{ObservedCall, ObservedRun};

    #[test]
    fn what_processes_wrote_is_put_together() {
        let mut run = ObservedRun::default();
        run.read("3 calls\ncall\tA.f\tx, 1\treturns 2\ncall\tA.g\t\treturns a\ninput\t7801\nnoise\ncall\tA.f\n");
        run.read("call\tA.f\tx, 1\tthrows E\ninput\tx\ncall\tA.g\t\tand so on\n");
        let call = ObservedCall {
            function: "A.f".to_owned(),
            arguments: "x, 1".to_owned(),
        };
        let ends: Vec<&String> = run.calls[&call].iter().collect();
        assert_eq!(ends, ["returns 2", "throws E"]);
        assert!(run.given.contains(&b"x\x01"[..]) && run.given.len() == 1);
        let run = run.without_endless();
        assert_eq!(run.calls.keys().collect::<Vec<_>>(), [&call]);
    }
}
