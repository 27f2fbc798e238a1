//! Edit script: the steps from the old side of an edit to the new one.

use patchwright_source::{DiffOp, difference};
use std::ops::Range;

/// Longest line that can stand for lines that are left out, in bytes.
const LONGEST_ELISION: usize = 120;

/// A comment of more words says something else.
const LONGEST_REMARK: usize = 6;

/// Words of comments that stand for code: statements about it, and names for it.
const UNCHANGED: &str = "unchanged, as before, omitted, the same, existing, remaining, rest of the";
const CODE: &str = "rest, code, lines, function, body, everything, logic";

/// Old lines that go, and the new ones that come in their place.
#[derive(Debug, Clone)]
pub(crate) struct Change<'a> {
    pub(crate) old: Range<usize>,
    pub(crate) new: &'a [String],
}

/// Computes the script. Without `verbatim`, whitespace at the end of a line
/// makes no difference.
pub(crate) fn steps(old: &[String], new: &[String], verbatim: bool) -> Vec<DiffOp> {
    let seen = |line: &'_ String| -> String {
        if verbatim {
            line.clone()
        } else if is_elision(line) {
            "...".to_owned()
        } else {
            line.trim_end().to_owned()
        }
    };
    let a: Vec<String> = old.iter().map(seen).collect();
    let b: Vec<String> = new.iter().map(seen).collect();
    difference(&a, &b)
}

/// Returns the changes of a script alone.
pub(crate) fn changes<'a>(old: &[String], new: &'a [String]) -> Vec<Change<'a>> {
    let steps = steps(old, new, false).into_iter();
    steps
        .filter(|step| !matches!(step, DiffOp::Equal { .. }))
        .map(|step| Change {
            old: step.old_range(),
            new: new.get(step.new_range()).unwrap_or_default(),
        })
        .collect()
}

/// Returns true when a line stands for lines that its writer left out: three dots, alone
/// or in a comment, or a comment that says that code is unchanged.
pub(crate) fn is_elision(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LONGEST_ELISION {
        return false;
    }
    let inner = line.trim_start_matches(['/', '*', '#', '-', ' ', '[', '(', '<', '!', '{']);
    let is_comment = ["//", "/*", "#", "--", "<!--", "{/*"]
        .iter()
        .any(|mark| line.starts_with(mark));
    let words = |text: &str| {
        text.chars()
            .all(|next| next.is_alphanumeric() || " .,:'`*/_-]()>!}\u{2026}".contains(next))
    };
    if let Some(rest) = inner
        .strip_prefix("...")
        .or_else(|| inner.strip_prefix('\u{2026}'))
    {
        let bare = rest.trim_matches(['.', ' ', '*', '/', ']', '\u{2026}']);
        return bare.is_empty() || (is_comment || rest.starts_with(' ')) && words(rest);
    }
    let lower = inner.to_ascii_lowercase();
    let says = |words: &str| words.split(", ").any(|word| lower.contains(word));
    let short = inner.split_whitespace().count() <= LONGEST_REMARK;
    is_comment && short && words(inner) && says(UNCHANGED) && says(CODE)
}

#[cfg(test)]
mod tests {
    use super::is_elision;

    #[test]
    fn knows_what_stands_for_lines_left_out() {
        for (line, expected) in [
            ("    ...", true),
            ("    // ...", true),
            ("/* ... */", true),
            ("// ... rest of the function ...", true),
            ("# ... existing code ...", true),
            ("    // rest unchanged", true),
            ("/* existing code */", true),
            ("// remaining code stays the same", true),
            ("// rest of the function", true),
            ("/* skip the rest of the line */", false),
            ("/* keep the value unchanged */", false),
            ("... (unchanged)", true),
            ("\u{2026}", true),
            ("    ...)", false),
            ("int f(const char *format, ...);", false),
            ("    f(args...);", false),
            ("// the sign of zero is unimportant", false),
            ("x = rest_of(unchanged);", false),
            ("// ...; free(p);", false),
            ("", false),
        ] {
            assert_eq!(is_elision(line), expected, "{line}");
        }
    }
}
