//! Fatal errors of V8 and of Chromium's logging: failed checks with the place in the source
//! and, where the build prints one, a stack.
//!
//! ```text
//! # Fatal error in ../../src/objects/js-array.cc, line 52
//! # Debug check failed: index < length().
//! [7:7:0101/120000.000001:FATAL:sequence_checker.cc(21)] Check failed: checker.Valid().
//! ```

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Strength, Tool, frame_origin, native, phrases};
use patchwright_source::{Frame, Pattern, UNKNOWN_FUNCTION};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r"# Fatal (error|JavaScript|process)|:FATAL:",
    begins: |line| v8(line).is_some() || logged(line).is_some(),
    read,
};

/// Lines of a report.
const MAX_LINES: usize = 400;

/// Functions that write the report: the innermost frames of every such stack.
const REPORTERS: &str = "base::debug::|logging::|v8::base::debug::|v8::base::(anonymous namespace)::|\
     v8::base::FatalOOM|v8::platform::(anonymous namespace)::|\
     v8::internal::V8::FatalProcessOutOfMemory|v8::Utils::ReportOOMFailure|V8_Fatal|\
     V8_Dcheck";

static V8_FRAME: Pattern =
    Pattern::new(r"^(?P<module>[^(]*)\((?P<function>.*)\+0x[^+)]*\)\s*\[0x[^\[\]]*\]$");

/// A place in the source and the message that goes with it.
type Fatal<'a> = (Option<(&'a str, u32)>, &'a str);

/// Reads `# Fatal error in FILE, line N`; the message is on the line below.
fn v8(line: &str) -> Option<Fatal<'_>> {
    let rest = line.trim().strip_prefix("# Fatal ")?;
    if let Some(place) = rest.strip_prefix("error in ") {
        let (file, number) = place.rsplit_once(", line ")?;
        let place = Some((file.trim(), number.trim().parse().ok()?));
        return Some((place.filter(|(file, _)| !file.is_empty()), ""));
    }
    let memory = ["JavaScript ", "process out of memory", "process OOM"];
    let known = memory.iter().any(|words| rest.starts_with(words));
    known.then_some((None, rest))
}

/// Reads `[..:FATAL:file.cc(12)] message`, or `file.cc:12` in newer releases.
fn logged(line: &str) -> Option<Fatal<'_>> {
    let (before, rest) = line.split_once(":FATAL:")?;
    let (place, message) = rest.split_once(']')?;
    let (file, number) = match place.strip_suffix(')') {
        Some(place) => place.rsplit_once('(')?,
        None => place.rsplit_once(':')?,
    };
    let inside = before.trim_start().starts_with('[') && !file.is_empty();
    let place = Some((file, number.parse().ok()?));
    inside.then_some((place, message.trim()))
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let line = log.line(at)?;
    let (place, said) = v8(line).or_else(|| logged(line))?;
    let below = || {
        let next = log.line(at + 1)?.trim();
        Some(next.strip_prefix('#')?.trim())
    };
    let message = if said.is_empty() {
        below().unwrap_or_default()
    } else {
        said
    };
    let mut draft = Draft::new(Tool::Chromium, kind(message));
    message.clone_into(&mut draft.message);
    let named = place.map(|(file, line)| format!("{file}:{line}: "));
    draft.say(format!("{}{message}", named.unwrap_or_default()));
    let mut frames = stack(log, at + 1);
    match (frames.first_mut(), place) {
        (Some(first), Some((file, line))) if first.file.is_none() => {
            first.file = Some(file.to_owned());
            first.line = Some(line);
        }
        (None, Some((file, line))) => draft.place(Frame {
            file: Some(file.to_owned()),
            line: Some(line),
            ..Frame::named(UNKNOWN_FUNCTION)
        }),
        _ => {}
    }
    for frame in frames {
        draft.push(frame);
    }
    Some(draft)
}

fn kind(message: &str) -> &'static str {
    let lower = message.to_ascii_lowercase();
    phrases::find("Chromium", |phrase| lower.contains(phrase)).unwrap_or("fatal-error")
}

/// Returns the stack below the message without the functions that write it.
fn stack(log: &Log<'_>, from: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in log.from(from, MAX_LINES) {
        if v8(line).is_some() || logged(line).is_some() {
            break;
        }
        match frame(line) {
            Some(frame) => frames.push(frame),
            None if frames.is_empty() => {}
            None => break,
        }
    }
    let written = |frame: &Frame| frame_origin::begins(&frame.function, REPORTERS);
    let own = frames.iter().rposition(written).map_or(0, |last| last + 1);
    frames.split_off(own)
}

/// Reads a frame: `./d8(f(int)+0x12) [0x5]` of V8, `#1 0x5 f() [a.cc:3:1]` of Chromium.
fn frame(line: &str) -> Option<Frame> {
    let text = line.trim();
    if !text.starts_with('#') {
        return native::captured(&V8_FRAME.captures(text)?);
    }
    let placed = text
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once('['));
    let (before, place) = placed.unwrap_or((text, ""));
    let (_, mut frame) = native::read(before.trim_end())?;
    if native::read_position(place).1.is_some() {
        native::put_at(&mut frame, place);
    }
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::{frame, kind, logged, v8};

    #[test]
    fn places_are_read_in_both_forms() {
        for (line, expected) in [
            (
                "# Fatal error in ../../src/a.cc, line 52",
                Some("../../src/a.cc:52"),
            ),
            ("# Fatal error in , line 0", Some("")),
            (
                "# Fatal JavaScript out of memory: Reached heap limit",
                Some(""),
            ),
            (
                "[7:7:0101/12.1:FATAL:b.cc(21)] Check failed: x.",
                Some("b.cc:21"),
            ),
            (
                "[7:7:0101/12.1:FATAL:base/b.cc:21] Check failed: x.",
                Some("base/b.cc:21"),
            ),
            ("[7:7:0101/12.1:ERROR:b.cc(21)] no", None),
            ("a log level called :FATAL: in a text", None),
            ("# Fatal flaws of this file", None),
        ] {
            let read = v8(line).or_else(|| logged(line));
            let place = read.map(|(place, _)| {
                place.map_or_else(String::new, |(file, line)| format!("{file}:{line}"))
            });
            assert_eq!(place.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn frames_are_read_in_both_forms() {
        for (line, expected) in [
            (
                "    ./d8(v8::internal::A::f(int)+0x12) [0x55]",
                "v8::internal::A::f(int) (d8)",
            ),
            ("    /out/d8(+0x1234) [0x55]", "?? (d8)"),
            (
                "#3 0x55 net::B::~B() [../../net/b.cc:12:3]",
                "net::B::~B() ../../net/b.cc:12:3",
            ),
            ("#4 0x7f main", "main"),
        ] {
            assert_eq!(frame(line).unwrap().to_string(), expected);
        }
        assert_eq!(frame("plain words"), None);
    }

    #[test]
    fn kinds_are_told_by_the_message() {
        assert_eq!(kind("Debug check failed: a."), "assertion-failure");
        assert_eq!(kind("JavaScript out of memory"), "out-of-memory");
        assert_eq!(kind("API fatal error"), "fatal-error");
    }
}
