//! Admission: what a task that came over the network may name.
//!
//! Files that were sent along, files in folders that the settings open, and
//! addresses of hosts that they allow. No command that runs with network,
//! unless they say so. Everything that is wrong is told at once.

use crate::intake::address;
use patchwright_agent::task::{Source, Task, TaskFile};
use patchwright_config::Intake;
use patchwright_source::TreePath;
use patchwright_store::Quota;
use std::collections::BTreeMap;
use std::path::Path;

/// A key of the task and what is wrong with its value.
pub type Refusal = (String, String);

/// Everything that a task must not name, given the files that came with it.
pub fn refusals(
    task: &TaskFile,
    sent: &BTreeMap<String, String>,
    settings: &Intake,
) -> Vec<Refusal> {
    let admission = Admission { sent, settings };
    let mut refused = Vec::new();
    let mut note = |key: &str, problem: Result<(), String>| {
        if let Err(message) = problem {
            refused.push((key.to_owned(), message));
        }
    };
    for (at, pov) in task.pov.iter().enumerate() {
        let file = pov.file.to_string_lossy();
        note(&format!("pov[{at}].file"), admission.file(&file));
    }
    for (key, file) in [
        ("crash.report", &task.crash.report),
        ("hints.sarif", &task.hints.sarif),
        ("hints.diff", &task.hints.diff),
        ("dockerfile", &task.dockerfile),
    ] {
        if let Some(file) = file {
            note(key, admission.file(file));
        }
    }
    for (at, pattern) in task.inputs.harmless.iter().enumerate() {
        let fine = inside(pattern).map(|_| ());
        note(&format!("inputs.harmless[{at}]"), fine);
    }
    let source = &task.source;
    if let Some(path) = &source.path {
        note("source.path", admission.folder(path));
    }
    if let Some(url) = &source.git {
        note("source.git", admission.address(url));
    }
    if let Some(archive) = &source.archive {
        note("source.archive", admission.archive(archive));
    }
    if task.transcript.is_some() {
        const WHY: &str = "stands in for a model on the command line only";
        note("transcript", Err(WHY.to_owned()));
    }
    if !settings.network_commands {
        const WHY: &str = "uses the network, which intake.network_commands does not allow";
        for (key, command) in [
            ("source.fetch", &source.fetch),
            ("commands.prepare", &task.commands.prepare),
            ("dockerfile", &task.dockerfile),
            ("image", &task.image),
        ] {
            if command.is_some() {
                note(key, Err(WHY.to_owned()));
            }
        }
    }
    refused
}

/// The same for a task that was taken before, on a machine whose settings may
/// be others.
pub(crate) fn still_allowed(task: &Task, settings: &Intake) -> Result<(), String> {
    let sent = BTreeMap::new();
    let admission = Admission {
        sent: &sent,
        settings,
    };
    let fine = match &task.source {
        Source::Path(path) => admission.folder(&path.display().to_string()),
        Source::Git { url, .. } => admission.address(url),
        Source::Archive { location, .. } if task.sent.contains_key(location) => Ok(()),
        Source::Archive { location, .. } => admission.archive(location),
        Source::Fetch(_) if settings.network_commands => Ok(()),
        Source::Fetch(_) => Err("a fetch command is not allowed (intake.network_commands)".into()),
    };
    fine.map_err(|message| format!("source: {message}"))?;
    let refused = |key: &str| Err(format!("{key} is not allowed (intake.network_commands)"));
    let is_open = settings.network_commands;
    match (is_open, &task.commands.prepare, &task.image) {
        (false, Some(_), _) => refused("commands.prepare"),
        (false, _, Some(_)) => refused("an image"),
        _ => Ok(()),
    }
}

pub fn quota(intake: &Intake, submitter: &str) -> Quota {
    let limit = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Quota {
        submitter: submitter.to_owned(),
        tasks: limit(intake.open_tasks),
        bytes: limit(intake.kept_mb.saturating_mul(1 << 20)),
        files: limit(intake.kept_files),
    }
}

struct Admission<'a> {
    sent: &'a BTreeMap<String, String>,
    settings: &'a Intake,
}

impl Admission<'_> {
    fn file(&self, path: &str) -> Result<(), String> {
        if Path::new(path).is_absolute() {
            return self.folder(path);
        }
        let name = inside(path)?;
        if self.sent.contains_key(&name) && name == path {
            Ok(())
        } else {
            Err(format!("{path:?} was not sent along"))
        }
    }

    fn folder(&self, path: &str) -> Result<(), String> {
        let refused =
            || format!("{path:?} does not lie in a folder that tasks may name (intake.folders)");
        let real = Path::new(path);
        if !real.is_absolute() {
            return Err(refused());
        }
        // What is not there is answered like what is not allowed: nobody shall
        // find out what files there are.
        let real = real.canonicalize().map_err(|_| refused())?;
        let mut folders = self.settings.folders.iter();
        let open = folders.any(|folder| {
            let folder = folder.canonicalize();
            folder.is_ok_and(|folder| real.starts_with(folder))
        });
        if open { Ok(()) } else { Err(refused()) }
    }

    fn address(&self, url: &str) -> Result<(), String> {
        address::check(url, self.settings)
            .map(|_| ())
            .map_err(|error| error.to_string())
    }

    fn archive(&self, location: &str) -> Result<(), String> {
        if location.contains("://") {
            self.address(location)
        } else {
            self.file(location)
        }
    }
}

/// A relative path that leads down and is written in the plainest way.
///
/// # Errors
/// Description of the error.
pub fn inside(path: &str) -> Result<String, String> {
    const LONGEST: usize = 512;
    let wrong = || {
        let shown: String = path.chars().take(100).collect();
        format!("{shown:?} must be a relative path of at most {LONGEST} bytes that does not climb")
    };
    let plain = TreePath::new(path).map(|path| path.to_string());
    let is_allowed = path.len() <= LONGEST && !path.contains(['\n', '\r']);
    plain.ok().filter(|_| is_allowed).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_config::Settings;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn refused(change: &Value, intake: &Intake) -> String {
        let mut task = json!({
            "id": "a", "language": "c", "source": {"archive": "source.tar.gz"},
            "commands": {"build": "make", "pov": "./run"}, "pov": [{"file": "pov/1"}],
        });
        for (key, value) in change.as_object().unwrap() {
            task[key] = value.clone();
        }
        let task: TaskFile = serde_json::from_value(task).unwrap();
        let sent = ["source.tar.gz", "pov/1"].map(|name| (name.to_owned(), "hash".to_owned()));
        let refused = refusals(&task, &sent.into(), intake);
        refused
            .into_iter()
            .map(|(key, message)| format!("{key}: {message}; "))
            .collect()
    }

    #[test]
    fn a_task_from_outside_names_only_what_it_may() {
        let open = tempfile::tempdir().unwrap();
        let source = open.path().join("tree");
        std::fs::create_dir(&source).unwrap();
        std::os::unix::fs::symlink("/etc", open.path().join("out")).unwrap();
        let mut intake = Settings::with(&[]).unwrap().intake;
        intake.folders = vec![open.path().to_path_buf()];
        let path = |path: &Path| json!({"source": {"path": path}});
        for (change, expected) in [
            (json!({}), ""),
            (
                json!({"pov": [{"file": "pov/2"}]}),
                "pov[0].file: \"pov/2\" was not sent",
            ),
            (
                json!({"pov": [{"file": "../../etc/passwd"}]}),
                "pov[0].file: \"../../etc/passwd\" must be a relative",
            ),
            (
                json!({"pov": [{"file": "/etc/passwd"}]}),
                "pov[0].file: \"/etc/passwd\" does not lie",
            ),
            (json!({"crash": {"report": "/etc/shadow"}}), "crash.report"),
            (json!({"hints": {"diff": "x"}}), "hints.diff"),
            (
                json!({"inputs": {"harmless": ["/etc/*"]}}),
                "inputs.harmless[0]",
            ),
            (json!({"transcript": "t"}), "transcript"),
            (path(&source), ""),
            (path(&open.path().join("out")), "source.path"),
            (path(&open.path().join("tree/../..")), "source.path"),
            (path(Path::new("/etc")), "source.path"),
            (path(Path::new("tree")), "source.path"),
            (json!({"source": {"git": "/var/lib/git/x"}}), "source.git"),
            (json!({"source": {"git": "file:///etc"}}), "source.git"),
            (json!({"source": {"git": "ext::sh -c id"}}), "source.git"),
            (
                json!({"source": {"git": "https://github.com/a/b", "revision": "c"}}),
                "",
            ),
            (
                json!({"source": {"git": "http://169.254.169.254/"}}),
                "source.git",
            ),
            (
                json!({"source": {"archive": "http://127.0.0.1/x.tar"}}),
                "source.archive",
            ),
            (
                json!({"source": {"fetch": "curl metadata"}}),
                "source.fetch",
            ),
            (json!({"commands": {"prepare": "curl"}}), "commands.prepare"),
            (json!({"image": "debian"}), "image: uses the network"),
            (
                json!({"dockerfile": "/etc/passwd"}),
                "dockerfile: \"/etc/passwd\" does not lie",
            ),
            (
                json!({"dockerfile": "pov/1"}),
                "dockerfile: uses the network",
            ),
        ] {
            let found = refused(&change, &intake);
            let fits = if expected.is_empty() {
                found.is_empty()
            } else {
                found.contains(expected)
            };
            assert!(fits, "{change}: {found}");
        }
        intake.network_commands = true;
        assert_eq!(
            refused(&json!({"commands": {"prepare": "curl"}}), &intake),
            ""
        );
    }

    #[test]
    fn what_is_missing_is_answered_like_what_is_not_allowed() {
        let intake = Settings::with(&[]).unwrap().intake;
        let [there, missing] = ["/etc/passwd", "/etc/no-such-file"]
            .map(|path| refused(&json!({"crash": {"report": path}}), &intake).replace(path, ""));
        assert_eq!(there, missing);
    }

    proptest! {
        #[test]
        fn a_plain_path_stays_below(path in "[a./\\\\-]{0,20}") {
            if let Ok(plain) = inside(&path) {
                prop_assert!(!plain.starts_with('/') && plain.split('/').all(|part| part != ".." && !part.is_empty()));
            }
        }
    }
}
