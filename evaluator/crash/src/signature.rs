//! Crash signatures, by which two crashes are compared.
//!
//! A signature is the kind and the innermost functions of the project, without line
//! numbers, so that a patch that moves lines does not turn an old crash into a new one.
//! It holds no addresses, arguments, template arguments or numbers of anonymous classes.

use crate::crash::{CrashReport, Frame, FrameOrigin, Role, Stack, plain_name, root_cause};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Functions of a signature. Three, as ClusterFuzz takes: one would join different bugs
/// of one function, many would split one bug by its callers.
const FUNCTIONS: usize = 3;
/// Frames of an overflowed stack in which its cycle is searched.
const CYCLE_FRAMES: usize = 256;
/// Occurrences there that make a function part of the cycle.
const CYCLE_TIMES: usize = 3;

/// The part of a crash that equal crashes share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature {
    /// The kind, in one spelling for all tools.
    pub kind: String,
    /// The innermost functions of the project, innermost first; for a stack
    /// that overflowed the functions of the cycle, sorted.
    pub functions: Vec<String>,
}

/// The relation of a crash to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// The same crash.
    Same,
    /// The same defect at another place, or another symptom at the same place.
    Moved,
    /// Something else.
    New,
}

impl CrashReport {
    /// Returns the signature of the crash.
    ///
    /// `in_project` selects the frames of the tree; where it selects none, the
    /// [`FrameOrigin`] of the frames decides.
    pub fn signature(&self, in_project: &dyn Fn(&Frame) -> bool) -> Signature {
        let names = project_functions(self, in_project);
        let functions = if self.is_stack_overflow() {
            cycle(&names)
        } else if let Some(other) = self.stacks.iter().find(|s| s.role == Role::Previous) {
            // The side of a race that is seen first is random.
            let other = functions_of(other, in_project).into_iter().take(1);
            let mut sides: Vec<String> = names.into_iter().take(1).chain(other).collect();
            sides.sort();
            sides.dedup();
            sides
        } else {
            names.into_iter().take(FUNCTIONS).collect()
        };
        Signature {
            kind: kind(self),
            functions,
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        let mut functions = self.functions.iter();
        functions.try_for_each(|function| write!(f, " | {function}"))
    }
}

/// Compares a crash with an earlier one.
pub fn compare(
    earlier: &CrashReport,
    later: &CrashReport,
    in_project: &dyn Fn(&Frame) -> bool,
) -> Change {
    let (old, new) = (earlier.signature(in_project), later.signature(in_project));
    if old == new {
        return Change::Same;
    }
    let old_names = project_functions(earlier, in_project);
    let new_names = project_functions(later, in_project);
    let same_kind = old.kind == new.kind;
    if same_kind && earlier.is_hang() && same_loop(&old_names, &new_names) {
        return Change::Same;
    }
    if same_kind && earlier.is_stack_overflow() && shares(&old.functions, &new.functions) {
        return Change::Same;
    }
    // One function of the innermost three in common, or the same kind on the
    // same path through the program.
    let near = shares(&old.functions, &new.functions);
    if near || same_kind && shares(&old_names, &new_names) {
        Change::Moved
    } else {
        Change::New
    }
}

/// Tells whether two hangs are in the same loop. A hang is interrupted anywhere below
/// the function that loops, so the frames are equal except for the innermost few.
fn same_loop(old: &[String], new: &[String]) -> bool {
    let pairs = old.iter().rev().zip(new.iter().rev());
    let common = pairs.take_while(|(a, b)| a == b).count();
    common > 0 && common + 2 >= old.len().min(new.len())
}

fn shares(old: &[String], new: &[String]) -> bool {
    old.iter().any(|name| new.contains(name))
}

/// Returns the kind in one spelling: the simple name of an exception, and one word where
/// tools use different ones.
fn kind(report: &CrashReport) -> String {
    // A detector's finding has a name of its own, whatever caused it.
    let kind = if report.kind.contains('.') {
        root_cause(&report.stacks).unwrap_or(&report.kind)
    } else {
        &report.kind
    };
    let simple = kind.rsplit(['.', '$']).next().unwrap_or(kind);
    match simple {
        "StackOverflowError" => "stack-overflow",
        "OutOfMemoryError" => "out-of-memory",
        "hang" => "timeout",
        "use-after-free" => "heap-use-after-free",
        other => other,
    }
    .to_owned()
}

/// Returns the functions of the project in the most informative stack, innermost first.
fn project_functions(report: &CrashReport, in_project: &dyn Fn(&Frame) -> bool) -> Vec<String> {
    telling_stacks(report)
        .map(|stack| functions_of(stack, in_project))
        .find(|names| !names.is_empty())
        .unwrap_or_default()
}

fn functions_of(stack: &Stack, in_project: &dyn Fn(&Frame) -> bool) -> Vec<String> {
    let tests: [&dyn Fn(&Frame) -> bool; 4] = [
        &|frame| in_project(frame) && FrameOrigin::of(frame) == FrameOrigin::Project,
        &|frame| FrameOrigin::of(frame) == FrameOrigin::Project,
        &FrameOrigin::is_installed_library,
        &|frame| FrameOrigin::of(frame) == FrameOrigin::Harness,
    ];
    let frames = stack.above_harness();
    let names = |wanted: &&dyn Fn(&Frame) -> bool| -> Vec<String> {
        let wanted = frames.iter().filter(|frame| wanted(frame));
        wanted.map(name).collect()
    };
    let mut found = tests.iter().map(names);
    found.find(|names| !names.is_empty()).unwrap_or_default()
}

/// Returns the stacks, for Java the last cause first: the exceptions that wrap it are
/// the same for many defects.
fn telling_stacks(report: &CrashReport) -> impl Iterator<Item = &Stack> {
    let causes = report.stacks.iter().rev();
    causes
        .filter(|stack| stack.role == Role::Cause)
        .chain(report.main_stack())
}

/// Returns the functions of a recursion.
fn cycle(names: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in names.iter().take(CYCLE_FRAMES) {
        *counts.entry(name).or_default() += 1;
    }
    counts.retain(|_, count| *count >= CYCLE_TIMES);
    let repeated: Vec<String> = counts.into_keys().cloned().collect();
    if repeated.is_empty() {
        return names.iter().take(FUNCTIONS).cloned().collect();
    }
    repeated
}

/// Returns a function's name without the parts that change from build to build.
fn name(frame: &Frame) -> String {
    if frame.function == "??" {
        let file = frame.file.as_deref().unwrap_or_default();
        let file = file.rsplit('/').next().unwrap_or(file);
        return if file.is_empty() { "??" } else { file }.to_owned();
    }
    plain_name(&frame.function)
}
