//! Comments of code, taken off its lines.

use crate::Language;

/// Returns the lines of a piece of code without its comments. A string is no comment;
/// a comment that began before the first line is not seen.
pub fn without_comments<'a>(
    language: Option<Language>,
    lines: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let Some(language) = language else {
        return lines.map(str::to_owned).collect();
    };
    let mut in_block = false;
    lines
        .map(|line| strip_line(line, has_slashes(language), &mut in_block))
        .collect()
}

/// Returns the lines of a piece of a file without its comments. Where the piece closes
/// a comment that it does not open, what stands before is comment.
pub fn code_of_piece<'a>(
    language: Option<Language>,
    lines: impl Iterator<Item = &'a str> + Clone,
) -> Vec<String> {
    let slashes = language.is_some_and(has_slashes);
    let first = |mark: &str| {
        let mut lines = lines.clone().enumerate();
        lines.find_map(|(at, line)| Some((at, line.find(mark)?)))
    };
    let inside = match (slashes, first("*/"), first("/*")) {
        (true, Some(close), Some(open)) => close < open,
        (true, Some(_), None) => true,
        _ => false,
    };
    if !inside {
        return without_comments(language, lines);
    }
    let opened = std::iter::once("/*").chain(lines);
    let mut code = without_comments(language, opened);
    code.remove(0);
    code
}

/// Tells whether comments begin with slashes, and not with a hash.
fn has_slashes(language: Language) -> bool {
    language != Language::Python
}

fn strip_line(line: &str, slashes: bool, in_block: &mut bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut quote: Option<char> = None;
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        let ahead = rest.peek().copied();
        if *in_block {
            if next == '*' && ahead == Some('/') {
                rest.next();
                *in_block = false;
                out.push(' ');
            }
            continue;
        }
        match (quote, next) {
            (Some(_), '\\') => {
                out.push(next);
                out.extend(rest.next());
                continue;
            }
            (Some(open), next) if open == next => quote = None,
            (None, '"' | '\'') => quote = Some(next),
            (None, '#') if !slashes => break,
            (None, '/') if slashes && ahead == Some('/') => break,
            (None, '/') if slashes && ahead == Some('*') => {
                rest.next();
                *in_block = true;
                continue;
            }
            _ => {}
        }
        out.push(next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_comments;
    use crate::Language;

    #[test]
    fn drops_comments() {
        for (language, given, expected) in [
            (Some(Language::C), "a; // b", "a; "),
            (Some(Language::C), "a; /* b\n c */ d;", "a; \n  d;"),
            (
                Some(Language::C),
                "s = \"// no\"; // yes",
                "s = \"// no\"; ",
            ),
            (Some(Language::C), "c = '\"'; /* x */", "c = '\"';  "),
            (Some(Language::Python), "a = '#'  # b", "a = '#'  "),
            (None, "a // b # c", "a // b # c"),
        ] {
            let found = without_comments(language, given.split('\n')).join("\n");
            assert_eq!(found, expected, "{given}");
        }
    }
}
