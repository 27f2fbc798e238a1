//! The purified text: what a repairer needs of a report, the same every time.
//!
//! Addresses, process and thread numbers, build ids, registers, shadow bytes
//! and temporary paths differ from run to run and tell nothing about the
//! program. The frames below the program's own, and the turns of a recursion,
//! are left out too.

use super::draft::{Draft, Part};
use super::{Access, Frame, Operation, Place, Role, Side, Stack, fold};
use regex::Regex;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// How many lines of a stack are shown from its top and from its bottom.
const TOP_FRAMES: usize = 40;
const BOTTOM_FRAMES: usize = 12;
/// How many stacks are shown; a leak report may have a hundred.
const SHOWN_STACKS: usize = 16;
/// The longest sentence or frame, in characters.
const LINE_LENGTH: usize = 600;
/// The largest number that is taken for a small one and not for an address:
/// field offsets from null, characters, flags.
const SMALL: u64 = 0xffff;

/// What `std::string` is in full.
const LONG_STRING: &str =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

/// A pattern of this module; all are constants that a test compiles.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(ADDRESS, r"\b0x[0-9a-fA-F]+(?:/0x[0-9a-fA-F]+)?\b");
pattern!(
    NUMBERS,
    r"(?x) ==[0-9]+==\ ?
    | \ at\ pc\ 0x[0-9a-f]+\ bp\ 0x[0-9a-f]+\ sp\ 0x[0-9a-f]+
    | \ \(pc\ 0x[0-9a-f]+\ bp\ 0x[0-9a-f]+\ sp\ 0x[0-9a-f]+\ T[0-9]+\)
    | \ \[0x[0-9a-f]+,\ ?0x[0-9a-f]+\)
    | \ \(use\ '-X(?:ss|mx)[0-9]+[kmg]?'\ to\ reproduce\)
    | \btid=[0-9]+,\s?
    | \s?\(BuildId:\ [0-9a-f]+\)
    | \s?\(pid=[0-9]+\)
    | ,?\s?\b(?:pid|tid|nid|lwp|LWP)[=\ :]\s?(?:0x)?[0-9a-f]+
    | ,\s?\(?tid=[0-9]+"
);
pattern!(HASH, r"\b(?P<class>[A-Za-z_][\w.$]*)@[0-9a-f]{4,16}\b");
pattern!(
    TEMPORARY,
    r#"(?:/var/tmp|/tmp|/dev/shm|/run/user/[0-9]+|/scratch)/[^\s:'"`(),;\]>]+"#
);
pattern!(MUTEX, r"\bM[0-9]{3,}\b");

/// Takes out of a sentence what differs from run to run.
pub fn scrub(text: &str) -> String {
    let text = replace(&NUMBERS, text, |_| String::new());
    let text = text.replace(LONG_STRING, "std::string");
    let text = replace(&ADDRESS, &text, |found| {
        let digits = found.get(0).map_or("", |found| found.as_str());
        match u64::from_str_radix(digits.trim_start_matches("0x"), 16) {
            Ok(number) if number <= SMALL => format!("{number:#x}"),
            _ => "<address>".to_owned(),
        }
    });
    let text = replace(&HASH, &text, |found| format!("{}@<hash>", &found["class"]));
    let text = replace(&TEMPORARY, &text, |_| "<temporary file>".to_owned());
    let text = replace(&MUTEX, &text, |_| "M".to_owned());
    text.into_owned()
}

fn replace<'a>(
    pattern: &LazyLock<Option<Regex>>,
    text: &'a str,
    with: impl Fn(&regex::Captures<'_>) -> String,
) -> Cow<'a, str> {
    match pattern.as_ref() {
        Some(pattern) => pattern.replace_all(text, with),
        None => Cow::Borrowed(text),
    }
}

/// The first characters of a line, and a mark where more followed.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Replaces a path where it stands as a whole.
pub(crate) fn replace_path(text: &str, old: &str, new: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '$');
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(old) {
        let previous = before.chars().next_back().or(replaced.chars().next_back());
        let inside = previous.is_some_and(part)
            || after.chars().next().is_some_and(|c| part(c) && c != '.')
            || old.is_empty();
        replaced.push_str(before);
        replaced.push_str(if inside { old } else { new });
        rest = after;
        if old.is_empty() {
            break;
        }
    }
    replaced.push_str(rest);
    replaced
}

/// Drops a folder in front of paths: `/tree/a.c` becomes `a.c`.
pub(crate) fn replace_folder(text: &str, folder: &str) -> String {
    let with_slash = format!("{folder}/");
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&with_slash) {
        replaced.push_str(before);
        let inside = replaced
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
        if inside {
            replaced.push_str(&with_slash);
        }
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

/// The lines of a bare stack, folded and purified.
pub(crate) fn stack_text(frames: &[Frame]) -> String {
    let stack = Stack {
        role: Role::Crash,
        title: None,
        frames: frames.to_vec(),
    };
    let mut text = String::new();
    render_stack(&mut text, &stack, false);
    text
}

/// "read of 4 bytes, 0 bytes after 'buf' of 2048 bytes".
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
        return text;
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

/// Puts sentences and stacks together again.
pub(crate) fn render(draft: &Draft) -> String {
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

/// The lines of a stack: folded, and without the runtime's frames at its
/// bottom.
pub(crate) fn stack_lines(stack: &Stack, overflow: bool) -> Vec<String> {
    let last =
        |test: &dyn Fn(Place) -> bool| stack.frames.iter().rposition(|frame| test(frame.place()));
    // A fuzzer's own `main` below the harness looks like the project's.
    let own = last(&|place| place == Place::Harness).or(last(&|place| place != Place::Runtime));
    let frames: Vec<String> = stack
        .frames
        .get(..own.map_or(stack.frames.len(), |last| last + 1))
        .unwrap_or_default()
        .iter()
        .map(render_frame)
        .collect();
    let folds = fold(&frames);
    // Where the stack ran out within a turn is chance.
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

/// Whether a run is the beginning of one more turn of the cycle before it, cut
/// off at the end of the stack.
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

/// Addresses inside names: `LambdaForm$DMH/0x00007f0df4015400.invoke`.
fn scrub_function(text: &str) -> String {
    replace(&ADDRESS, text, |_| "<address>".to_owned()).replace(LONG_STRING, "std::string")
}

#[cfg(test)]
mod tests {
    use super::{ADDRESS, HASH, MUTEX, NUMBERS, TEMPORARY, replace_path, scrub};

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&ADDRESS, &HASH, &MUTEX, &NUMBERS, &TEMPORARY] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn takes_out_what_differs_from_run_to_run() {
        for (given, expected) in [
            ("==123==ERROR: x", "ERROR: x"),
            ("on address 0x60200000086e at", "on address <address> at"),
            ("address 0x000000000018", "address 0x18"),
            ("data race (pid=3811)", "data race"),
            ("T1 (tid=3812, running) created", "T1 (running) created"),
            ("f (/out/x+0x1f) (BuildId: 00ff)", "f (/out/x+0x1f)"),
            (
                "java.lang.Object@1b6d3586 is not",
                "java.lang.Object@<hash> is not",
            ),
            (
                "wrote '/tmp/.tmpXy/a.bin': no",
                "wrote '<temporary file>': no",
            ),
            ("mutex M18446 (0x7b0400)", "mutex M (<address>)"),
            ("mail a@b.org", "mail a@b.org"),
        ] {
            assert_eq!(scrub(given), expected, "{given}");
        }
    }

    #[test]
    fn replaces_whole_paths_only() {
        let text = "/src/a.c:3 /x/src/a.c:3 (/src/a.c) /src/a.cc /src/a.c";
        assert_eq!(
            replace_path(text, "/src/a.c", "a.c"),
            "a.c:3 /x/src/a.c:3 (a.c) /src/a.cc a.c"
        );
        assert_eq!(replace_path("abc", "", "x"), "abc");
    }
}
