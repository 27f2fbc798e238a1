//! PoVs with the same change in several places at once: a format whose lines
//! must have as many parts as one another, or that says a number twice, refuses
//! a change in one of them. A fix that knows the PoV's own counts shows on these.
//! Texts only, as for `transplant`.

use super::transplant::numbers;
use std::collections::BTreeSet;

/// What stands between the parts of a line.
const SEPARATORS: [char; 4] = ['|', ',', ';', '\t'];
/// Numbers of one PoV that are changed.
const NUMBERS: usize = 8;

/// The PoVs with a part more or less in every line, and with a number that is
/// said more than once changed everywhere.
pub(crate) fn parallel(povs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut made: Vec<Vec<u8>> = Vec::new();
    for pov in povs {
        let Ok(text) = std::str::from_utf8(pov) else {
            continue;
        };
        let changed = parts(text).into_iter().chain(repeated(text));
        made.extend(changed.map(String::into_bytes));
    }
    made
}

fn parts(text: &str) -> Vec<String> {
    let mut made = Vec::new();
    for separator in SEPARATORS {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let with = lines.iter().filter(|line| line.contains(separator));
        if with.count() < 2 {
            continue;
        }
        for count in [2, 3, 0] {
            let line = |line: &&str| with_parts(line, separator, count);
            made.push(lines.iter().map(line).collect());
        }
    }
    made
}

/// A line with its last part so many times.
fn with_parts(line: &str, separator: char, count: usize) -> String {
    let bare = line.trim_end_matches(['\n', '\r']);
    let (bare, end) = line.split_at(bare.len());
    // The last part brings its separator along, which stands before or behind it.
    let start = match bare.strip_suffix(separator) {
        Some(open) => {
            let before = open.rfind(separator);
            Some(before.map_or(0, |at| at + separator.len_utf8()))
        }
        None => bare.rfind(separator),
    };
    let Some((head, last)) = start.and_then(|at| bare.split_at_checked(at)) else {
        return line.to_owned();
    };
    format!("{head}{}{end}", last.repeat(count))
}

fn repeated(text: &str) -> Vec<String> {
    let places = numbers(text);
    let said: Vec<&str> = places.iter().filter_map(|p| text.get(p.clone())).collect();
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&str> = said.into_iter().filter(|n| !seen.insert(*n)).collect();
    let mut made = Vec::new();
    for number in twice.into_iter().take(NUMBERS) {
        let Some(value) = number.parse::<i64>().ok() else {
            continue;
        };
        for other in [value.checked_add(1), value.checked_sub(1)] {
            let mut changed = text.to_owned();
            let alike = places
                .iter()
                .filter(|p| text.get((*p).clone()) == Some(number));
            for place in alike.rev() {
                changed.replace_range(place.clone(), &other.unwrap_or_default().to_string());
            }
            made.push(changed);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::parallel;

    #[test]
    fn the_same_change_is_made_everywhere() {
        for (pov, expected) in [
            (
                "|a|b|\n|:-|-:|\nc\n",
                vec![
                    "|a|b|b|\n|:-|-:|-:|\nc\n",
                    "|a|b|b|b|\n|:-|-:|-:|-:|\nc\n",
                    "|a|\n|:-|\nc\n",
                ],
            ),
            (
                "a,b\r\n1,2",
                vec!["a,b,b\r\n1,2,2", "a,b,b,b\r\n1,2,2,2", "a\r\n1"],
            ),
            ("f(7) g(7) 8", vec!["f(8) g(8) 8", "f(6) g(6) 8"]),
            ("a,b\nc", vec![]),
            ("é|\n|", vec!["é|é|\n||", "é|é|é|\n|||", "\n"]),
        ] {
            let made = parallel(&[pov.into()]);
            let made: Vec<_> = made.iter().map(|m| String::from_utf8_lossy(m)).collect();
            assert_eq!(made, expected, "{pov:?}");
        }
        assert!(parallel(&[vec![0xff, b',', b'\n', b',']]).is_empty());
    }
}
