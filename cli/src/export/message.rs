//! The words that go with a patch: subject, message, mail, evidence, records of the finding.
//!
//! The message of a commit says what was wrong; how the patch was checked stands
//! below the `---`, where `git am` drops it.

use super::Exported;
use super::template::{COLUMNS, render};
use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use patchwright_agent::template::Error;
use patchwright_crash::plain_name;
use patchwright_source::{DiffHunk, FileDiff, Side, visible_line};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// Characters of a subject.
const SUBJECT: usize = 120;
/// Characters of a function's name in it.
const NAME: usize = 32;
/// Bytes of an input that is put into a mail.
const ATTACHED: usize = 16 << 10;
/// Author of an exported patch, where no person is named.
const AUTHOR: &str = "Patchwright <patchwright@localhost>";

/// The people whose names a patch bears.
#[derive(Debug, Clone, Default, Serialize, Args)]
pub(crate) struct Signatures {
    /// The author of the patch, as in 'Name <name@example.org>'
    #[arg(long, value_name = "WHO", value_parser = person)]
    pub author: Option<String>,
    /// Add a sign-off of the author
    #[arg(long, requires = "author")]
    pub signoff: bool,
    /// Whoever reported the crash
    #[arg(long, value_name = "WHO")]
    pub reported_by: Option<String>,
}

/// Checks the form of a person's name with an address.
fn person(text: &str) -> Result<String, String> {
    let fine = text.split_once('<').is_some_and(|(name, rest)| {
        let is_plain = !text.chars().any(char::is_control);
        !name.trim().is_empty() && rest.ends_with('>') && rest.contains('@') && is_plain
    });
    let expected = "expected 'Name <name@example.org>'";
    fine.then(|| text.to_owned())
        .ok_or_else(|| expected.to_owned())
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
        let file = changed_file(&exported.attempt.diff).or(crash.file.clone())?;
        let name = file.rsplit('/').next()?;
        let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
        // Java's names bear their packages, which the file tells.
        let kind = crash.kind.rsplit('.').next()?;
        let function = if kind == crash.kind {
            let plain = plain_name(function);
            let no_name =
                |part: &&str| part.starts_with(['{', '(']) || part.starts_with("operator");
            let last = { plain.rsplit("::") }.find(|part| !no_name(part));
            let last = last.map(str::to_owned);
            // A reader knows the function without the types and namespaces that fill the line.
            last.filter(|_| plain.len() > NAME).unwrap_or(plain)
        } else {
            simple_name(function)
        };
        let done = format!("fix {kind} in {function}");
        Some(exported.style.subject(stem, &done))
    });
    let title = || exported.title.unwrap_or(&report.task);
    let line = named.unwrap_or_else(|| format!("Repair {}", title()));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    visible_line(&line).chars().take(SUBJECT).collect()
}

/// Returns a method's name of Java without its package.
fn simple_name(method: &str) -> String {
    let parts: Vec<&str> = method.split(['.', '$']).collect();
    let is_class = |part: &&str| part.starts_with(char::is_uppercase);
    let class = parts.iter().position(is_class);
    let named: Vec<&str> = parts.into_iter().skip(class.unwrap_or_default()).collect();
    named.join(".")
}

/// Returns the file of which a patch changes the most lines.
fn changed_file(diff: &str) -> Option<String> {
    let files = FileDiff::read(diff)?.into_iter().rev();
    let changed = |file: &FileDiff| {
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(|line| line.side != Side::Both).count()
    };
    files.max_by_key(changed)?.new
}

/// Returns what the templates of a candidate read.
pub(super) fn values(exported: &Exported<'_>, day: &str) -> Value {
    let (report, style) = (exported.report, &exported.style);
    let files = FileDiff::read(&exported.attempt.diff).unwrap_or_default();
    json!({
        "report": report,
        "attempt": exported.attempt,
        "signatures": exported.signatures,
        "changed_by": exported.changed_by,
        "fixes": style.fixes,
        "version_of_patch": exported.version,
        "review": exported.review,
        "interface": super::interface::changes(&files),
        "reproduction": exported.reproduction,
        "width": style.width.unwrap_or(COLUMNS),
        "day": day,
        "author": exported.signatures.author(),
        "encoded": exported.smallest.and_then(encoded),
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

/// Returns the text of a candidate that a template writes: `body.txt` of a commit, `mail.txt` with
/// the evidence and the patch, `pull_request.md`, `quilt.txt` with the headers of DEP-3 and this day,
/// `openvex.json` with this time.
pub(crate) fn text(template: &str, exported: &Exported<'_>, day: &str) -> Result<String, Error> {
    render(template, &values(exported, day))
}

/// The whole message of a commit.
pub(super) fn commit_message(exported: &Exported<'_>) -> Result<String, Error> {
    let body = text("body.txt", exported, "")?;
    Ok(format!("{}\n\n{body}", subject(exported)))
}

/// Returns a SARIF log with the crash as one result and the patch as its fix.
///
/// # Errors
/// The diff of the patch cannot be read.
pub(crate) fn sarif(exported: &Exported<'_>) -> anyhow::Result<Value> {
    let changes = changes(&exported.attempt.diff)?;
    let values = json!({ "of": values(exported, ""), "changes": changes });
    Ok(serde_json::from_str(&render("sarif.json", &values)?)?)
}

/// The hunks of a unified diff as replacements of whole lines.
fn changes(diff: &str) -> anyhow::Result<Vec<Value>> {
    let files = FileDiff::read(diff).context("the diff of the patch cannot be read")?;
    let changed = files.into_iter().filter(|file| !file.hunks.is_empty());
    let changes = changed.filter_map(|file| {
        let replacements: Vec<Value> = file.hunks.iter().map(replacement).collect();
        let place = json!({ "uri": file.old? });
        Some(json!({ "artifactLocation": place, "replacements": replacements }))
    });
    Ok(changes.collect())
}

fn replacement(hunk: &DiffHunk) -> Value {
    let count = hunk.old_count();
    // Of no lines the header names the one before.
    let start = hunk.old_start + u32::from(count == 0);
    let kept = hunk.lines.iter().filter(|line| line.side != Side::Old);
    let new: String = kept.map(|line| format!("{}\n", line.text)).collect();
    json!({
        "deletedRegion": { "startLine": start, "startColumn": 1, "endLine": start + count, "endColumn": 1 },
        "insertedContent": { "text": new },
    })
}

/// Longest line of a mail (RFC 5322, without the line break).
const LINE: usize = 998;
/// The hash that stands for no commit.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Writes the mail with one patch; `time` is when the run began.
///
/// # Errors
/// The time has no form in a mail, since it lies before the year 0, or a template does
/// not fit the report.
pub(crate) fn mail(exported: &Exported<'_>, time: jiff::Timestamp) -> anyhow::Result<String> {
    let date = jiff::fmt::rfc2822::to_string(&time.to_zoned(jiff::tz::TimeZone::UTC))?;
    let mark = match exported.version {
        ..=1 => "[PATCH]".to_owned(),
        version => format!("[PATCH v{version}]"),
    };
    let headers = json!({
        "commit": NO_COMMIT,
        "author": exported.signatures.author(),
        "date": date,
        "subject": format!("{mark} {}", subject(exported)),
    });
    let body = text("mail.txt", exported, "")?;
    Ok(letter(&headers, body.as_bytes())?)
}

/// Writes a mail with these headers, each on one line: `commit`, `author`, `date`, `subject`.
///
/// # Errors
/// The template does not fit the headers.
pub(crate) fn letter(headers: &Value, body: &[u8]) -> Result<String, Error> {
    let is_plain = |body: &&str| {
        let mut lines = body.lines();
        !body.contains('\r') && lines.all(|line| line.len() <= LINE && !line.starts_with("From "))
    };
    let (encoding, body) = match std::str::from_utf8(body).ok().filter(is_plain) {
        Some(plain) => ("8bit", plain.to_owned()),
        None => ("quoted-printable", quoted_printable(body)),
    };
    let values = json!({ "headers": headers, "encoding": encoding, "body": body });
    render("letter.txt", &values)
}

/// The encoding that keeps carriage returns and long lines as they are.
fn quoted_printable(body: &[u8]) -> String {
    let mut text = String::new();
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let (content, end) = match line.strip_suffix(b"\n") {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        let mut width = 0;
        for (at, &byte) in content.iter().enumerate() {
            let last = at + 1 == content.len();
            let from = at == 0 && content.starts_with(b"From ");
            let plain = matches!(byte, b'!'..=b'<' | b'>'..=b'~') && !from
                || matches!(byte, b' ' | b'\t') && !last;
            if width > 70 {
                text.push_str("=\n");
                width = 0;
            }
            if plain {
                text.push(char::from(byte));
                width += 1;
            } else {
                let _ = write!(text, "={byte:02X}");
                width += 3;
            }
        }
        text.push_str(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{changed_file, changes};

    #[test]
    fn the_file_that_changes_most_gives_a_subject_its_name() {
        let diff = "--- a/a.h\n+++ b/a.h\n@@ -1 +1 @@\n-a\n+b\n--- a/a.c\n+++ b/a.c\n@@ -3 +3,2 @@\n-x\n+y\n+z\n--- a/b.c\n+++ b/b.c\n@@ -3 +3,2 @@\n-x\n+y\n+z\n";
        assert_eq!(changed_file(diff).as_deref(), Some("a.c"));
    }

    #[test]
    fn hunks_are_replacements_of_lines() {
        let diff = "--- a/a.c\n+++ b/a.c\n@@ -3,2 +3,3 @@ f\n x\n+y\n-z\n+w\n--- a/b.c\n+++ b/b.c\n@@ -1 +1 @@\n-a\n+b\n";
        let found = changes(diff).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        let first = &found[0]["replacements"][0];
        assert_eq!(first["deletedRegion"]["startLine"], 3);
        assert_eq!(first["deletedRegion"]["endLine"], 5);
        assert_eq!(first["insertedContent"]["text"], "x\ny\nw\n");
        assert_eq!(found[1]["artifactLocation"]["uri"], "b.c");
    }
}
