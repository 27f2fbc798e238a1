//! gdb backtraces.
//!
//! ```text
//! Program received signal SIGSEGV, Segmentation fault.
//! #0  0x0000555555555131 in inner (p=0x0) at crash.c:5
//! #1  0x00007ffff7df0d0a in ?? () from /lib/x86_64-linux-gnu/libc.so.6
//! ```

use super::draft::Draft;
use super::log_lines::{Log, MAX_LINE};
use super::{Family, FrameOrigin, Strength, Tool, abort, failure_words, group_of, native};
use patchwright_source::{Frame, Pattern, regex};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Weak,
    mark: r"^#0  |^ *(?:Program|Thread) .*signal ",
    begins: |line| stopped(line).is_some() || line.starts_with("#0  "),
    read,
};

/// A backtrace of an endless recursion may have a hundred thousand frames.
const MAX_LINES: usize = 20_000;
/// Bytes of a frame from which on it is not wrapped, but the line that a log was cut to.
const WRAPPED: usize = MAX_LINE / 2;

/// Functions of the system in which a program waits.
static WAITING: Pattern = Pattern::new(
    r"^_*(?:clock_|do_)?(?:nanosleep|p?poll|p?select|epoll_p?wait|futex_\w*wait\w*|pthread_cond_\w*wait|pthread_join|lll_lock_wait|sem_wait|wait4|waitpid)(?:_nocancel|@.*)?$",
);

/// `__assert_fail (assertion=0x1 "a < b", file=0x2 "/src/a.c", line=7, function=0x3 "f")`; an argument that
/// is known from the function's entry is `line=line@entry=7`, a constant has its name `<..>` before its text.
static ASSERTION: Pattern = Pattern::new(
    r#"(?x)assertion=(?:\w+@entry=)?0x[^\s"]*\ "(?P<assertion>[^"]*)"
          (?:.*?file=(?:\w+@entry=)?0x[^\s"]*\ "(?P<file>[^"]*)")?
          .*?\bline=(?:\w+@entry=)?(?P<line>\d+)
          (?:.*?function=(?:\w+@entry=)?0x[^\s"]*\ (?:<[^"]*>\ )?"(?:[^"(]*[\ *&])?(?P<function>[^"(\ *&]+)[("])?"#,
);

/// Returns the signal of a stop.
fn stopped(line: &str) -> Option<&str> {
    let form =
        regex!(r"^\s*(?:Program|Thread) (?:.*? )?(?:received|terminated with) signal ([^,.: ]*)");
    group_of(form, line)
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let line = log.line(at)?;
    let stop = stopped(line);
    let signal = stop.map_or("stopped", |signal| signal.trim_start_matches("SIG"));
    // A person interrupts what does not end.
    let kind = if signal == "INT" { "hang" } else { signal };
    let mut draft = Draft::new(Tool::Gdb, kind);
    let (mut begin, mut pending) = (at, None);
    if stop.is_some() {
        draft.say(line.trim());
        begin = at + 1;
        if let Some((below, frame)) = frame_of_stop(log, begin) {
            begin = below;
            pending = Some(frame);
        }
    }
    let mut stopped_in = None;
    for line in log.from(begin, MAX_LINES) {
        let first = line.starts_with("#0 ");
        if line.starts_with('#') {
            push(&mut draft, &pending.take().unwrap_or_default());
            // gdb stops, then prints the frame once more for `bt`; a further
            // one belongs to another thread.
            if first && draft.has_frames() {
                if draft.frames().len() > 1 {
                    break;
                }
                stopped_in = draft.stacks.pop().and_then(|mut stack| stack.frames.pop());
                draft.stacks.clear();
                draft.parts.truncate(1);
                draft.open = false;
            }
            pending = Some(line.to_owned());
        } else if let Some(text) = &mut pending
            && line.starts_with(['\t', ' '])
            && goes_on(text, line.trim())
        {
            // Fortran's runtime prints no arguments.
            let has_arguments = text.contains(" (") || line.trim().starts_with('(');
            text.push_str(if has_arguments { " " } else { " () " });
            text.push_str(line.trim());
        } else {
            push(&mut draft, &pending.take().unwrap_or_default());
            // Lines that gdb prints between frames.
            let is_beside = regex!("^(?:    |No locals|No symbol table|--Type )").is_match(line);
            if !is_beside && draft.frames().len() > 1 {
                break;
            }
        }
    }
    push(&mut draft, &pending.unwrap_or_default());
    place_first(&mut draft, stopped_in);
    recognise(&mut draft, log, at);
    add_asserted_place(&mut draft);
    draft.has_frames().then_some(draft)
}

/// Gives the first frame the name and the place that the stop had, where its own were cut off.
fn place_first(draft: &mut Draft, stop: Option<Frame>) {
    let Some(stop) = stop else { return };
    let first = draft.stacks.first_mut();
    let Some(first) = first.and_then(|stack| stack.frames.first_mut()) else {
        draft.cut = true;
        draft.push(stop);
        return;
    };
    if first.line.is_none() && stop.function.starts_with(&first.function) {
        *first = stop;
    }
}

/// Tells whether a frame goes on in the next line: gdb wraps it at the width of a terminal, before
/// its arguments or within them, or before its library, never in a name. Below a whole one are its
/// variables.
fn goes_on(frame: &str, next: &str) -> bool {
    if next.starts_with("from /") && !frame.contains(") from ")
        || next.starts_with("at /") && !frame.contains('(')
    {
        return true;
    }
    let named = frame.contains(" (") || next.starts_with('(');
    named && frame.len() < WRAPPED && !native::is_whole(frame)
}

/// Finds the frame that a stop names without a number: `0x0c in fill (n=2) at a.c:12`, or
/// without the address. Returns it with the number of the line below it.
fn frame_of_stop(log: &Log<'_>, begin: usize) -> Option<(usize, String)> {
    let is_frame = |line: &str| {
        let addressed = line.starts_with("0x") && line.contains(" in ");
        let is_cut = line.contains(") at /") && log.last() == Some(line);
        let named = (native::is_whole(line) || is_cut) && !line.starts_with('#');
        line.contains(" (") && (addressed || named)
    };
    let mut lines = log.from(begin, 4).enumerate();
    let (number, line) = lines.find(|(_, line)| is_frame(line))?;
    Some((begin + number + 1, format!("#0  {}", line.trim())))
}

/// Adds the frame that has been gathered, if there is one.
fn push(draft: &mut Draft, text: &str) {
    let Some(frame) = native::read_debugger_frame(text) else {
        return;
    };
    if frame.function.contains("__assert")
        && let Some(found) = ASSERTION.captures(text)
        && let Some(assertion) = found.name("assertion")
    {
        assertion.as_str().clone_into(&mut draft.message);
        "assertion-failure".clone_into(&mut draft.kind);
        draft.asserted = Some(native::captured(&found).unwrap_or_else(native::unnamed));
    }
    draft.cut |= format!("{text} ").contains(") at ") && !native::is_whole(text);
    draft.push(frame);
}

/// Adds the place of a failed assertion where the stack was cut above it.
fn add_asserted_place(draft: &mut Draft) {
    let (Some(place), Some(stack)) = (draft.asserted.take(), draft.stacks.first_mut()) else {
        return;
    };
    let own = |frame: &Frame| FrameOrigin::of(frame) != FrameOrigin::Runtime;
    if !stack.frames.iter().any(own) {
        stack.frames.push(place);
    }
}

/// Refines the kind: a recursion that filled the stack looks like any other invalid
/// access, and an abort is explained by the message before it.
fn recognise(draft: &mut Draft, log: &Log<'_>, at: usize) {
    if ["ABRT", "stopped"].contains(&draft.kind.as_str()) {
        abort::explain(draft, abort::reason_told(log, at));
    }
    let frames = draft.frames();
    let top = frames.first();
    let waits = top.is_some_and(|top| WAITING.is_match(&top.function));
    let is_deep = frames.len() >= 1000;
    match draft.kind.as_str() {
        "stopped" if waits => "hang".clone_into(&mut draft.kind),
        // A title tells why it stopped.
        "stopped" if log.line(0).and_then(failure_words::kind) == Some("SEGV") => {
            "SEGV".clone_into(&mut draft.kind);
        }
        "SEGV" if is_deep => "stack-overflow".clone_into(&mut draft.kind),
        _ => {}
    }
}
