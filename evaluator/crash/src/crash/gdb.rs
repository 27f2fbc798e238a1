//! gdb backtraces.
//!
//! ```text
//! Program received signal SIGSEGV, Segmentation fault.
//! #0  0x0000555555555131 in inner (p=0x0) at crash.c:5
//! #1  0x00007ffff7df0d0a in ?? () from /lib/x86_64-linux-gnu/libc.so.6
//! ```

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Strength, Tool, native};
use patchwright_source::Frame;

pub(super) const FAMILY: Family = Family {
    strength: Strength::Weak,
    mark: r"^#0  |^ *(?:Program|Thread) .*signal ",
    begins: |line| stopped(line).is_some() || line.starts_with("#0  "),
    read,
};

/// A backtrace of an endless recursion may have a hundred thousand frames.
const MAX_LINES: usize = 20_000;

/// Returns the signal of a stop.
fn stopped(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = if line.starts_with("Program ") || line.starts_with("Thread ") {
        line.split_once(" received signal ")
            .or_else(|| line.split_once(" terminated with signal "))
            .map(|(_, rest)| rest)?
    } else {
        return None;
    };
    Some(rest.split([',', '.', ' ']).next().unwrap_or(rest))
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let line = log.line(at)?;
    let signal = stopped(line).map_or("stopped", |signal| signal.trim_start_matches("SIG"));
    let mut draft = Draft::new(Tool::Gdb, signal);
    let begin = if stopped(line).is_some() {
        draft.say(line.trim());
        at + 1
    } else {
        at
    };
    let mut pending: Option<String> = None;
    for line in log.from(begin, MAX_LINES) {
        let first = line.starts_with("#0 ");
        if line.starts_with('#') {
            if let Some(text) = pending.take() {
                push(&mut draft, &text);
            }
            // gdb stops, then prints the frame once more for `bt`; a further
            // one belongs to another thread.
            if first && draft.has_frames() {
                if draft
                    .stacks
                    .first()
                    .is_some_and(|stack| stack.frames.len() > 1)
                {
                    break;
                }
                draft.stacks.clear();
                draft.parts.truncate(1);
                draft.close();
            }
            pending = Some(line.to_owned());
        } else if let Some(text) = &mut pending
            && line.starts_with("    ")
        {
            // A long frame goes on in the next line.
            text.push(' ');
            text.push_str(line.trim());
        } else {
            if let Some(text) = pending.take() {
                push(&mut draft, &text);
            }
            if draft
                .stacks
                .first()
                .is_some_and(|stack| stack.frames.len() > 1)
            {
                break;
            }
        }
    }
    if let Some(text) = pending.take() {
        push(&mut draft, &text);
    }
    recognise(&mut draft, log, at);
    draft.has_frames().then_some(draft)
}

fn push(draft: &mut Draft, text: &str) {
    if let Some(frame) = read_frame(text) {
        draft.push(frame);
    }
}

/// `#1  0x.. in f (a=1, s=0x.. "x) at") at a.c:3` or `.. from /lib/x.so`.
fn read_frame(line: &str) -> Option<Frame> {
    let rest = line.strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix("0x") {
        Some(rest) => rest.split_once(" in ")?.1,
        None => rest,
    };
    if rest.starts_with('<') {
        return Some(Frame::named(rest.trim_end()));
    }
    let (head, place) = match rest.rsplit_once(") at ") {
        Some((head, place)) => (head, Some(place)),
        None => (rest, None),
    };
    let (head, module) = match (place, head.rsplit_once(") from ")) {
        (None, Some((head, module))) => (head, Some(module)),
        _ => (head, None),
    };
    // The arguments begin after the name and a space; a name may hold
    // parentheses of its own.
    let function = head
        .match_indices(" (")
        .map(|(at, _)| at)
        .find(|at| {
            !head
                .get(..*at)
                .is_some_and(|name| name.ends_with("operator"))
        })
        .and_then(|at| head.get(..at))
        .unwrap_or(head);
    let mut frame = Frame::named(function);
    frame.module = module.map(|module| module.trim().to_owned());
    if let Some((file, line, _)) = place.map(native::read_position) {
        frame.file = Some(file.to_owned());
        frame.line = line;
    }
    Some(frame)
}

/// Refines the kind: a recursion that filled the stack looks like any other invalid
/// access, and an abort is explained by the message before it.
fn recognise(draft: &mut Draft, log: &Log<'_>, at: usize) {
    if draft.kind == "ABRT"
        && let Some((kind, sentence)) = super::abort::reason_before(log, at)
    {
        kind.clone_into(&mut draft.kind);
        draft.message.clone_from(&sentence);
        draft.parts.insert(0, super::draft::Part::Text(sentence));
    }
    let deep = draft
        .stacks
        .first()
        .is_some_and(|stack| stack.frames.len() >= 1000);
    if deep && draft.kind == "SEGV" {
        "stack-overflow".clone_into(&mut draft.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::read_frame;

    #[test]
    fn reads_frames() {
        for (line, expected) in [
            (
                "#0  inner (p=0x0) at /src/crash.c:5",
                "inner /src/crash.c:5",
            ),
            (
                "#1  0x0000555555555151 in N::f<int> (a=1, s=0x5 \"x) at\") at a.cc:9",
                "N::f<int> a.cc:9",
            ),
            (
                "#2  0x00007ffff7df0d0a in ?? () from /lib/libc.so.6",
                "?? (libc.so.6)",
            ),
            ("#3  <signal handler called>", "<signal handler called>"),
            (
                "#4  0x1 in operator() (this=0x1) at a.cc:1",
                "operator() a.cc:1",
            ),
        ] {
            assert_eq!(read_frame(line).unwrap().to_string(), expected);
        }
    }
}
