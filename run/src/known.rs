//! Known crashes, by their signatures: those of a list, and those that earlier runs repaired.
//!
//! Does not decide what becomes of a run that sees only known crashes.

use patchwright_agent::report::Report;
use patchwright_store::Store;
use patchwright_store::runs::RunFilter;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a list: a signature in each line, and behind ` # ` a name.
///
/// # Errors
/// The fault of the file, for people.
pub(crate) fn in_file(path: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("store.known: {}: {error}", path.display()))?;
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.map(|line| line.split_once(" # ").unwrap_or((line, "a known crash")));
    let rows = rows.map(|(signature, name)| (signature.trim().to_owned(), name.trim().to_owned()));
    Ok(rows.collect())
}

/// Reads the crashes of the verified runs of a store. A signature without a function says too
/// little.
pub(crate) async fn of_runs(store: &Store) -> anyhow::Result<BTreeMap<String, String>> {
    let filter = RunFilter {
        ending: Some("verified".to_owned()),
        ..RunFilter::default()
    };
    let mut known = BTreeMap::new();
    for run in store.runs(&filter).await? {
        let report = run.report.as_deref();
        let report: Option<Report> = report.and_then(|text| serde_json::from_str(text).ok());
        let crash = report.and_then(|report| report.crash);
        if let Some(signature) = crash.and_then(|crash| crash.signature)
            && signature.contains(" | ")
        {
            known.insert(signature, format!("run {}", run.id));
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::in_file;

    #[test]
    fn a_list_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        std::fs::write(&file, "# ours\n\nSEGV | f # issue 12\nFPE | g | h\n").unwrap();
        let known = in_file(&file).unwrap();
        assert_eq!(known["SEGV | f"], "issue 12");
        assert_eq!(known["FPE | g | h"], "a known crash");
        assert_eq!(known.len(), 2);
        let missing = in_file(&folder.path().join("none")).unwrap_err();
        assert!(
            missing.contains("store.known") && missing.contains("none"),
            "{missing}"
        );
    }
}
