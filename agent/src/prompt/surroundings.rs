//! Lines around a patch, for those who judge it: without what the code beside them shows.

use crate::record::Attempt;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Lines in a row around a patch that are left out where the code beside it shows them.
const REPEATED: usize = 8;

/// Returns the lines around a patch, but for what the code beside it shows of their files.
pub(super) fn surroundings(attempt: &Attempt, code: &str) -> String {
    let mut shown: HashSet<(&str, &str)> = HashSet::new();
    let mut file = "";
    for line in code.lines() {
        let named = line.strip_prefix("<file path=\"");
        let named = named.and_then(|named| named.split('"').next());
        file = named.unwrap_or(file);
        shown.insert((file, line.trim()));
    }
    let mut places: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in attempt.surroundings.split_inclusive('\n') {
        match places.last_mut() {
            Some((_, lines)) if is_numbered(line) => lines.push(line),
            _ => places.push((line, Vec::new())),
        }
    }
    let mut text = String::new();
    for (head, lines) in places {
        let file = head.rsplit_once(':').map_or(head, |(file, _)| file);
        let is_shown = |line: &&str| shown.contains(&(file, line.trim()));
        if !lines.is_empty() && lines.iter().all(is_shown) {
            continue;
        }
        text.push_str(head);
        for lines in lines.chunk_by(|one, next| is_shown(one) == is_shown(next)) {
            let count = lines.len();
            if count >= REPEATED && lines.first().is_some_and(is_shown) {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "[... {count} lines that the code of the crash shows ...]"
                );
            } else {
                text.extend(lines.iter().copied());
            }
        }
    }
    text
}

/// Tells whether a line is one of source, with its number.
fn is_numbered(line: &str) -> bool {
    let number = line.split_once(": ").map(|(number, _)| number);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::attempt;
    use super::surroundings;

    #[test]
    fn lines_around_a_patch_are_left_out_where_the_code_shows_them() {
        let mut attempt = attempt();
        attempt.surroundings = "a.c:1\n1: x\n2: y\nb.c:7\n7: x\n8: z\n".into();
        for (code, expected) in [
            ("", attempt.surroundings.as_str()),
            ("<file path=\"a.c\">\n1: x\n2: y\n", "b.c:7\n7: x\n8: z\n"),
            (
                "<file path=\"a.c\">\n1: x\n<file path=\"b.c\">\n7: x\n8: z\n",
                "a.c:1\n1: x\n2: y\n",
            ),
            (
                "<file path=\"a.c\">\n1: x\n2: y\n<file path=\"b.c\">\n7: x\n8: z\n",
                "",
            ),
            // The same lines of another file.
            (
                "<file path=\"c.c\">\n1: x\n2: y\n7: x\n8: z\n",
                attempt.surroundings.as_str(),
            ),
        ] {
            assert_eq!(surroundings(&attempt, code), expected, "{code}");
        }
        // Of a place that is shown in part the shown part goes, whatever the width of its numbers.
        let lines = |range: std::ops::Range<u32>, width: usize| -> String {
            range.map(|at| format!("{at:>width$}: x{at}\n")).collect()
        };
        attempt.surroundings = format!("a.c:1\n{}", lines(1..20, 0));
        assert_eq!(
            surroundings(
                &attempt,
                &format!("<file path=\"a.c\">\n{}", lines(4..15, 4))
            ),
            format!(
                "a.c:1\n{}[... 11 lines that the code of the crash shows ...]\n{}",
                lines(1..4, 0),
                lines(15..20, 0)
            )
        );
    }
}
