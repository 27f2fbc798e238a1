//! Remote targets: builds and executions of commands that ran on another machine, judged
//! by the same rules as local ones.

use super::{Build, Replay, outcome};
use crate::{Captured, Ending, Execution, TargetError};

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
}

impl Execution {
    /// Creates the execution of a command that ran elsewhere, with at most `limit` bytes of
    /// its output.
    pub fn reported(ending: Ending, output: &[u8], seconds: f64, limit: usize) -> Self {
        let total = output.len() as u64;
        let (head, tail) = if output.len() <= limit {
            (output, &[][..])
        } else {
            let (head, rest) = output.split_at(limit / 2);
            (head, rest.split_at(rest.len() - limit / 2).1)
        };
        Self {
            ending,
            output: Captured {
                head: head.to_vec(),
                tail: tail.to_vec(),
                total,
            },
            standard_output: None,
            seconds,
        }
    }
}

impl Replay {
    /// Judges a run; `ran` is the PoV's own proof of having run.
    pub fn judged(execution: Execution, ran: Option<&str>) -> Result<Self, TargetError> {
        let proof =
            outcome::proof(ran).map_err(|e| TargetError::invalid(format!("[[pov]] ran: {e}")))?;
        let (outcome, crash) = outcome::judge(&execution, proof.as_ref());
        Ok(Self {
            outcome,
            crash,
            execution,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Ending, Execution};

    #[test]
    fn keeps_head_and_tail_of_what_was_printed() {
        for (limit, expected) in [
            (6, "abcdef"),
            (9, "abcdef"),
            (4, "ab\n[... 2 bytes left out ...]\nef"),
            (0, "\n[... 6 bytes left out ...]\n"),
        ] {
            let reported = Execution::reported(Ending::Exited(0), b"abcdef", 0.0, limit);
            assert_eq!(reported.text(), expected, "{limit}");
        }
    }
}
