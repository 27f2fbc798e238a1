//! Native stack frames, as sanitizers and debuggers print them for C, C++ and Rust.
//!
//! ```text
//!     #1 0x564e2280360e in LLVMFuzzerTestOneInput /case/harness.c:9:5
//!     #2 0x7f58e2c45249  (/lib/x86_64-linux-gnu/libc.so.6+0x27249) (BuildId: ..)
//!     #0 work(Shared*) /src/race.cc:9 (race+0x4a3)
//!     #1 0x1009b4f10 in inlet_fill+0x1c4 (tap:arm64+0x100004f10)
//! #0  0x0000555555555131 in inner (p=0x0) at crash.c:5
//! #1  0x00007ffff7df0d0a in ?? () from /lib/x86_64-linux-gnu/libc.so.6
//! ```

use super::draft::Draft;
use super::log_lines::Log;
use patchwright_source::{Frame, Pattern, UNKNOWN_FUNCTION, regex};
use regex::Captures;

/// A library in the place of a function.
static LIBRARY: Pattern = Pattern::new(r"^[\w.+-]+\.so(?:\.\d+)*$");

/// Reads a frame line of either form: its number and the frame. A line that was cut
/// before the function holds none.
pub(crate) fn read(line: &str) -> Option<(u32, Frame)> {
    let (number, rest) = numbered(line)?;
    if is_debugger_form(rest) {
        return Some((number, read_debugger_frame(line)?));
    }
    let rest = match rest.strip_prefix("0x") {
        Some(address) => {
            let (digits, rest) = address.split_once(' ').unwrap_or((address, ""));
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let rest = rest.trim();
            if rest == "in" {
                return None;
            }
            rest.strip_prefix("in ").unwrap_or(rest)
        }
        None => rest,
    };
    (!rest.is_empty() || line.contains("0x")).then(|| (number, read_place(rest)))
}

/// Tells whether a line begins like a frame.
pub(crate) fn is_frame_start(line: &str) -> bool {
    numbered(line).is_some_and(|(_, rest)| rest.starts_with("0x"))
}

/// Tells whether a log ends in the middle of a frame, which always says more than its address,
/// or with the heading of a stack.
pub(super) fn is_cut(log: &Log<'_>) -> bool {
    let last = log.last().unwrap_or_default();
    last.ends_with(" here:")
        || last.starts_with("Caused by: ")
        || regex!(r"^\s*#[0-9]+(?:\s+0x\S*)?\s*$").is_match(last)
}

/// Drops the half of a name or a path from a draft whose log ends in the middle of a frame.
pub(super) fn drop_half(draft: &mut Draft, log: &Log<'_>) -> Option<()> {
    let last = log.last()?;
    let (_, half) = read(last)?;
    let others = || log.lines().iter().filter_map(|line| read(line));
    let named = half.function != UNKNOWN_FUNCTION && last.trim_end().ends_with(&half.function);
    let unnamed = half.function == UNKNOWN_FUNCTION && !last.contains(['(', '/']);
    let is_open = last.matches('(').count() > last.matches(')').count() && !named;
    // A name without anything behind it, where others have a place.
    let is_name = half.file.is_none()
        && half.module.is_none()
        && (named || unnamed)
        && others().any(|(_, frame)| frame.file.is_some() || frame.module.is_some());
    // A path without a line, where others have one.
    let is_path = half.file.is_some()
        && half.line.is_none()
        && others().any(|(_, frame)| frame.line.is_some());
    if !(is_open || is_name || is_path) {
        return None;
    }
    let frames = &mut draft.stacks.last_mut()?.frames;
    draft.cut = true;
    if !is_open && is_name {
        frames.pop_if(|frame| frame.function == half.function);
    } else if !is_open && let Some(frame) = frames.last_mut() {
        frame.file.take_if(|file| half.file.as_ref() == Some(file));
    }
    Some(())
}

/// Splits `#12 rest`.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    Some((number.parse().ok()?, rest.trim_start()))
}

/// Tells whether a frame shows the arguments of the call, as only debuggers do.
fn is_debugger_form(rest: &str) -> bool {
    let rest = rest.trim_end();
    let at = rest.rsplit_once(") at ");
    at.is_some_and(|(head, place)| head.contains(" (") && read_position(place).1.is_some())
        || rest.ends_with(" ()")
        || rest.contains(" () from /")
}

/// Reads a frame of a debugger: `#1  0x.. in f (a=1, s=0x.. "x) at") at a.c:3`, or
/// `.. from /lib/x.so`.
pub(crate) fn read_debugger_frame(line: &str) -> Option<Frame> {
    let (_, rest) = numbered(line)?;
    let rest = match rest.strip_prefix("0x") {
        Some(rest) => rest.split_once(" in ")?.1,
        None => rest,
    };
    if rest.starts_with('<') {
        return Some(Frame::named(rest.trim_end()));
    }
    let (head, place) = match rest.rsplit_once(") at ") {
        Some((head, place)) => (head, Some(place)),
        None => (rest, None),
    };
    let (head, module) = match (place, head.rsplit_once(") from ")) {
        (None, Some((head, module))) => (head, Some(module)),
        _ => (head, None),
    };
    let mut frame = Frame::named(called(head));
    frame.module = module.map(|module| module.trim().to_owned());
    if let Some((file, Some(line), _)) = place.map(read_position) {
        frame.file = Some(file.to_owned());
        frame.line = Some(line);
    }
    Some(frame)
}

/// Tells whether a frame of a debugger is there to its end: its place has a line.
pub(crate) fn is_whole(line: &str) -> bool {
    match line.rsplit_once(") at ") {
        Some((_, place)) => read_position(place.trim_end()).1.is_some(),
        None => line.contains(") from ") || line.trim_end().ends_with(" ()"),
    }
}

/// Returns the function before its arguments. They begin after a space, and the name may
/// hold parentheses of its own.
fn called(head: &str) -> &str {
    let mut names = head
        .match_indices(" (")
        .filter_map(|(at, _)| head.get(..at));
    match names
        .find(|name| !name.ends_with("operator"))
        .unwrap_or(head)
    {
        "" | "???" => UNKNOWN_FUNCTION,
        name => name,
    }
}

/// Reads `function file:line:column (module+0x..)`, each part optional.
pub(crate) fn read_place(text: &str) -> Frame {
    let mut frame = unnamed();
    let mut text = text.trim();
    while let Some((before, inside)) = last_parenthesis(text) {
        let said =
            regex!(r"^(?:inlined by|\[clone\]|<unknown module>|BuildId: |discriminator \d+$)");
        if let Some((module, offset)) = inside.rsplit_once("+0x")
            && offset.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            frame.module = Some(without_architecture(module).to_owned());
        } else if !said.is_match(inside) {
            break;
        }
        text = before;
    }
    let (function, place) = split_function(uncut(text));
    let function = whole_name(without_offset(function));
    if let Some(place) = place {
        let (file, ..) = read_position(place);
        if file != "<null>" && file != UNKNOWN_FUNCTION {
            put_at(&mut frame, place);
        }
    }
    if LIBRARY.is_match(function) {
        frame.module.get_or_insert_with(|| function.to_owned());
    } else if !["", "<null>", "???"].contains(&function) {
        function.clone_into(&mut frame.function);
    }
    frame
}

/// Returns the text before a module that was cut off: ` (libclang_rt.asa`.
pub(super) fn uncut(text: &str) -> &str {
    if text.starts_with("(/") && !text.contains(')') {
        return "";
    }
    match text.rsplit_once(" (") {
        Some((before, module)) if !module.contains(')') => before.trim_end(),
        _ => text,
    }
}

/// Drops the offset from the start of a function, which differs from build to build.
fn without_offset(function: &str) -> &str {
    match function.rsplit_once("+0x") {
        Some((name, digits)) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => function,
    }
}

/// Returns the first word of a name that has spaces, but none of the characters with which
/// names with spaces are made: the rest is the beginning of a place that was cut off.
fn whole_name(function: &str) -> &str {
    let made_of_words = function.contains(['(', '<', '[', '{', '#']);
    if made_of_words || function.starts_with("operator") {
        return function;
    }
    function.split(' ').next().unwrap_or(function)
}

/// Drops the architecture that macOS names with a module: `tap:arm64`.
fn without_architecture(module: &str) -> &str {
    match module.rsplit_once(':') {
        Some((name, "arm64" | "arm64e" | "x86_64" | "x86_64h" | "i386")) => name,
        _ => module,
    }
}

/// Returns the text before the last parenthesis and the text inside of it.
fn last_parenthesis(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')')?;
    let (before, inside) = inner.rsplit_once('(')?;
    (before.is_empty() || before.ends_with(' ')).then(|| (before.trim_end(), inside))
}

/// Splits a function's name from the file. Both may contain spaces; a file is an
/// absolute path, begins with `./` or `../`, or is the last word and looks like one.
fn split_function(text: &str) -> (&str, Option<&str>) {
    for mark in [" /", " ../", " ./", " <null>"] {
        if let Some(at) = text.rfind(mark) {
            let (function, file) = text.split_at(at);
            return (function.trim_end(), Some(file.trim_start()));
        }
    }
    if text.starts_with('/') {
        return ("", Some(text));
    }
    match text.rsplit_once(' ') {
        Some((function, last)) if looks_like_file(last) => (function.trim_end(), Some(last)),
        // A function without a name: the place is all there is.
        None if text.contains('/') && read_position(text).1.is_some() => ("", Some(text)),
        _ => (text, None),
    }
}

/// Tells whether a word is a path with an extension, or with a line.
pub(super) fn looks_like_file(word: &str) -> bool {
    let (file, line, _) = read_position(word);
    let name = file.rsplit('/').next().unwrap_or(file);
    let named = |c: char| !c.is_control() && !matches!(c, '(' | ')' | '<' | '>' | '&' | '*' | ',');
    word.chars().all(named)
        && (line.is_some()
            || name.rsplit_once('.').is_some_and(|(stem, extension)| {
                !stem.is_empty() && (1..=4).contains(&extension.len())
            }))
}

/// Returns the frame of an expression that names its parts `function`, `file`, `line` and `module`;
/// none where it found none of them.
pub(super) fn captured(found: &Captures<'_>) -> Option<Frame> {
    let group = |name: &str| found.name(name).map(|group| group.as_str().trim());
    let mut module = group("module").map(ToOwned::to_owned);
    let line = group("line").and_then(|line| line.parse().ok());
    let file = group("file").map(ToOwned::to_owned);
    let function = group("inlined").or(group("function")).or(group("beside"));
    let function =
        function.filter(|name| !name.is_empty() && !["n/a", "<redacted>"].contains(name));
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

/// Returns a frame of which nothing is known yet.
pub(super) fn unnamed() -> Frame {
    Frame::named(UNKNOWN_FUNCTION)
}

/// Puts a frame at `file:line:column`.
pub(crate) fn put_at(frame: &mut Frame, place: &str) {
    let (file, line, column) = read_position(place);
    frame.file = Some(file.to_owned());
    frame.line = line;
    frame.column = column;
}

/// Reads `file:line:column` from its end.
pub(crate) fn read_position(place: &str) -> (&str, Option<u32>, Option<u32>) {
    let number = |text: &str| text.parse::<u32>().ok();
    let Some((before, last)) = place.rsplit_once(':') else {
        return (place, None, None);
    };
    let Some(last) = number(last) else {
        return (place, None, None);
    };
    match before.rsplit_once(':') {
        Some((file, line)) if number(line).is_some() => (file, number(line), Some(last)),
        _ => (before, Some(last), None),
    }
}

#[cfg(test)]
mod tests {
    use super::{read, read_debugger_frame};

    fn check(line: &str, expected: &str) {
        let shown = read(line).map(|(number, frame)| {
            format!(
                "{number}|{}|{}|{}|{}|{}",
                frame.function,
                frame.file.unwrap_or_default(),
                frame.line.unwrap_or_default(),
                frame.column.unwrap_or_default(),
                frame.module.unwrap_or_default()
            )
        });
        assert_eq!(shown.as_deref().unwrap_or("none"), expected, "{line}");
    }

    #[test]
    fn reads_frames_of_debuggers() {
        for (line, expected) in [
            (
                "#0  inner (p=0x0) at /src/crash.c:5",
                "inner /src/crash.c:5",
            ),
            (
                "#1  0x0000555555555151 in N::f<int> (a=1, s=0x5 \"x) at\") at a.cc:9",
                "N::f<int> a.cc:9",
            ),
            (
                "#2  0x00007ffff7df0d0a in ?? () from /lib/libc.so.6",
                "?? (libc.so.6)",
            ),
            ("#3  <signal handler called>", "<signal handler called>"),
            (
                "#4  0x1 in operator() (this=0x1) at a.cc:1",
                "operator() a.cc:1",
            ),
        ] {
            assert_eq!(read_debugger_frame(line).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn reads_frames() {
        check(
            "    #1 0x564e2280360e in f /case/h.c:9",
            "1|f|/case/h.c|9|0|",
        );
        check("    #1 0x56 in f /my case/h.c:9:5", "1|f|/my case/h.c|9|5|");
        check("    #1 0x56 in f crash.c:9:5", "1|f|crash.c|9|5|");
        check(
            "    #5 0x56 in _start (/out/harness+0x44b0)",
            "5|_start||0|0|/out/harness",
        );
        check(
            "    #5 0x56 in _start (/out/harness+0x44b0) (BuildId: abc0)",
            "5|_start||0|0|/out/harness",
        );
        check("    #2 0x60b00000116f  (<unknown module>)", "2|??||0|0|");
        check(
            "    #2 0x7f58e2c45249  (/lib/libc.so.6+0x27249)",
            "2|??||0|0|/lib/libc.so.6",
        );
        check(
            "    #0 0x1 in operator==(w_char, w_char) /src/w_char.hxx:58",
            "0|operator==(w_char, w_char)|/src/w_char.hxx|58|0|",
        );
        check(
            "    #0 0x1 in operator new(unsigned long) ../../../../src/x.cpp:95",
            "0|operator new(unsigned long)|../../../../src/x.cpp|95|0|",
        );
        check(
            "    #0 0x1 in (anonymous namespace)::f(int) const /src/x.cc:5:1",
            "0|(anonymous namespace)::f(int) const|/src/x.cc|5|1|",
        );
        check("    #0 0x1 in f(int) (/out/x+0x1)", "0|f(int)||0|0|/out/x");
        check("    #0 0x1 in f(int)", "0|f(int)||0|0|");
        check(
            "    #1 0x1009b4f10 in fill+0x1c4 (tap:arm64+0x100004f10)",
            "1|fill||0|0|tap",
        );
        check(
            "#5  0x0000555555669381 in cell (n=2) at tree.c:36",
            "5|cell|tree.c|36|0|",
        );
        check("#4  0x000055555560c3ee in malloc ()", "4|malloc||0|0|");
        check("    #3 0x1 in fread+0x78 (libclang_rt.asa", "3|fread||0|0|");
        check("    #3 0x1 in step (in /out/uc", "3|step||0|0|");
        check(
            "    #0 work(Shared*) /src/race.cc:9 (race+0x4a3)",
            "0|work(Shared*)|/src/race.cc|9|0|race",
        );
        check(
            "    #1 <null> <null> (libstdc++.so.6+0xd44a2)",
            "1|??||0|0|libstdc++.so.6",
        );
        check("    #1 main <null> (a+0xd44a2)", "1|main||0|0|a");
        check(
            "    #0 0x1 in core::panic::h12 /rustc/ab/library/x.rs:6:14",
            "0|core::panic::h12|/rustc/ab/library/x.rs|6|14|",
        );
    }

    #[test]
    fn what_a_tool_says_behind_a_place_is_no_part_of_it() {
        check(
            "    #2 0x7f92 in dump /src/tap/pk.c:48 (discriminator 1)",
            "2|dump|/src/tap/pk.c|48|0|",
        );
    }

    #[test]
    fn a_place_without_a_function_is_no_function() {
        check(
            "    #0 0x7ffff731e9c5  lib/asan/asan_thread.cpp:423:45",
            "0|??|lib/asan/asan_thread.cpp|423|45|",
        );
    }

    #[test]
    fn other_lines_hold_no_frame() {
        for line in [
            "",
            "#",
            "# 1",
            "#x 0x1 in f",
            "#1 0xzz in f",
            "#include <a>",
            "#1",
            "    #2 0x561b7386dae7 in",
        ] {
            check(line, "none");
        }
    }
}
