//! Purified reports: the text of a crash that a repairer reads, equal for equal runs.
//!
//! Addresses, process and thread numbers, build ids, registers, shadow bytes and
//! temporary paths differ from run to run and are left out. So are the runtime's
//! frames below the program's own and the repeated turns of a recursion.

use super::cwe::UNCAUGHT;
use super::draft::{Draft, Part};
use super::java::{root_cause, told_cause};
use super::plain_name::plain_name;
use super::scrub::{scrub, scrub_function, shorten};
use super::{Access, CrashReport, Frame, FrameOrigin, Operation, Role, cwe, fold};
use patchwright_source::counted;
use std::fmt::Write as _;

/// Lines of a stack that are shown from its top, and from its bottom.
const TOP_FRAMES: usize = 40;
const BOTTOM_FRAMES: usize = 12;
/// The most stacks that are shown; a leak report may have a hundred.
const SHOWN_STACKS: usize = 16;
/// The longest sentence or frame, in characters.
const LINE_LENGTH: usize = 600;
/// The longest name of a function with its types.
const NAME_LENGTH: usize = 120;

/// Finishes a draft that was read to its end.
pub(super) fn finish(draft: Draft) -> CrashReport {
    let access = (draft.access != Access::default()).then(|| draft.access.clone());
    let weakness = |kind: &str| cwe::of(draft.tool, kind, access.as_ref());
    // An exception around another says less than that.
    let cause = root_cause(&draft.stacks).or_else(|| told_cause(&draft.stacks));
    let cause = cause.filter(|_| weakness(&draft.kind) == Some(UNCAUGHT));
    let cwe = weakness(cause.unwrap_or(&draft.kind)).map(|number| format!("CWE-{number}"));
    let purified = render(&draft);
    let mut report = CrashReport {
        tool: draft.tool,
        kind: draft.kind,
        cwe,
        access,
        stacks: draft.stacks,
        cut: draft.cut,
        summary: String::new(),
        purified,
    };
    report.summary = summary(&report, &draft.message);
    report
}

/// Summarises a report in one line: tool, kind, access and position.
pub(super) fn summary(report: &CrashReport, message: &str) -> String {
    let mut line = format!("{}: {}", report.tool, report.kind);
    if !message.is_empty() {
        let _ = write!(line, ": {}", shorten(&scrub(message), 300));
    }
    let sentence = report.access.as_ref().map(describe_access);
    if let Some(sentence) = sentence.filter(|sentence| !sentence.is_empty()) {
        let _ = write!(line, ", {sentence}");
    }
    // A failed assertion names its place itself.
    let is_said = |frame: &&Frame| {
        let place = frame.file.as_deref().zip(frame.line);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let said = |part: &str| {
            let pieces: Vec<&str> = line.split(part).collect();
            let mut pairs = pieces.iter().zip(pieces.iter().skip(1));
            pairs.any(|(before, after)| !before.ends_with(is_word) && !after.starts_with(is_word))
        };
        let is_placed = place.is_some_and(|(file, row)| said(file) && said(&row.to_string()));
        report.kind == "assertion-failure" && is_placed && said(&frame.function)
    };
    if let Some(frame) = report.leading_frame().filter(|frame| !is_said(frame)) {
        let place = scrub(&in_words(frame));
        let place = shorten(place.trim_start_matches("?? "), 300);
        let _ = write!(line, " in {place}");
    }
    if let Some((class, frame)) = root_cause(&report.stacks).zip(thrown_in(report)) {
        let _ = write!(line, ", caused by {class} in {}", scrub(&in_words(frame)));
    } else if let Some(class) = told_cause(&report.stacks).filter(|class| !line.contains(class)) {
        let _ = write!(line, ", caused by {class}");
    }
    line
}

/// Returns where the program threw the exception that ends a chain of causes.
fn thrown_in(report: &CrashReport) -> Option<&Frame> {
    let mut stacks = report.stacks.iter().rev();
    let last = stacks.find(|stack| stack.role == Role::Cause)?;
    let own = |frame: &&Frame| FrameOrigin::of(frame) == FrameOrigin::Project;
    let thrown = last.frames.iter().find(own)?;
    // What only wraps has told the place already.
    (report.leading_frame() != Some(thrown)).then_some(thrown)
}

/// Returns the lines of a stack, folded and purified.
pub fn stack_text(frames: &[Frame]) -> String {
    let mut text = String::new();
    render_stack(&mut text, frames, false);
    text
}

/// Describes an access: "read of 4 bytes, 0 bytes after 'buf' of 2048 bytes".
pub(crate) fn describe_access(access: &Access) -> String {
    let operation = access.operation.map(Operation::as_str);
    let mut text = match access.size {
        Some(size) => format!("{} of {}", operation.unwrap_or("access"), bytes(size)),
        None => operation.unwrap_or_default().to_owned(),
    };
    if access.is_near_null() {
        text.push_str(" near null");
    }
    let (Some(distance), Some(side)) = (access.distance, access.side) else {
        return text.trim_start().to_owned();
    };
    let object = access.object.as_deref().unwrap_or("a memory region");
    let _ = write!(text, " {} {side} {object}", bytes(distance));
    if let Some(size) = access.object_size {
        let _ = write!(text, " of {}", bytes(size));
    }
    text.trim_start().to_owned()
}

fn bytes(number: u64) -> String {
    counted(number, "byte")
}

/// Renders the sentences and stacks of a draft.
fn render(draft: &Draft) -> String {
    let overflow = draft.kind == "stack-overflow" || draft.kind.ends_with("StackOverflowError");
    let mut text = String::new();
    let mut shown = 0;
    for part in &draft.parts {
        match part {
            Part::Text(sentence) => {
                let sentence = scrub(sentence);
                text.push_str(shorten(sentence.trim_end(), LINE_LENGTH).as_str());
                text.push('\n');
            }
            Part::Stack(number) => {
                shown += 1;
                if let Some(stack) = draft.stacks.get(*number)
                    && shown <= SHOWN_STACKS
                {
                    // The frame of a turn in which the stack ran out is random.
                    let by_chance = overflow && stack.role != Role::Suppressed;
                    render_stack(&mut text, &stack.frames, by_chance);
                }
            }
        }
    }
    if shown > SHOWN_STACKS {
        let _ = writeln!(text, "({} more stacks)", shown - SHOWN_STACKS);
    }
    text.trim_matches('\n').to_owned()
}

fn render_stack(text: &mut String, frames: &[Frame], by_chance: bool) {
    let lines = stack_lines(frames, by_chance);
    let hidden = lines.len().saturating_sub(TOP_FRAMES + BOTTOM_FRAMES);
    for (index, line) in lines.iter().enumerate() {
        if hidden == 0 || index < TOP_FRAMES || index >= TOP_FRAMES + hidden {
            let _ = writeln!(text, "    {line}");
        } else if index == TOP_FRAMES {
            text.push_str("    .. (more frames)\n");
        }
    }
}

/// Returns the lines of a stack, folded and without the runtime's frames at its bottom.
fn stack_lines(frames: &[Frame], by_chance: bool) -> Vec<String> {
    let last = |test: &dyn Fn(FrameOrigin) -> bool| {
        let mut origins = frames.iter().map(FrameOrigin::of);
        origins.rposition(test)
    };
    // A fuzzer's own `main` below the harness looks like the project's.
    let own = last(&|place| place == FrameOrigin::Harness)
        .or(last(&|place| place != FrameOrigin::Runtime));
    let shown = own.map_or(frames.len(), |last| last + 1);
    let frames: Vec<String> = frames.iter().take(shown).map(render_frame).collect();
    let folds = fold(&frames);
    let repeated = folds.iter().position(|run| run.times > 1);
    let chance = by_chance && repeated.is_some();
    let first = repeated.filter(|_| chance).unwrap_or(0);
    let is_within_a_turn = chance && ends_within_a_turn(&frames, &folds);
    let mut lines = Vec::new();
    for (index, run) in folds.iter().enumerate().skip(first) {
        let turn = frames
            .get(run.start..run.start + run.period)
            .unwrap_or_default();
        if run.times == 1 {
            if !(is_within_a_turn && index + 1 == folds.len()) {
                lines.extend(turn.iter().cloned());
            }
            continue;
        }
        let mut turn = turn.to_vec();
        if chance {
            // The smallest rotation is the same wherever the stack ran out.
            let rotated = |by: usize| turn.iter().cycle().skip(by).take(turn.len());
            let smallest = (0..turn.len()).min_by(|a, b| rotated(*a).cmp(rotated(*b)));
            turn.rotate_left(smallest.unwrap_or(0));
        }
        let count = turn.len();
        lines.extend(turn);
        lines.push(match count {
            1 => "^ this frame repeats many times".to_owned(),
            count => format!("^ these {count} frames repeat many times"),
        });
    }
    lines
}

/// Tells whether the last run is an incomplete turn of the cycle before it.
fn ends_within_a_turn(frames: &[String], folds: &[fold::Fold]) -> bool {
    let [.., cycle, run] = folds else {
        return false;
    };
    run.period < cycle.period
        && frames.get(run.start..) == frames.get(cycle.start..cycle.start + run.period)
}

fn render_frame(frame: &Frame) -> String {
    let line = scrub_function(&in_words(frame));
    format!("at {}", shorten(&line, LINE_LENGTH))
}

/// Returns a frame as it is shown. The place behind a name of C++ with all its types tells more than these.
fn in_words(frame: &Frame) -> String {
    let name = &frame.function;
    let has_types = name.contains('(') && !name.starts_with('<');
    let mut shown = frame.clone();
    if name.chars().count() > NAME_LENGTH && frame.line.is_some() && has_types {
        shown.function = format!("{}(..)", plain_name(name));
    }
    shown.to_string()
}
