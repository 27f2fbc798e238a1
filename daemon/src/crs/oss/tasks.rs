//! From what the framework knows to tasks of ours: one for each crash that was
//! seen, or for each suspicion where there is no PoV.

use super::{Environment, Found};
use patchwright_agent::task::{self, Task, TaskError};
use patchwright_crash::Signature;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Stands where commands of a task stand; the sidecars run their own.
const ELSEWHERE: &str =
    "echo 'the builder and the runner of OSS-CRS do this, not a command' >&2; exit 126";
/// Inputs without a crash that are compared; more would take the runner too long.
const SEEDS: usize = 64;

/// Puts PoVs of the same crash together, in the order in which the crashes are
/// first seen. A PoV without a signature is a group of its own.
pub fn groups(signatures: &[Option<Signature>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Option<&Signature>, Vec<usize>)> = Vec::new();
    for (place, signature) in signatures.iter().enumerate() {
        let same = groups
            .iter_mut()
            .find(|(known, _)| known.is_some() && *known == signature.as_ref());
        match same {
            Some((_, places)) => places.push(place),
            None => groups.push((signature.as_ref(), vec![place])),
        }
    }
    groups.into_iter().map(|(_, places)| places).collect()
}

/// The task of these PoVs. `suspicion` is a SARIF report.
pub fn task(
    environment: &Environment,
    found: &Found,
    files: &[PathBuf],
    suspicion: Option<&str>,
) -> Result<Task, TaskError> {
    let povs: Vec<Value> = files
        .iter()
        .map(|file| json!({ "file": file, "harness": environment.harness }))
        .collect();
    let keys = json!({
        "id": id(environment, files, suspicion)?,
        "language": environment.language,
        "title": format!("{} ({})", environment.target, environment.harness),
        "source": { "path": environment.source },
        "commands": { "build": ELSEWHERE, "pov": ELSEWHERE },
        "pov": povs,
    });
    let origin = Path::new("OSS-CRS");
    let keys = serde_json::from_value(keys).map_err(|error| TaskError::Malformed {
        path: origin.to_path_buf(),
        message: error.to_string(),
    })?;
    let mut task = task::from_file(keys, &environment.source, origin)?;
    task.hints.sarif = suspicion.map(str::to_owned);
    task.hints.diff.clone_from(&found.diff);
    task.hints.note = found.note();
    task.harmless = found.seeds.iter().take(SEEDS).cloned().collect();
    Ok(task)
}

/// The same PoVs are the same task.
fn id(
    environment: &Environment,
    povs: &[PathBuf],
    suspicion: Option<&str>,
) -> Result<String, TaskError> {
    let mut hash = Sha256::new();
    for pov in povs {
        let bytes = std::fs::read(pov).map_err(|error| TaskError::Malformed {
            path: pov.clone(),
            message: error.to_string(),
        })?;
        hash.update(bytes);
        hash.update([0]);
    }
    hash.update(suspicion.unwrap_or_default());
    let digest = format!("{:x}", hash.finalize());
    let plain = |text: &str| -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let text = text.chars().map(|c| if allowed(c) { c } else { '-' });
        text.take(48).collect()
    };
    let (target, harness) = (plain(&environment.target), plain(&environment.harness));
    let id = format!("{target}-{harness}-{}", digest.get(..12).unwrap_or(&digest));
    Ok(id.trim_start_matches(['.', '-']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{groups, task};
    use crate::crs::oss::{Environment, Found};
    use std::collections::BTreeMap;
    use std::fs;

    #[test]
    fn povs_of_one_crash_are_one_group() {
        let report = |function: &str| {
            let text = format!(
                "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x1 bp 0x2 sp 0x3\n\
                 READ of size 1 at 0x1 thread T0\n    #0 0x4 in {function} /src/a.c:3:5\n\
                 SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:3:5 in {function}\n"
            );
            Some(
                patchwright_crash::parse(&text)
                    .unwrap()
                    .signature(&|_| true),
            )
        };
        let seen = [report("f"), report("g"), None, report("f"), None];
        assert_eq!(groups(&seen), [vec![0, 3], vec![1], vec![2], vec![4]]);
    }

    #[test]
    fn what_was_found_becomes_a_task() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.c"), "int a;\n").unwrap();
        fs::write(folder.path().join("pov"), "x").unwrap();
        let mut variables = BTreeMap::new();
        for (name, value) in [
            ("OSS_CRS_NAME", "us"),
            ("OSS_CRS_TARGET", "../up/lib xml"),
            ("OSS_CRS_TARGET_HARNESS", "xml"),
            ("OSS_CRS_FETCH_DIR", "/fetch"),
            ("OSS_CRS_SUBMIT_DIR", "/submit"),
            ("OSS_CRS_TARGET_SOURCE", folder.path().to_str().unwrap()),
        ] {
            variables.insert(name.to_owned(), value.to_owned());
        }
        let environment = Environment::read(&variables).unwrap();
        let found = Found {
            diff: Some("--- a\n".into()),
            ..Found::default()
        };
        let povs = [folder.path().join("pov")];
        let made = task(&environment, &found, &povs, Some("{}")).unwrap();
        assert!(made.id.starts_with("up-lib-xml-xml-"), "{}", made.id);
        assert_eq!(made.povs[0].harness.as_deref(), Some("xml"));
        assert_eq!(made.hints.diff.as_deref(), Some("--- a\n"));
        assert_eq!(made.hints.sarif.as_deref(), Some("{}"));
        let again = task(&environment, &found, &povs, Some("{}")).unwrap();
        assert_eq!(made, again);
        let other = task(&environment, &found, &[], Some("{}")).unwrap();
        assert_ne!(made.id, other.id);
        let gone = [folder.path().join("gone")];
        assert!(task(&environment, &found, &gone, None).is_err());
    }
}
