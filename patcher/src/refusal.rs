//! Refusal of an edit, in words that let its writer mend it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The rule by which an edit is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The reply does not say what is needed.
    #[default]
    Incomplete,
    /// The original stands nowhere in the file.
    NotFound,
    /// The original stands at several places.
    Ambiguous,
    /// The original quotes what an earlier attempt added.
    EarlierPatch,
    /// The result of the edit stands there already.
    AlreadyApplied,
    /// The edit changes nothing.
    NoChange,
    /// Two edits want the same lines or the same file.
    Overlap,
    /// The file is not in the tree.
    NoSuchFile,
    /// The file is there already.
    Exists,
    /// The path leaves the tree or is no path.
    OutsideTree,
    /// The task protects the file.
    Protected,
    /// The file is a fuzzing harness.
    Harness,
    /// The file is a test.
    Test,
    /// The file steers the build.
    BuildFile,
    /// The patch or a file is too large.
    TooLarge,
    /// The file is no text, or would not be any more.
    Binary,
    /// A symbolic link is involved.
    Link,
    /// A file mode would change.
    Mode,
    /// The text cannot be written in the file's encoding.
    Encoding,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One edit that was not taken, and why. Its `Display` is meant for the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The edit, counted from 1; 0 for the patch as a whole.
    pub edit: usize,
    /// The file, as far as it is known.
    pub file: String,
    /// The lines that the edit named.
    pub lines: Option<(u32, u32)>,
    pub rule: Rule,
    /// The mistake, and how to mend it.
    pub reason: String,
    /// The first lines of the places that came into question.
    pub candidates: Vec<u32>,
    /// The nearest lines of the file, as they are, and between them the lines
    /// of the original that the file does not have.
    pub nearest: Vec<ShownLine>,
}

/// A line that is shown with a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownLine {
    /// Its number in the file; `None` for a line that only the original has.
    pub number: Option<u32>,
    pub text: String,
}

impl Refusal {
    /// A refusal whose edit is not known here.
    pub(crate) fn new(rule: Rule, reason: impl Into<String>) -> Self {
        Self {
            rule,
            reason: reason.into(),
            ..Self::default()
        }
    }
}

/// Refuses an edit that is not known here.
pub(crate) fn refuse<T>(rule: Rule, reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(rule, reason))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.edit == 0 {
            f.write_str("patch")?;
        } else {
            write!(f, "edit {}", self.edit)?;
        }
        match (self.file.as_str(), self.lines) {
            ("", _) => {}
            (file, None) => write!(f, " ({file})")?,
            (file, Some((first, last))) if first == last => write!(f, " ({file}:{first})")?,
            (file, Some((first, last))) => write!(f, " ({file}:{first}-{last})")?,
        }
        write!(f, " refused [{}]: {}", self.rule, self.reason)?;
        self.write_nearest(f)
    }
}

impl Refusal {
    fn write_nearest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.nearest.iter().filter_map(|line| line.number);
        let Some(last) = numbers.max() else {
            return Ok(());
        };
        let width = last.to_string().len();
        f.write_str("\nthe nearest lines of the file are")?;
        if self.nearest.iter().any(|line| line.number.is_none()) {
            f.write_str(" (> marks lines of the original that are not there)")?;
        }
        f.write_str(":")?;
        for ShownLine { number, text } in &self.nearest {
            let line = match number {
                Some(number) => format!("{number:width$}: {text}"),
                None => format!("{:>width$}: {text}", ">"),
            };
            write!(f, "\n{}", line.trim_end())?;
        }
        Ok(())
    }
}
