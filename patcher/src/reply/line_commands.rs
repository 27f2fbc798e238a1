//! Line commands: scripts of `ed` (`12,14c`) and diffs without context
//! (`12,14c12,15` with lines marked `<` and `>`).
//!
//! Their numbers are those of the unpatched file. A script of `ed` counts the
//! lines anew after each command, so that more than one command is clear only
//! when they go from the last line to the first.

use crate::{Edit, Rule};

/// A command: its lines, its letter, and whether a range of new lines follows,
/// as in a diff.
struct Command {
    first: u32,
    last: u32,
    letter: char,
    is_diff: bool,
}

impl Command {
    fn read(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let at = line.find(|next: char| next.is_ascii_alphabetic())?;
        let (range, rest) = line.split_at(at);
        let letter = rest
            .chars()
            .next()
            .filter(|letter| "acdi".contains(*letter))?;
        let after = rest.get(1..)?;
        let digits = |text: &str| {
            !text.is_empty()
                && text
                    .chars()
                    .all(|next| next.is_ascii_digit() || next == ',')
        };
        if !digits(range) || !(after.is_empty() || digits(after)) {
            return None;
        }
        let mut ends = range.split(',').map(str::parse::<u32>);
        let first = ends.next()?.ok()?;
        let last = ends.next().map_or(Some(first), Result::ok)?;
        (ends.next().is_none() && first <= last).then_some(Self {
            first,
            last,
            letter,
            is_diff: !after.is_empty(),
        })
    }
}

/// Returns true when a line is a command.
pub(super) fn is_command(line: &str) -> bool {
    Command::read(line).is_some()
}

/// Reads the commands of a text; nothing where it does not begin with one, or
/// where one has no end.
pub(super) fn read(lines: &[&str], file: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut starts = Vec::new();
    let mut rest = lines;
    let mut is_script = false;
    while let Some((line, behind)) = rest.split_first() {
        let Some(command) = Command::read(line) else {
            if edits.is_empty() || !line.trim().is_empty() {
                break;
            }
            rest = behind;
            continue;
        };
        let read = if command.is_diff {
            read_diff(&command, behind)
        } else {
            is_script = true;
            read_script(&command, behind)
        };
        let Some((old, new, length)) = read else {
            return Vec::new();
        };
        starts.push(command.first);
        edits.push(edit_of(&command, file, old, &new));
        rest = behind.get(length..).unwrap_or_default();
    }
    let rises = starts
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a <= b));
    if is_script && rises {
        return vec![Edit::Unsupported {
            file: file.to_owned(),
            what: "the line commands go from the first line to the last, so that it is not clear \
                   which lines the later ones mean; send <edit> with the lines as they are"
                .to_owned(),
            rule: Rule::Incomplete,
        }];
    }
    edits
}

type Sides = (Option<Vec<String>>, Vec<String>, usize);

/// The text of a command of `ed`, up to the line with a dot, and how many lines
/// it takes.
fn read_script(command: &Command, behind: &[&str]) -> Option<Sides> {
    if command.letter == 'd' {
        return Some((None, Vec::new(), 0));
    }
    let length = behind.iter().position(|line| line.trim_end() == ".")?;
    let text = behind.get(..length)?;
    let text = text.iter().map(|line| (*line).to_owned()).collect();
    Some((None, text, length + 1))
}

/// The two sides of a command of a diff, and how many lines they take.
fn read_diff(command: &Command, behind: &[&str]) -> Option<Sides> {
    let (mut old, mut new, mut length) = (Vec::new(), Vec::new(), 0);
    for line in behind {
        if let Some(line) = line.strip_prefix('<') {
            old.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
        } else if let Some(line) = line.strip_prefix('>') {
            new.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
        } else if line.trim_end() != "---" {
            break;
        }
        length += 1;
    }
    let wants_old = command.letter != 'a';
    (wants_old != old.is_empty()).then_some((wants_old.then_some(old), new, length))
}

fn edit_of(command: &Command, file: &str, old: Option<Vec<String>>, new: &[String]) -> Edit {
    let file = file.to_owned();
    let text = new.join("\n");
    match command.letter {
        'a' => Edit::Insert {
            file,
            after: Some(command.last),
            text,
        },
        'i' => Edit::Insert {
            file,
            after: command.first.checked_sub(1),
            text,
        },
        _ => Edit::Replace {
            file,
            lines: Some((command.first, command.last)),
            original: old.map(|old| old.join("\n")),
            replacement: Some(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::Edit;
    use proptest::prelude::*;

    fn lines(text: &str) -> Vec<Edit> {
        read(&text.lines().collect::<Vec<_>>(), "a.c")
    }

    #[test]
    fn reads_a_diff_without_context() {
        let edits = lines("12,13c12\n< a;\n< b;\n---\n> c;\n20a20,21\n> d;\n> e;\n");
        let [
            Edit::Replace {
                lines,
                original,
                replacement,
                ..
            },
            Edit::Insert { after, text, .. },
        ] = edits.as_slice()
        else {
            panic!("{edits:?}");
        };
        assert_eq!(*lines, Some((12, 13)));
        assert_eq!(original.as_deref(), Some("a;\nb;"));
        assert_eq!(replacement.as_deref(), Some("c;"));
        assert_eq!((*after, text.as_str()), (Some(20), "d;\ne;"));
    }

    #[test]
    fn reads_a_script() {
        let edits = lines("14a\nx;\n.\n12d\n");
        let [
            Edit::Insert {
                after: Some(14), ..
            },
            Edit::Replace {
                lines: Some((12, 12)),
                original: None,
                ..
            },
        ] = edits.as_slice()
        else {
            panic!("{edits:?}");
        };
        assert!(matches!(
            lines("12d\n14a\nx;\n.\n").as_slice(),
            [Edit::Unsupported { .. }]
        ));
        for text in ["12a\nx;\n", "12\n", "case 3c\n", "", "a\n.\n"] {
            assert!(lines(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9acdi,.<> \n-]{0,60}") {
            lines(&text);
        }
    }
}
