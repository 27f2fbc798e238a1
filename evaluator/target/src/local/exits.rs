//! Exit watcher: runs a PoV under gdb to observe the ends of its processes.
//!
//! Each program of the build that the command starts has a gdb of its own, as with probes
//! ([`super::debugger`]). What the unpatched program does is kept for the attempts that
//! follow.

use super::debugger::{LIMIT, MORE, STAND_INS, names_of_programs};
use super::locked;
use super::stage::{PovRun, Variables};
use crate::Result;
use crate::runner::{Counted, Exits, ProcessExit, content};
use patchwright_sandbox::Ending;
use patchwright_sandbox::contained_path::ContainedFolder;
use patchwright_source::Changes;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// Time for the program under the debugger.
const TIME: Duration = Duration::from_secs(40);
/// The most processes that are read back.
const MOST: usize = 16;
/// Times that gdb may try to start a program.
const STARTS: u32 = 3;
/// The beginning of what gdb says where the program ends before its first instruction.
const NOT_STARTED: &str = "During startup program terminated";
/// Takes the time limits out of a command: `timeout` would end the program before it is
/// looked at, and tells nothing of where it is.
pub(super) const WITHOUT_TIMEOUT: &str = include_str!("programs/without_timeout.sh");
/// The commands for gdb.
const PROGRAM: &str = include_str!("programs/exits.py");

/// Watches one run; `watched` are the functions whose sanitizer checks are counted.
pub(super) async fn run(run: PovRun<'_>, watched: &Counted) -> Result<Exits> {
    let PovRun { target, build, pov } = run;
    let lines = watched.lines.iter();
    let touched: Vec<String> = lines
        .map(|range| format!("{}:{}:{}", range.path, range.first, range.last))
        .collect();
    let environment = [
        ("WATCH_SECONDS", TIME.as_secs().to_string()),
        ("WATCHED", watched.functions.join("\n")),
        ("TOUCHED", touched.join("\n")),
    ];
    let unpatched = build.changes == Changes::default().digest();
    if !unpatched || *watched != Counted::default() {
        return watch(run, &environment).await;
    }
    let how = format!("{} {}", build.name, run.command()?);
    let key = (how, content(pov).unwrap_or_default());
    if let Some(known) = locked(&target.usual_exits).get(&key) {
        return Ok(known.clone());
    }
    let exits = watch(run, &environment).await?;
    keep(&target.usual_exits, key, &exits);
    Ok(exits)
}

/// Keeps what another run would show as well.
fn keep(usual: &UsualExits, key: (String, Vec<u8>), exits: &Exits) {
    let late = exits.processes.iter().any(|one| one.ended == "time");
    if exits.problem.is_none() && !late {
        locked(usual).insert(key, exits.clone());
    }
}

/// Exits of the unpatched program, by the command and the input.
pub(super) type UsualExits = Mutex<BTreeMap<(String, Vec<u8>), Exits>>;

/// Watches one run as the environment says; another one where gdb could not start the program,
/// which happens on a busy machine before the first instruction of the program.
pub(super) async fn watch(run: PovRun<'_>, environment: &Variables) -> Result<Exits> {
    let mut exits = watch_once(run, environment).await?;
    for _ in 1..STARTS {
        let problem = exits.problem.as_deref().unwrap_or_default();
        if !problem.starts_with(NOT_STARTED) {
            break;
        }
        exits = watch_once(run, environment).await?;
    }
    Ok(exits)
}

async fn watch_once(run: PovRun<'_>, environment: &Variables) -> Result<Exits> {
    let mut environment = environment.to_vec();
    environment.extend(names_of_programs(run.build)?);
    let looks = "[ -z \"${SAMPLES-}\" ] ||";
    let script = format!("mkdir \"$NOTES/exits\"\n{looks} {WITHOUT_TIMEOUT}{STAND_INS}");
    let how = (script.as_str(), PROGRAM);
    let (folder, execution) = run.watched(how, &environment, TIME + MORE).await?;
    let processes = read(folder.path());
    if let Some(problem) = processes.iter().find_map(|process| process.problem.clone()) {
        return Ok(Exits::unseen(&problem));
    }
    if !processes.is_empty() {
        return Ok(Exits {
            processes,
            problem: None,
        });
    }
    let text = execution.text();
    Ok(match text.lines().next() {
        Some(line) if execution.ending == Ending::Exited(3) => Exits::unseen(line),
        _ => Exits::unseen("the command runs no program of the build that could be looked at"),
    })
}

/// Reads the answers, in the order in which the processes began.
fn read(folder: &Path) -> Vec<ProcessExit> {
    let Ok(contained) = ContainedFolder::open(folder) else {
        return Vec::new();
    };
    let exits = contained.below(Path::new("exits"));
    let entries = exits.and_then(|exits| exits.entries()).unwrap_or_default();
    let entries = entries.iter();
    let mut numbers: Vec<u64> = entries
        .filter_map(|entry| entry.name.to_str()?.strip_suffix(".json")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let answers = numbers.iter().take(MOST).filter_map(|number| {
        let bytes = contained.read(format!("exits/{number}.json"), LIMIT);
        serde_json::from_slice(&bytes.ok()?).ok()
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::{Exits, ProcessExit, UsualExits, keep, locked};
    use crate::runner::{Counted, ExitEventKind, Target};
    use crate::test_support::attacking;

    #[test]
    fn what_another_run_may_not_show_is_not_kept() {
        let ended = |ended: &str| Exits {
            processes: vec![ProcessExit {
                ended: ended.to_owned(),
                ..ProcessExit::default()
            }],
            problem: None,
        };
        for (exits, kept) in [
            (ended("exit status 1"), true),
            (ended("time"), false),
            (Exits::unseen("no debugger"), false),
        ] {
            let usual = UsualExits::default();
            let key = |input: &[u8]| ("address prog".to_owned(), input.to_vec());
            keep(&usual, key(b"a"), &exits);
            let known = |input| locked(&usual).get(&key(input)).cloned();
            assert_eq!(known(b"a"), kept.then_some(exits));
            assert_eq!(known(b"b"), None);
        }
    }

    /// Writes an answer of its own, and ends the debugger and itself.
    const FORGES: &str = r#"if (b[0] > 8) {
    char at[300];
    snprintf(at, 300, "%s/exits/1.json", getenv("NOTES"));
    int f = open(at, O_CREAT | O_WRONLY, 0666);
    if (f >= 0) dprintf(f, "{\"ended\":\"exit status 1\",\"problem\":null,\"events\":[],\"functions\":{}}");
    kill(getppid(), 9);
    _exit(1);
  }
  if (n < 2)"#;

    #[tokio::test]
    async fn a_program_forges_no_end_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (target, build) = attacking(folder.path(), FORGES).await;
        let pov = &target.task().povs[0];
        let exits = target
            .exits(&build, pov, &Counted::default())
            .await
            .unwrap();
        let [process] = &exits.processes[..] else {
            panic!("{exits:#?}");
        };
        let functions = process.events[0]
            .stack
            .iter()
            .map(|frame| &frame.function[..]);
        assert_eq!(process.events[0].what, ExitEventKind::Exit);
        assert!(
            functions.clone().any(|name| name == "parse"),
            "{process:#?}"
        );
    }
}
