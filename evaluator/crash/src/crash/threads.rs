//! Thread dumps of a JVM, as printed by `jstack`, `jcmd Thread.print`, `kill -3` and
//! Jazzer. They show the place of a hang.

use super::draft::Draft;
use super::frame_origin::FrameOrigin;
use super::log_lines::Log;
use super::{Family, Role, Strength, Tool, group_of, java};
use patchwright_source::{Frame, regex};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Last,
    mark: r#"^Full thread dump |^Found one Java-level deadlock|^DALVIK THREADS|^".+" .*\bprio=\d+ .*\btid="#,
    begins: |_| true,
    read,
};

/// The headline of threads that wait for each other; their stacks stand below it.
const DEADLOCK: &str = "Found one Java-level deadlock";

/// The most lines of a dump; a JVM of a thousand threads prints 30,000.
const MAX_LINES: usize = 50_000;
/// The most frames that are kept of one thread.
const MAX_FRAMES: usize = 2048;

/// One thread of a dump.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    pub name: String,
    /// `RUNNABLE`, `WAITING`, ..; empty where the dump does not name it.
    pub state: String,
    /// Its stack, innermost frame first.
    pub frames: Vec<Frame>,
}

impl Thread {
    fn has(&self, place: FrameOrigin) -> bool {
        self.frames
            .iter()
            .any(|frame| FrameOrigin::of(frame) == place)
    }
}

/// Reads the threads of the last dump in a text, in the order of the dump.
pub fn read_threads(text: &str) -> Vec<Thread> {
    let log = Log::new(text);
    let last = log
        .lines()
        .iter()
        .rposition(|line| line.starts_with("Full thread dump "));
    read_lines(log.from(last.unwrap_or(0), MAX_LINES))
}

pub(super) fn read_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Thread> {
    // `"main" #1 prio=5 ..` or `Thread[main,5,main]`. A name may hold commas; priority and group
    // follow it.
    let named =
        regex!(r#"^(?:Thread\[#*(.*),[^,]*,[^,]*\]|"(.*)":|"(.*)" (?:#|.*(?:prio|tid)=).*)$"#);
    let mut threads: Vec<Thread> = Vec::new();
    for line in lines {
        if line.starts_with("SUMMARY: ") || line.starts_with("JNI global ref") {
            break;
        }
        if let Some(name) = group_of(named, line) {
            threads.push(Thread {
                name: name.to_owned(),
                ..Thread::default()
            });
        } else if let Some(thread) = threads.last_mut() {
            if let Some(state) = line.trim().strip_prefix("java.lang.Thread.State: ") {
                let state = state.split(' ').next().unwrap_or(state);
                state.clone_into(&mut thread.state);
            } else if let Some(frame) = java::read_frame(line)
                && thread.frames.len() < MAX_FRAMES
            {
                thread.frames.push(frame);
            }
        }
    }
    threads
}

/// Returns the thread that hangs in the project's code: the one below the fuzz target,
/// else one that runs, else one that waits there.
pub fn busiest_thread(threads: &[Thread]) -> Option<&Thread> {
    let rank = |thread: &&Thread| {
        (
            !thread.has(FrameOrigin::Harness),
            !thread.has(FrameOrigin::Project),
            thread.state != "RUNNABLE" && !thread.state.is_empty(),
            thread.name != "main",
            thread.name.clone(),
        )
    };
    threads
        .iter()
        .filter(|thread| thread.has(FrameOrigin::Project) || thread.has(FrameOrigin::Harness))
        .min_by_key(rank)
        .or_else(|| {
            threads
                .iter()
                .find(|thread| thread.name == "main" || threads.len() == 1)
        })
}

/// Tells whether a person's words are of a program that reads dumps, and of none that hangs: a dump is
/// its input.
pub(super) fn are_read(words: &str) -> bool {
    let reads = regex!(
        r"(?im)^[^\x22\n]*?\b(?:pars|chok)[^.;,\n]{0,40}(?:thread|jstack|stack ?trace|dumps?\b)"
    );
    let hangs = regex!(r"(?i)\bhang|\bhung\b|stuck|freez|block|not respond|forever");
    reads.is_match(words) && !hangs.is_match(words)
}

/// Adds the stack of a thread to a draft.
pub(super) fn show(draft: &mut Draft, thread: &Thread, role: Role) {
    draft.say(format!("the thread \"{}\" was here:", thread.name));
    draft.expect(role);
    draft.extend(thread.frames.iter().cloned());
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let threads = read_lines(log.from(at, MAX_LINES));
    let is_deadlock = log.line(at)?.starts_with(DEADLOCK);
    let (kind, shown) = if is_deadlock {
        let waiting = threads.iter().filter(|thread| !thread.frames.is_empty());
        ("deadlock", waiting.collect())
    } else {
        ("hang", vec![busiest_thread(&threads)?])
    };
    let mut draft = Draft::new(Tool::Java, kind);
    let roles = std::iter::once(Role::Crash).chain(std::iter::repeat(Role::Previous));
    for (thread, role) in shown.into_iter().zip(roles) {
        show(&mut draft, thread, role);
    }
    draft.has_frames().then_some(draft)
}
