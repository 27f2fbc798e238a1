//! Purified reports: the text of a crash that a repairer reads, equal for equal runs.
//!
//! Addresses, process and thread numbers, build ids, registers, shadow bytes and
//! temporary paths differ from run to run and are left out. So are the runtime's
//! frames below the program's own and the repeated turns of a recursion.

use super::draft::{Draft, Part};
use super::scrub::{scrub, scrub_function, shorten};
use super::{Access, CrashReport, Frame, FrameOrigin, Operation, Role, Side, Stack, cwe, fold};
use std::fmt::Write as _;

/// Lines of a stack that are shown from its top, and from its bottom.
const TOP_FRAMES: usize = 40;
const BOTTOM_FRAMES: usize = 12;
/// The most stacks that are shown; a leak report may have a hundred.
const SHOWN_STACKS: usize = 16;
/// The longest sentence or frame, in characters.
const LINE_LENGTH: usize = 600;

/// Finishes a draft that was read to its end.
pub(super) fn finish(draft: Draft) -> CrashReport {
    let access = (draft.access != Access::default()).then(|| draft.access.clone());
    let cwe = cwe::of(draft.tool, &draft.kind, access.as_ref()).map(|n| format!("CWE-{n}"));
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
        line.push_str(": ");
        line.push_str(&shorten(&scrub(message), 300));
    }
    if let Some(access) = &report.access {
        let sentence = describe_access(access);
        if !sentence.is_empty() {
            line.push_str(", ");
            line.push_str(&sentence);
        }
    }
    if let Some(frame) = report.leading_frame() {
        line.push_str(" in ");
        let place = scrub(&frame.to_string());
        let place = place.trim_start_matches("?? ");
        line.push_str(&shorten(place, 300));
    }
    line
}

/// Returns the lines of a stack, folded and purified.
pub fn stack_text(frames: &[Frame]) -> String {
    let stack = Stack {
        role: Role::Crash,
        title: None,
        frames: frames.to_vec(),
    };
    let mut text = String::new();
    render_stack(&mut text, &stack, false);
    text
}

/// Describes an access: "read of 4 bytes, 0 bytes after 'buf' of 2048 bytes".
pub(crate) fn describe_access(access: &Access) -> String {
    let mut text = match (access.operation, access.size) {
        (Some(Operation::Read), Some(size)) => format!("read of {}", bytes(size)),
        (Some(Operation::Write), Some(size)) => format!("write of {}", bytes(size)),
        (Some(Operation::Read), None) => "read".to_owned(),
        (Some(Operation::Write), None) => "write".to_owned(),
        (None, Some(size)) => format!("access of {}", bytes(size)),
        (None, None) => String::new(),
    };
    if access.is_near_null() {
        text.push_str(" near null");
    }
    let (Some(distance), Some(side)) = (access.distance, access.side) else {
        return text.trim_start().to_owned();
    };
    let side = match side {
        Side::Before => "before",
        Side::Inside => "inside",
        Side::After => "after",
    };
    let object = access.object.as_deref().unwrap_or("a memory region");
    let _ = write!(text, " {} {side} {object}", bytes(distance));
    if let Some(size) = access.object_size {
        let _ = write!(text, " of {}", bytes(size));
    }
    text.trim_start().to_owned()
}

fn bytes(number: u64) -> String {
    match number {
        1 => "1 byte".to_owned(),
        number => format!("{number} bytes"),
    }
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
                    render_stack(&mut text, stack, overflow);
                }
            }
        }
    }
    if shown > SHOWN_STACKS {
        let _ = writeln!(text, "({} more stacks)", shown - SHOWN_STACKS);
    }
    text.trim_matches('\n').to_owned()
}

fn render_stack(text: &mut String, stack: &Stack, overflow: bool) {
    let lines = stack_lines(stack, overflow);
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
fn stack_lines(stack: &Stack, overflow: bool) -> Vec<String> {
    let last = |test: &dyn Fn(FrameOrigin) -> bool| {
        stack
            .frames
            .iter()
            .rposition(|frame| test(FrameOrigin::of(frame)))
    };
    // A fuzzer's own `main` below the harness looks like the project's.
    let own = last(&|place| place == FrameOrigin::Harness)
        .or(last(&|place| place != FrameOrigin::Runtime));
    let frames: Vec<String> = stack
        .frames
        .get(..own.map_or(stack.frames.len(), |last| last + 1))
        .unwrap_or_default()
        .iter()
        .map(render_frame)
        .collect();
    let folds = fold(&frames);
    // The frame of a turn in which the stack ran out is random.
    let chance =
        overflow && stack.role != Role::Suppressed && folds.iter().any(|run| run.times > 1);
    let first = if chance {
        folds.iter().position(|run| run.times > 1).unwrap_or(0)
    } else {
        0
    };
    let mut lines = Vec::new();
    for (index, run) in folds.iter().enumerate().skip(first) {
        let turn = frames
            .get(run.start..run.start + run.period)
            .unwrap_or_default();
        if run.times == 1 {
            let partial = index > 0 && is_partial_turn(&frames, &folds, index);
            if !(chance && partial) {
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

/// Tells whether a run is an incomplete turn of the cycle before it, at the end of
/// the stack.
fn is_partial_turn(frames: &[String], folds: &[fold::Fold], index: usize) -> bool {
    let (Some(run), Some(cycle)) = (
        folds.get(index),
        index.checked_sub(1).and_then(|i| folds.get(i)),
    ) else {
        return false;
    };
    index + 1 == folds.len()
        && run.period < cycle.period
        && frames.get(run.start..) == frames.get(cycle.start..cycle.start + run.period)
}

fn render_frame(frame: &Frame) -> String {
    let line = scrub_function(&frame.to_string());
    format!("at {}", shorten(&line, LINE_LENGTH))
}
