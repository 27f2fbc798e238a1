//! The names in the headers of a diff.

/// Name of a file that is not there, in a diff.
pub(crate) const NO_FILE: &str = "/dev/null";

/// The name in a `---` or `+++` line: without quotes, time stamp or revision.
pub(crate) fn name_in(rest: &str) -> String {
    let rest = rest.split('\t').next().unwrap_or_default().trim();
    if let Some(quoted) = rest.strip_prefix('"') {
        return unquote(quoted);
    }
    let rest = match rest.rfind(" (") {
        Some(at) if rest.ends_with(')') && is_revision(rest.get(at + 2..).unwrap_or_default()) => {
            rest.get(..at).unwrap_or(rest)
        }
        _ => rest,
    };
    without_time(rest).trim_end().to_owned()
}

fn is_revision(text: &str) -> bool {
    ["revision", "working copy", "nonexistent", "r"]
        .iter()
        .any(|word| text.starts_with(word))
}

/// Cuts ` 2024-05-01 12:00:00` off.
fn without_time(text: &str) -> &str {
    for (at, _) in text.match_indices(' ') {
        let date: Vec<u8> = text
            .get(at + 1..)
            .unwrap_or_default()
            .bytes()
            .take(10)
            .collect();
        let fits = date.len() == 10
            && date.iter().enumerate().all(|(index, byte)| match index {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if fits {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

/// Git's C-style quoting, up to the closing quote.
fn unquote(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(digit @ b'0'..=b'3') => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        if let Some(next) = rest.next_if(|next| (b'0'..=b'7').contains(next)) {
                            value = value * 8 + u32::from(next - b'0');
                        }
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(other) => bytes.push(other),
                None => break,
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Both names of a `diff --git` line, if it can be told where the first ends.
pub(crate) fn git_names(rest: &str) -> Option<(String, String)> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.find("\" ")?;
        let second = quoted.get(end + 2..)?;
        return Some((unquote(quoted), name_in(second)));
    }
    let half = rest.len() / 2;
    let (first, second) = (rest.get(..half)?, rest.get(half + 1..)?);
    let same =
        first.split_once('/').map(|(_, name)| name) == second.split_once('/').map(|(_, name)| name);
    if same && rest.get(half..=half) == Some(" ") {
        return Some((first.to_owned(), second.to_owned()));
    }
    let (first, second) = rest.split_once(' ')?;
    Some((first.to_owned(), second.to_owned()))
}

/// The name that both sides of a section mean: the new one, without the
/// prefixes of git.
pub(crate) fn common_name(old: &str, new: &str) -> String {
    let prefixes = [
        ("a/", "b/"),
        ("i/", "w/"),
        ("c/", "i/"),
        ("c/", "w/"),
        ("o/", "w/"),
    ];
    for (left, right) in prefixes {
        let bare_old = old.strip_prefix(left);
        let bare_new = new.strip_prefix(right);
        match (bare_old, bare_new) {
            (Some(_), Some(name)) => return name.to_owned(),
            (None, Some(name)) if old == NO_FILE && left == "a/" => return name.to_owned(),
            (Some(name), None) if new == NO_FILE && left == "a/" => return name.to_owned(),
            _ => {}
        }
    }
    let name = if new == NO_FILE { old } else { new };
    name.strip_suffix(".orig").unwrap_or(name).to_owned()
}

/// The header of a hunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HunkHeader {
    /// The old start and the counts of both sides.
    pub(crate) ranges: Option<(u32, usize, usize)>,
    /// The section that the hunk is in.
    pub(crate) heading: Option<String>,
}

impl HunkHeader {
    /// Reads `@@ -a,b +c,d @@ heading`; models also write `@@ heading` alone.
    pub(crate) fn read(line: &str) -> Self {
        let ranges = hunk_ranges(line);
        let rest = line.strip_prefix("@@").unwrap_or(line);
        let heading = match rest.split_once("@@") {
            Some((_, heading)) if ranges.is_some() => heading,
            Some((heading, "")) => heading,
            _ if ranges.is_none() => rest,
            _ => "",
        };
        let heading = heading.trim();
        let says = heading.chars().any(char::is_alphanumeric);
        Self {
            ranges,
            heading: says.then(|| heading.to_owned()),
        }
    }
}

/// The ranges of `@@ -a,b +c,d @@`: the old start and both counts.
fn hunk_ranges(line: &str) -> Option<(u32, usize, usize)> {
    let inner = line.strip_prefix("@@")?.trim_start();
    let mut words = inner.split_whitespace();
    let (start, old) = range(words.next()?.strip_prefix('-')?)?;
    let (_, new) = range(words.next()?.strip_prefix('+')?)?;
    Some((start, old, new))
}

fn range(text: &str) -> Option<(u32, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::{HunkHeader, common_name, git_names, name_in};

    #[test]
    fn reads_names() {
        for (given, expected) in [
            ("a/src/a.c", "a/src/a.c"),
            ("a/src/a.c\t2024-01-01 10:00:00", "a/src/a.c"),
            ("src/a.c 2024-01-01 10:00:00.000 +0100", "src/a.c"),
            ("src/a b.c\t(revision 12)", "src/a b.c"),
            ("src/a.c (working copy)", "src/a.c"),
            ("src/a (1).c", "src/a (1).c"),
            ("\"a/gr\\303\\274n.c\"", "a/gr\u{fc}n.c"),
        ] {
            assert_eq!(name_in(given), expected, "{given}");
        }
        assert_eq!(
            git_names("a/x y.c b/x y.c"),
            Some(("a/x y.c".to_owned(), "b/x y.c".to_owned()))
        );
        for (old, new, expected) in [
            ("a/x.c", "b/x.c", "x.c"),
            ("a/x.c", "a/x.c", "a/x.c"),
            ("/dev/null", "b/x.c", "x.c"),
            ("a/x.c", "/dev/null", "x.c"),
            ("x.c.orig", "x.c", "x.c"),
        ] {
            assert_eq!(common_name(old, new), expected, "{old} {new}");
        }
    }

    #[test]
    fn reads_the_header_of_a_hunk() {
        for (given, ranges, heading) in [
            ("@@ -3,4 +3,5 @@ int f()", Some((3, 4, 5)), Some("int f()")),
            ("@@ -3 +3 @@", Some((3, 1, 1)), None),
            ("@@ -0,0 +1,9 @@", Some((0, 0, 9)), None),
            ("@@ int f(void) {", None, Some("int f(void) {")),
            ("@@ int f(void) @@", None, Some("int f(void)")),
            ("@@ ... @@", None, None),
            ("@@", None, None),
        ] {
            let header = HunkHeader::read(given);
            let found = (header.ranges, header.heading.as_deref());
            assert_eq!(found, (ranges, heading), "{given}");
        }
    }
}
