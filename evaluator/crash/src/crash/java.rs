//! Java exceptions: `Exception in thread "main" ..` with causes and suppressed
//! exceptions, and traces that a program printed itself.

use super::draft::Draft;
use super::log_lines::Log;
use super::native::{looks_like_file, read_position};
use super::{Family, Role, Stack, Strength, Tool, group_of};
use patchwright_source::{Frame, Pattern, regex};

/// An exception that ended a thread.
pub(super) const THROWN: Family = Family {
    strength: Strength::Partial,
    mark: r"^Exception",
    begins: |line| thrown(line).is_some(),
    read: |log, at| read(log, at, thrown(log.line(at)?)?, Tool::Java),
};

/// A trace that the program printed; it may have continued after it.
pub(super) const PRINTED: Family = Family {
    strength: Strength::Last,
    mark: r"^\s+at ",
    begins: |line| read_frame(line).is_some(),
    read: |log, at| {
        let (above, headline) = log.find_above(at, MAX_MESSAGE, headline)?;
        let draft = read(log, above, headline, Tool::Java)?;
        draft.has_frames().then_some(draft)
    },
};

/// A trace whose head was not pasted: its exception is not known. Programs print traces of their
/// own accord, so only pasted texts are searched for it.
pub(super) const HEADLESS: Family = Family {
    strength: Strength::Last,
    mark: r"^\s*at ",
    begins: |line| {
        let is_source = regex!(r"\.(?:java|kt|scala|groovy)\)$|\(Unknown Source\)$");
        let placed = |frame: Frame| frame.line.is_some() || is_source.is_match(line);
        read_frame(line).is_some_and(placed)
    },
    read: |log, at| {
        // What is no frame of a program's own trace, since nothing moves it in.
        let head = log.before(at, 1).find_map(headline);
        if let Some(head) = head {
            return read(log, at - 1, head, Tool::Java);
        }
        if let Some((above, cause)) = log.find_above(at, MAX_MESSAGE, cause) {
            let mut draft = read(log, above, cause, Tool::Java)?;
            draft.cut = true;
            return Some(draft);
        }
        let frames = || log.from(at, MAX_LINES).map_while(read_frame);
        // One frame alone is quoted, where a trace is there too.
        if frames().count() < 2 && log.lines().iter().any(|line| headline(line).is_some()) {
            return None;
        }
        let below = at + frames().count();
        let cause = log.line(below).and_then(cause);
        let mut draft = if let Some(cause) = cause {
            read(log, below, cause, Tool::Java)?
        } else {
            let is_code = regex!(r"\b(?:import|throws|catch|new)\b");
            let named = |line| group_of(&NAMED, line).filter(|_| !is_code.is_match(line));
            let named = log.find_above(at, MAX_MESSAGE, named);
            Draft::new(
                Tool::Java,
                named.map_or("uncaught-exception", |(_, class)| class),
            )
        };
        draft.extend(frames().filter(|_| cause.is_none()));
        draft.cut = true;
        Some(draft)
    },
};

/// An exception behind what a logger writes.
static LOGGED: Pattern = Pattern::new(
    r"(?:^|[\s\]:|])(?P<thrown>(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable|Failure)(?:: .*)?)$",
);

/// An exception with its package, as sentences name it.
static NAMED: Pattern =
    Pattern::new(r"\b((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error))\b(?:[^.(\w]|$)");

/// The most lines of a trace with all its causes.
const MAX_LINES: usize = 20_000;
/// The most lines of a message before its first frame.
const MAX_MESSAGE: usize = 40;

fn cause(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("Caused by: ")
}

pub(super) fn thrown(line: &str) -> Option<&str> {
    let form = regex!(r#"^Exception(?: in thread "|: ).*?" (.*)$"#);
    let thrown = group_of(form, line)?;
    exception(thrown).map(|_| thrown)
}

/// Tells whether a line by itself begins a trace.
pub(super) fn looks_like_exception(line: &str) -> bool {
    let throwable = regex!("(?:Exception|Error|Throwable|Failure)$");
    exception(line).is_some_and(|(class, _)| class.contains('.') || throwable.is_match(class))
}

/// Returns the exception of a line that begins a trace; a logger may write something before a
/// class with its package.
fn headline(line: &str) -> Option<&str> {
    let whole = || Some(line).filter(|line| looks_like_exception(line));
    let part = |begin: &str| line.trim_start().starts_with(begin);
    if part("Caused by: ") || part("Suppressed: ") {
        return None;
    }
    let logged = LOGGED.captures(line).and_then(|found| found.name("thrown"));
    logged.map(|thrown| thrown.as_str()).or_else(whole)
}

/// Splits `pkg.Class: message`; the class must be a name.
pub(super) fn exception(text: &str) -> Option<(&str, &str)> {
    let (class, message) = match text.split_once(": ") {
        Some((class, message)) => (class, message),
        None => (text.trim_end().trim_end_matches(':'), ""),
    };
    // A dump names the state of a thread like this.
    if class == "java.lang.Thread.State" {
        return None;
    }
    // A class that a method declares has a number before its name.
    let simple = class.rsplit(['.', '$']).next()?;
    let simple = simple.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = regex!(r"^[\p{Alphabetic}_$&&\P{N}][\p{Alphabetic}\p{N}_$]*$");
    let word = |part: &str| name.is_match(part);
    let looks = class.split('.').all(word) && simple.starts_with(char::is_uppercase);
    (looks && class.len() < 300).then_some((class, message))
}

/// Reads `at module@version/pkg.Class.method(File.java:12)`, and Android's form of it.
pub(crate) fn read_frame(line: &str) -> Option<Frame> {
    // Android's runtime writes `at void pkg.Class.method(int) (File.java:12)`. People write
    // something in brackets for the beginning of a package.
    let form = regex!(
        r"^\s*at (?:[^ ]* (?P<android>[^(]*)\(.*?\) |(?:\([^()]*\)\.?)?(?P<name>[^(]+))\((?P<place>[^)]*)\)"
    );
    let found = form.captures(line)?;
    // The console of Google Play puts a space in front of the place.
    let name = found.name("android").or(found.name("name"))?;
    let name = strip_module(name.as_str().trim_end());
    if !name.contains('.') || name.contains(' ') {
        return None;
    }
    let mut frame = Frame::named(name);
    let place = found.name("place")?.as_str();
    let (file, line, _) = read_position(place);
    // `Native Method` is none, nor is a name that was cut and joined with another line.
    if looks_like_file(place) && file.contains('.') && !file.contains('/') && !file.starts_with(':')
    {
        frame.file = Some(file_path(name, file));
        frame.line = line;
    }
    Some(frame)
}

/// Drops `app//` and `java.base@17.0.15/`, and the number of a hidden class.
fn strip_module(name: &str) -> &str {
    let visible = name.split("/0x").next().unwrap_or(name);
    let start = visible.rfind('/').map_or(0, |at| at + 1);
    name.get(start..).unwrap_or(name)
}

/// Returns the file's path below its source root: the package, then the file.
fn file_path(name: &str, file: &str) -> String {
    let class = name.split("/0x").next().unwrap_or(name);
    let mut parts: Vec<&str> = class.split('.').collect();
    // The method, and the class (which keeps its `$Inner` in one part).
    parts.pop();
    if !name.contains("/0x") {
        parts.pop();
    }
    parts.push(file);
    parts.join("/")
}

/// Reads an exception from its headline on.
pub(super) fn read(log: &Log<'_>, at: usize, headline: &str, tool: Tool) -> Option<Draft> {
    let (class, message) = exception(headline)?;
    let mut draft = Draft::new(tool, class);
    message.clone_into(&mut draft.message);
    draft.say(headline);
    let mut trace = Trace {
        draft,
        at_depth: vec![0],
        enclosing: 0,
        message_lines: 0,
        last: false,
    };
    let mut lines = log.from(at + 1, MAX_LINES).peekable();
    while let Some(line) = lines.next() {
        trace.last = lines.peek().is_none_or(|next| next.trim().is_empty());
        if !trace.take(line) {
            break;
        }
    }
    // Without any frame, the message has swallowed lines that are not its own.
    if !trace.draft.has_frames() {
        trace.draft.parts.truncate(1);
    }
    Some(trace.draft)
}

/// Splits `Caused by: pkg.Error at pkg.Class.method(File.java:1)`, two lines that a
/// tracker joined.
fn joined(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with("Caused by: ") && !text.starts_with("Suppressed: ") {
        return None;
    }
    let at = text.rfind(" at ")?;
    let (cause, frame) = (text.get(..at)?, text.get(at + 1..)?);
    read_frame(frame).map(|_| (cause, frame))
}

/// A trace that is being read.
struct Trace {
    draft: Draft,
    /// The number of the latest stack for each depth of indentation.
    at_depth: Vec<usize>,
    /// The stack that `... n more` refers to.
    enclosing: usize,
    message_lines: usize,
    /// True for the last line, which may be cut.
    last: bool,
}

impl Trace {
    /// Reads one line; returns false where the trace ends.
    fn take(&mut self, line: &str) -> bool {
        if let Some(frame) = read_frame(line) {
            self.draft.push(frame);
            return true;
        }
        let text = line.trim();
        if let Some((cause, frame)) = joined(text) {
            return self.take(cause) && self.take(frame);
        }
        let depth = line.len() - line.trim_start_matches('\t').len();
        let role = match text.split_once(": ") {
            Some(("Caused by", _)) => Some(Role::Cause),
            Some(("Suppressed", _)) => Some(Role::Suppressed),
            _ => None,
        };
        if let Some(role) = role {
            self.open(role, depth, text);
            return true;
        }
        if let Some(rest) = text.strip_prefix("... ") {
            self.restore(rest);
            return rest.ends_with(" more");
        }
        let is_beside_frames = text.starts_with("- locked")
            || text.starts_with("- waiting")
            || text.starts_with('[')
                && (text.ends_with("more frames]") || text.contains("CIRCULAR"));
        if is_beside_frames {
            return true;
        }
        // The text ends here: a frame without its place is the beginning of one.
        if self.draft.has_frames() && text.starts_with("at ") && !text.contains(')') {
            let name = text.trim_start_matches("at ");
            let is_whole = !name.contains(['(', ' ']) && name.matches('.').count() > 1;
            if is_whole && !self.last {
                self.draft.push(Frame::named(strip_module(name)));
                return true;
            }
            self.draft.cut = true;
            let named = name.split_once('(');
            if let Some((name, _)) = named.filter(|(name, _)| name.contains('.')) {
                self.draft.push(Frame::named(strip_module(name)));
            }
            return false;
        }
        self.message(line)
    }

    /// Reads a line of a message, which comes before the first frame.
    fn message(&mut self, line: &str) -> bool {
        self.message_lines += 1;
        let fresh = !self.draft.open && self.message_lines <= MAX_MESSAGE;
        let ends = line.trim().is_empty() && self.draft.has_frames()
            || line.starts_with("== ")
            || line.starts_with("DEDUP_TOKEN")
            || line.starts_with("[exit ");
        if fresh && !ends {
            self.draft.say(line.trim_end());
        }
        fresh && !ends
    }

    /// Begins the next exception. A cause shares frames with the exception at its
    /// own indentation, a suppressed one with the exception one level further out.
    fn open(&mut self, role: Role, depth: usize, text: &str) {
        self.message_lines = 0;
        self.draft.say(text);
        self.draft.expect(role);
        let depth = depth.min(self.at_depth.len());
        let around = match role {
            Role::Suppressed => depth.saturating_sub(1),
            _ => depth,
        };
        self.enclosing = self.at_depth.get(around).copied().unwrap_or(0);
        self.at_depth.truncate(depth);
        self.at_depth.push(self.draft.stacks.len());
    }

    /// Restores the frames that `... n more` left out: the last n of the enclosing
    /// exception.
    fn restore(&mut self, rest: &str) {
        let count = rest.strip_suffix(" more").map(str::parse);
        let Some(Ok(count)) = count else { return };
        let enclosing = self.draft.stacks.get(self.enclosing);
        let frames = enclosing.map(|stack| stack.frames.clone());
        let mut frames = frames.unwrap_or_default();
        let last = frames.split_off(frames.len().saturating_sub(count));
        self.draft.extend(last);
        self.draft.open = false;
    }
}

/// Returns the class with which the message of an exception ends that only wraps another: its
/// trace may not be there. An input may choose this text, so it identifies no crash.
pub(super) fn told_cause(stacks: &[Stack]) -> Option<&str> {
    let wrapper = regex!(
        r"^java\.lang\.RuntimeException: .*: ((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error))(?:: .*)?$"
    );
    group_of(wrapper, stacks.first()?.title.as_deref()?)
}

/// Returns the class of the exception that ends a chain of causes.
pub(crate) fn root_cause(stacks: &[Stack]) -> Option<&str> {
    let last = stacks.iter().rfind(|stack| stack.role == Role::Cause)?;
    let (class, _) = exception(last.title.as_deref()?.strip_prefix("Caused by: ")?)?;
    Some(class)
}
