//! Rust panics, with or without a backtrace.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, FrameOrigin, Strength, Tool, native, phrases};
use patchwright_source::{Frame, Pattern};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r" panicked at ",
    begins: |line| panicked(line).is_some(),
    read,
};

const MAX_LINES: usize = 4_000;

/// A frame, without the hash behind a mangled name, which differs from build to build.
static FRAME: Pattern = Pattern::new(
    r"^\d+: +(?:0x[0-9a-f]+ - )?(?:<unknown>|0x[0-9A-Fa-f]+(?: -)?|(?P<function>.+?)(?:::h[0-9a-f]{5,16})?)$",
);

/// Returns the text after `panicked at`: a position in newer releases, a quoted
/// message and a position in older ones.
fn panicked(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("thread '")?;
    rest.split_once(" panicked at ").map(|(_, rest)| rest)
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let rest = panicked(log.line(at)?)?;
    let mut draft = Draft::new(Tool::Rust, "panic");
    let (message, place) = if let Some(quoted) = rest.strip_prefix('\'') {
        quoted.rsplit_once("', ")?
    } else {
        let below = log.line(at + 1).unwrap_or_default();
        (below.trim(), rest.trim_end_matches(':'))
    };
    draft.say(format!("panicked at {place}: {message}"));
    if let Some(kind) = phrases::find("panics", |phrase| message.contains(phrase)) {
        kind.clone_into(&mut draft.kind);
    }
    message.clone_into(&mut draft.message);
    let mut position = native::unnamed();
    native::put_at(&mut position, place);
    read_backtrace(&mut draft, log, at);
    let of_project = |frame: &Frame| FrameOrigin::of(frame) == FrameOrigin::Project;
    let mut frames = draft.stacks.iter_mut().flat_map(|stack| &mut stack.frames);
    match frames.find(|frame| of_project(frame)) {
        Some(first) if first.file.is_none() && of_project(&position) => {
            native::put_at(first, place);
        }
        Some(_) => {}
        // The backtrace may be cut before it reaches the program.
        None => draft.place(position),
    }
    Some(draft)
}

/// `   3: crate::function` and below it `             at src/main.rs:3:5`.
fn read_backtrace(draft: &mut Draft, log: &Log<'_>, at: usize) {
    let heading = |line: &&str| line.starts_with("stack backtrace:");
    let own = log
        .from(at + 1, MAX_LINES)
        .take_while(|line| panicked(line).is_none());
    let lines = own.skip_while(|line| !heading(line));
    let mut frames: Vec<Frame> = Vec::new();
    for line in lines.filter(|line| !heading(line)) {
        let text = line.trim();
        if let Some(place) = text.strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                native::put_at(frame, place);
            }
        } else if let Some(found) = FRAME.captures(text) {
            frames.push(native::captured(&found).unwrap_or_else(native::unnamed));
        } else {
            break;
        }
    }
    draft.extend(frames);
}
