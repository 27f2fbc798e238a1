//! The words that go with a patch: subject, message, evidence.
//!
//! The message of a commit says what was wrong; how the patch was checked stands
//! below the `---`, where `git am` drops it.

use super::Exported;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use patchwright_agent::report::{AttemptReport, RungReport};
use patchwright_source::{counted, visible_line};
use std::fmt::Write;

/// Columns of a message (Documentation/SubmittingPatches of git).
const COLUMNS: usize = 72;
/// Characters of a subject.
const SUBJECT: usize = 120;
/// Bytes of an input that is put into a mail.
const ATTACHED: usize = 16 << 10;
/// Author of an exported patch, where no person is named.
const AUTHOR: &str = "Patchwright <patchwright@localhost>";

/// The people whose names a patch bears.
#[derive(Debug, Clone, Default)]
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

    /// The trailers of a commit message.
    fn trailers(&self) -> String {
        let mut text = String::new();
        if let Some(reporter) = &self.reported_by {
            let _ = writeln!(text, "Reported-by: {}", visible_line(reporter));
        }
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(text, "Assisted-by: Patchwright {version}");
        if self.signoff {
            let _ = writeln!(text, "Signed-off-by: {}", self.author());
        }
        text
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
        Some(format!("{stem}: fix {} in {function}", crash.kind))
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

/// The body of a commit: the explanation, the crash, the trailers.
pub(super) fn body(exported: &Exported<'_>) -> String {
    let mut text = String::new();
    if let Some(explanation) = &exported.attempt.explanation {
        text.push_str(&wrapped(explanation));
        text.push('\n');
    }
    if let Some(crash) = &exported.report.crash {
        text.push_str(&wrapped(&format!("The crash: {}", crash.summary)));
        text.push('\n');
    }
    text.push_str(&exported.signatures.trailers());
    text
}

/// The checks of the patch, in plain words.
pub(super) fn evidence(exported: &Exported<'_>) -> String {
    let (report, attempt) = (exported.report, exported.attempt);
    let mut text = format!(
        "Written and checked by Patchwright: {} (run {}, candidate {}).\n",
        report.ending, report.run, attempt.number
    );
    for rung in &attempt.rungs {
        let _ = writeln!(text, "- {}", in_plain_words(rung));
    }
    if let Some(commit) = &report.introduced_by {
        let _ = writeln!(text, "- The crash was introduced by {}.", commit.in_words());
    } else if let Some(change) = exported.changed_by {
        let _ = writeln!(
            text,
            "- The line that crashes was last changed by {}.",
            visible_line(change)
        );
    }
    text
}

/// The smallest input that shows the crash, in base64, where it is small enough for a
/// mail; its size otherwise.
pub(super) fn attached(exported: &Exported<'_>) -> String {
    let Some(input) = exported.smallest else {
        return String::new();
    };
    let size = counted(input.len() as u64, "byte");
    if input.is_empty() || input.len() > ATTACHED {
        return format!("An input of {size} shows the crash in the unpatched program.\n");
    }
    let encoded = STANDARD.encode(input);
    let lines = encoded.as_bytes().chunks(COLUMNS);
    let lines: Vec<String> = lines
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    format!(
        "The attached input of {size} shows the crash in the unpatched program\n\
         (for `base64 -d`):\n\n{}\n",
        lines.join("\n")
    )
}

/// One check in a sentence that needs no knowledge of the ladder.
fn in_plain_words(rung: &RungReport) -> String {
    let what = match rung.name.as_str() {
        "applies" => "The edits have their place",
        "parses" => "The syntax is right",
        "builds" => "The project builds",
        "silent" => "The crashing input does no harm any more",
        "tested" => "The tests pass as before",
        "robust" => "Changed crashing inputs do no harm",
        "same elsewhere" => "Other inputs are treated as before",
        "reviewed" => "The review has no objection",
        other => other,
    };
    let reason = visible_line(rung.reason.lines().next().unwrap_or_default()).into_owned();
    match rung.holds {
        Some(true) => format!("{what}: {reason}."),
        Some(false) => format!("NOT SO: {what}: {reason}."),
        None => format!("Not known: {what}: {reason}."),
    }
}

/// The whole message of a commit.
pub(crate) fn commit_message(exported: &Exported<'_>) -> String {
    format!("{}\n\n{}", subject(exported), body(exported))
}

/// The text of a pull request, as Markdown.
pub(crate) fn pull_request(exported: &Exported<'_>) -> String {
    let mut text = format!("{}\n\n", subject(exported));
    if let Some(explanation) = &exported.attempt.explanation {
        let _ = writeln!(text, "{}\n", quoted(explanation));
    }
    if let Some(crash) = &exported.report.crash {
        let _ = writeln!(text, "**Crash before:** {}\n", quoted(&crash.summary));
    }
    let _ = writeln!(text, "**How it was checked**\n");
    text.push_str(&quoted(&evidence(exported)));
    if let Some(input) = exported.smallest {
        let size = counted(input.len() as u64, "byte");
        let _ = writeln!(
            text,
            "\n<details><summary>An input of {size} that shows the crash</summary>\n"
        );
        let _ = writeln!(text, "```\n{}```\n\n</details>", attached(exported));
    }
    let _ = writeln!(
        text,
        "\nNo check proves a patch right: please read the diff."
    );
    text
}

/// Foreign words in Markdown: visible, and without HTML.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .trim()
        .lines()
        .map(|line| visible_line(line).replace('<', "&lt;"))
        .collect();
    lines.join("\n") + "\n"
}

/// A patch of a quilt series, with the headers of DEP-3.
pub(crate) fn quilt(exported: &Exported<'_>, day: &str) -> String {
    let signatures = exported.signatures;
    let mut text = format!("Description: {}\n", subject(exported));
    for line in body(exported).trim_end().lines() {
        // A line of a long description begins with a space; an empty one is a dot.
        let line = if line.is_empty() { "." } else { line };
        let _ = writeln!(text, " {line}");
    }
    let _ = writeln!(text, "Author: {}", signatures.author());
    let _ = writeln!(text, "Forwarded: no");
    let _ = writeln!(text, "Last-Update: {day}");
    text + "---\nThis patch header follows DEP-3: http://dep.debian.net/deps/dep3/\n"
}

/// Text in lines of a message. A line that would end the message or begin a patch
/// is moved in.
fn wrapped(text: &str) -> String {
    let mut wrapped = String::new();
    for paragraph in text.trim().split("\n\n") {
        let mut column = 0;
        for word in paragraph.split_whitespace() {
            let word = visible_line(word);
            if column > 0 && column + 1 + word.chars().count() > COLUMNS {
                wrapped.push('\n');
                column = 0;
            }
            let mut marks = ["---", "diff", "Index:", "From"].iter();
            if column > 0 || marks.any(|mark| word.starts_with(mark)) {
                wrapped.push(' ');
                column += 1;
            }
            wrapped.push_str(&word);
            column += word.chars().count();
        }
        wrapped.push_str("\n\n");
    }
    wrapped.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn text_is_wrapped_and_begins_no_patch() {
        let text = format!("{} end\n\n--- a/b\nFrom me", "word ".repeat(20));
        let wrapped = wrapped(&text);
        assert!(wrapped.lines().all(|line| line.len() <= 72), "{wrapped}");
        assert!(wrapped.ends_with(" end\n\n --- a/b From me\n"), "{wrapped}");
    }
}
