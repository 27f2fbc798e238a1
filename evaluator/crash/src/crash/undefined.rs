//! UndefinedBehaviorSanitizer reports: one sentence with a position, and a stack
//! where the user asked for one.

use super::draft::Draft;
use super::frame_origin::FrameOrigin;
use super::log_lines::Log;
use super::{Family, Strength, Tool, access, native, phrases};
use patchwright_source::Frame;

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r"runtime error: ",
    begins: |line| sentence(line).is_some(),
    read,
};

/// The most lines that belong to the sentence: the dump of the bytes and the stack.
const MAX_LINES: usize = 600;

/// Splits a sentence into its position, which may be missing, and its message. A panic
/// of Go uses the same words.
fn sentence(line: &str) -> Option<(&str, &str)> {
    let bare = || Some(("", line.trim_start().strip_prefix("runtime error: ")?));
    let is_place = |place: &str| {
        let ends = place.ends_with(|c: char| c.is_ascii_hexdigit() || c == '>');
        ends || place.to_lowercase().ends_with("ubsan")
    };
    let told = line.split_once(": runtime error: ");
    let told = told.filter(|(place, _)| is_place(place)).or_else(bare);
    told.filter(|_| !line.contains("panic: "))
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let line = log.line(at)?;
    let (place, message) = sentence(line)?;
    let kind = phrases::find("undefined behaviour", |phrase| message.contains(phrase));
    let kind = kind.unwrap_or("undefined-behavior");
    let mut draft = Draft::new(Tool::UndefinedBehaviorSanitizer, kind);
    message.clone_into(&mut draft.message);
    let said = format!("{place}: runtime error: {message}");
    draft.say(said.trim_start_matches(": "));
    draft.access.operation = access::operation(message, "load of", "store to");
    if message.contains("null pointer of type") || message.contains("null pointer\u{0}") {
        draft.access.address = Some("0x0".to_owned());
    }
    let position = position(place);
    read_stack(&mut draft, log, at);
    match (draft.has_frames(), position) {
        (false, Some(frame)) => draft.place(frame),
        (true, Some(frame)) => place_first(&mut draft, &frame),
        (_, None) => {}
    }
    Some(draft)
}

/// Returns the position as a frame without a function.
fn position(place: &str) -> Option<Frame> {
    let (file, line, column) = native::read_position(place.trim());
    // A program's own unfinished line may stand before it, or the name of a log.
    let file = match file.rfind(" /") {
        Some(at) => file.get(at + 1..)?,
        None => file,
    };
    let file = match file.rsplit_once(':') {
        Some((_, file)) if !file.starts_with(['\\', '/']) => file.trim_start(),
        _ => file,
    };
    (line.is_some() && !file.is_empty()).then(|| Frame {
        file: Some(file.to_owned()),
        line,
        column,
        ..native::unnamed()
    })
}

/// Reads the stack below the sentence, else that of the signal that ended the program.
fn read_stack(draft: &mut Draft, log: &Log<'_>, at: usize) {
    let mut foreign = false;
    for line in log.from(at + 1, MAX_LINES) {
        if let Some((number, frame)) = native::read(line) {
            if number == 0 && draft.has_frames() {
                break;
            }
            draft.push(frame);
        } else if draft.has_frames() || line.contains(": runtime error: ") {
            break;
        } else if line.contains("deadly signal") || line.contains("ERROR: AddressSanitizer: ") {
            foreign = true;
        } else if line.starts_with("[exit ") || line.starts_with("$ ") {
            break;
        }
    }
    if foreign && let Some(stack) = draft.stacks.first_mut() {
        // The top is the handler of the signal.
        let is_own = |frame: &Frame| FrameOrigin::of(frame) != FrameOrigin::Runtime;
        let own = stack.frames.iter().position(is_own).unwrap_or(0);
        stack.frames.drain(..own);
    }
}

/// Adds the column that only the sentence names to the first frame of the stack.
fn place_first(draft: &mut Draft, position: &Frame) {
    let first = draft.stacks.first_mut();
    let top = first.and_then(|stack| stack.frames.first_mut());
    if let Some(top) = top.filter(|top| top.line == position.line) {
        top.column = top.column.or(position.column);
    }
}
