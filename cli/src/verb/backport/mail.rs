//! The mail of a carried commit: in its author's name and words, with the commit named as the
//! branch names the ones that it takes over.

use super::branch::{Branch, Carried};
use super::{Backport, file_name};
use crate::common::write_file;
use crate::export::{ending, letter};
use crate::verb::export::write_mail;
use anyhow::Context;
use patchwright_agent::report::Report;
use patchwright_source::visible_line;
use serde_json::json;

/// The beginning of the line that `git cherry-pick -x` writes.
const PICKED: &str = "(cherry picked from commit ";
/// Beginnings of lines at which `git am` takes the message to be over.
const ENDS: [&str; 4] = ["---", "diff -", "Index: ", "+++ "];

impl Backport<'_> {
    /// Writes the mail of a patch that stands, where a folder was named for it.
    pub(super) async fn write_mail(
        &self,
        branch: &Branch,
        report: &Report,
    ) -> anyhow::Result<Option<String>> {
        let Some(out) = &self.arguments.output.out else {
            return Ok(None);
        };
        let file = out.join(format!("{}.patch", file_name(&branch.name)));
        match &self.fix.commit {
            Some(commit) => {
                let mail = self.mail(branch, report, &commit.commit).await?;
                write_file(&file, mail)?;
            }
            None => write_mail(self.common, &report.run, &file).await?,
        }
        Ok(Some(file.display().to_string()))
    }

    async fn mail(&self, branch: &Branch, report: &Report, commit: &str) -> anyhow::Result<String> {
        let revisions = &self.revisions;
        let git = &revisions.git;
        let format = "--format=%an <%ae>%x00%aD%x00%s%x00%b";
        let arguments = ["show", "--no-patch", format, commit, "--"];
        let told = git.run(&arguments).await?;
        let mut parts = told.splitn(4, '\0');
        let mut next = || parts.next().unwrap_or_default();
        let (author, date, subject, body) = (next(), next(), next(), next());
        let best = report.best.as_ref();
        let best = best.context("a patch that stands is there")?;
        let onto = branch.commit.as_str();
        let tree = revisions.tree_with(onto, &best.diff_bytes()).await?;
        let changes = (onto, tree.as_str());
        let diff = revisions.diff(changes, &["--full-index"], &[]).await?;
        let picks = git.newest_saying(PICKED, onto).await?;
        let message = message(commit, body, &self.note(branch), !picks.is_empty());
        let judged = format!("{} at {}: {}", report.ending, branch.commit, ending(report));
        let mut text = format!("{message}\n---\n{}\n\n", visible_line(&judged)).into_bytes();
        text.extend(diff);
        let headers = json!({
            "commit": commit,
            "author": visible_line(author),
            "date": visible_line(date),
            "subject": format!("[PATCH {}] {}", branch.name, visible_line(subject)),
        });
        Ok(letter(&headers, &text)?)
    }

    /// Says in what the patch differs from the commit, where it does.
    fn note(&self, branch: &Branch) -> String {
        let carried = match branch.carried {
            Some(Carried::Located | Carried::Resolved) => {
                Some("adapted: git merges it with conflicts".to_owned())
            }
            Some(Carried::Written) => Some("written anew for this branch".to_owned()),
            Some(Carried::Merged) | None => None,
        };
        let left_out = self.fix.left_out.join(", ");
        let without = format!("without the changes to {left_out}");
        let without = Some(without).filter(|_| !left_out.is_empty());
        let notes: Vec<String> = carried.into_iter().chain(without).collect();
        if notes.is_empty() {
            return String::new();
        }
        format!("[ Backport: {} ]", visible_line(&notes.join("; ")))
    }
}

/// Writes the message of a carried commit. No line of the original may end it: what follows would
/// be taken for a part of the patch that nobody has judged.
fn message(commit: &str, body: &str, note: &str, picks: bool) -> String {
    let is_end = |line: &str| ENDS.iter().any(|end| line.starts_with(end));
    let indented = |line: &str| format!("{}{line}", if is_end(line) { " " } else { "" });
    let body: Vec<String> = body.trim_end().lines().map(indented).collect();
    let (first, last) = if picks {
        (String::new(), format!("{PICKED}{commit})"))
    } else {
        (format!("[ Upstream commit {commit} ]"), String::new())
    };
    // A trailer goes below the trailers that are there.
    let is_trailer = |line: &String| {
        let key = line.split_once(": ").map_or("", |(key, _)| key);
        let in_key = |char: char| char.is_alphanumeric() || char == '-';
        !key.is_empty() && key.chars().all(in_key)
    };
    let after_trailer = body.last().is_some_and(is_trailer);
    let between = if after_trailer { "\n" } else { "\n\n" };
    let body = format!("{}{between}{last}", body.join("\n"));
    let body = body.trim().to_owned();
    let parts = [first, note.to_owned(), body];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_commit_is_named_as_its_branch_does() {
        let body = "Why.\n\nSigned-off-by: Ada <a@example.org>\n";
        assert_eq!(
            message("abc", body, "[ Backport: adapted ]", false),
            "[ Upstream commit abc ]\n\n[ Backport: adapted ]\n\nWhy.\n\nSigned-off-by: Ada <a@example.org>"
        );
        assert_eq!(
            message("abc", body, "", true),
            "Why.\n\nSigned-off-by: Ada <a@example.org>\n(cherry picked from commit abc)"
        );
        assert_eq!(
            message("abc", "Why.", "", true),
            "Why.\n\n(cherry picked from commit abc)"
        );
        assert_eq!(
            message("abc", "", "", true),
            "(cherry picked from commit abc)"
        );
    }

    #[test]
    fn no_line_of_the_original_message_begins_a_patch() {
        let body = "Why.\n---\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n";
        let message = message("abc", body, "", false);
        for line in message.lines() {
            assert!(
                !line.starts_with("diff") && !line.starts_with("---"),
                "{message}"
            );
        }
    }
}
