//! Proof that a silent run came back from the harness: the exits of its processes, judged.
//!
//! Without a report a run looks alike whether the defect is gone or the process
//! was ended before the sanitizer could speak. So one run of each PoV is watched
//! by a debugger. An exit that the C library makes after `main` is a return. Any
//! other way to leave (an exit from the project's code, another program, another
//! process, a signal that was survived) has to be one that the unpatched program
//! takes as well, on inputs that it handles; else it is an objection.

use crate::attempt::touched_functions;
use crate::given_inputs;
use crate::mutation::Mutator;
use crate::review;
use crate::rung::Programs;
use patchwright_crash::Tool;
use patchwright_source::{Tree, TreePath, regex};
use patchwright_target::Result;
use patchwright_target::runner::{
    Capture, Counted, ExitEvent, ExitEventKind, ExitFrame, Exits, FunctionChecks, InputFile,
    InputRun, Inputs, Target,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Mutants of the PoVs and given inputs among which ways to leave are looked for.
const TRIED: (usize, usize) = (96, 16);
/// Time for all of them, and for one.
const TIME: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(5));
/// Runs after which a flaky command is given up.
const TRIES: u32 = 5;
/// Functions of the crash that are looked at, the innermost ones of the project.
const CRASHED: usize = 4;
/// Kinds of checks for undefined behaviour whose loss together is no fix of one of them.
const KINDS: u64 = 2;
/// Inputs of the unpatched program that are watched, each another way through it.
const WATCHED: usize = 6;

/// The verdict on the watched runs of one PoV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It came back from the harness, or left as the unpatched program does.
    Returned,
    /// It left in a way that makes its silence worthless.
    Objection(String),
    /// It left in a way of the project's own that the unpatched program was not seen to take.
    Doubt(String),
    /// Nothing could be observed.
    Unseen(String),
}

/// Watches one run of a PoV on the patched build and judges its exits.
pub(super) async fn judge(programs: &Programs<'_>) -> Result<Verdict> {
    let Programs { target, pov, .. } = *programs;
    let watched = watched(programs);
    let mut exits = target.exits(&programs.new, pov, &watched).await?;
    // A command that is flaky may not run the program each time.
    for _ in 1..programs.before.repeat.min(TRIES) {
        if exits.problem.is_some() {
            exits = target.exits(&programs.new, pov, &watched).await?;
        }
    }
    if let Some(problem) = &exits.problem {
        return Ok(Verdict::Unseen(problem.clone()));
    }
    if let Some(late) = exits.processes.iter().find(|one| one.ended == "time") {
        let reason = format!("it came to no end under the debugger ({})", late.ended);
        return Ok(Verdict::Unseen(reason));
    }
    let mut verdict = unwatched(programs, &exits, &watched).await?;
    let departures = departures(&exits);
    if departures.is_empty() || matches!(verdict, Verdict::Objection(_)) {
        return Ok(verdict);
    }
    let weighed = departures.iter().map(|one| (one, weigh(one, programs)));
    let unusual = weighed.filter(|(_, verdict)| *verdict != Verdict::Returned);
    let mut unusual: Vec<(&Departure, Verdict)> = unusual.collect();
    drop_usual(programs, &mut unusual).await?;
    for (_, found) in unusual {
        match found {
            Verdict::Objection(what) => return Ok(Verdict::Objection(what)),
            other => verdict = other,
        }
    }
    Ok(verdict)
}

/// Returns what is looked at for the sanitizer's checks: the touched functions, also those
/// that only the debugger finds, and the functions of the crash.
fn watched(programs: &Programs<'_>) -> Counted {
    let mut functions = touched_functions(programs.attempt);
    let stack = programs.crash().and_then(|crash| crash.main_stack());
    let frames = stack.into_iter().flat_map(|stack| &stack.frames);
    let crashed = frames.filter(|frame| programs.target.task().in_project(frame));
    for frame in crashed.take(CRASHED) {
        let name = frame.function.split('(').next().unwrap_or_default();
        if !functions.iter().any(|function| function == name) {
            functions.push(name.to_owned());
        }
    }
    Counted {
        functions,
        lines: programs.attempt.written(),
    }
}

/// A way to leave other than by a return from the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Departure {
    kind: ExitEventKind,
    name: String,
    /// The innermost function with debug information; its file and line where
    /// that lies in the tree.
    function: String,
    file: String,
    line: u32,
    /// True where it runs through the C library's `exit`, and so through its handlers.
    orderly: bool,
    /// True where a signal handler does it.
    handler: bool,
    /// True where a sanitizer does it.
    sanitizer: bool,
    ended: String,
}

impl Departure {
    /// Returns the key that equal departures share.
    fn key(&self) -> (ExitEventKind, String, bool, bool) {
        let function = format!("{}:{}:{}", self.name, self.file, self.function);
        (self.kind, function, self.orderly, self.handler)
    }

    fn place(&self) -> String {
        match (self.function.as_str(), self.file.as_str()) {
            ("", _) => "code of the program that has no debug information".to_owned(),
            (function, "") => function.to_owned(),
            (function, file) => format!("{function} ({file}:{})", self.line),
        }
    }
}

fn departures(exits: &Exits) -> Vec<Departure> {
    let mut found: Vec<Departure> = Vec::new();
    for process in &exits.processes {
        for event in &process.events {
            let departure = departure(event, &process.ended);
            found.extend(departure.filter(|new| !found.contains(new)));
            if event.what == ExitEventKind::Exec {
                // The following events are of another program.
                break;
            }
        }
    }
    // How the process ended says more than what it called before.
    found.sort_by_key(|departure| departure.kind == ExitEventKind::Control);
    found
}

/// Reads one event; none where it is a return.
fn departure(event: &ExitEvent, ended: &str) -> Option<Departure> {
    let stack = &event.stack;
    // A frame with debug information from outside of the tree is the harness, or
    // says that it is.
    let tells = |frame: &&ExitFrame| {
        frame.file.is_some() || frame.named && !frame.in_library && !is_sanitizer(frame)
    };
    let end = stack.iter().position(|frame| tells(&frame));
    let above = stack.get(..end.unwrap_or(stack.len())).unwrap_or_default();
    let sanitizer = above.iter().any(is_sanitizer);
    let handler = above.iter().any(|frame| frame.handler)
        || stack.iter().any(|frame| frame.handler) && event.what == ExitEventKind::Exit;
    let place = end.and_then(|end| stack.get(end));
    let plain = event.what == ExitEventKind::Exit && !sanitizer && !handler;
    if plain && place.is_none() && stack.iter().any(starts_program) {
        return None;
    }
    Some(Departure {
        kind: event.what,
        name: event.name.clone(),
        function: place.map_or_else(String::new, |frame| frame.function.clone()),
        file: place.and_then(|f| f.file.clone()).unwrap_or_default(),
        line: place.map_or(0, |frame| frame.line),
        orderly: above.iter().any(|frame| frame.function == "exit"),
        handler,
        sanitizer,
        ended: ended.to_owned(),
    })
}

/// Tells whether a frame is of a sanitizer's runtime.
fn is_sanitizer(frame: &ExitFrame) -> bool {
    let name = regex!("^__+(?:asan|hwasan|lsan|msan|tsan|ubsan|sanitizer)(?:::|_)");
    name.is_match(&frame.function)
}

/// Tells whether a frame is the start of a program, before its `main`.
fn starts_program(frame: &ExitFrame) -> bool {
    frame.function == "_start" || frame.function.starts_with("__libc_start")
}

/// Judges a departure that the unpatched program was not seen to take.
fn weigh(departure: &Departure, programs: &Programs<'_>) -> Verdict {
    let (place, ended, name) = (departure.place(), &departure.ended, &departure.name);
    let is_old = || !programs.attempt.wrote(&departure.file, departure.line);
    let what = match departure.kind {
        ExitEventKind::Control => {
            let what = format!("{place} calls {name}, which can blind the sanitizer");
            return if is_old() {
                Verdict::Doubt(what)
            } else {
                Verdict::Objection(what)
            };
        }
        _ if departure.sanitizer => format!(
            "a sanitizer ends the program at {place}, and its report was kept from being read"
        ),
        ExitEventKind::Signal => format!("the program gets {name} in {place}"),
        ExitEventKind::Exec => format!("another program is started in {place}"),
        ExitEventKind::Fork => format!("another process is made in {place}"),
        // Only a hang is asked for its stack.
        ExitEventKind::Sample => return Verdict::Returned,
        ExitEventKind::Exit if departure.handler => {
            format!("a signal handler ends the process ({ended}), after {place}")
        }
        ExitEventKind::Exit if !departure.orderly => format!(
            "the process is ended at once ({ended}) in {place}, and the harness never returns"
        ),
        ExitEventKind::Exit => {
            let what =
                format!("the process is ended ({ended}) in {place}, before the harness returns");
            let failed = !ended.ends_with(" 0");
            if failed && (is_old() || ends_elsewhere(programs.target, &departure.file)) {
                return Verdict::Doubt(what);
            }
            what
        }
    };
    Verdict::Objection(what)
}

/// Tells whether the pristine file ends the process already, which then is its way to
/// report errors.
fn ends_elsewhere(target: &dyn Target, path: &str) -> bool {
    let read = || {
        let tree = Tree::open(&target.task().tree).ok()?;
        let text = tree.read(&TreePath::new(path).ok()?).ok()?;
        Some(String::from_utf8_lossy(text.bytes()).into_owned())
    };
    read().is_some_and(|text| review::ends_process(&text))
}

/// Judges the functions that have no checks of the sanitizer, although they read or
/// write memory.
async fn unwatched(programs: &Programs<'_>, exits: &Exits, watched: &Counted) -> Result<Verdict> {
    let Programs {
        target, pov, old, ..
    } = *programs;
    let now = functions_of(exits);
    let blind = |found: &FunctionChecks| found.checks == 0 && found.accesses > 0;
    let crash = programs.crash();
    let of_values = crash.is_some_and(|crash| crash.tool == Tool::UndefinedBehaviorSanitizer);
    let unsure = |found: &FunctionChecks| blind(found) || of_values && found.undefined == 0;
    if !now.values().any(unsure) {
        return Ok(Verdict::Returned);
    }
    let exits = target.exits(old, pov, watched).await?;
    let before = functions_of(&exits);
    let checked = |name: &String| before.get(name).is_some_and(|found| found.checks > 0);
    let mut lost = now.iter().filter(|(_, found)| blind(found));
    if let Some((name, _)) = lost.clone().find(|(name, _)| checked(name)) {
        return Ok(Verdict::Objection(format!(
            "the sanitizer no longer watches {name}: its checks are gone, its accesses to memory are not"
        )));
    }
    let any_checked = before.values().any(|found| found.checks > 0);
    if let Some((name, _)) = lost.find(|(name, _)| any_checked && !before.contains_key(*name)) {
        return Ok(Verdict::Doubt(format!(
            "the sanitizer does not watch the new function {name}, which reads or writes memory"
        )));
    }
    let undefined = |name: &String| before.get(name).map_or(0, |found| found.undefined);
    let mut lost = now
        .iter()
        .filter(|(name, found)| of_values && found.undefined == 0 && undefined(name) >= KINDS);
    Ok(match lost.next() {
        Some((name, _)) => Verdict::Doubt(format!(
            "no check for undefined behaviour is left in {name}, of whatever kind"
        )),
        None => Verdict::Returned,
    })
}

/// Returns the functions of all processes by name.
fn functions_of(exits: &Exits) -> BTreeMap<&String, FunctionChecks> {
    let processes = exits.processes.iter();
    processes
        .flat_map(|process| &process.functions)
        .map(|(name, found)| (name, *found))
        .collect()
}

/// Removes the departures that the unpatched program takes as well on inputs that it handles:
/// first on those that end as the patched program did, then on others on other paths. Each
/// input takes a run under the debugger, so none is watched when nothing is left.
async fn drop_usual(
    programs: &Programs<'_>,
    unusual: &mut Vec<(&Departure, Verdict)>,
) -> Result<()> {
    if unusual.is_empty() {
        return Ok(());
    }
    let Programs {
        target, pov, old, ..
    } = *programs;
    let task = target.task();
    let mut contents = Mutator::nearest_first(given_inputs::povs(task)?).take(TRIED.0);
    let given = given_inputs::contents(task, pov)?;
    contents.extend(given.into_iter().take(TRIED.1));
    let inputs = Inputs {
        capture: Capture::Outputs,
        ..Inputs::new(contents, TIME.0, TIME.1)
    };
    let runs = programs.run_old(&inputs).await?;
    let mut ways: BTreeMap<(String, Vec<u8>), usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.is_failure()) {
        ways.entry(way(run)).or_insert(run.index);
    }
    let alike = |ended: &String| unusual.iter().any(|(one, _)| one.ended == *ended);
    let mut order: Vec<_> = ways.into_iter().collect();
    order.sort_by_key(|((ended, _), index)| (!alike(ended), *index));
    for (_, index) in order.into_iter().take(WATCHED) {
        let Some(bytes) = inputs.contents.get(index).filter(|_| !unusual.is_empty()) else {
            continue;
        };
        let input = InputFile::like(pov, bytes)?;
        let exits = target.exits(old, input.pov(), &Counted::default()).await?;
        let seen: BTreeSet<_> = departures(&exits).iter().map(Departure::key).collect();
        unusual.retain(|(departure, _)| !seen.contains(&departure.key()));
    }
    Ok(())
}

/// Returns the end and the output of a run without numbers.
fn way(run: &InputRun) -> (String, Vec<u8>) {
    let words = run.output.iter().filter(|byte| !byte.is_ascii_digit());
    (run.ending.to_string(), words.copied().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::{Departure, ExitEvent, ExitEventKind, ExitFrame, departure};

    fn frame(function: &str, file: Option<&str>) -> ExitFrame {
        ExitFrame {
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line: 7,
            named: file.is_some(),
            in_library: false,
            handler: false,
        }
    }

    fn read(kind: ExitEventKind, stack: Vec<ExitFrame>) -> Option<Departure> {
        let event = ExitEvent {
            what: kind,
            name: String::new(),
            stack,
        };
        departure(&event, "exit status 0")
    }

    #[test]
    fn a_return_is_told_from_an_exit() {
        use ExitEventKind::{Exit, Fork};
        let project = || frame("parse", Some("parse.c"));
        let start = || frame("_start", None);
        let (exit, leave) = (|| frame("exit", None), || frame("_exit", None));
        let harness = || ExitFrame {
            named: true,
            ..frame("run_one", None)
        };
        assert_eq!(read(Exit, vec![leave(), exit(), start()]), None);
        // What says that it is no code of the project has to be seen elsewhere too.
        let harness = read(Exit, vec![leave(), exit(), harness(), start()]).unwrap();
        assert_eq!(harness.place(), "run_one");
        let early = read(Exit, vec![leave(), exit(), project(), start()]).unwrap();
        assert!(early.orderly && early.place() == "parse (parse.c:7)");
        let at_once = read(Exit, vec![leave(), project(), start()]).unwrap();
        assert!(!at_once.orderly);
        // A stack that nobody can read is no proof of a return.
        let unknown = read(Exit, vec![frame("??", None)]).unwrap();
        assert!(unknown.file.is_empty());
        let report = vec![leave(), frame("__asan_report_load4", None), project()];
        assert!(read(Exit, report).unwrap().sanitizer);
        assert!(read(Fork, vec![frame("fork", None), project()]).is_some());
    }
}
