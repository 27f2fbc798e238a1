//! The frames of a Python traceback. Other reports come with their frames read
//! already; a traceback is part of how requests are written.

use patchwright_source::{CrashFrame, Role};

/// The first line of a traceback.
const HEAD: &str = "Traceback (most recent call last):";
/// Frames that are looked at, from the place of the exception on.
const FRAMES: usize = 48;

/// The frames of the tracebacks in a text, innermost first. Of several, the
/// first is where it began: the others were raised while it was handled.
pub(super) fn frames(text: &str) -> Vec<CrashFrame> {
    let mut frames: Vec<CrashFrame> = Vec::new();
    for traceback in text.split(HEAD).skip(1) {
        let mut stack: Vec<CrashFrame> = traceback.lines().filter_map(frame).collect();
        stack.reverse();
        stack.truncate(FRAMES);
        frames.extend(stack);
    }
    for (depth, frame) in frames.iter_mut().enumerate() {
        frame.depth = depth as u32;
    }
    frames
}

/// `File "a.py", line 12, in f`.
fn frame(line: &str) -> Option<CrashFrame> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    let name = function.trim();
    // `<module>`, `<lambda>`, `<listcomp>`: the line says more.
    let name = if name.starts_with('<') { "" } else { name };
    Some(CrashFrame {
        function: name.to_owned(),
        file: Some(file.to_owned()),
        line: Some(line.trim().parse().ok()?),
        role: Role::Crash,
        depth: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::frames;
    use proptest::prelude::*;

    #[test]
    fn the_last_line_is_the_top_and_the_cause_comes_first() {
        let text = "\
Traceback (most recent call last):
  File \"/x/run.py\", line 3, in <module>
    main()
  File \"/x/pkg/a.py\", line 12, in read
    raise KeyError(name)
KeyError: 'b'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File \"/x/pkg/c.py\", line 40, in report
    return names[0]
IndexError: list index out of range
";
        let found: Vec<(String, Option<u32>, u32)> = frames(text)
            .into_iter()
            .map(|frame| (frame.function, frame.line, frame.depth))
            .collect();
        assert_eq!(
            found,
            [
                ("read".to_owned(), Some(12), 0),
                (String::new(), Some(3), 1),
                ("report".to_owned(), Some(40), 2)
            ]
        );
        assert!(frames("File \"a.py\", line 3, in f").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(Traceback \\(most recent call last\\):|\n|  File \"|\", line |, in |[a-z<>0-9]{0,5}){0,40}") {
            frames(&text);
        }
    }
}
