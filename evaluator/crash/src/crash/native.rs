//! Native stack frames, as the sanitizers print them for C, C++ and Rust.
//!
//! ```text
//!     #1 0x564e2280360e in LLVMFuzzerTestOneInput /case/harness.c:9:5
//!     #2 0x7f58e2c45249  (/lib/x86_64-linux-gnu/libc.so.6+0x27249) (BuildId: ..)
//!     #0 work(Shared*) /src/race.cc:9 (race+0x4a3)
//! ```

use patchwright_source::{Frame, UNKNOWN_FUNCTION};

/// Reads a frame line: its number and the frame.
pub(crate) fn read(line: &str) -> Option<(u32, Frame)> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    let number = number.parse().ok()?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix("0x") {
        Some(address) => {
            let (digits, rest) = address.split_once(' ').unwrap_or((address, ""));
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let rest = rest.trim_start();
            rest.strip_prefix("in ").unwrap_or(rest)
        }
        None => rest,
    };
    (!rest.is_empty() || line.contains("0x")).then(|| (number, read_place(rest)))
}

/// Reads `function file:line:column (module+0x..)`, each part optional.
pub(crate) fn read_place(text: &str) -> Frame {
    let mut frame = Frame::named(UNKNOWN_FUNCTION);
    let mut text = text.trim();
    while let Some((before, inside)) = last_parenthesis(text) {
        if inside.starts_with("BuildId: ") || inside == "inlined by" || inside == "[clone]" {
            text = before;
        } else if let Some((module, offset)) = inside.rsplit_once("+0x")
            && offset.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            frame.module = Some(module.to_owned());
            text = before;
        } else if inside == "<unknown module>" {
            text = before;
        } else {
            break;
        }
    }
    let (function, place) = split_function(text);
    if let Some(place) = place {
        let (file, line, column) = read_position(place);
        if file != "<null>" && file != UNKNOWN_FUNCTION {
            frame.file = Some(file.to_owned());
            frame.line = line;
            frame.column = column;
        }
    }
    if !function.is_empty() && function != "<null>" {
        function.clone_into(&mut frame.function);
    }
    frame
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
        _ => (text, None),
    }
}

fn looks_like_file(word: &str) -> bool {
    let (file, line, _) = read_position(word);
    let name = file.rsplit('/').next().unwrap_or(file);
    let named = |c: char| !c.is_control() && !matches!(c, '(' | ')' | '<' | '>' | '&' | '*' | ',');
    word.chars().all(named)
        && (line.is_some()
            || name.rsplit_once('.').is_some_and(|(stem, extension)| {
                !stem.is_empty() && (1..=4).contains(&extension.len())
            }))
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
    use super::read;

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
        for line in [
            "",
            "#",
            "# 1",
            "#x 0x1 in f",
            "#1 0xzz in f",
            "#include <a>",
            "#1",
        ] {
            check(line, "none");
        }
    }
}
