//! Forms of reports that people paste: debuggers and crash logs of other systems, the
//! kernel, and languages whose crashes are located and shown, but not repaired.
//!
//! A form is a row of a table: an expression for the line that begins it, and one for its
//! frames. Programs under test do not print these forms about themselves, so
//! [`super::parse`] leaves them out; only pasted texts are searched for them.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Operation, Role, Strength, Tool, access, frame_origin, phrases, sanitizer};
use patchwright_source::{Frame, UNKNOWN_FUNCTION, built_in_regex};
use regex::{Captures, Regex};
use std::sync::LazyLock;

pub(super) const FAMILY: Family = Family {
    strength: Strength::Weak,
    mark: concat!(
        r"Exception Type:|stop reason = |Stack trace of thread|BUG: KAS[Aa][Nn]|^(=+ )?Backtrace:",
        r"|^Error: signal |^Faulting application|xception (thrown )?at 0x|^Exception: Access",
        r"|nable to handle kernel ",
        r"|^(Use After Free|Buffer Overflow|Buffer Underflow|Double Free|Invalid \(Wild\)) ",
        r"|^\s*signal [0-9]+ \(SIG|^panic: |^fatal error: |^Traceback \(most|^(Uncaught )?[A-Za-z]*Error\b",
        r"|^Unhandled exception\. |^AddrPC ",
    ),
    begins: |line| begun(line).is_some(),
    read: |log, at| {
        let (form, begin) = begun(log.line(at)?)?;
        read(form, &begin, log, at)
    },
};

/// Lines after its beginning in which a form's stacks are searched.
const MAX_LINES: usize = 4_000;
/// Lines without a frame after which a stack has ended.
const GAP: usize = 12;

/// One form.
struct Form {
    tool: Tool,
    /// The line that begins it; the group `kind` names the kind, `message` the rest.
    begin: Regex,
    /// A line with a frame: the groups `function`, `file`, `line`, `module`.
    frame: Regex,
    /// True where the innermost frame comes last.
    outermost_first: bool,
}

impl Form {
    fn new(tool: Tool, begin: &str, frame: &str) -> Self {
        Self {
            tool,
            begin: built_in_regex(begin),
            frame: built_in_regex(frame),
            outermost_first: false,
        }
    }
}

static FORMS: LazyLock<[Form; 16]> = LazyLock::new(|| {
    [
        // `ReportCrash`: `0   tap   0x0000000100b0edd0 fill + 452 (a.c:12)`
        Form::new(
            Tool::CrashReporter,
            r"^Exception Type:\s+(?P<kind>\w+)(?: \((?P<signal>SIG\w+)\))?",
            r"^\d+\s+(?P<module>\S.*?)\s+0x[0-9a-f]+ (?:0x[0-9a-f]+|(?P<function>.+?)) \+ \d+(?: \((?P<file>[^:()]+):(?P<line>\d+)\))?$",
        ),
        // `frame #0: 0x0000000100003f00 tap`fill(n=2) at a.c:12:5`
        Form::new(
            Tool::Lldb,
            r"stop reason = (?:signal )?(?P<kind>[A-Z_]+)",
            r"frame #\d+: 0x[0-9a-f]+ (?P<module>[^`]+)`(?P<function>[^(\s]+)(?:\(.*\))?(?: \+ \d+)?(?: at (?P<file>[^:]+):(?P<line>\d+))?",
        ),
        // `coredumpctl info`: `#0  0x00007f1 fill (libtap.so.1 + 0x1f2)`
        Form::new(
            Tool::Coredump,
            r"Stack trace of thread \d+:",
            r"#\d+\s+0x[0-9a-f]+ (?P<function>\S+) \((?P<module>[^)+\s]+)(?: \+ 0x[0-9a-f]+)?\)",
        ),
        // `#0 ./test(fill+0x12) [0x55]`
        Form::new(
            Tool::GwpAsan,
            r"^(?P<kind>Use After Free|Buffer Overflow|Buffer Underflow|Double Free|Invalid \(Wild\) Free) at 0x",
            r"#\d+ (?P<module>[^\s(]+)\((?P<function>[^+)]+)\+?[^)]*\) \[0x[0-9a-f]+\]",
        ),
        // `fill+0x12/0x30 drivers/a.c:12`, in old kernels behind `[<ffffffff82d57cd4>]`, and the
        // inlined function behind that one. A frame behind `?` is a leftover on the stack.
        Form::new(
            Tool::Kasan,
            r"BUG: KAS(?i:an): (?P<kind>out of bounds|use after free|[\w-]+)",
            r"^\s*(?:\[<[^>]*>\] )?(?P<function>[A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+(?:(?: (?P<inlined>[A-Za-z_]\w*))? (?P<file>[^\s:]+):(?P<line>\d+))?",
        ),
        // An oops of the kernel: the instruction, registers, then the calls.
        Form::new(
            Tool::Kernel,
            r"[Uu]nable to handle kernel (?P<kind>NULL pointer dereference|paging request)",
            r"^\s*(?:R?IP: (?:[0-9a-f]{4}:)?|PC is at |pc : )?\s*(?:\[<[^>]*>\] )?(?P<function>[A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+",
        ),
        // `backtrace_symbols`: `/usr/bin/tap(fill+0x1a)[0x55]`; `catchsegv` finds the lines:
        // `/src/a.c:12(fill)[0x55]`. Handlers of signals print `Error: signal 11:` above.
        Form::new(
            Tool::Backtrace,
            r"^(?:=+ )?Backtrace:|^Error: signal (?P<kind>\d+)\b",
            r"^(?P<module>[^\s(:\[]+)(?::(?P<line>\d+))?(?:\((?P<function>[^+)]*)(?:\+0x[0-9a-f]+)?\))?\s?\[0x[0-9a-f]+\]",
        ),
        // Dr. Mingw: `00401F2 00DBE310  tap.exe!Inlet::Fill+0x8a  [C:\src\inlet.cpp @ 12]`
        Form::new(
            Tool::DrMingw,
            r"^AddrPC\s+Params",
            r"^[0-9A-Fa-f]{8,16}\s.*?\s(?P<module>\S+)!(?P<function>\S+?)\+0x[0-9a-f]+(?:\s+\[(?P<file>.+) @ (?P<line>\d+)\])?",
        ),
        // A tombstone: `#00 pc 0000000000012345  /system/lib64/libtap.so (fill+12)`
        Form::new(
            Tool::Android,
            r"^\s*signal \d+ \(SIG(?P<kind>\w+)\)",
            r"#\d+ pc [0-9a-f]+\s+(?P<module>\S+)(?: \((?P<function>[^+)]+)(?:\+\d+)?\))?",
        ),
        // The event log of Windows, which knows the module and no more.
        Form::new(
            Tool::Windows,
            r"^Faulting application (?:name: |.*faulting module (?P<module>[^,]+))",
            r"^Faulting module name: (?P<module>[^,]+)",
        ),
        // Visual Studio: `Exception thrown at 0x0F (tap.dll) in a.exe: 0xC0000005: Access ..`
        // and the window of calls, `tap.dll!fill(int n) Line 12  C`.
        Form::new(
            Tool::Windows,
            r"xception (?:thrown )?at 0x[0-9A-Fa-f]+ (?:\((?P<module>[^()]+)\) )?in .+?: (?P<kind>0x[0-9A-Fa-f]{8})\b",
            r"^[>\s]*(?P<module>[\w.+-]+\.(?i:exe|dll))!(?:[0-9a-f]{8,16}|(?P<function>[^\s(][^(]*))\(",
        ),
        // StackWalker: `77C36F07 (tap 77C00000): C:\src\a.cpp (12): fill`
        Form::new(
            Tool::Windows,
            r"^Exception: (?P<kind>Access Violation) at address ",
            r"^[0-9A-F]{8,16} \((?:(?P<module>[\w.-]+)|\(.*?\)) [0-9A-F]{8,16}\): (?:\(filename not available\) \(0\)|(?P<file>.+) \((?P<line>\d+)\)): (?:\(function-name not available\)|(?P<function>.+))$",
        ),
        Form::new(
            Tool::Go,
            r"^(?:panic|fatal error): (?P<message>.+)",
            r"^(?P<function>[\w./*()-]+\.[\w.*()-]+?)\((?:0x.*|\.\.\.|\{.*)?\)$",
        ),
        Form {
            outermost_first: true,
            ..Form::new(
                Tool::Python,
                r"^Traceback \(most recent call last\)",
                r#"^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)"#,
            )
        },
        Form::new(
            Tool::JavaScript,
            r"^(?:Uncaught )?(?P<kind>[A-Za-z]*Error)(?:: (?P<message>.*))?$",
            r"^\s+at (?:(?:async )?(?P<function>[\w$.<>\[\] ]+?) )?\(?(?:file://)?(?P<file>[^\s()]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+\)?$",
        ),
        Form::new(
            Tool::DotNet,
            r"^Unhandled exception\. (?P<kind>[\w.]+)(?:: (?P<message>.*))?",
            r"^\s+at (?P<function>[\w.<>`+]+)\(.*\)(?: in (?P<file>.+):line (?P<line>\d+))?",
        ),
    ]
});

/// Frames of the kernel that report a crash, and are no part of it.
const KERNEL_REPORTERS: &str = "dump_stack|__dump_stack|kasan_|__kasan_|print_address|print_report|__asan_|\
     check_memory_region|save_stack|set_track";

/// Signals and exceptions of Windows that are given by their numbers, and words of the kernel.
const NUMBERS: &str = "null-pointer-use: NULL pointer dereference
SEGV: paging request|11
ABRT: 6
FPE: 8
ILL: 4
BUS: 7
access-violation: 0xc0000005
integer-divide-by-zero: 0xc0000094
stack-overflow: 0xc00000fd
heap-corruption: 0xc0000374
stack-smashing: 0xc0000409
uncaught-exception: 0xe06d7363";

/// Sentences above the other stacks, by their roles.
const ROLES: &str = "allocated: Allocated by |Allocated:|was allocated by thread
freed: Freed by |Freed:|was deallocated by thread";

/// Tells whether a tool reports crashes of a language that is not repaired.
pub(super) fn is_foreign(tool: Tool) -> bool {
    matches!(
        tool,
        Tool::Go | Tool::Python | Tool::JavaScript | Tool::DotNet | Tool::Rust
    )
}

/// Tells whether a line is a frame of a form; those of Go look like any call.
pub(super) fn is_frame(line: &str) -> bool {
    let mut forms = FORMS.iter().filter(|form| form.tool != Tool::Go);
    forms.any(|form| form.frame.is_match(line))
}

fn begun(line: &str) -> Option<(&'static Form, Captures<'_>)> {
    FORMS
        .iter()
        .find_map(|form| Some((form, form.begin.captures(line)?)))
}

fn read(form: &Form, begin: &Captures<'_>, log: &Log<'_>, at: usize) -> Option<Draft> {
    let group = |name: &str| begin.name(name).map(|found| found.as_str());
    let kind = group("signal")
        .or(group("kind"))
        .map_or("crash".to_owned(), plain_kind);
    let mut draft = Draft::new(form.tool, kind);
    group("message")
        .unwrap_or_default()
        .clone_into(&mut draft.message);
    draft.say(log.line(at)?.trim());
    note(&mut draft, form, log.line(at)?, false);
    let mut frames: Vec<Frame> = Vec::new();
    let (mut gap, mut ended) = (0, false);
    for line in log.from(at + 1, MAX_LINES) {
        if let Some(found) = form.frame.captures(line) {
            gap = 0;
            if ended {
                break;
            }
            frames.extend(frame(&found).filter(|frame| !is_kernel_reporter(frame)));
        } else if form.tool == Tool::Go && place_below(line, frames.last_mut()) {
            gap = 0;
        } else if let Some(role) = role(line) {
            push_all(&mut draft, form, &mut frames);
            draft.say(line.trim());
            draft.expect(role);
            ended = false;
        } else {
            note(&mut draft, form, line, !frames.is_empty());
            gap += 1;
            // Below a crashed thread other threads follow, each behind an empty line.
            ended |= line.trim().is_empty() && !frames.is_empty();
            let far = if form.tool == Tool::Kernel {
                4 * GAP
            } else {
                GAP
            };
            if gap > far && !frames.is_empty() {
                break;
            }
        }
    }
    push_all(&mut draft, form, &mut frames);
    if let Some(module) = group("module").filter(|_| !draft.has_frames()) {
        draft.push(Frame {
            module: Some(module.to_owned()),
            ..Frame::named(UNKNOWN_FUNCTION)
        });
    }
    if draft.kind == "crash" {
        super::abort::explain(&mut draft, log, at);
    }
    draft.has_frames().then_some(draft)
}

/// Adds the frames of one stack to the draft.
fn push_all(draft: &mut Draft, form: &Form, frames: &mut Vec<Frame>) {
    if form.outermost_first {
        frames.reverse();
    }
    for frame in frames.drain(..) {
        draft.push(frame);
    }
}

/// Reads what a line beside the frames says of the crash.
fn note(draft: &mut Draft, form: &Form, line: &str, after_frames: bool) {
    let text = line.trim();
    let address = text.split_once("fault addr 0x");
    if let Some((_, address)) = address.or_else(|| text.split_once("_ADDRESS at 0x")) {
        let digits = address.split([' ', ',']).next().unwrap_or(address);
        draft.access.address = Some(format!("0x{digits}"));
    } else if let Some(code) = text.strip_prefix("Exception code: ") {
        draft.kind = plain_kind(code);
    } else if let Some((_, access)) = text.split_once(": Access violation ") {
        let operation = if access.starts_with("writing") {
            Operation::Write
        } else {
            Operation::Read
        };
        draft.access.operation = Some(operation);
        draft.access.address = access::first_address(access);
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
    if let Some(named) = phrases::find(NUMBERS, |number| kind.eq_ignore_ascii_case(number)) {
        return named.to_owned();
    }
    let kind = kind.trim_start_matches("SIG");
    if !kind.contains(' ') {
        return kind.to_owned();
    }
    let words = kind.to_lowercase().replace([' ', '(', ')'], "-");
    words.replace("--", "-")
}

fn frame(found: &Captures<'_>) -> Option<Frame> {
    let group = |name: &str| found.name(name).map(|group| group.as_str().trim());
    let mut module = group("module").map(ToOwned::to_owned);
    let line = group("line").and_then(|line| line.parse().ok());
    let file = group("file").map(ToOwned::to_owned);
    let function = group("inlined").or(group("function"));
    let function = function.filter(|name| !name.is_empty());
    if function.is_none() && module.is_none() && file.is_none() {
        return None;
    }
    // What has lines is a file.
    let file = file.or_else(|| module.take_if(|_| line.is_some()));
    Some(Frame {
        file,
        line,
        module,
        ..Frame::named(function.unwrap_or(UNKNOWN_FUNCTION))
    })
}

fn is_kernel_reporter(frame: &Frame) -> bool {
    let file = frame.file.as_deref().unwrap_or("mm/kasan/");
    let own = frame.module.is_none() && frame_origin::begins(file, "mm/kasan/|lib/dump_stack.c");
    own && frame_origin::begins(&frame.function, KERNEL_REPORTERS)
}

/// Reads the place of a Go frame, which stands below its function: `\t/src/a.go:12 +0x1d`.
fn place_below(line: &str, frame: Option<&mut Frame>) -> bool {
    let (true, Some(frame)) = (line.starts_with(['\t', ' ']), frame) else {
        return false;
    };
    let place = line.trim();
    let place = place.split(" +0x").next().unwrap_or(place);
    let (file, number, _) = super::native::read_position(place);
    if number.is_some() {
        frame.file = Some(file.to_owned());
        frame.line = number;
    }
    number.is_some()
}

/// Returns the role of the stack that a sentence announces.
fn role(line: &str) -> Option<Role> {
    phrases::find(ROLES, |phrase| line.contains(phrase)).and_then(sanitizer::role)
}
