//! A crash and its patch as records for those who collect findings: SARIF 2.1.0
//! (OASIS) and OpenVEX 0.2.0.

use super::Exported;
use super::message::values;
use super::template::render;
use anyhow::Context;
use patchwright_source::{DiffHunk, FileDiff, Side};
use serde_json::{Value, json};

/// Returns a SARIF log with the crash as one result and the patch as its fix.
///
/// # Errors
/// The diff of the patch cannot be read.
pub(crate) fn sarif(exported: &Exported<'_>) -> anyhow::Result<Value> {
    let changes = changes(&exported.attempt.diff)?;
    let values = json!({ "of": values(exported, ""), "changes": changes });
    Ok(serde_json::from_str(&render("sarif.json", &values)?)?)
}

/// Returns an OpenVEX document: the product is affected, and the patch is what to do.
///
/// # Errors
/// The template does not fit the report.
pub(crate) fn openvex(exported: &Exported<'_>, time: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&render(
        "openvex.json",
        &values(exported, time),
    )?)?)
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

#[cfg(test)]
mod tests {
    use super::changes;

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
