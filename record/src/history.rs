//! Commits of a project's history that concern a crash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A commit that concerns a crash: the one that fixed it, or the one that introduced it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitRecord {
    /// Its hash.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// Its author's name.
    pub author: String,
    /// Its date, as RFC 3339 writes it.
    pub date: String,
    /// The number of commits that it may be as well, because those between could not be
    /// tried; 1 when it is certain.
    pub among: u64,
    /// Its diff, for a commit that fixed the crash.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// The history of a crash, as far as it was looked at before a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashHistory {
    /// The commit after which the PoVs do not crash any more.
    pub fixed_by: Option<CommitRecord>,
    /// The commit after which the PoVs crash.
    pub introduced_by: Option<CommitRecord>,
}

impl CommitRecord {
    /// Names it in one line.
    pub fn in_words(&self) -> String {
        let short: String = self.commit.chars().take(12).collect();
        let day: String = self.date.chars().take(10).collect();
        let named = format!("{short} (\"{}\", {}, {day})", self.subject, self.author);
        match self.among {
            0 | 1 => named,
            2 => format!("{named} or the commit before it"),
            among => format!("{named} or one of the {} commits before it", among - 1),
        }
    }
}
