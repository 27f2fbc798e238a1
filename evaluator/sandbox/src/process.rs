//! Runs one program with limits and tells how it ended.
//!
//! One thread a command: it waits for the exit, the output, the clock and the
//! caller in a single `poll`, and looks at memory and the number of processes
//! a few times a second. What keeps the program away from the host is the
//! business of `isolation`.

mod capture;
pub(crate) mod cgroup;
pub mod disk;
mod overrun;
mod supervise;
pub(crate) mod watch;

pub use capture::Captured;
pub(crate) use capture::Collector;
pub(crate) use cgroup::Group;
pub(crate) use overrun::Watch;
pub(crate) use supervise::run;
pub use watch::size_below;

use crate::identity::Ids;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Which limit ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It ran longer than its wall time.
    WallTime,
    /// Its processes together held more memory than allowed, or the machine ran out.
    Memory,
    /// It started more processes than allowed.
    Processes,
    /// It wrote more to disk than allowed.
    Disk,
}

impl Limit {
    /// The limit in words that complete "it hit its ...".
    pub fn text(self) -> &'static str {
        match self {
            Self::WallTime => "time limit",
            Self::Memory => "memory limit",
            Self::Processes => "limit of processes",
            Self::Disk => "disk limit",
        }
    }
}

/// A command that has to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overrun {
    pub(crate) limit: Limit,
    /// The shortage of the machine, where the command is not to blame.
    pub(crate) shortage: Option<&'static str>,
}

impl Overrun {
    fn of_command(limit: Limit) -> Self {
        Self {
            limit,
            shortage: None,
        }
    }
}

/// Ending of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It left with this status.
    Exited(i32),
    Signal(i32),
    /// A limit was hit, and everything it had started was killed.
    Limit(Limit),
}

impl Ending {
    /// Tells whether it left with status 0.
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }

    /// A shell reports a signal as 128 + its number; this undoes it.
    pub fn from_shell(status: i32) -> Self {
        match status {
            129..=192 => Self::Signal(status - 128),
            status => Self::Exited(status),
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exit status {status}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Limit(limit) => write!(f, "hit its {}", limit.text()),
        }
    }
}

/// One finished command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    pub ending: Ending,
    /// Output of both streams, in order.
    pub output: Captured,
    /// Wall time in seconds.
    pub seconds: f64,
}

impl Execution {
    /// Returns its output as text.
    pub fn text(&self) -> String {
        self.output.text()
    }

    /// Creates the execution of a command that ran elsewhere, with at most `limit` bytes of
    /// its output.
    pub fn reported(ending: Ending, output: &[u8], seconds: f64, limit: usize) -> Self {
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
                total: output.len() as u64,
            },
            seconds,
        }
    }
}

/// A supervisor about to be run: it ends everything below it when its standard
/// input closes, leaves with the status of its command, and dies of a signal
/// only when it has failed itself.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<String, OsString>,
    /// The folders whose growth counts as the command's disk use.
    pub(crate) writes: Vec<PathBuf>,
    /// Folders, as the command sees them, that lie in memory and are its own.
    pub(crate) in_memory: &'static [&'static str],
    /// The control group that it is put into.
    pub(crate) group: Option<Group>,
    /// The users of the namespace that the supervisor asks for, each with its number inside.
    pub(crate) namespace: Option<Vec<(u32, Ids)>>,
}

/// Limits of one command.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub wall: Duration,
    /// Without a new byte of output for this long the command counts as hanging.
    pub idle: Option<Duration>,
    pub memory: u64,
    pub processes: u64,
    pub output: usize,
    pub disk: u64,
}

#[cfg(test)]
mod tests {
    use super::{Ending, Execution};

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
