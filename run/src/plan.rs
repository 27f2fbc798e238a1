//! Plan of a run and its first issue, with paths of the tree: the crash that was
//! handed in, a static analyser's findings, or the change that introduced the bug.

use crate::commands::limits;
use patchwright_agent::hints::{delta, sarif};
use patchwright_agent::plan::{Origin, Plan};
use patchwright_agent::record::Crash;
use patchwright_agent::task::Task;
use patchwright_config::Settings;
use patchwright_crash::{read_leading, read_words, rebased};
use patchwright_source::Tree;
use patchwright_verdict::RungName;

/// Everything that decisions depend on.
pub fn plan(task: &Task, settings: &Settings) -> Plan {
    Plan {
        mode: task.mode,
        lanes: task.candidates,
        limits: limits(task, settings),
        language: task.language,
        title: task.title.clone(),
        hints: task.hints.clone(),
        has_povs: !task.povs.is_empty(),
        protect: task.protect.clone(),
        ladder: RungName::ALL.to_vec(),
        critic_calls: settings.critic.calls,
        follows: task.follows.clone(),
        ..Plan::default()
    }
}

/// Adds what a task says of its bug to the plan of its run.
pub(crate) fn with_first_issue(plan: Plan, task: &Task, tree: &Tree) -> Plan {
    let rebase = |path: &str| tree.rebase(path).map(|path| path.to_string());
    // That it can be read was checked with the task.
    let report = task.hints.sarif.as_deref();
    let findings = report.and_then(|report| sarif::read(report, &rebase).ok());
    let mut plan = Plan {
        crash: task.crash.as_deref().map(|text| given(text, tree)),
        ..plan
    };
    plan.hints.note = note(task);
    plan.hints.sarif = findings.as_ref().map(|findings| findings.text.clone());
    plan.hinted = findings.clone().unwrap_or_default().frames;
    if plan.crash.is_some() {
        plan.origin = Origin::Given;
    } else if findings.is_some() {
        plan.origin = Origin::Finding;
        plan.crash = findings;
    } else if let Some(diff) = &plan.hints.diff {
        plan.crash = Some(Crash {
            text: plan.hints.note.clone().unwrap_or_default(),
            frames: delta::frames(diff),
            ..Crash::default()
        });
    }
    plan
}

/// The maintainer's words, and what a reporter says beside a log or an input; alone it is the
/// issue itself.
fn note(task: &Task) -> Option<String> {
    let beside = |text: &&String| !task.povs.is_empty() || read_leading(text).is_some();
    let report = task.crash.as_ref().filter(beside);
    let said = report.and_then(|text| read_words(text));
    let said = said.map(|words| words.text.trim().to_owned());
    let said = said.filter(|text| !text.is_empty());
    let parts: Vec<String> = task.hints.note.clone().into_iter().chain(said).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Everything that people say of the bug of a task, with the commands that run its inputs.
pub(crate) fn reported(task: &Task) -> String {
    let said = [&task.title, &task.hints.note, &task.crash];
    let of_povs = task.povs.iter().filter_map(|pov| pov.command.as_ref());
    let commands = of_povs.chain(&task.commands.pov);
    let commands = commands.map(|command| format!("$ {command}"));
    let said = said.into_iter().flatten().cloned();
    said.chain(commands).collect::<Vec<_>>().join("\n\n")
}

fn given(text: &str, tree: &Tree) -> Crash {
    match read_leading(text) {
        Some(report) => rebased(report, tree).into(),
        None => Crash {
            text: text.to_owned(),
            ..Crash::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{note, reported};
    use patchwright_agent::task::{Task, from_file};
    use serde_json::json;
    use std::path::Path;

    const LOG: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5020000d4cd3 at pc 0x1 bp 0x2 sp 0x3\n    #0 0x1 in line_fits /src/line.c:90:7\n";

    fn task(crash: &str) -> Task {
        let keys = json!({
            "id": "a", "language": "c", "mode": "dry-run", "title": "fold: overflow",
            "source": {"git": "https://example.com/a", "revision": "main"},
            "commands": {"build": "make", "pov": "\"$OUT\"/fold --layers \"$POV\""},
            "hints": {"note": "Seen twice."},
        });
        let keys = serde_json::from_value(keys).unwrap();
        let task = from_file(keys, Path::new("/task"), Path::new("task")).unwrap();
        Task {
            crash: Some(crash.to_owned()),
            ..task
        }
    }

    #[test]
    fn what_a_reporter_says_beside_a_log_is_kept() {
        let words = "`fold_hyphens` counts one too many.\n\n";
        let said = note(&task(&format!("{words}{LOG}"))).unwrap();
        assert_eq!(said, "Seen twice.\n\n`fold_hyphens` counts one too many.");
        assert_eq!(note(&task(LOG)).unwrap(), "Seen twice.");
        // Alone it is the issue.
        assert_eq!(note(&task(words)).unwrap(), "Seen twice.");
        let request = patchwright_agent::drive::request_of(&reported(&task(words)), 0);
        assert_eq!(request.named[0].function, "fold_hyphens");
        assert_eq!(request.quoted, ["\"layers"]);
    }
}
