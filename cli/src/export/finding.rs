//! A crash and its patch as records for those who collect findings: SARIF 2.1.0
//! (OASIS) and OpenVEX 0.2.0.

use super::Exported;
use super::message::subject;
use anyhow::Context;
use patchwright_source::{DiffHunk, FileDiff, Side};
use serde_json::{Value, json};

/// Returns a SARIF log with the crash as one result and the patch as its fix.
///
/// # Errors
/// The diff of the patch cannot be read.
pub(crate) fn sarif(exported: &Exported<'_>) -> anyhow::Result<Value> {
    let crash = exported.report.crash.as_ref();
    let kind = crash.map_or("crash", |crash| crash.kind.as_str());
    let text = crash.map_or_else(|| subject(exported), |crash| crash.summary.clone());
    let location = crash.and_then(|crash| {
        let region = crash.line.map(|line| json!({ "startLine": line }));
        let mut place = json!({ "artifactLocation": { "uri": crash.file.as_ref()? } });
        if let (Some(region), Some(place)) = (region, place.as_object_mut()) {
            place.insert("region".to_owned(), region);
        }
        Some(json!({ "physicalLocation": place }))
    });
    let changes = changes(&exported.attempt.diff)?;
    Ok(json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Patchwright",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [{ "id": kind }],
            }},
            "results": [{
                "ruleId": kind,
                "level": "error",
                "message": { "text": text },
                "locations": location.into_iter().collect::<Vec<_>>(),
                "fixes": [{
                    "description": { "text": format!("{} ({})", subject(exported), exported.report.ending) },
                    "artifactChanges": changes,
                }],
                "properties": {
                    "patchwright/run": exported.report.run,
                    "patchwright/ending": exported.report.ending,
                },
            }],
        }],
    }))
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

/// Returns an OpenVEX document: the product is affected, and the patch is what to do.
pub(crate) fn openvex(exported: &Exported<'_>, time: &str) -> Value {
    let report = exported.report;
    let crash = report.crash.as_ref();
    let kind = crash.map_or("crash", |crash| crash.kind.as_str());
    json!({
        "@context": "https://openvex.dev/ns/v0.2.0",
        "@id": format!("urn:patchwright:{}:{}", report.run, exported.attempt.number),
        "author": exported.signatures.author(),
        "timestamp": time,
        "version": 1,
        "statements": [{
            "vulnerability": { "name": format!("{}-{kind}", report.task), "description": crash.map(|crash| &crash.summary) },
            "products": [{ "@id": format!("pkg:generic/{}", report.task) }],
            "status": "affected",
            "action_statement": format!("Apply the patch \"{}\" ({}; run {}, candidate {}).", subject(exported), report.ending, report.run, exported.attempt.number),
            "timestamp": time,
        }],
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
