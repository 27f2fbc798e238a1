//! A journal of an earlier version, which is opened, walked again and reported.

use super::resume;
use crate::journal::Event;
use crate::plan::Plan;
use crate::record::{EndingKind, RunLimits, RungName};
use crate::repair::Run;
use crate::report::Report;
use crate::task::Task;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/journals");
    std::fs::read_to_string(folder.join("bzip2-selectors").join(name)).unwrap()
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&fixture(name)).unwrap()
}

fn plan(task: &Task) -> Plan {
    let beginning: Value = read("beginning.json");
    let limits: RunLimits = serde_json::from_value(beginning["limits"].clone()).unwrap();
    Plan {
        mode: task.mode,
        lanes: task.candidates,
        limits,
        language: task.language,
        title: task.title.clone(),
        has_povs: !task.povs.is_empty(),
        protect: task.protect.clone(),
        ladder: RungName::ALL.to_vec(),
        ..Plan::default()
    }
}

#[test]
fn a_journal_of_an_earlier_version_gives_the_report_of_then() {
    let task: Task = read("task.json");
    let journal = fixture("journal.jsonl");
    let events: Vec<Event> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let whole = resume(Run::new(plan(&task)), &events).unwrap();
    assert_eq!(whole.ending().unwrap().kind, EndingKind::Verified);
    let mut then: Report = read("report.json");
    let now = Report::of(&whole, &then.run, &task.id, &then.answers);
    // Figures that nothing is weighed by any more are made no more.
    let current = &now.attempts[0].features;
    for attempt in then.attempts.iter_mut().chain(&mut then.best) {
        attempt
            .features
            .retain(|name, _| current.contains_key(name));
    }
    // Fields that the report has since, as the journal had then.
    if let (Some(then), Some(now)) = (&mut then.smallest, &now.smallest) {
        (then.runs, then.seconds) = (now.runs, now.seconds);
    }
    assert_eq!(now, then);
    let cut = events.iter().position(|event| event.name == "locate");
    let half = resume(Run::new(plan(&task)), &events[..cut.unwrap()]).unwrap();
    let next = half.ready();
    let (_, step) = next.first().unwrap();
    assert_eq!(step.name(), "locate", "a run that was cut off goes on");
}
