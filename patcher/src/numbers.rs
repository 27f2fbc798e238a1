//! Line numbers that a model copied along with the code.
//!
//! Code is shown to it as `  12: code`, and it is taken off again only where
//! every non-blank line carries a number and the numbers count the lines. That
//! alone does not tell an echo from code (`1: ret`, `80: "http"`); what does is
//! that the text with its numbers stands nowhere, and without them it does.

use patchwright_source::{Language, Pattern};

/// The form in which code is shown: the number right-aligned by spaces, a
/// colon, a space.
static FORM: Pattern = Pattern::new(r"^ *(\d{1,7}):(.*)$");

/// Numbers are counted against the place by this tolerance.
const NEAR: u32 = 3;

/// Lines without their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// The numbers of the lines that carry one, in order.
    pub(crate) numbers: Vec<u32>,
    /// The lines, the numbers taken off.
    pub(crate) lines: Vec<String>,
    /// True when a space was taken off behind each colon.
    pub(crate) spaced: bool,
    /// True when each number is where counting the lines from the first puts it.
    pub(crate) consecutive: bool,
}

impl Numbered {
    /// The lines, and the lines as they are if the space behind the colon is
    /// code: where every line is indented this cannot be seen.
    pub(crate) fn variants(self) -> Vec<Self> {
        let mut all = vec![self];
        if let Some(first) = all.first().filter(|first| first.spaced) {
            let mut tight = first.clone();
            for line in tight.lines.iter_mut().filter(|line| !line.is_empty()) {
                line.insert(0, ' ');
            }
            all.push(tight);
        }
        all
    }
}

fn split(line: &str) -> Option<(u32, &str)> {
    let (_, [number, rest]) = FORM.captures(line)?.extract();
    Some((number.parse().ok()?, rest))
}

/// Takes the numbers off, if every non-blank line carries one.
pub(crate) fn numbered(lines: &[String]) -> Option<Numbered> {
    let parts = lines.iter().map(|line| {
        let numbered = split(line).map(|(number, rest)| (Some(number), rest));
        numbered.or_else(|| line.trim().is_empty().then_some((None, "")))
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let first_at = parts.iter().position(|(number, _)| number.is_some())?;
    let first = parts.get(first_at)?.0?;
    let mut counted = parts.iter().skip(first_at).zip(first..);
    let consecutive = counted.all(|((number, _), at)| number.is_none_or(|number| number == at));
    let tight = parts
        .iter()
        .any(|(_, rest)| rest.starts_with(|next: char| next != ' '));
    let lines = parts
        .iter()
        .map(|(_, rest)| {
            let bare = rest.strip_prefix(' ').filter(|_| !tight);
            bare.unwrap_or(rest).to_owned()
        })
        .collect();
    Some(Numbered {
        numbers: parts.iter().filter_map(|(number, _)| *number).collect(),
        lines,
        spaced: !tight,
        consecutive,
    })
}

/// The new lines that go with numbered old ones; `None` where it cannot be told whether the
/// numbers are code.
pub(crate) fn new_beside_numbered(
    new: &[String],
    old: &Numbered,
    language: Option<Language>,
) -> Option<Vec<String>> {
    let code_like = old.lines.iter().any(|line| split(line).is_some());
    let Some(mut read) = numbered(new) else {
        return unecho(new, old, code_like);
    };
    if !old.spaced {
        read = read.clone().variants().pop().unwrap_or(read);
    }
    let (Some(first), Some(last)) = (old.numbers.first(), old.numbers.last()) else {
        return Some(new.to_vec());
    };
    let near = read.numbers.first().is_some_and(|start| {
        (first.saturating_sub(NEAR)..=last.saturating_add(NEAR)).contains(start)
    });
    match (near && read.numbers.is_sorted(), code_like) {
        (true, false) => Some(read.lines),
        (true, true) if read.consecutive && read.lines.iter().any(|line| split(line).is_some()) => {
            Some(read.lines)
        }
        (_, true) => Some(new.to_vec()),
        (false, false) if never_begins_with_number(language) => Some(read.lines),
        (false, false) => None,
    }
}

/// Only some new lines carry a number: it is taken off where the rest is the
/// very line of that number. Any other number leaves a doubt.
fn unecho(new: &[String], old: &Numbered, code_like: bool) -> Option<Vec<String>> {
    if code_like {
        return Some(new.to_vec());
    }
    let first = old.numbers.first().copied().unwrap_or_default();
    let is_old = |number: u32, rest: &str| {
        let line = old
            .lines
            .get(usize::try_from(number.checked_sub(first)?).ok()?)?;
        (line.trim() == rest.trim()).then(|| line.clone())
    };
    let bare = |line: &String| match split(line) {
        None => Some(line.clone()),
        Some((number, rest)) => is_old(number, rest),
    };
    new.iter().map(bare).collect()
}

/// New lines whose old side carried no numbers, or that have no old side: the
/// numbers go if they count the lines from a number that fits the place.
pub(crate) fn new_beside_plain(
    new: &[String],
    expected: &[u32],
    surrounding: &[String],
    language: Option<Language>,
) -> Vec<String> {
    let code_like = surrounding.iter().any(|line| split(line).is_some());
    let Some(read) = numbered(new).filter(|read| read.consecutive && !code_like) else {
        return new.to_vec();
    };
    let first = read.numbers.first();
    let fits = first.is_some_and(|first| expected.contains(first));
    let many = read.numbers.len() > 1 && first.is_some_and(|first| *first > 1);
    if fits && (never_begins_with_number(language) || many) {
        read.lines
    } else {
        new.to_vec()
    }
}

/// Languages in which no line of code has the form of a numbered one.
fn never_begins_with_number(language: Option<Language>) -> bool {
    use Language::{C, Cpp, Go, Java, Rust};
    matches!(language, Some(C | Cpp | Java | Go | Rust))
}

#[cfg(test)]
mod tests {
    use super::{new_beside_numbered, new_beside_plain, numbered};
    use patchwright_source::Language;

    fn lines(text: &str) -> Vec<String> {
        text.split('\n').map(str::to_owned).collect()
    }

    #[test]
    fn takes_numbers_off() {
        for (given, expected) in [
            ("12: a\n13:   b", Some(("a\n  b", true))),
            (" 9: a\n10: b", Some(("a\nb", true))),
            ("12: a\n13:\n14: b", Some(("a\n\nb", true))),
            ("12: a\n\n14: b", Some(("a\n\nb", true))),
            ("12:a\n13:  b", Some(("a\n  b", true))),
            ("80: x\n443: y", Some(("x\ny", false))),
            ("12: a\nb", None),
            ("case 3:\n4: a", None),
            ("", None),
        ] {
            let found =
                numbered(&lines(given)).map(|read| (read.lines.join("\n"), read.consecutive));
            let expected = expected.map(|(text, consecutive)| (text.to_owned(), consecutive));
            assert_eq!(found, expected, "{given}");
        }
    }

    #[test]
    fn tells_echo_from_code_beside_numbered_lines() {
        let old = numbered(&lines("12: a;\n13: b;")).unwrap();
        for (given, language, expected) in [
            ("12: a;\n13: c;", Some(Language::C), Some("a;\nc;")),
            ("a;\nc;", Some(Language::C), Some("a;\nc;")),
            (
                "12: a;\nif (x)\n13: b;",
                Some(Language::C),
                Some("a;\nif (x)\nb;"),
            ),
            ("12: a;\nif (x)\n13: changed;", Some(Language::C), None),
            ("1: ret", None, None),
            ("1: a;\n2: c;", Some(Language::C), Some("a;\nc;")),
        ] {
            let expected = expected.map(lines);
            assert_eq!(
                new_beside_numbered(&lines(given), &old, language),
                expected,
                "{given}"
            );
        }
        let ports = numbered(&lines("12: 80: 'http',\n13: 443: 'https',")).unwrap();
        let new = lines("80: 'web',\n443: 'tls',");
        assert_eq!(
            new_beside_numbered(&new, &ports, Some(Language::Python)),
            Some(new.clone())
        );
    }

    #[test]
    fn tells_echo_from_code_beside_plain_lines() {
        for (given, around, language, expected) in [
            ("41: a;\n42: b;", "x;", Some(Language::C), "a;\nb;"),
            ("41: ret", "nop", None, "41: ret"),
            ("7: a;", "x;", Some(Language::C), "7: a;"),
            (
                "41: 'a',\n42: 'b',",
                "40: 'z',",
                Some(Language::Python),
                "41: 'a',\n42: 'b',",
            ),
        ] {
            let found = new_beside_plain(&lines(given), &[41], &lines(around), language);
            assert_eq!(found, lines(expected), "{given}");
        }
    }
}
