//! A file of the pristine tree, made ready for finding places in it.

use crate::ShownLine;
use patchwright_source::{Language, Text, TreePath};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Byte-order mark that some editors put at the start of a UTF-8 file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the characters of a text but whitespace, and what cannot be seen either.
pub(crate) fn solid(text: &str) -> impl Iterator<Item = char> {
    let seen = |next: &char| !next.is_whitespace() && ![BYTE_ORDER_MARK, '\u{200b}'].contains(next);
    text.chars().filter(seen)
}

/// Returns a line without whitespace.
pub(crate) fn bare(line: &str) -> String {
    solid(line).collect()
}

/// Returns true when a line holds nothing but whitespace.
pub(crate) fn is_blank(line: &str) -> bool {
    solid(line).next().is_none()
}

/// Returns true when two lines differ in whitespace at most.
pub(crate) fn same_but_space(a: &str, b: &str) -> bool {
    solid(a).eq(solid(b))
}

/// Returns true when lines hold more than braces and blanks, so that finding them twice
/// is no accident.
pub(crate) fn says_something<'a>(lines: impl Iterator<Item = &'a String>) -> bool {
    let signs = lines.flat_map(|line| line.chars());
    signs.filter(|next| next.is_alphanumeric()).count() >= 3
}

/// A number that is the same for lines that differ in whitespace only; 0 for
/// blank ones.
pub(crate) fn key(line: &str) -> u64 {
    // FNV-1a: quick for short lines, and a collision does no harm, since lines
    // with the same key are still compared.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut any = false;
    for character in solid(line) {
        any = true;
        hash = (hash ^ u64::from(character)).wrapping_mul(0x0100_0000_01b3);
    }
    if any { hash.max(1) } else { 0 }
}

/// The index of a line that is counted from 1.
pub(crate) fn line_index(number: u32) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(1)
}

/// The number of a line that is counted from 0.
pub(crate) fn line_number(at: usize) -> u32 {
    u32::try_from(at.saturating_add(1)).unwrap_or(u32::MAX)
}

/// Returns where each key stands among keys.
fn places_of(keys: impl Iterator<Item = u64>) -> HashMap<u64, Vec<usize>> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, key) in keys.enumerate() {
        places.entry(key).or_default().push(at);
    }
    places
}

/// All characters of a file but whitespace, and where each line begins.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) text: String,
    pub(crate) starts: Vec<usize>,
}

/// A file and what is known about its lines. Lines count from 0 here.
#[derive(Debug)]
pub(crate) struct Pristine {
    pub(crate) path: TreePath,
    pub(crate) text: Text,
    pub(crate) language: Option<Language>,
    keys: Vec<u64>,
    index: OnceCell<HashMap<u64, Vec<usize>>>,
    stream: OnceCell<Stream>,
    names: OnceCell<HashSet<String>>,
    code: OnceCell<Vec<String>>,
    code_index: OnceCell<CodeIndex>,
}

/// The lines of a file that hold code, and where each stands among them.
#[derive(Debug)]
struct CodeIndex {
    /// The number of each line of code in the file.
    lines: Vec<usize>,
    /// The lines of code by what they hold without whitespace and comments.
    places: HashMap<u64, Vec<usize>>,
}

impl Pristine {
    pub(crate) fn new(path: TreePath, text: Text) -> Self {
        let language = Language::of(&path, text.bytes());
        let keys = (1..=text.line_count())
            .map(|line| key(&text.line(line).unwrap_or_default()))
            .collect();
        Self {
            path,
            text,
            language,
            keys,
            index: OnceCell::new(),
            stream: OnceCell::new(),
            names: OnceCell::new(),
            code: OnceCell::new(),
            code_index: OnceCell::new(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }

    /// A line without its end, and without a byte-order mark.
    pub(crate) fn line(&self, at: usize) -> Cow<'_, str> {
        let line = self.text.line(at + 1).unwrap_or_default();
        match line {
            Cow::Borrowed(line) if at == 0 => {
                Cow::Borrowed(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))
            }
            line => line,
        }
    }

    /// The key of a line; `None` behind the end.
    pub(crate) fn key(&self, at: usize) -> Option<u64> {
        self.keys.get(at).copied()
    }

    /// Returns true when the lines from `at` on are these, whitespace aside.
    pub(crate) fn fits(&self, at: usize, lines: &[String]) -> bool {
        let mut pairs = (at..).zip(lines);
        at + lines.len() <= self.count()
            && pairs.all(|(at, line)| same_but_space(&self.line(at), line))
    }

    /// Returns true when the lines from `at` on are exactly these.
    pub(crate) fn fits_exactly(&self, at: usize, lines: &[String]) -> bool {
        let mut pairs = (at..).zip(lines);
        pairs.all(|(at, line)| *self.line(at) == **line)
    }

    /// The lines that have a key.
    pub(crate) fn with_key(&self, key: u64) -> &[usize] {
        let keys = self.keys.iter().copied();
        let index = self.index.get_or_init(|| places_of(keys));
        index.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.stream.get_or_init(|| {
            let mut text = String::with_capacity(self.text.bytes().len());
            let mut starts = Vec::with_capacity(self.count() + 1);
            for at in 0..self.count() {
                starts.push(text.len());
                text.extend(solid(&self.line(at)));
            }
            starts.push(text.len());
            Stream { text, starts }
        })
    }

    /// Every identifier of the file, comments and strings included.
    pub(crate) fn names(&self) -> &HashSet<String> {
        self.names.get_or_init(|| {
            let text = self.text.decode(self.text.bytes());
            crate::tokens::words(&text).map(str::to_owned).collect()
        })
    }

    /// The lines without their comments.
    pub(crate) fn code(&self) -> &[String] {
        self.code.get_or_init(|| {
            let lines: Vec<Cow<'_, str>> = (0..self.count()).map(|at| self.line(at)).collect();
            patchwright_source::without_comments(self.language, lines.iter().map(AsRef::as_ref))
        })
    }

    /// Returns true when a line holds code: not only whitespace and comments.
    pub(crate) fn is_code(&self, at: usize) -> bool {
        self.code().get(at).is_some_and(|code| !is_blank(code))
    }

    fn code_index(&self) -> &CodeIndex {
        self.code_index.get_or_init(|| {
            let keys = self.code().iter().map(|code| key(code)).enumerate();
            let (lines, keys): (Vec<usize>, Vec<u64>) = keys.filter(|(_, key)| *key != 0).unzip();
            let places = places_of(keys.into_iter());
            CodeIndex { lines, places }
        })
    }

    /// The lines of code with this key, counted among the lines of code.
    pub(crate) fn with_code(&self, key: u64) -> &[usize] {
        let places = self.code_index().places.get(&key);
        places.map_or(&[], Vec::as_slice)
    }

    /// The number in the file of a line of code.
    pub(crate) fn code_line(&self, place: usize) -> usize {
        let line = self.code_index().lines.get(place);
        line.copied().unwrap_or_else(|| self.count())
    }

    /// Lines with their numbers, for messages.
    pub(crate) fn excerpt(&self, from: usize, to: usize) -> Vec<ShownLine> {
        (from..to.min(self.count()))
            .map(|at| ShownLine {
                number: Some(line_number(at)),
                text: self.line(at).chars().take(200).collect(),
            })
            .collect()
    }
}
