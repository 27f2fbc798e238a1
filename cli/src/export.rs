//! A finished run in forms that people and their tools take in: a folder with
//! its story, a mail for `git am`, a branch of a repository, the text of a pull
//! request, a patch of a quilt series, and records of the finding.
//!
//! Exports are read from the report and the journal; nothing is built,
//! asked or judged here, and no work tree is touched.

mod branch;
mod interface;
mod message;
mod story;
mod style;
mod template;

pub(crate) use branch::{LastChange, identity, last_change, make as make_branch};
pub(crate) use message::{Signatures, letter, mail, sarif, text};
pub(crate) use story::story;
pub(crate) use style::{Style, reproduction};
pub(crate) use template::ending;
#[cfg(feature = "daemon")]
pub(crate) use template::render;

use patchwright_agent::report::{AttemptReport, Report};

/// A candidate of a run, and what its readers are told beside it.
#[derive(Debug)]
pub(crate) struct Exported<'a> {
    /// The task's title.
    pub title: Option<&'a str>,
    /// The run.
    pub report: &'a Report,
    /// The candidate.
    pub attempt: &'a AttemptReport,
    /// The smallest input that shows the crash.
    pub smallest: Option<&'a [u8]>,
    /// The people whose names it bears.
    pub signatures: Signatures,
    /// The commit that changed the crashing line last.
    pub changed_by: Option<LastChange>,
    pub style: Style,
    /// 1 for a first patch, more for one that answers reviews of those before it.
    pub version: u32,
    /// The review that it answers.
    pub review: Option<&'a str>,
    /// Lines for a shell that show the crash in a fresh clone.
    pub reproduction: Option<String>,
}

#[cfg(test)]
mod tests;
