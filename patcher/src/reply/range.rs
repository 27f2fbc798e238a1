//! Line ranges and paths as models write them.

use patchwright_source::regex;

/// Reads `12`, `12-14`, `12–14`, `L12-L14`, `12:14`, `lines 12 to 14`, also
/// reversed. `None` when there is no number, or more than two.
pub(crate) fn read_lines(text: &str) -> Option<(u32, u32)> {
    let numbers = regex!("[0-9]+").find_iter(text);
    let mut numbers = numbers.map(|number| number.as_str().parse::<u32>().ok());
    let first = numbers.next()??;
    let last = numbers.next().unwrap_or(Some(first))?;
    if numbers.next().is_some() {
        return None;
    }
    Some((first.min(last), first.max(last)))
}

/// Takes a path out of its quotes, and a range of lines off its end
/// (`src/a.c:12-14`).
pub(crate) fn read_path(text: &str) -> (String, Option<(u32, u32)>) {
    let quotes = |edge: char| "`\"'*".contains(edge);
    let text = text.trim().trim_matches(quotes).trim();
    if let Some(found) = regex!(r"(?s)^(.+):([0-9L][0-9L\x{2013} -]*)$").captures(text) {
        let (_, [path, range]) = found.extract();
        return (path.to_owned(), read_lines(range));
    }
    (text.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::{read_lines, read_path};

    #[test]
    fn reads_ranges() {
        for (given, expected) in [
            ("12", Some((12, 12))),
            ("12-14", Some((12, 14))),
            ("12\u{2013}14", Some((12, 14))),
            ("L12-L14", Some((12, 14))),
            ("12:14", Some((12, 14))),
            ("12..14", Some((12, 14))),
            (" lines 12 to 14 ", Some((12, 14))),
            ("14-12", Some((12, 14))),
            ("", None),
            ("all", None),
            ("1-2, 5-6", None),
            ("99999999999", None),
            ("1-99999999999", None),
        ] {
            assert_eq!(read_lines(given), expected, "{given}");
        }
    }

    #[test]
    fn reads_paths() {
        for (given, path, lines) in [
            ("src/a.c", "src/a.c", None),
            (" `src/a.c` ", "src/a.c", None),
            ("src/a.c:12-14", "src/a.c", Some((12, 14))),
            ("src/a.c:12", "src/a.c", Some((12, 12))),
            ("src/a.c:L12-L14", "src/a.c", Some((12, 14))),
            ("C:\\x\\a.c", "C:\\x\\a.c", None),
        ] {
            assert_eq!(read_path(given), (path.to_owned(), lines), "{given}");
        }
    }
}
