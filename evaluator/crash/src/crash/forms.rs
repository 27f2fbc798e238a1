//! Forms of reports that people paste: debuggers and crash logs of other systems, the
//! kernel, and languages whose crashes are located and shown, but not repaired.
//!
//! A form is a row of a table: an expression for the line that begins it, and one for its
//! frames. Programs under test do not print these forms about themselves, so
//! [`super::parse`] leaves them out; only pasted texts are searched for them.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Role, Strength, Tool, abort, access, native, phrases};
use patchwright_source::{Frame, built_in_regex, regex};
use regex::{Captures, Regex};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The lines that begin a report of one of the forms.
static BEGINS: LazyLock<String> = LazyLock::new(|| {
    let forms = FORMS.iter().map(|form| format!("(?:{})", form.begin.0));
    let forms = forms.collect::<Vec<_>>().join("|");
    // A name stands for one group of an expression.
    regex!(r"\(\?P<\w+>")
        .replace_all(&forms, "(?:")
        .into_owned()
});

pub(super) fn family() -> Family {
    Family {
        strength: Strength::Weak,
        mark: &BEGINS,
        begins: |line| begun(line).is_some(),
        read: |log, at| {
            let (form, begin) = begun(log.line(at)?)?;
            read(form, &begin, log, at)
        },
    }
}

/// Lines after its beginning in which a form's stacks are searched.
const MAX_LINES: usize = 4_000;
/// Lines above its beginning in which the signal is told.
const NEAR: usize = 3;
/// Lines without a frame after which a stack has ended.
const GAP: usize = 12;

/// A form, as `forms.toml` has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    tool: Tool,
    begin: Expression,
    frame: Option<Expression>,
    /// Frames of what reports the crash, which are no part of it.
    reporter: Option<Expression>,
    thread: Option<Expression>,
    #[serde(default)]
    outermost_first: bool,
    /// The kind, where the line that begins it names none.
    #[serde(default)]
    kind: String,
    /// True where a report without frames says something too.
    #[serde(default)]
    bare: bool,
}

/// An expression of the table.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Expression(Regex);

impl From<String> for Expression {
    fn from(text: String) -> Self {
        Self(built_in_regex(&text))
    }
}

#[expect(
    clippy::expect_used,
    reason = "the table is compiled in, and a test reads it"
)]
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let table = include_str!("forms.toml");
    let table: BTreeMap<String, Vec<Form>> = toml::from_str(table).expect("the table is TOML");
    table.into_values().flatten().collect()
});

/// Tells whether a crash of this tool is located and shown, but not repaired.
pub fn is_only_shown(tool: Tool) -> bool {
    use Tool::{DotNet, Erlang, Go, JavaScript, Python, Rust, Zig};
    matches!(
        tool,
        Go | Python | JavaScript | DotNet | Rust | Zig | Erlang
    )
}

/// Tells whether a line is a frame of a form; those of Go look like any call.
pub(super) fn is_frame(line: &str) -> bool {
    let mut forms = FORMS.iter().filter(|form| form.tool != Tool::Go);
    forms.any(|form| matches!(&form.frame, Some(frame) if frame.0.is_match(line)))
}

/// Tells whether a text ends in the middle of a frame of one of the forms.
pub(super) fn is_cut(log: &Log<'_>) -> bool {
    log.last().is_some_and(|line| {
        let open = line.matches('(').count() > line.matches(')').count();
        // The beginning of a frame of lldb or of macOS, which never ends with the name.
        let begun = regex!(r#"^\s*File "[^"]*(?:", line ?\d*)?$|^\s*at [\w$.<>/]+(?:\([^)]*)?$|^\s*(?:\* )?frame #\d+:|^\d+\s+\S+\s+0x[0-9a-f]{8,16} [^+]*$|^/[^\s(]+\([\w:~]*$|^[\w.-]+/[\w./-]+\.\(\*?\w*$"#);
        let is_whole = is_frame(line);
        is_whole && open || !is_whole && begun.is_match(line)
    })
}

fn begun(line: &str) -> Option<(&'static Form, Captures<'_>)> {
    FORMS
        .iter()
        .find_map(|form| Some((form, form.begin.0.captures(line)?)))
}

fn read(form: &Form, begin: &Captures<'_>, log: &Log<'_>, at: usize) -> Option<Draft> {
    let group = |name: &str| begin.name(name).map(|found| found.as_str());
    let kind = group("signal")
        .or(group("kind"))
        .or(Some(form.kind.as_str()).filter(|kind| !kind.is_empty()))
        .map_or("crash".to_owned(), plain_kind);
    let mut draft = Draft::new(form.tool, kind);
    group("message")
        .unwrap_or_default()
        .clone_into(&mut draft.message);
    if let Some(digits) = group("address") {
        draft.access.address = Some(format!("0x{digits}"));
    }
    draft.say(log.line(at)?.trim());
    note(&mut draft, form, log.line(at)?, false);
    if let Some(frame) = &form.frame {
        read_stacks(&mut draft, (form, &frame.0), log, at);
    }
    if !draft.has_frames()
        && let Some(place) = native::captured(begin)
    {
        draft.push(place);
    }
    if ["crash", "ABRT"].contains(&draft.kind.as_str()) {
        abort::explain(&mut draft, abort::reason_told(log, at));
    }
    // A handler names the signal and calls another function for the stack.
    let near = log.find_above(at, NEAR, abort::signal);
    let near = near.filter(|_| draft.kind == "crash" && form.tool == Tool::Backtrace);
    if let Some((_, signal)) = near {
        signal.clone_into(&mut draft.kind);
    }
    (draft.has_frames() || form.bare).then_some(draft)
}

fn read_stacks(draft: &mut Draft, (form, expression): (&Form, &Regex), log: &Log<'_>, at: usize) {
    let mut frames: Vec<Frame> = Vec::new();
    let (mut gap, mut ended) = (0, false);
    let mut of_another_thread = false;
    // Of half a stack the first line is a frame already.
    let is_frame = log.line(at).is_some_and(|line| expression.is_match(line));
    draft.cut |= is_frame;
    for line in log.from(at + usize::from(!is_frame), MAX_LINES) {
        if let Some(thread) = form.thread.as_ref().and_then(|mark| mark.0.captures(line)) {
            of_another_thread = thread.name("crashed").is_none();
        } else if let Some(found) = expression.captures(line) {
            gap = 0;
            if of_another_thread {
                continue;
            }
            if ended {
                break;
            }
            // A debugger shows the frame of its stop once more with the whole stack.
            if frames.len() == 1 && line.contains("#0: ") {
                frames.clear();
            }
            let reporter = form.reporter.as_ref();
            if reporter.is_some_and(|reporter| reporter.0.is_match(line)) {
                continue;
            }
            frames.push(native::captured(&found).unwrap_or_else(native::unnamed));
        } else if form.tool == Tool::Go && line.starts_with("panic(") {
            // What was deferred runs on top of the call that panicked.
            frames.clear();
        } else if gap == 0 && place_below(form, line, frames.last_mut()) {
            gap = 0;
        } else if let Some(role) = role(line) {
            push_all(draft, form, &mut frames);
            draft.say(line.trim());
            draft.expect(role);
            ended = false;
        } else {
            note(draft, form, line, !frames.is_empty());
            gap += 1;
            // Below a crashed thread other threads follow, each behind an empty line.
            ended |= line.trim().is_empty() && !frames.is_empty();
            let far = GAP * if form.tool == Tool::Kernel { 4 } else { 1 };
            if gap > far && !frames.is_empty() {
                break;
            }
        }
    }
    push_all(draft, form, &mut frames);
}

/// Adds the frames of one stack to the draft.
fn push_all(draft: &mut Draft, form: &Form, frames: &mut Vec<Frame>) {
    if form.outermost_first {
        frames.reverse();
    }
    draft.extend(frames.drain(..));
}

/// Reads what a line beside the frames says of the crash.
fn note(draft: &mut Draft, form: &Form, line: &str, after_frames: bool) {
    // The access that Windows, Unreal Engine or Delphi could not make.
    let violation = regex!(
        r"(?i)(?:access.violation.*?|\bAV Type *: *|attempt to )\b(read|writ)(?:ing|e)?(?: of| at| from| to)?(?: location| address)? (?:0x)?([0-9a-f]{4,16})\b"
    );
    let address = regex!(
        r"(?:fault addr 0x|_ADDRESS at 0x|Crash address: 0x|page fault for address: |SEGV\) at 0x|^address 0x)([^ ,]*)"
    );
    let text = line.trim();
    if let Some(found) = address.captures(text) {
        let (_, [digits]) = found.extract();
        draft.access.address = Some(format!("0x{digits}"));
    } else if let Some(code) = text.strip_prefix("Exception code: ") {
        draft.kind = plain_kind(code);
    } else if let Some(found) = violation.captures(text) {
        let (_, [operation, address]) = found.extract();
        draft.access.operation = access::operation(&operation.to_lowercase(), "read", "writ");
        draft.access.address = Some(format!("0x{}", address.to_lowercase()));
    } else if let Some(kind) = super::abort::of_message(text).filter(|_| draft.kind == "ABRT") {
        kind.clone_into(&mut draft.kind);
        text.clone_into(&mut draft.message);
    } else if text.starts_with("Read of size ") || text.starts_with("Write of size ") {
        access::read_race(&mut draft.access, text);
    } else if form.tool == Tool::Python
        && after_frames
        && draft.message.is_empty()
        && !line.starts_with(' ')
        && let Some((class, message)) = super::java::exception(text)
    {
        class.clone_into(&mut draft.kind);
        message.clone_into(&mut draft.message);
    }
}

/// Returns the kind in the spelling of the sanitizers.
fn plain_kind(kind: &str) -> String {
    if let Some(named) = phrases::find("numbers", |number| kind.eq_ignore_ascii_case(number)) {
        return named.to_owned();
    }
    let kind = kind.trim_start_matches("SIG");
    if !kind.contains(' ') {
        return kind.to_owned();
    }
    let words = kind.to_lowercase().replace([' ', '(', ')'], "-");
    words.replace("--", "-")
}

/// Reads the place of a frame of Go or GNU, which stands below its function: `\t/src/a.go:12 +0x1d`.
fn place_below(form: &Form, line: &str, frame: Option<&mut Frame>) -> bool {
    let below = matches!(form.tool, Tool::Go | Tool::Backtrace);
    let (true, Some(frame)) = (below && line.starts_with(['\t', ' ']), frame) else {
        return false;
    };
    let place = line.trim();
    let place = place.split(" +0x").next().unwrap_or(place);
    let has_line = !place.contains(' ') && native::read_position(place).1.is_some();
    // The place of the statement that started the goroutine stands below the last frame.
    if has_line && frame.line.is_none() {
        native::put_at(frame, place);
    }
    has_line
}

/// Returns the role of the stack that a sentence announces.
fn role(line: &str) -> Option<Role> {
    phrases::find("stacks of forms", |phrase| line.contains(phrase)).and_then(Role::read)
}
