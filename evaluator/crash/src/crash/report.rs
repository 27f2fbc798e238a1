//! Crash report: the tool, the kind, the bad access and the stacks of a crash, in one
//! shape for all families.
//!
//! Does not read text (the families do) and does not compare crashes
//! ([`crate::signature`] does).

use super::scrub::{replace_folder, replace_path};
use super::{Frame, FrameOrigin, Role};
use patchwright_source::{UNKNOWN_FUNCTION, words};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Frames of an overflowed stack in which its recursion is searched.
const RECURSION: usize = 128;

/// The tool that noticed a crash, by the name that it gives itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tool {
    AddressSanitizer,
    HWAddressSanitizer,
    LeakSanitizer,
    MemorySanitizer,
    ThreadSanitizer,
    UndefinedBehaviorSanitizer,
    #[serde(rename = "libFuzzer")]
    LibFuzzer,
    Jazzer,
    Java,
    #[serde(rename = "JVM")]
    Jvm,
    Valgrind,
    #[serde(rename = "gdb")]
    Gdb,
    #[serde(rename = "glibc")]
    Glibc,
    Rust,
    Chromium,
    #[serde(rename = "signal")]
    Signal,
    CrashReporter,
    #[serde(rename = "lldb")]
    Lldb,
    Coredump,
    #[serde(rename = "GWP-ASan")]
    GwpAsan,
    #[serde(rename = "KASAN")]
    Kasan,
    #[serde(rename = "kernel")]
    Kernel,
    Backtrace,
    Android,
    DrMingw,
    Breakpad,
    Go,
    Python,
    JavaScript,
    #[serde(rename = ".NET")]
    DotNet,
    Zig,
    Erlang,
    Ruby,
    Windows,
}

impl Tool {
    /// Returns the tool of a name.
    pub(super) fn read(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One stack of a report, innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Its role in the crash.
    pub role: Role,
    /// The sentence or exception above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its frames, innermost first. Frames that the tool left out are missing.
    pub frames: Vec<Frame>,
}

impl Stack {
    /// Returns the frames down to the harness. Below it is the fuzzer, whose `main`
    /// looks like the project's own.
    pub fn above_harness(&self) -> &[Frame] {
        let is_harness = |frame| FrameOrigin::of(frame) == FrameOrigin::Harness;
        let harness = self.frames.iter().rposition(is_harness);
        match harness {
            Some(last) => self.frames.get(..=last).unwrap_or_default(),
            None => &self.frames,
        }
    }
}

/// The direction of an access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A load.
    Read,
    /// A store.
    Write,
}

words!(Operation: Read "read", Write "write");

/// The position of an access, seen from the object next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Before its first byte.
    Before,
    Inside,
    /// After its last byte.
    After,
}

words!(Side: Before "before", Inside "inside", After "after");

/// The invalid access to memory, as far as the report describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Load or store.
    pub operation: Option<Operation>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// The address, `0x..`; differs from run to run unless it is close to null.
    pub address: Option<String>,
    /// Bytes between the access and the object, or from the object's start
    /// where the access is inside.
    pub distance: Option<u64>,
    /// On which side of the object.
    pub side: Option<Side>,
    /// The object: a variable's name, or what kind of memory it is.
    pub object: Option<String>,
    /// The object's size in bytes.
    pub object_size: Option<u64>,
}

impl Access {
    /// Tells whether the address is a null pointer, or one plus a field's offset.
    pub fn is_near_null(&self) -> bool {
        self.address
            .as_deref()
            .and_then(|address| u64::from_str_radix(address.trim_start_matches("0x"), 16).ok())
            // The first page is never mapped; a field offset beyond it is rare.
            .is_some_and(|address| address < 4096)
    }
}

/// A crash, reported by any tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashReport {
    /// The tool that noticed it.
    pub tool: Tool,
    /// The kind, in the tool's own word: `heap-buffer-overflow`,
    /// `signed-integer-overflow`, `java.lang.NullPointerException`, `timeout`.
    pub kind: String,
    /// The usual weakness behind this kind, such as `CWE-125`.
    pub cwe: Option<String>,
    /// The bad access, where there is one.
    pub access: Option<Access>,
    /// The stacks, the most informative one first.
    pub stacks: Vec<Stack>,
    /// True where the text ends in the middle of a stack.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// One line for people.
    pub summary: String,
    /// The report as a repairer reads it: complete as to the program, and equal from
    /// run to run.
    pub purified: String,
}

impl CrashReport {
    /// Returns the stack of the crash (for a leak: of the allocation).
    pub fn main_stack(&self) -> Option<&Stack> {
        self.stacks
            .iter()
            .find(|stack| stack.role == Role::Crash)
            .or_else(|| self.stacks.first())
    }

    /// Returns the innermost frame of the program itself, judged by names and paths;
    /// else one of the harness.
    pub fn first_project_frame(&self) -> Option<&Frame> {
        let frames = || self.stacks.iter().flat_map(Stack::above_harness);
        let main = || self.main_stack().into_iter().flat_map(Stack::above_harness);
        let own = || main().filter(|frame| FrameOrigin::of(frame) == FrameOrigin::Project);
        let recursion = || {
            // The turn in which the stack ran out is random.
            let top: Vec<&Frame> = own().take(RECURSION).collect();
            let times = |frame: &Frame| top.iter().filter(|other| **other == frame).count();
            let repeated = top.iter().copied().filter(|frame| times(frame) > 2);
            repeated.min_by_key(|frame| (&frame.function, frame.line))
        };
        let overflow = self.is_stack_overflow().then(recursion).flatten();
        overflow
            .or_else(|| own().next())
            .or_else(|| frames().find(|frame| FrameOrigin::of(frame) == FrameOrigin::Project))
            .or_else(|| main().find(|frame| FrameOrigin::is_installed_library(frame)))
            .or_else(|| main().find(|frame| FrameOrigin::of(frame) == FrameOrigin::Harness))
    }

    /// Returns the frame that a reader looks at first: that of the program, or below frames of a
    /// library that many programs bring along. Where the library is the project itself, nothing
    /// lies below but the harness, or the `main` that shows the crash.
    pub(super) fn leading_frame(&self) -> Option<&Frame> {
        let first = self.first_project_frame()?;
        let of_user = |frame: &&Frame| {
            FrameOrigin::of(frame) == FrameOrigin::Project
                && !FrameOrigin::is_library(frame)
                && frame.function.rsplit('.').next() != Some("main")
        };
        let frames = self.main_stack().into_iter().flat_map(Stack::above_harness);
        let mut below = frames.filter(|_| FrameOrigin::is_library(first));
        Some(below.find(of_user).unwrap_or(first))
    }

    /// Tells whether the program hung instead of dying.
    pub fn is_hang(&self) -> bool {
        matches!(self.kind.as_str(), "timeout" | "hang")
    }

    /// Tells whether the program ran out of stack, whichever tool reports it.
    pub fn is_stack_overflow(&self) -> bool {
        self.kind == "stack-overflow" || self.kind.ends_with("StackOverflowError")
    }

    /// Names the functions of frames that have only a place, and in the summary.
    pub fn name_functions(&mut self, function_at: &dyn Fn(&str, u32) -> Option<String>) {
        let frames = self.stacks.iter_mut().flat_map(|stack| &mut stack.frames);
        for frame in frames.filter(|frame| frame.function == UNKNOWN_FUNCTION) {
            let place = frame.file.as_deref().zip(frame.line);
            if let Some(name) = place.and_then(|(file, line)| function_at(file, line)) {
                let unnamed = frame.to_string();
                let place = unnamed.trim_start_matches("?? ");
                frame.function = name;
                self.summary = self
                    .summary
                    .replace(&format!(" in {place}"), &format!(" in {frame}"));
            }
        }
    }

    /// Returns it without a folder in the paths of the summary, which people read.
    #[must_use]
    pub fn without_folder(mut self, folder: &str) -> Self {
        self.summary = replace_folder(&self.summary, folder);
        self
    }

    /// Replaces the paths of another machine, in frames and in texts.
    ///
    /// `rebase` returns the path in the tree, or none for a foreign file.
    pub fn rebase(&mut self, rebase: &dyn Fn(&str) -> Option<String>) {
        let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
        let frames = self.stacks.iter_mut().flat_map(|stack| &mut stack.frames);
        for file in frames.filter_map(|frame| frame.file.as_mut()) {
            let new = known
                .entry(file.clone())
                .or_insert_with(|| rebase(file).filter(|new| new != file));
            if let Some(new) = new {
                file.clone_from(new);
            }
        }
        // Longest first, so that no path is replaced inside a longer one.
        let changed = known
            .iter()
            .filter_map(|(old, new)| Some((old, new.as_ref()?)));
        let mut changed: Vec<(&String, &String)> = changed.collect();
        changed.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        for (old, new) in changed {
            self.purified = replace_path(&self.purified, old, new);
            self.summary = replace_path(&self.summary, old, new);
        }
    }
}
