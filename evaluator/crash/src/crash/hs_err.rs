//! Fatal errors of the JVM: the box that it prints, and the `hs_err` file, which begins
//! with the same box.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Operation, Strength, Tool, group_of, java, native};
use patchwright_source::{Frame, Pattern, regex};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Full,
    mark: r"^[# ]*(A fatal error has been detected by|There is insufficient memory for) the Java Runtime",
    begins: |_| true,
    read,
};

/// The stacks of a file whose head was not given.
pub(super) const HEADLESS: Family = Family {
    strength: Strength::Weak,
    mark: r"^Native frames: \(J=",
    begins: |_| true,
    read: |log, at| {
        let mut draft = Draft::new(Tool::Jvm, "fatal-error");
        let mut inside = false;
        for line in log.from(at, MAX_LINES) {
            read_stacks(&mut draft, line, &mut inside);
        }
        drop_repeated_java_frames(&mut draft);
        draft.has_frames().then_some(draft)
    },
};

/// The stacks stand in the first third of a file of some thousand lines.
const MAX_LINES: usize = 4_000;

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let mut draft = Draft::new(Tool::Jvm, "fatal-error");
    let headline = log.line(at)?;
    if headline.contains("insufficient memory") {
        "out-of-memory".clone_into(&mut draft.kind);
    }
    draft.say(headline.trim_start_matches(['#', ' ']));
    let mut problematic = None;
    let mut inside = false;
    for line in log.from(at + 1, MAX_LINES) {
        // Who quotes the box may leave its marks out.
        let is_of_box =
            || signal(line).is_some() || problematic.is_none() && read_frame(line).is_some();
        let unmarked = || (!inside && is_of_box()).then_some(line);
        if let Some(text) = line.strip_prefix('#').or_else(unmarked) {
            let frame = read_box(&mut draft, text.trim());
            problematic = problematic.or(frame);
        } else {
            read_detail(&mut draft, line);
            read_stacks(&mut draft, line, &mut inside);
        }
    }
    if !draft.has_frames()
        && let Some(frame) = problematic
    {
        draft.push(frame);
    }
    drop_repeated_java_frames(&mut draft);
    Some(draft)
}

/// Reads a line of the box; returns the frame that it names.
fn read_box(draft: &mut Draft, text: &str) -> Option<Frame> {
    if let Some(signal) = signal(text) {
        signal.clone_into(&mut draft.kind);
        draft.say(text.split(" at pc").next().unwrap_or(text));
    } else if let Some(rest) = text.strip_prefix("Internal Error ") {
        "internal-error".clone_into(&mut draft.kind);
        draft.say(rest.split(", pid").next().unwrap_or(rest));
    }
    read_frame(text)
}

/// Reads the stacks of the file, each below its heading up to an empty line.
fn read_stacks(draft: &mut Draft, line: &str, inside: &mut bool) {
    if line.starts_with("Native frames:") || line.starts_with("Java frames:") {
        *inside = true;
        draft.open = false;
    } else if line.trim().is_empty() {
        *inside = false;
        draft.open = false;
    } else if *inside && let Some(frame) = read_frame(line).or_else(|| java::read_frame(line)) {
        draft.push(frame);
    }
}

/// `SIGSEGV (0xb) at pc=0x..`, or an exception of Windows.
fn signal(text: &str) -> Option<&str> {
    if text.starts_with("EXCEPTION_ACCESS_VIOLATION") {
        return Some("access-violation");
    }
    group_of(regex!(r"^SIG([^ ]*) \(0x"), text)
}

/// `siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x0`
fn read_detail(draft: &mut Draft, line: &str) {
    if line.starts_with("siginfo:")
        && let Some((_, address)) = line.split_once("si_addr: ")
    {
        draft.access.address = Some(address.trim().to_owned());
    } else if line.starts_with("Stack: [") && line.contains("StackOverflow") {
        "stack-overflow".clone_into(&mut draft.kind);
    } else if line.contains("error 6") && line.contains("write") {
        draft.access.operation = Some(Operation::Write);
    }
}

/// `C  [libx.so+0x1119]  f+0x10`, `V  [libjvm.so+0x1]  A::b()+0x2`,
/// `j  pkg.Class.method(I)V+12`, `J 12 c2 pkg.Class.method()V (9 bytes) @ ..`,
/// `v  ~StubRoutines::call_stub`.
fn read_frame(line: &str) -> Option<Frame> {
    let (letter, rest) = line.trim_end().split_once(' ')?;
    let rest = rest.trim_start();
    match letter {
        "C" | "V" => native::captured(&NATIVE_FRAME.captures(rest)?),
        "j" => java_frame(rest.split_whitespace().next()?),
        "J" => java_frame(rest.split_whitespace().find(|word| word.contains('.'))?),
        "v" => Some(Frame {
            module: Some("libjvm.so".to_owned()),
            ..Frame::named(rest.trim_start_matches('~').split(' ').next()?)
        }),
        _ => None,
    }
}

/// The module and the function of a native frame; text right behind the bracket is of another line.
static NATIVE_FRAME: Pattern = Pattern::new(
    r"^\[(?P<module>[^\]]*?)(?:\+0x[^\]]*)?\](?:[^ ].*|\s*(?P<function>.*?)(?:  \((?:(?P<file>(?:[^+]|\+[^0])*):(?P<line>\d+)\)|.*))?(?:\+0x.*)?)$",
);

/// `pkg.Class.method(I)V+12`; none where that is no name of a method.
fn java_frame(text: &str) -> Option<Frame> {
    let (name, _) = text.split_once('(')?;
    let (class, _) = name.rsplit_once('.')?;
    let in_name = |c: char| c.is_alphanumeric() || "_$.-<>".contains(c);
    let outer = class.split('$').next().unwrap_or(class);
    name.chars().all(in_name).then(|| Frame {
        // By convention: the frame itself names no file.
        file: Some(format!("{}.java", outer.replace('.', "/"))),
        ..Frame::named(name)
    })
}

/// Drops the `Java frames`, which repeat the lower part of the native ones.
fn drop_repeated_java_frames(draft: &mut Draft) {
    let [native, java, ..] = draft.stacks.as_slice() else {
        return;
    };
    let is_known = |frame: &Frame| {
        let mut known = native.frames.iter();
        known.any(|known| known.function == frame.function)
    };
    if java.frames.iter().all(is_known) {
        draft.stacks.truncate(1);
        draft
            .parts
            .retain(|part| !matches!(part, super::draft::Part::Stack(number) if *number > 0));
    }
}

#[cfg(test)]
mod tests {
    use super::read_frame;

    #[test]
    fn reads_frames() {
        for (line, expected) in [
            (
                "C  [libx.so+0x1119]  Java_Crash_boom+0x10",
                "Java_Crash_boom (libx.so)",
            ),
            ("C  [libc.so.6+0x9a123]", "?? (libc.so.6)"),
            (
                "j  org.acme.Crash.boom(I)V+12",
                "org.acme.Crash.boom org/acme/Crash.java",
            ),
            (
                "J 12 c2 org.acme.A$B.run()V (9 bytes) @ 0x1 [0x1+0x2]",
                "org.acme.A$B.run org/acme/A.java",
            ),
            (
                "v  ~StubRoutines::call_stub",
                "StubRoutines::call_stub (libjvm.so)",
            ),
            (
                "V  [libjvm.so+0x8]  JavaCalls::call(A*)+0x2e7",
                "JavaCalls::call(A*) (libjvm.so)",
            ),
        ] {
            assert_eq!(read_frame(line).unwrap().to_string(), expected);
        }
        assert_eq!(read_frame("Current thread (0x1):"), None);
    }
}
