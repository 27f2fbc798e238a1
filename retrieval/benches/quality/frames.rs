//! Just enough of a reader for the crash reports of the cases.

use patchwright_retrieval::{CrashFrame, Role};
use regex::Regex;

/// The part of a log that belongs to its first run.
pub(super) fn first_run(log: &str) -> String {
    let mut parts = log.split("\n$ ");
    parts.next().unwrap_or_default().to_owned()
}

/// No stack of the cases is longer.
const LONGEST: u32 = 2_000;

pub(super) fn read(log: &str) -> Vec<CrashFrame> {
    let log = first_run(log);
    let native = Regex::new(r"^\s*#(\d+) 0x[0-9a-f]+ in (.+) ([^ ]+?):(\d+)(:\d+)?$").unwrap();
    let java =
        Regex::new(r"^\s*at (?:app//|[a-z.]+@?[0-9.]*/)?([\w.$<>]+)\(([\w$]+\.java):(\d+)\)")
            .unwrap();
    let undefined = Regex::new(r"^([^ :]+):(\d+):\d+: runtime error").unwrap();
    let mut frames = Vec::new();
    let mut role = Role::Crash;
    let mut depth = 0;
    // What caused an exception comes before it: that is where things went wrong.
    let causes = log.matches("\nCaused by: ").count() as u32;
    let mut cause = 0;
    let main_thread = log.find("Thread[main,");
    let body = main_thread.map_or(log.as_str(), |at| &log[at..]);
    for line in body.lines() {
        if line.contains("freed by thread") {
            role = Role::Freed;
        } else if line.contains("allocated by thread") {
            role = Role::Allocated;
        } else if line.starts_with("Caused by: ") {
            cause += 1;
        } else if line.contains("is located in stack of")
            || (main_thread.is_some() && line.is_empty())
        {
            break;
        } else if let Some(found) = native.captures(line) {
            frames.push(frame(
                &found[2],
                &found[3],
                &found[4],
                (role, found[1].parse().unwrap()),
            ));
        } else if let Some(found) = java.captures(line) {
            let before = (causes - cause) * LONGEST;
            frames.push(frame(
                &found[1],
                &found[2],
                &found[3],
                (role, before + depth),
            ));
            depth += 1;
        } else if let Some(found) = undefined.captures(line) {
            frames.push(frame("", &found[1], &found[2], (role, 0)));
        }
    }
    frames
}

fn frame(function: &str, file: &str, line: &str, (role, depth): (Role, u32)) -> CrashFrame {
    CrashFrame {
        function: function.to_owned(),
        file: Some(file.to_owned()),
        line: line.parse().ok(),
        role,
        depth,
    }
}
