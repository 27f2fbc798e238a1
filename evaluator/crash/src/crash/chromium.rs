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
use patchwright_source::{Frame, Pattern};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Partial,
    mark: r"# Fatal (error|JavaScript|process)|:FATAL:",
    begins: |line| headline(line).is_some(),
    read,
};

/// Lines of a report.
const MAX_LINES: usize = 400;

static V8_FRAME: Pattern =
    Pattern::new(r"^(?P<module>[^(]*)\((?P<function>.*)\+0x[^+)]*\)\s*\[0x[^\[\]]*\]$");

/// `# Fatal error in FILE, line N`; the message is on the line below.
static V8: Pattern = Pattern::new(
    r"^\s*# Fatal (?:error in \s*(?:(?P<file>\S(?:.*\S)?)\s*)?, line \s*(?P<line>\d+)\s*$|(?P<said>(?:JavaScript |process out of memory|process OOM).*))",
);
/// `[..:FATAL:file.cc(12)] message`, or `file.cc:12` in newer releases.
static LOGGED: Pattern =
    Pattern::new(r"^\s*\[.*?:FATAL:(?P<file>[^\]]+)[(:](?P<line>\d+)\)?\](?P<said>.*)$");

/// Reads a first line: the place in the source, and the message where it stands there too.
fn headline(line: &str) -> Option<(Option<Frame>, &str)> {
    let found = V8.captures(line).or_else(|| LOGGED.captures(line))?;
    let said = found.name("said").map_or("", |said| said.as_str().trim());
    Some((native::captured(&found), said))
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let (place, said) = headline(log.line(at)?)?;
    let below = || Some(log.line(at + 1)?.trim().strip_prefix('#')?.trim());
    let told = Some(said).filter(|said| !said.is_empty());
    let message = told.or_else(below).unwrap_or_default();
    let mut draft = Draft::new(Tool::Chromium, kind(message));
    message.clone_into(&mut draft.message);
    let named = place.as_ref().map(ToString::to_string).unwrap_or_default();
    draft.say(match named.strip_prefix("?? ") {
        Some(place) => format!("{place}: {message}"),
        None => message.to_owned(),
    });
    let mut frames = stack(log, at + 1);
    match (frames.first_mut(), place) {
        (Some(first), Some(place)) if first.file.is_none() => {
            first.file = place.file;
            first.line = place.line;
        }
        (None, Some(place)) => draft.place(place),
        _ => {}
    }
    draft.extend(frames);
    Some(draft)
}

fn kind(message: &str) -> &'static str {
    let lower = message.to_ascii_lowercase();
    phrases::find("Chromium", |phrase| lower.contains(phrase)).unwrap_or("fatal-error")
}

/// Returns the stack below the message without the functions that write it.
fn stack(log: &Log<'_>, from: usize) -> Vec<Frame> {
    let lines = log.from(from, MAX_LINES);
    let own = lines.take_while(|line| headline(line).is_none()).map(frame);
    let stack = own.skip_while(Option::is_none);
    let mut frames: Vec<Frame> = stack.map_while(|frame| frame).collect();
    let written = |frame: &Frame| frame_origin::begins(&frame.function, "reporters of Chromium");
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
    use super::{frame, headline, kind};

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
            let place = headline(line).map(|(place, _)| {
                let place = place.as_ref().map(ToString::to_string);
                place.map_or_else(String::new, |place| place.replace("?? ", ""))
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
