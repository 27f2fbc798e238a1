//! From the plain structs of one library to those of another: a crash report
//! becomes the frames that retrieval takes, settings become its settings.

use crate::settings::Retrieval;
use patchwright_evaluator::crash::{CrashReport, Role as StackRole};
use patchwright_retrieval::{Frame, Role, Settings};

/// The frames of a crash report, with the stack each is from. The exception
/// that caused another comes before it: that is where things went wrong.
pub fn frames_of(report: &CrashReport) -> Vec<Frame> {
    let causes: usize = report
        .stacks
        .iter()
        .filter(|stack| stack.role == StackRole::Cause)
        .map(|stack| stack.frames.len())
        .sum();
    let mut frames = Vec::new();
    for stack in &report.stacks {
        let (role, from) = match stack.role {
            StackRole::Crash => (Role::Crash, causes),
            StackRole::Cause => (Role::Crash, 0),
            StackRole::Freed => (Role::Freed, 0),
            StackRole::Allocated => (Role::Allocated, 0),
            StackRole::Stored => (Role::Stored, 0),
            StackRole::Suppressed | StackRole::Previous | StackRole::Created => (Role::Created, 0),
        };
        for (depth, frame) in (from..).zip(&stack.frames) {
            frames.push(Frame {
                function: frame.function.clone(),
                file: frame.file.clone(),
                line: frame.line,
                role,
                depth: u32::try_from(depth).unwrap_or(u32::MAX),
            });
        }
    }
    frames
}

/// The library's settings from those of the program.
pub fn engine_settings(retrieval: &Retrieval) -> Settings {
    Settings {
        max_results: retrieval.max_results,
        context_lines: retrieval.context_lines,
        body_lines: retrieval.body_lines,
        file_size_limit: retrieval.file_size_limit,
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::frames_of;
    use patchwright_evaluator::crash;
    use patchwright_retrieval::Role;

    #[test]
    fn keeps_the_roles_of_a_report() {
        let log = "\
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x1 bp 0x2 sp 0x3
READ of size 8 at 0x602000000010 thread T0
    #0 0x4f in use /src/a.c:9
    #1 0x50 in main /src/m.c:3

freed by thread T0 here:
    #0 0x51 in free (/lib/x+0x1)
    #1 0x52 in drop /src/b.c:7
";
        let frames = frames_of(&crash::parse(log).unwrap());
        let first = frames.first().unwrap();
        assert_eq!((first.function.as_str(), first.line), ("use", Some(9)));
        let freed: Vec<&str> = frames
            .iter()
            .filter(|frame| frame.role == Role::Freed)
            .map(|frame| frame.function.as_str())
            .collect();
        assert_eq!(freed, ["free", "drop"]);
    }

    #[test]
    fn a_cause_comes_before_what_it_led_to() {
        let log = "\
== Java Exception: com.code_intelligence.jazzer.api.FuzzerSecurityIssueLow: Stack overflow
\tat a.Outer.run(Outer.java:1)
Caused by: java.lang.StackOverflowError
\tat a.Inner.read(Inner.java:5)
";
        let frames = frames_of(&crash::parse(log).unwrap());
        let mut crash: Vec<_> = frames
            .iter()
            .filter(|frame| frame.role == Role::Crash)
            .collect();
        crash.sort_by_key(|frame| frame.depth);
        assert!(crash[0].function.ends_with("Inner.read"), "{frames:?}");
    }
}
