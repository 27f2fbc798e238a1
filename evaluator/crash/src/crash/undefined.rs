//! UndefinedBehaviorSanitizer reports: one sentence with a position, and a stack
//! where the user asked for one.

use super::draft::Draft;
use super::frame_origin::FrameOrigin;
use super::log_lines::Log;
use super::{Family, Strength, Tool, access, native, phrases};
use patchwright_source::{Frame, regex};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r"runtime error: ",
    begins: |line| sentence(line).is_some(),
    read,
};

/// The same in a person's list, without the tool's own mark: `src/a.c:12`: left shift of 7 ..
pub(super) const TOLD: Family = Family {
    strength: Strength::Last,
    mark: r"\.(?:[chCH]|cc|cpp|cxx|hh|hpp|hxx|inc):\d.*[a-z]{3}",
    begins: |line| told(line).is_some(),
    read: |log, at| {
        let (place, message) = told(log.line(at)?)?;
        // Compilers and people find such things too. A text is cut at the further entries of its list.
        let tool = regex!(r"(?i)ubsan|undefined.?behaviou?r|fsanitize");
        let entry = log.line(at)?.trim_start().starts_with(['-', '*', '`']);
        let named = at == 0 && entry || log.lines().iter().any(|line| tool.is_match(line));
        named.then(|| draft_of(place, message, log, at))
    },
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

/// Splits an entry of a list into its position and its message.
fn told(line: &str) -> Option<(&str, &str)> {
    let form = regex!(
        r"^\W*(?P<place>[\w./\\+~-]+\.\w{1,3}:\d+(?::\d+)?)[`*)\x22]*(?:\s*[:\u{2013}\u{2014}-])?\s+(?P<message>[a-z].*)$"
    );
    let (_, [place, message]) = form.captures(line)?.extract();
    let is_other = regex!(r"\b(?:warning|error|note):").is_match(message);
    let says = |phrase: &str| phrase.contains(' ') && message.contains(phrase);
    let is_known = phrases::find("undefined behaviour", says).is_some();
    (is_known && !is_other).then_some((place, message))
}

/// Tells whether a line is a finding of either form.
pub(super) fn is_finding(line: &str) -> bool {
    sentence(line).is_some() || told(line).is_some()
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let (place, message) = sentence(log.line(at)?)?;
    Some(draft_of(place, message, log, at))
}

/// Makes a report of a finding.
fn draft_of(place: &str, message: &str, log: &Log<'_>, at: usize) -> Draft {
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
    draft
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
