//! The validated task: one thing to repair, with everything that is needed to
//! do it.
//!
//! [`mod@file`] is the shape that people write (TOML) and programs send (JSON);
//! [`Task`] is what has been checked: paths made absolute and found, choices
//! made unambiguous. This module reads the files a task names, and nothing
//! else: it does not fetch, build or run.

pub mod file;
mod read;
#[cfg(test)]
mod tests;

pub use file::{HintKeys as Hints, Mode, TaskFile, TaskLimits};
pub use patchwright_record::{Commands, Pov};
pub use read::{TaskError, from_file, is_id, keys, read, read_to_propose};

use crate::record::FollowUp;
use patchwright_sandbox::Image;
use patchwright_source::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A task whose files were found and whose choices are settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// `[A-Za-z0-9._-]{1,128}`; the same id is the same task.
    pub id: String,
    /// C, C++ or Java.
    pub language: Language,
    /// True when commands are run.
    pub mode: Mode,
    /// Lanes of a repair, or proposals of a dry run; at least one.
    pub candidates: u32,
    /// A line for people.
    pub title: Option<String>,
    /// The folder of the task file, absolute.
    pub folder: PathBuf,
    /// Where the source comes from.
    pub source: Source,
    /// Where the tree is seen inside the sandbox.
    pub seen_as: Option<String>,
    /// The image that commands run in; this machine's own programs without one.
    pub image: Option<Image>,
    pub commands: Commands,
    /// Environment of the build, by sanitizer.
    pub builds: BTreeMap<String, BTreeMap<String, String>>,
    /// The inputs that make the program crash.
    pub povs: Vec<Pov>,
    /// Crash report of whoever found the bug.
    pub crash: Option<String>,
    /// Inputs that are fine today, absolute and sorted.
    pub harmless: Vec<PathBuf>,
    /// Further knowledge about the bug: here the texts of the files that the keys name.
    pub hints: Hints,
    /// Paths and globs that are never edited.
    pub protect: Vec<String>,
    /// Limits of this task, over those of the settings.
    pub limits: TaskLimits,
    /// A recorded transcript that stands in for the model.
    pub transcript: Option<PathBuf>,
    /// The sender of the task.
    #[serde(default, skip_serializing_if = "Sender::is_local")]
    pub sender: Sender,
    /// The files that came with it: their paths in its folder, and the hashes
    /// that the store keeps them by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sent: BTreeMap<String, String>,
    /// The candidate of an earlier run that a person wants revised or evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<FollowUp>,
}

/// Sender of a task, which decides what the task may name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    /// A user of this machine: their files, their network, their limits.
    #[default]
    Local,
    /// A cyber reasoning system: what the operator's template names, within the
    /// limits of the settings.
    Crs,
    /// Somebody over the network: what the settings allow.
    Remote,
}

impl Sender {
    /// Tells whether it is a user of this machine.
    pub fn is_local(&self) -> bool {
        *self == Self::Local
    }
}

/// Where the folder of a task lies that came over the network, until whoever
/// works on it has laid its files out.
pub const NOWHERE: &str = "/task";

impl Task {
    /// The same task with its folder elsewhere.
    #[must_use]
    pub fn moved_to(mut self, folder: &Path) -> Self {
        let from = std::mem::replace(&mut self.folder, folder.to_path_buf());
        let moved = |path: &mut PathBuf| {
            if let Ok(below) = path.strip_prefix(&from) {
                *path = folder.join(below);
            }
        };
        self.povs.iter_mut().for_each(|pov| moved(&mut pov.file));
        self.harmless.iter_mut().for_each(moved);
        self.transcript.iter_mut().for_each(moved);
        if let Some(Image::Dockerfile(file)) = &mut self.image {
            moved(file);
        }
        self
    }
}

/// Where the source tree of a task comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A folder on this machine, absolute.
    Path(PathBuf),
    /// A repository and what to check out of it.
    Git {
        /// URL or path of the repository.
        url: String,
        /// A commit, tag or branch.
        revision: String,
    },
    /// A tarball and the hash it must have.
    Archive {
        /// URL or path of the archive.
        location: String,
        /// SHA-256 in hexadecimal.
        sha256: String,
    },
    /// A command, run once with network, that fills `$TREE`.
    Fetch(String),
}
