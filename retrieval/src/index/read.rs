//! One file: read, judged, parsed.
//!
//! What is no code, or no code that anybody reads, is named with the reason;
//! nothing is silently left out.

use crate::index::IndexLimits;
use crate::language::{Extracted, extract};
use patchwright_source::{Encoding, Entry, Language, Text, Tree};
use sha2::{Digest, Sha256};

/// A file's content hash.
pub(crate) type Hash = [u8; 32];

/// What became of a file.
#[derive(Debug)]
pub(crate) enum FileState {
    /// It has facts.
    Parsed(Box<Parsed>),
    /// It is in no language that is indexed.
    NotCode,
    /// It could have facts and has none; the reason.
    Skipped(String),
    /// Its content is what the index holds already.
    Unchanged,
}

/// A file with its facts.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) language: Language,
    pub(crate) lines: u32,
    pub(crate) hash: Hash,
    pub(crate) extracted: Extracted,
}

/// Reads a file. `known` is the hash of the content that the index holds.
pub(crate) fn read_file(
    tree: &Tree,
    entry: &Entry,
    limits: &IndexLimits,
    known: Option<&[u8]>,
) -> FileState {
    if Language::of_path(&entry.path).is_none() {
        return FileState::NotCode;
    }
    let text = match tree.read_up_to(&entry.path, limits.file_size) {
        Ok(text) => text,
        Err(patchwright_source::SourceError::TooLarge { size, limit, .. }) => {
            return FileState::Skipped(format!("{size} bytes, more than the limit of {limit}"));
        }
        Err(error) => return FileState::Skipped(error.to_string()),
    };
    let hash: Hash = Sha256::digest(text.bytes()).into();
    if known == Some(hash.as_slice()) {
        return FileState::Unchanged;
    }
    match unreadable(&text, limits) {
        Some(reason) => FileState::Skipped(reason),
        None => parse(entry, &text, hash),
    }
}

fn parse(entry: &Entry, text: &Text, hash: Hash) -> FileState {
    let Some(language) = Language::of(&entry.path, text.bytes()) else {
        return FileState::NotCode;
    };
    // Grammars read UTF-8; a byte of Latin-1 is a character of the same line.
    let extracted = match text.encoding() {
        Encoding::Utf8 => extract(language, text.bytes()),
        Encoding::Latin1 => extract(language, text.decode(text.bytes()).as_bytes()),
    };
    let Some(extracted) = extracted else {
        return FileState::Skipped("the parser gave up on it".to_owned());
    };
    FileState::Parsed(Box::new(Parsed {
        language,
        lines: u32::try_from(text.line_count()).unwrap_or(u32::MAX),
        hash,
        extracted,
    }))
}

fn unreadable(text: &Text, limits: &IndexLimits) -> Option<String> {
    if text.is_binary() {
        return Some("it is binary".to_owned());
    }
    let (mut line, mut start) = (1, 0);
    for end in line_ends(text.bytes()) {
        if end - start > limits.line_length {
            let length = end - start;
            return Some(format!(
                "minified or generated: line {line} has {length} bytes"
            ));
        }
        (line, start) = (line + 1, end + 1);
    }
    None
}

/// The offsets at which lines end.
fn line_ends(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len()))
}
