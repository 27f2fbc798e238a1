//! The conventions of OSS-Fuzz: where a project lies in the tooling, what its
//! `project.yaml` says, and the commands that stand for its images.
//!
//! No container is started: the commands run `build.sh` with the variables that
//! the base image would set, with the compilers of this machine.

use crate::crs::Failure;
use crate::crs::patch_request::PatchRequest;
use crate::crs::rows::Prepared;
use patchwright_agent::task::TaskFile;
use patchwright_agent::task::file::SourceKeys;
use patchwright_run::oss_fuzz;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Depth at which the tooling and the diff may lie in their tarballs.
const DEPTH: usize = 4;
/// The largest `project.yaml` that is read, in bytes.
const PROJECT_FILE: u64 = 1 << 20;

/// Fills `$TREE` with the folder in focus and applies the change in question,
/// as far as it applies: challenges bring diffs with odd headers and binary parts.
const FETCH: &str = include_str!("oss_fuzz/fetch.sh");
/// Unpacks the project to where the base image would have it: its `build.sh` and `test.sh` are
/// run there.
const UNPACK: &str = include_str!("oss_fuzz/unpack.sh");
/// Feeds one input to a harness, with the limits that the competition uses.
const POV: &str = r#""$OUT/$HARNESS" -rss_limit_mb=2560 -timeout=25 "$POV""#;

/// Looks a project up in the unpacked tooling, which brings no files to its tasks.
pub(super) fn project(tooling: &Path, name: &str) -> Result<Prepared, Failure> {
    let wanted = Path::new("projects").join(name).join("project.yaml");
    let file = below(tooling, &|path| path.ends_with(&wanted))
        .ok_or_else(|| Failure::Lasting(format!("the fuzz-tooling has no {}", wanted.display())))?;
    if file.metadata()?.len() > PROJECT_FILE {
        return Err(Failure::Lasting("project.yaml is too large".to_owned()));
    }
    let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
    Ok(Prepared {
        language: language(&text)?,
        tests: file.with_file_name("test.sh").is_file(),
        files: BTreeMap::new(),
    })
}

fn language(project: &str) -> Result<String, Failure> {
    let word = oss_fuzz::yaml_value(project, "language");
    let word =
        word.ok_or_else(|| Failure::Lasting("project.yaml does not say its language".to_owned()))?;
    let known = oss_fuzz::language_of(&word).map(str::to_owned);
    known.ok_or_else(|| {
        Failure::Lasting(format!(
            "project.yaml: patches are written for c, c++ and jvm, not for {word:?}"
        ))
    })
}

/// The change in question.
pub(super) fn reference_diff(folder: &Path) -> Result<PathBuf, Failure> {
    below(folder, &|path| path.ends_with("ref.diff"))
        .ok_or_else(|| Failure::Lasting("the diff's tarball has no ref.diff".to_owned()))
}

/// The first file that fits, the highest first, links left out.
fn below(folder: &Path, fits: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let entries = WalkDir::new(folder).min_depth(1).max_depth(DEPTH + 1);
    let files = entries.into_iter().flatten().filter(|entry| {
        let kind = entry.file_type();
        kind.is_file() && fits(entry.path())
    });
    let first = files.min_by_key(|file| (file.depth(), file.path().to_path_buf()));
    first.map(DirEntry::into_path)
}

/// Returns the source of a challenge's tree.
pub(super) fn source(prepared: &Prepared) -> SourceKeys {
    // The fetched tree is known by its command: another tarball, another tree.
    let hash = |name: &str| prepared.files.get(name).cloned().unwrap_or_default();
    let (repo, diff) = (hash("repo.tar.gz"), hash("ref.diff"));
    SourceKeys {
        fetch: Some(format!("# {repo} {diff}\n{FETCH}")),
        ..SourceKeys::default()
    }
}

/// A task that follows the conventions.
pub(super) fn keys(prepared: &Prepared, request: &PatchRequest) -> Result<TaskFile, Failure> {
    let mut builds = serde_json::Map::new();
    for blob in &request.blobs {
        let name = &blob.sanitizer_name;
        builds.insert(name.clone(), flags(name)?);
    }
    if builds.is_empty() {
        builds.insert("address".to_owned(), flags("address")?);
    }
    let language = match prepared.language.as_str() {
        "java" => "jvm",
        other => other,
    };
    let run =
        |script: &str| format!("FUZZING_LANGUAGE={language}\n{UNPACK}bash -eu \"$SRC/{script}\"\n");
    let keys = json!({
        "id": "challenge",
        "language": prepared.language,
        "source": { "fetch": FETCH },
        "commands": {
            "build": run("build.sh"),
            "pov": POV,
            "test": prepared.tests.then(|| run("test.sh")),
        },
        "builds": builds,
    });
    serde_json::from_value(keys).map_err(|error| Failure::Lasting(error.to_string()))
}

/// Returns the variables that the base image sets for a sanitizer.
fn flags(sanitizer: &str) -> Result<Value, Failure> {
    let instrumented = match sanitizer {
        "address" => "-fsanitize=address -fsanitize-address-use-after-scope",
        "undefined" => "-fsanitize=undefined -fno-sanitize-recover=undefined",
        "memory" => "-fsanitize=memory -fsanitize-memory-track-origins",
        _ => {
            let reason = format!("there is no build for the sanitizer {sanitizer:?}");
            return Err(Failure::Lasting(reason));
        }
    };
    let flags = format!(
        "-O1 -fno-omit-frame-pointer -gline-tables-only {instrumented} -fsanitize=fuzzer-no-link"
    );
    Ok(json!({ "CC": "clang", "CXX": "clang++", "CFLAGS": flags, "CXXFLAGS": flags }))
}

#[cfg(test)]
mod tests {
    use super::{language, project, reference_diff};
    use std::fs;

    #[test]
    fn languages_of_projects() {
        for (text, expected) in [
            ("homepage: x\nlanguage: c++\n", Some("c++")),
            ("language: \"jvm\" # Java\n", Some("java")),
            ("language: c", Some("c")),
            ("language: rust\n", None),
            ("sanitizers:\n  - address\n", None),
        ] {
            assert_eq!(language(text).ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_project_is_found_in_the_tooling() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("fuzz-tooling/projects/libxml2");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("project.yaml"), "language: c\n").unwrap();
        assert!(!project(folder.path(), "libxml2").unwrap().tests);
        fs::write(place.join("test.sh"), "true\n").unwrap();
        assert!(project(folder.path(), "libxml2").unwrap().tests);
        let error = project(folder.path(), "libxml").unwrap_err();
        assert!(error.to_string().contains("projects/libxml/project.yaml"));
        assert!(reference_diff(folder.path()).is_err());
        fs::write(place.join("ref.diff"), "").unwrap();
        assert_eq!(
            reference_diff(folder.path()).unwrap(),
            place.join("ref.diff")
        );
    }
}
