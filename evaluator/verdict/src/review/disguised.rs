//! Rule against text that a reader sees otherwise than the compiler does: characters
//! that reorder a line or cannot be seen, and names that look like other names
//! ("Trojan Source", CVE-2021-42574 and CVE-2021-42694).

use super::Finding;
use crate::review::code::bare;
use patchwright_source::{is_hidden, regex};
use std::collections::{BTreeMap, BTreeSet};
use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::is_potential_mixed_script_confusable_char;

/// Findings in one file; a reader needs no more to see what it is.
const MOST: usize = 8;

/// Finds the characters and names that a patch brings into a file and that its readers
/// would take for nothing, for a space or for something else.
pub(super) fn findings(path: &str, old: &str, new: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if new.is_ascii() && !new.contains(is_unseen) {
        return findings;
    }
    let before: BTreeSet<char> = unseen_in(old).collect();
    let names = Names::of(old, new);
    for (number, line) in new.lines().enumerate() {
        let at = |what: String| Finding {
            line: Some((u32::try_from(number + 1).unwrap_or(u32::MAX), escaped(line))),
            ..Finding::of_file(path, what)
        };
        // A mark of the byte order is what the first line of a file may begin with.
        let text = line.strip_prefix('\u{feff}').filter(|_| number == 0);
        let text = text.unwrap_or(line);
        let brought = unseen_in(text).find(|character| !before.contains(character));
        findings.extend(brought.map(|character| {
            let shown = character.escape_default();
            at(format!("it brings {shown}, which readers cannot see"))
        }));
        findings.extend(names.lookalikes(text).map(at));
        if findings.len() >= MOST {
            break;
        }
    }
    findings
}

/// Finds what cannot be seen, or looks like something else, in the name of a new file.
pub(super) fn of_name(path: &str) -> Option<Finding> {
    let disguised = path.contains(is_unseen) || !path.is_single_script();
    let what = "the name of this new file can be read as another";
    disguised.then(|| Finding::of_file(&escaped(path), what))
}

/// Tells whether a character shows as nothing or as a plain space. Tabs, line breaks and
/// form feeds are usual in source files.
fn is_unseen(character: char) -> bool {
    let blank = character.is_whitespace() && !character.is_ascii() || character == '\u{2800}';
    let usual = matches!(character, '\t' | '\n' | '\x0c');
    (is_hidden(character) || blank) && !usual
}

/// The unseen characters of a text; a carriage return counts where no line ends.
fn unseen_in(text: &str) -> impl Iterator<Item = char> {
    text.lines().flat_map(str::chars).filter(|c| is_unseen(*c))
}

/// Writes everything that is not plain ASCII by its number.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.trim().chars() {
        if matches!(character, ' '..='~') {
            shown.push(character);
        } else {
            shown.extend(character.escape_default());
        }
    }
    shown
}

/// The words of a file.
struct Names<'a> {
    /// Those of the file as it was.
    old: BTreeSet<&'a str>,
    /// Words by what they look like.
    by_look: BTreeMap<String, BTreeSet<&'a str>>,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let word = regex!(r"\p{XID_Continue}+");
    word.find_iter(text).map(|found| found.as_str())
}

fn look(word: &str) -> String {
    skeleton(word).collect()
}

impl<'a> Names<'a> {
    fn of(old: &'a str, new: &'a str) -> Self {
        let mut by_look: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for word in words(old).chain(words(new)) {
            by_look.entry(look(word)).or_default().insert(word);
        }
        Self {
            old: words(old).collect(),
            by_look,
        }
    }

    /// Describes the words of a line that are new and look like another. What is in a
    /// comment misleads no compiler.
    fn lookalikes(&self, line: &str) -> impl Iterator<Item = String> {
        let code = bare(line);
        let code: BTreeSet<String> = words(&code).map(str::to_owned).collect();
        let compiled = if code.is_empty() { "" } else { line };
        let compiled = compiled.split("//").next().unwrap_or_default();
        words(compiled).filter_map(move |word| {
            let new = !word.is_ascii() && !self.old.contains(word);
            let what = self.resemblance(word, code.contains(word));
            what.filter(|_| new)
                .map(|what| format!("`{}` {what}", escaped(word)))
        })
    }

    /// Names the ASCII word that a reader can take this word for.
    fn resemblance(&self, word: &str, in_code: bool) -> Option<String> {
        let look = look(word);
        let alike = self.by_look.get(&look).into_iter().flatten();
        // A single letter of a text in another language is that letter.
        let told = in_code || word.chars().nth(1).is_some();
        if let Some(other) = alike.copied().find(|other| *other != word && told) {
            return Some(format!("looks like `{}`", escaped(other)));
        }
        if !word.is_single_script() && word.chars().any(is_potential_mixed_script_confusable_char) {
            return Some("has letters of other scripts that look like Latin ones".to_owned());
        }
        let ascii = in_code && look.is_ascii();
        let operator = look.chars().any(|c| c.is_ascii_punctuation() && c != '_');
        // Latin letters with a prototype of their own, such as the ligature of a and e, are seen.
        let foreign = word.chars().any(is_potential_mixed_script_confusable_char);
        (ascii && (operator || foreign)).then(|| format!("can be read as `{look}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::{findings, of_name};

    const OLD: &str = "/* Größe */\nint admin(int scope) {\n  return scope;\n}\n";

    fn found(line: &str) -> String {
        let new = OLD.replace("  return", &format!("{line}\n  return"));
        let found: Vec<_> = findings("a.c", OLD, &new)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(found.iter().all(|text| text.is_ascii()), "{found:?}");
        found.join("\n")
    }

    #[test]
    fn what_readers_cannot_see_is_told_by_its_number() {
        for (line, expected) in [
            ("/*\u{202e} } \u{2066}if (x)\u{2069} */", "\\u{202e}"),
            ("int x\u{200b} = 1;", "\\u{200b}"),
            ("int x = 1; // \u{fe0f}", "\\u{fe0f}"),
            ("int x = 1; // \u{e0041}", "\\u{e0041}"),
            ("puts(\"a\u{3164}b\");", "\\u{3164}"),
            ("puts(\"a\u{a0}b\");", "\\u{a0}"),
            ("check(); \r// as before", "\\r"),
            ("puts(\"\u{1b}[2K\");", "\\u{1b}"),
        ] {
            let found = found(line);
            let what = format!("a.c:3: it brings {expected}, which readers cannot see");
            assert!(found.starts_with(&what), "{line:?}: {found}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_told() {
        for (line, expected) in [
            // Cyrillic letters in a Latin word, in code and in a text.
            ("\u{430}dmin(0);", "`\\u{430}dmin` looks like `admin`"),
            ("return strcmp(s, \"\u{430}dmin\");", "looks like `admin`"),
            (
                "p\u{430}ssword(0);",
                "has letters of other scripts that look like Latin",
            ),
            // A word all of Cyrillic letters, and a Latin letter that looks like an operator.
            ("int \u{441}\u{43e}\u{440}\u{435};", "can be read as `cope`"),
            ("if (x\u{1c3}=3) x = 1;", "`x\\u{1c3}` can be read as `x!`"),
            ("int \u{ff53}cope;", "looks like `scope`"),
        ] {
            let found = found(line);
            assert!(found.contains(expected), "{line:?}: {found}");
        }
    }

    #[test]
    fn other_languages_and_what_was_there_are_no_findings() {
        for line in [
            "int gr\u{f6}\u{df}e = 1; /* \u{442}\u{435}\u{43a}\u{441}\u{442} \u{441} \u{430} */",
            "puts(\"\u{43d}\u{435}\u{442} \u{441} \u{43a}\u{43b}\u{44e}\u{447}\");",
            "puts(\"\u{e6}ble, 5 k\u{3a9}, 3 \u{b5}s\"); // \u{394}x",
            "// \u{430}dmin",
            "int \u{5909}\u{6570} = 1;\t\x0c",
        ] {
            assert_eq!(found(line), "", "{line:?}");
        }
        let old = "x\u{202e}\n\u{430}dmin\nadmin\n";
        let new = format!("\u{feff}{old}{old}");
        assert_eq!(findings("a.c", old, &new), []);
    }

    #[test]
    fn the_name_of_a_new_file_is_read_too() {
        for (path, disguised) in [
            ("a\u{202e}b.c", true),
            ("\u{430}dmin.c", true),
            ("src/gr\u{f6}\u{df}e.c", false),
        ] {
            assert_eq!(of_name(path).is_some(), disguised, "{path}");
        }
    }
}
