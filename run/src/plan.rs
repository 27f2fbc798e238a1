//! Plan of a run and its first issue, with paths of the tree: the crash that was
//! handed in, a static analyser's findings, or the change that introduced the bug.

use crate::limits::limits;
use patchwright_agent::hints::{delta, sarif};
use patchwright_agent::plan::{Origin, Plan};
use patchwright_agent::record::Crash;
use patchwright_agent::task::Task;
use patchwright_config::Settings;
use patchwright_crash::rebased;
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
        crash: None,
        origin: Origin::Nothing,
        hints: task.hints.clone(),
        hinted: Vec::new(),
        has_povs: !task.povs.is_empty(),
        protect: task.protect.clone(),
        ladder: RungName::ALL.to_vec(),
        critic_calls: settings.critic.calls,
        follows: task.follows.clone(),
    }
}

/// Adds what a task says of its bug to the plan of its run.
pub(crate) fn with_first_issue(plan: Plan, task: &Task, tree: &Tree) -> Plan {
    let rebase = |path: &str| tree.rebase(path).map(|path| path.to_string());
    // That it can be read was checked with the task.
    let findings = task
        .hints
        .sarif
        .as_deref()
        .and_then(|report| sarif::read(report, &rebase).ok());
    let mut plan = Plan {
        crash: task.crash.as_deref().map(|text| given(text, tree)),
        ..plan
    };
    plan.hints.sarif = findings.as_ref().map(|findings| findings.text.clone());
    plan.hinted = findings.map(|findings| findings.frames).unwrap_or_default();
    if plan.crash.is_some() {
        plan.origin = Origin::Given;
    } else if let Some(text) = plan.hints.sarif.clone() {
        plan.origin = Origin::Finding;
        let frames = plan.hinted.clone();
        plan.crash = Some(Crash {
            text,
            frames,
            ..Crash::default()
        });
    } else if let Some(diff) = &plan.hints.diff {
        plan.crash = Some(Crash {
            text: plan.hints.note.clone().unwrap_or_default(),
            frames: delta::frames(diff),
            ..Crash::default()
        });
    }
    plan
}

fn given(text: &str, tree: &Tree) -> Crash {
    match patchwright_crash::read_leading(text) {
        Some(report) => rebased(report, tree).into(),
        None => Crash {
            text: text.to_owned(),
            ..Crash::default()
        },
    }
}
