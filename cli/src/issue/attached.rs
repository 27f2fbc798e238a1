//! The files that an issue carries: attachments, members of zip archives, and inputs that its
//! text holds as base64, as a hex dump, or as they are.

use crate::common::plain_name;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use patchwright_crash::{read_leading, read_words};
use patchwright_source::built_in_regex;
use reqwest::Url;
use std::io::{Cursor, Read};

/// Parts of the paths under which forges keep attachments.
const PLACES: [&str; 4] = [
    "/files/",
    "/user-attachments/",
    "/uploads/",
    "/attachments/",
];
/// The most bytes of one member of an archive, and the most members.
const LARGEST: u64 = 16 << 20;
const MEMBERS: usize = 12;
/// Fewer letters than this are a word, and no encoded input.
const ENCODED: usize = 12;
/// Words after a fence for code and sessions, which are no inputs.
const CODE: [&str; 14] = [
    "c", "cc", "c++", "cpp", "h", "java", "python", "py", "sh", "bash", "shell", "console", "diff",
    "cmake",
];

/// A file name, made plain, and its content.
pub(super) type Named = (String, Vec<u8>);

/// Returns the addresses of the attachments that a text links, each once.
pub(super) fn links(text: &str, origin: &str, project: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || "()<>[]\"'`".contains(c);
    let mut links: Vec<String> = Vec::new();
    for word in text.split(ends) {
        // GitLab names its uploads from the project on.
        let link = if word.starts_with("/uploads/") {
            format!("{project}{word}")
        } else {
            word.trim_end_matches(['.', ',', ';']).to_owned()
        };
        let attached = link.strip_prefix(origin).is_some_and(|path| {
            path.starts_with('/') && PLACES.iter().any(|place| path.contains(place))
        });
        if attached && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

/// Returns what an attachment holds: the members of a zip archive, else itself.
pub(super) fn files(link: &str, bytes: Vec<u8>) -> Vec<Named> {
    if bytes.starts_with(b"PK\x03\x04") {
        return members(&bytes).unwrap_or_default();
    }
    let path = Url::parse(link).map_or_else(|_| link.to_owned(), |url| url.path().to_owned());
    vec![(plain(&path), bytes)]
}

/// Reads the members of a zip archive; those that are too large or encrypted are left out.
fn members(bytes: &[u8]) -> zip::result::ZipResult<Vec<Named>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut members = Vec::new();
    for at in 0..archive.len().min(MEMBERS) {
        let Ok(member) = archive.by_index(at) else {
            continue;
        };
        let name = member.name().map(|name| plain(&name));
        let (name, mut content) = (name?, Vec::new());
        let read = member.is_file() && member.take(LARGEST).read_to_end(&mut content).is_ok();
        if read && !content.is_empty() && (content.len() as u64) < LARGEST {
            members.push((name, content));
        }
    }
    Ok(members)
}

/// Returns the last part of a path with letters that no shell and no terminal reads.
fn plain(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = plain_name(name, "._", 80);
    name.trim_start_matches('.').to_owned()
}

/// Returns a file as text where it holds a crash report.
pub(super) fn as_report(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    read_leading(text).map(|_| text)
}

/// Returns the inputs in the text itself: what is encoded in its blocks and its commands, and
/// blocks that are neither a report, nor code, nor commands.
pub(crate) fn quoted(text: &str) -> Vec<Named> {
    let mut inputs: Vec<Named> = Vec::new();
    let (mut block, mut fence) = (String::new(), None);
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(tag), None) => fence = Some(tag.trim()),
            (Some(_), Some(tag)) => {
                inputs.extend(of_block(tag, &std::mem::take(&mut block)));
                fence = None;
            }
            (None, _) => {
                if line.contains("base64") {
                    inputs.extend(of_command(line));
                }
                if fence.is_some() {
                    block.push_str(line);
                    block.push('\n');
                }
            }
        }
    }
    inputs
}

fn of_block(tag: &str, block: &str) -> Option<Named> {
    if let Some(bytes) = dump(block).or_else(|| base64(block)) {
        return Some(("quoted.bin".to_owned(), bytes));
    }
    let commands = || {
        read_words(&format!("```\n{block}```\n")).is_some_and(|words| !words.commands.is_empty())
    };
    let code = CODE.contains(&tag.to_ascii_lowercase().as_str());
    let taken = code || block.trim().is_empty() || read_leading(block).is_some() || commands();
    (!taken).then(|| ("quoted.txt".to_owned(), block.as_bytes().to_vec()))
}

/// Decodes the word of a command such as `echo WORD | base64 -d > file`.
fn of_command(line: &str) -> Option<Named> {
    let words = line.split([' ', '\t', '"', '\'', '<', '|', '`']);
    let word = words.max_by_key(|word| word.len())?;
    Some(("quoted.bin".to_owned(), base64(word)?))
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_whitespace().collect();
    (text.len() >= ENCODED).then(|| STANDARD.decode(text).ok())?
}

/// A line of a dump by `xxd`, by `hexdump -C`, or of digits alone.
const DUMPED: &str = r"(?xi) ^\s* (?: [0-9a-f]{6,}:\ ((?:[0-9a-f]{2,4}\ ?)+) .*
    | [0-9a-f]{6,}\ \ ((?:[0-9a-f]{2}\ {1,2})+)\s*\|.* | ((?:[0-9a-f]{2}\ ?)+) ) \s*$";

/// Reads hexadecimal digits, with offsets and letters beside them or without.
fn dump(text: &str) -> Option<Vec<u8>> {
    let pattern = built_in_regex(DUMPED);
    let mut bytes = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // The last line of `hexdump` is the length alone.
        if usize::from_str_radix(line.trim(), 16) == Ok(bytes.len()) {
            continue;
        }
        let found = pattern.captures(line)?;
        let shown = found.iter().skip(1).flatten().next()?;
        let digits: String = shown.as_str().split(' ').collect();
        bytes.extend(hex::decode(digits).ok()?);
    }
    Some(bytes).filter(|bytes| bytes.len() >= 4)
}

#[cfg(test)]
mod tests {
    use super::{links, quoted};

    #[test]
    fn attachments_are_those_of_the_forge() {
        let text = "see [poc.zip](https://f.example/a/b/files/1/poc.zip), ![](https://evil.example/files/x) \
                    /uploads/0f/p.bin https://f.example.evil/files/y https://f.example/a/b/issues/3 \
                    https://f.example/a/b/files/1/poc.zip.";
        let found = links(text, "https://f.example", "https://f.example/a/b");
        let expected = [
            "https://f.example/a/b/files/1/poc.zip",
            "https://f.example/a/b/uploads/0f/p.bin",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn inputs_in_a_text_are_decoded() {
        let of = |text: &str| {
            quoted(text)
                .into_iter()
                .map(|(_, bytes)| bytes)
                .collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("```\nAAECAwQFBgcICQ==\n```", vec![(0..10).collect()]),
            (
                "run `echo AAECAwQFBgcICQ== | base64 -d > poc`",
                vec![(0..10).collect()],
            ),
            ("```\n000102030405\n```", vec![(0..6).collect()]),
            (
                "```\n00000000: 4142 4300 7c                             ABC.|\n```",
                vec![b"ABC\0|".to_vec()],
            ),
            (
                "```\n00000000  41 42 43 44 45 46 47 48  49 4a 4b 4c 4d 4e 4f 50  |ABCDEFGHIJKLMNOP|\n00000010  51                                                |Q|\n00000011\n```",
                vec![b"ABCDEFGHIJKLMNOPQ".to_vec()],
            ),
            ("```xml\n<a\n```", vec![b"<a\n".to_vec()]),
            ("```c\nint a;\n```\n```\n$ ./tool poc\n```", Vec::new()),
            ("the base64 of it is unknown", Vec::new()),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
