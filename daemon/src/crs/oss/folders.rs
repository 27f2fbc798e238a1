//! The folders that the framework shares with us: what others found, and where
//! our patches go.
//!
//! The files there were written by others. Links are not followed, sizes and
//! numbers are limited, and files whose name begins with a dot are somebody's
//! business in progress.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The most files of one kind that are taken, in the order of their names.
const FILES: usize = 1_000;
/// The largest PoV or seed, in bytes; the framework's exchange has no limit of its own.
const INPUT_LIMIT: u64 = 64 << 20;
/// The largest diff or SARIF report, in bytes.
const TEXT_LIMIT: u64 = 16 << 20;
/// The most bytes of a report that are read: a prompt shows the beginning.
const REPORT_LIMIT: usize = 16 << 10;
/// Files of a bundle of reports that are looked at.
const BUNDLED: usize = 100;
/// Depth to which the folders are searched.
const DEPTH: usize = 4;

/// Findings of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Inputs that make the target crash, each content once.
    pub povs: Vec<PathBuf>,
    /// Inputs that a fuzzer kept.
    pub seeds: Vec<PathBuf>,
    /// The diff that is said to have brought the bug in.
    pub diff: Option<String>,
    /// Reports of suspected bugs: name and SARIF text.
    pub candidates: Vec<(String, String)>,
    /// Analyses that other systems wrote: name and text.
    pub reports: Vec<(String, String)>,
    /// Patches of others or of an earlier run: name and diff.
    pub patches: Vec<(String, String)>,
    /// Items that were left out, and why, for people.
    pub left_out: Vec<String>,
}

impl Found {
    /// Looks through the folder of what others found. A folder that is not there is empty.
    pub fn read(fetch: &Path) -> Self {
        let mut found = Self::default();
        found.povs = found.inputs(&fetch.join("povs"));
        found.seeds = found.inputs(&fetch.join("seeds"));
        let mut diffs = found.texts(&fetch.join("diffs"));
        // The framework stages the one of `--diff` under this name.
        diffs.sort_by_key(|(name, _)| name != "ref.diff");
        found.diff = diffs.into_iter().next().map(|(_, text)| text);
        let candidates = found.texts(&fetch.join("bug-candidates"));
        for (name, text) in candidates {
            if is_sarif(&text) {
                found.candidates.push((name, text));
            } else {
                found.left_out.push(format!("{name}: is no SARIF report"));
            }
        }
        found.patches = found.texts(&fetch.join("patches"));
        found.reports = found.bundles(&fetch.join("reports"));
        found
    }

    /// Returns what others wrote about the target, for the model. None of it is evidence.
    pub fn note(&self) -> Option<String> {
        let part = |title: &str, texts: &[(String, String)]| {
            let of = |(name, text): &(String, String)| format!("{name}:\n{}\n", text.trim_end());
            let texts: String = texts.iter().map(of).collect();
            (!texts.is_empty()).then(|| format!("{title}\n\n{texts}"))
        };
        // The prompt shows the beginning, and patches say more in less.
        let parts = [
            part(
                "Patches of earlier runs, which are not known to be right.",
                &self.patches,
            ),
            part(
                "Reports of other systems, which may be wrong.",
                &self.reports,
            ),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }

    /// Reads reports: texts, or the gzipped tar archives that the framework makes of them.
    fn bundles(&mut self, folder: &Path) -> Vec<(String, String)> {
        self.each(folder, TEXT_LIMIT, |name, path| {
            let file = File::open(path)?;
            if !name.ends_with(".tar.gz") {
                return Ok(vec![(name.to_owned(), beginning(file)?)]);
            }
            let parts = unpacked(file)?.into_iter();
            let named = parts.map(|(part, text)| (format!("{name}/{part}"), text));
            Ok(named.collect())
        })
    }

    fn inputs(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut known = BTreeSet::new();
        self.each(folder, INPUT_LIMIT, |_, path| {
            let new = known.insert(Sha256::digest(std::fs::read(path)?));
            Ok(new.then(|| path.to_path_buf()))
        })
    }

    fn texts(&mut self, folder: &Path) -> Vec<(String, String)> {
        self.each(folder, TEXT_LIMIT, |name, path| {
            let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
            Ok([(name.to_owned(), text)])
        })
    }

    /// Reads what each file below a folder holds, by its name; one that cannot be read is left
    /// out.
    fn each<T, P: IntoIterator<Item = T>>(
        &mut self,
        folder: &Path,
        limit: u64,
        mut read: impl FnMut(&str, &Path) -> std::io::Result<P>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for path in self.files(folder, limit) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match read(&name, &path) {
                Ok(parts) => found.extend(parts),
                Err(error) => self.left_out.push(format!("{name}: {error}")),
            }
        }
        found
    }

    /// The regular files below a folder, sorted.
    fn files(&mut self, folder: &Path, limit: u64) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let all = WalkDir::new(folder).min_depth(1).max_depth(DEPTH + 1);
        let shown = |entry: &DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
        for entry in all.into_iter().filter_entry(shown).flatten() {
            let Ok(data) = entry.metadata() else {
                continue;
            };
            if data.is_file() && data.len() > limit {
                let name = entry.path().display();
                let reason = format!("{name}: is larger than {limit} bytes");
                self.left_out.push(reason);
            } else if data.is_file() {
                files.push(entry.into_path());
            }
        }
        files.sort();
        if files.len() > FILES {
            let more = files.len() - FILES;
            let reason = format!("{}: {more} files more than {FILES}", folder.display());
            self.left_out.push(reason);
            files.truncate(FILES);
        }
        files
    }
}

/// Reads the files of a bundle. Nothing of it is written anywhere.
fn unpacked(file: File) -> std::io::Result<Vec<(String, String)>> {
    let mut archive = tar::Archive::new(GzDecoder::new(file).take(TEXT_LIMIT));
    let mut parts = Vec::new();
    for entry in archive.entries()?.take(BUNDLED) {
        let entry = entry?;
        if entry.header().entry_type().is_file() {
            let name = entry.path()?.display().to_string();
            parts.push((name, beginning(entry)?));
        }
    }
    Ok(parts)
}

fn beginning(from: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    from.take(REPORT_LIMIT as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_sarif(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text)
        .is_ok_and(|value| value.get("runs").is_some_and(serde_json::Value::is_array))
}

/// Puts a patch into the folder of submissions, under a name that its content
/// gives it, so that the same patch is there once. Whoever collects them never
/// sees half a file.
pub fn submit(folder: &Path, diff: &[u8]) -> std::io::Result<PathBuf> {
    let digest = format!("{:x}", Sha256::digest(diff));
    let name = format!("{}.diff", digest.get(..32).unwrap_or(&digest));
    put(&folder.join("patches"), &name, diff)
}

/// Puts the report of a run into the folder of submissions, bundled as the framework bundles
/// reports: a gzipped tar archive with the file at its root.
pub fn submit_report(folder: &Path, task: &str, report: &[u8]) -> std::io::Result<PathBuf> {
    let mut header = tar::Header::new_gnu();
    header.set_size(report.len() as u64);
    header.set_mode(0o644);
    let packer = GzEncoder::new(Vec::new(), Compression::default());
    let mut archive = tar::Builder::new(packer);
    archive.append_data(&mut header, "report.json", report)?;
    let packed = archive.into_inner()?.finish()?;
    let name = format!("{task}.tar.gz");
    put(&folder.join("reports"), &name, &packed)
}

/// Writes a file beside its place in a folder and moves it there; one that is there stays.
fn put(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(name);
    if path.exists() {
        return Ok(path);
    }
    let mut half = tempfile::Builder::new();
    let mut file = half.prefix(".half-").tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    // The exchange runs as another user.
    let everybody = Permissions::from_mode(0o644);
    file.as_file().set_permissions(everybody)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::{Found, submit, submit_report};
    use std::fs;

    #[test]
    fn takes_what_others_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("povs/b", "crash");
        write("povs/a", "crash");
        write("povs/below/c", "another");
        write("povs/.half", "written");
        write("diffs/a.diff", "wrong");
        write("diffs/ref.diff", "right");
        write("bug-candidates/one.sarif", r#"{"runs":[]}"#);
        write("bug-candidates/two.json", "{}");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("povs/link")).unwrap();
        let found = Found::read(folder.path());
        let names: Vec<_> = found.povs.iter().map(|path| path.file_name()).collect();
        assert_eq!(names, [Some("a".as_ref()), Some("c".as_ref())]);
        assert_eq!(found.diff.as_deref(), Some("right"));
        assert_eq!(found.candidates.len(), 1);
        assert_eq!(found.left_out, ["two.json: is no SARIF report"]);
        assert_eq!(Found::read(&folder.path().join("none")), Found::default());
    }

    #[test]
    fn reports_and_patches_of_others_become_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let bundle = submit_report(folder.path(), "run-1", b"{\"cause\":\"unchecked\"}").unwrap();
        assert_eq!(bundle, folder.path().join("reports/run-1.tar.gz"));
        fs::write(folder.path().join("reports/a.md"), "a loop").unwrap();
        fs::write(folder.path().join("reports/broken.tar.gz"), "no gzip").unwrap();
        fs::create_dir(folder.path().join("patches")).unwrap();
        fs::write(folder.path().join("patches/b.diff"), "--- a/x\n").unwrap();
        let found = Found::read(folder.path());
        let note = found.note().unwrap();
        for part in [
            "a.md:\na loop",
            "run-1.tar.gz/report.json:\n{\"cause\":\"unchecked\"}",
            "b.diff:\n--- a/x",
            "not known to be right",
        ] {
            assert!(note.contains(part), "{part:?} is missing in {note}");
        }
        assert_eq!(found.left_out.len(), 1, "{:?}", found.left_out);
        assert_eq!(Found::default().note(), None);
    }

    #[test]
    fn a_patch_is_submitted_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = submit(folder.path(), b"--- a\n").unwrap();
        assert_eq!(submit(folder.path(), b"--- a\n").unwrap(), first);
        assert_ne!(submit(folder.path(), b"--- b\n").unwrap(), first);
        assert_eq!(fs::read(&first).unwrap(), b"--- a\n");
        assert_eq!(first.extension().unwrap(), "diff");
        let left = fs::read_dir(folder.path().join("patches")).unwrap();
        assert_eq!(left.count(), 2);
    }
}
