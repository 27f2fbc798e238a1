//! Overrun: compares what a running command uses with what it may use, and tells a command
//! that took too much from a machine that has nothing left.

use super::disk::Disk;
use super::{Limit, Limits, Overrun, watch};
use std::path::PathBuf;

/// Said when a command ended only because the machine was out of memory.
const OUT_OF_MEMORY: &str = "the machine ran out of memory while a small command ran";
/// With less resident memory than this a command is not what filled the machine.
const TO_BLAME: u64 = 1 << 30;

/// Looks at a command from time to time.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The process that everything of the command is below.
    root: u32,
    limits: Limits,
    disk: Disk,
    in_memory: &'static [&'static str],
    /// The most resident memory that was seen, in bytes.
    most: u64,
}

impl Watch {
    /// Watches all processes below `root`, the folders that they write to, and their folders
    /// in memory.
    pub(crate) fn new(
        root: u32,
        limits: Limits,
        writes: &[PathBuf],
        in_memory: &'static [&'static str],
    ) -> Self {
        Self {
            root,
            limits,
            disk: Disk::new(writes, limits.disk),
            in_memory,
            most: 0,
        }
    }

    /// Tells whether the command came near its memory limit: who is killed then was killed
    /// for it, by a control group that is quicker than a look.
    pub(crate) fn was_near_memory(&self) -> bool {
        self.most > self.limits.memory / 2
    }

    /// Looks once; none where the command is within its limits.
    pub(crate) fn look(&mut self) -> Option<Overrun> {
        let usage = watch::usage(self.root, self.limits.memory, self.in_memory);
        let full = watch::machine_is_full();
        self.most = self.most.max(usage.resident);
        if usage.resident > self.limits.memory || full {
            let to_blame = usage.resident >= TO_BLAME.min(self.limits.memory);
            return Some(Overrun {
                limit: Limit::Memory,
                shortage: (full && !to_blame).then_some(OUT_OF_MEMORY),
            });
        }
        if usage.processes > self.limits.processes {
            return Some(Overrun::of_command(Limit::Processes));
        }
        self.disk.look(self.root)
    }
}
