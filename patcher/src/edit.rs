//! Edits of a reply, as they were written: nothing is checked yet.

use crate::Refusal;
use serde::{Deserialize, Serialize};

/// The edits of one reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The root cause and why this is the fix, in the model's words.
    pub explanation: Option<String>,
    /// The edits in the order they were written.
    pub edits: Vec<Edit>,
}

/// One edit. Paths and texts are as they were written; lines count from 1 and
/// are those of the pristine tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Edit {
    /// Lines become other lines.
    Replace {
        file: String,
        /// The numbers that the model gives the lines.
        lines: Option<(u32, u32)>,
        /// The lines as they are; `None` when the reply did not say.
        original: Option<String>,
        /// The lines as they shall be, empty for a deletion; `None` when the
        /// reply did not say.
        replacement: Option<String>,
    },
    /// New lines between two lines.
    Insert {
        file: String,
        /// The line they follow, 0 for the top; `None` when the reply did not
        /// say.
        after: Option<u32>,
        /// The new lines.
        text: String,
    },
    /// A new file.
    Create {
        file: String,
        text: String,
        /// The content is to be written as Latin-1.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        latin1: bool,
        /// The last line stays without a line end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unterminated: bool,
    },
    /// A file goes.
    Delete {
        file: String,
        /// Its content as far as the writer knew it; it must fit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        original: Option<String>,
    },
    /// A file gets another name.
    Rename {
        /// The name it has.
        from: String,
        /// The name it gets.
        to: String,
    },
    /// One hunk of a unified diff.
    Hunk(Hunk),
    /// Something that a diff can say and no patch may do, such as a new mode. Whole functions,
    /// which journals of earlier releases hold, are read as such.
    #[serde(alias = "definition")]
    Unsupported {
        file: String,
        /// The thing that was asked for.
        #[serde(default)]
        what: String,
        /// The rule that it breaks.
        #[serde(default)]
        rule: crate::Rule,
    },
}

/// One hunk of a unified diff: both sides, context included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The file, with or without the prefix of a diff.
    pub file: String,
    /// The first old line by the hunk's header; where the old side is empty,
    /// the line before.
    pub start: Option<u32>,
    /// The section that the hunk's header names: a function, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// The old lines.
    pub old: Vec<String>,
    /// The new lines.
    pub new: Vec<String>,
    /// The old side is marked to end without a line end.
    #[serde(default)]
    pub old_unterminated: bool,
    /// The new side is marked to end without a line end.
    #[serde(default)]
    pub new_unterminated: bool,
    /// The lines came from bytes that are no UTF-8.
    #[serde(default)]
    pub latin1: bool,
}

impl Edit {
    /// The file that is touched, as it was written.
    pub fn file(&self) -> &str {
        match self {
            Self::Replace { file, .. }
            | Self::Insert { file, .. }
            | Self::Create { file, .. }
            | Self::Delete { file, .. }
            | Self::Unsupported { file, .. } => file,
            Self::Rename { from, .. } => from,
            Self::Hunk(hunk) => &hunk.file,
        }
    }

    /// Names this edit in its refusal.
    pub(crate) fn refused(&self, number: usize, refusal: Refusal) -> Refusal {
        Refusal {
            edit: number,
            file: self.file().to_owned(),
            lines: self.lines(),
            ..refusal
        }
    }

    /// The lines that were named, if any were.
    pub fn lines(&self) -> Option<(u32, u32)> {
        match self {
            Self::Replace { lines, .. } => *lines,
            Self::Insert { after, .. } => after.map(|line| (line, line)),
            Self::Hunk(hunk) => {
                let count = u32::try_from(hunk.old.len().max(1)).ok()?;
                let start = hunk.start?;
                Some((start, start.saturating_add(count - 1)))
            }
            _ => None,
        }
    }
}
