//! The words that go with a patch: subject, message, evidence.
//!
//! The message of a commit says what was wrong; how the patch was checked stands
//! below the `---`, where `git am` drops it.

use super::Exported;
use super::template::{COLUMNS, render};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use patchwright_agent::report::AttemptReport;
use patchwright_agent::template::Error;
use patchwright_source::visible_line;
use serde::Serialize;
use serde_json::{Value, json};

/// Characters of a subject.
const SUBJECT: usize = 120;
/// Bytes of an input that is put into a mail.
const ATTACHED: usize = 16 << 10;
/// Author of an exported patch, where no person is named.
const AUTHOR: &str = "Patchwright <patchwright@localhost>";

/// The people whose names a patch bears.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Signatures {
    /// The author, as in `Name <name@example.org>`.
    pub author: Option<String>,
    /// Adds a sign-off of the author.
    pub signoff: bool,
    /// Whoever reported the crash.
    pub reported_by: Option<String>,
}

impl Signatures {
    /// Returns the author on one line.
    pub(crate) fn author(&self) -> String {
        let author = self.author.as_deref().unwrap_or(AUTHOR);
        visible_line(author).into_owned()
    }
}

/// The subject of a commit: one line, whatever the title holds. With a crash it
/// names the file, the kind and the function, as in `gif2rgb: fix
/// heap-buffer-overflow in DumpScreen2RGB`.
pub(super) fn subject(exported: &Exported<'_>) -> String {
    let report = exported.report;
    let named = report.crash.as_ref().and_then(|crash| {
        let function = crash.function.as_ref()?;
        let file = changed_file(exported.attempt).or(crash.file.as_deref())?;
        let name = file.rsplit('/').next()?;
        let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
        let done = format!("fix {} in {function}", crash.kind);
        Some(exported.style.subject(stem, &done))
    });
    let title = || exported.title.unwrap_or(&report.task);
    let line = named.unwrap_or_else(|| format!("Repair {}", title()));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    visible_line(&line).chars().take(SUBJECT).collect()
}

/// The first file that a patch changes.
fn changed_file(attempt: &AttemptReport) -> Option<&str> {
    let mut lines = attempt.diff.lines();
    lines.find_map(|line| line.strip_prefix("+++ b/"))
}

/// Returns what the templates of a candidate read.
pub(super) fn values(exported: &Exported<'_>, day: &str) -> Value {
    let Exported {
        report,
        attempt,
        signatures,
        changed_by,
        style,
        reproduction,
        ..
    } = exported;
    let introduced_by = report.introduced_by.as_ref();
    json!({
        "report": report,
        "attempt": attempt,
        "signatures": signatures,
        "changed_by": changed_by,
        "fixes": style.fixes,
        "reproduction": reproduction,
        "width": style.width.unwrap_or(COLUMNS),
        "day": day,
        "author": signatures.author(),
        "encoded": exported.smallest.and_then(encoded),
        "introduced_by": introduced_by.map(patchwright_agent::record::CommitRecord::in_words),
        "size": exported.smallest.map(<[u8]>::len),
        "subject": subject(exported),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// Returns an input in lines of base64, where it is small enough for a mail.
fn encoded(input: &[u8]) -> Option<String> {
    if input.is_empty() || input.len() > ATTACHED {
        return None;
    }
    let encoded = STANDARD.encode(input);
    let lines = encoded.as_bytes().chunks(COLUMNS);
    let lines: Vec<_> = lines.map(String::from_utf8_lossy).collect();
    Some(lines.join("\n"))
}

/// The whole message of a commit.
pub(crate) fn commit_message(exported: &Exported<'_>) -> Result<String, Error> {
    let body = render("body.txt", &values(exported, ""))?;
    Ok(format!("{}\n\n{body}", subject(exported)))
}

/// The body of a mail: the message, the evidence and the patch.
pub(super) fn mail_body(exported: &Exported<'_>) -> Result<String, Error> {
    render("mail.txt", &values(exported, ""))
}

/// The text of a pull request, as Markdown.
pub(crate) fn pull_request(exported: &Exported<'_>) -> Result<String, Error> {
    render("pull_request.md", &values(exported, ""))
}

/// A patch of a quilt series, with the headers of DEP-3.
pub(crate) fn quilt(exported: &Exported<'_>, day: &str) -> Result<String, Error> {
    render("quilt.txt", &values(exported, day))
}
