//! A file's bytes with its lines, line ending and encoding.

use std::borrow::Cow;

/// Writes a number with its noun, in the plural unless it is one.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A file's bytes and where its lines start. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    latin1: bool,
}

impl Text {
    /// Finds the lines and the encoding of some bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', &bytes).map(|at| at + 1));
        if starts.last() == Some(&bytes.len()) {
            starts.pop();
        }
        Self {
            latin1: std::str::from_utf8(&bytes).is_err(),
            bytes,
            starts,
        }
    }

    /// The bytes as they are in the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how many lines there are; an empty file has none.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// The byte offset at which a line starts. The line after the last one
    /// starts at the end of the file.
    pub fn line_start(&self, line: usize) -> Option<usize> {
        match line.checked_sub(1)? {
            index if index == self.starts.len() => Some(self.bytes.len()),
            index => self.starts.get(index).copied(),
        }
    }

    /// One line with its line ending.
    pub fn raw_line(&self, line: usize) -> Option<&[u8]> {
        let index = line.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied();
        self.bytes.get(start..end.unwrap_or(self.bytes.len()))
    }

    /// One line as characters, without its line ending.
    pub fn line(&self, line: usize) -> Option<Cow<'_, str>> {
        let raw = self.raw_line(line)?;
        let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
        Some(self.decode(raw.strip_suffix(b"\r").unwrap_or(raw)))
    }

    /// Reads bytes of this file as characters, by the file's encoding.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        match std::str::from_utf8(bytes) {
            Ok(text) if !self.latin1 => Cow::Borrowed(text),
            _ if bytes.is_ascii() => String::from_utf8_lossy(bytes),
            _ => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
        }
    }

    /// Writes characters as bytes of this file's encoding; `None` when a
    /// character does not exist in it.
    pub fn encode(&self, text: &str) -> Option<Vec<u8>> {
        if !self.latin1 {
            return Some(text.as_bytes().to_vec());
        }
        let bytes = text.chars().map(|character| u8::try_from(character).ok());
        bytes.collect()
    }

    /// Returns true where the bytes are no UTF-8: each is the character of the same number, so
    /// that decoding and encoding again gives the same bytes.
    pub fn is_latin1(&self) -> bool {
        self.latin1
    }

    /// The line ending that most lines have.
    pub fn line_ending(&self) -> &'static str {
        let all = self.bytes.iter().filter(|byte| **byte == b'\n').count();
        let with_return = self.bytes.windows(2).filter(|pair| pair == b"\r\n").count();
        if with_return * 2 > all { "\r\n" } else { "\n" }
    }

    /// Returns whether the last line is ended.
    pub fn ends_with_newline(&self) -> bool {
        self.bytes.last() == Some(&b'\n')
    }

    /// Returns whether this is no text.
    pub fn is_binary(&self) -> bool {
        is_binary(&self.bytes)
    }
}

/// Returns whether bytes are no text: a NUL among the first 8,000, the rule that git
/// uses.
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes.get(..8_000).unwrap_or(bytes)).is_some()
}

#[cfg(test)]
mod tests {
    use super::Text;
    use proptest::prelude::*;

    #[test]
    fn counts_lines() {
        for (bytes, count) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            assert_eq!(Text::new(bytes.into()).line_count(), count, "{bytes:?}");
        }
    }

    #[test]
    fn reads_a_line_and_its_place() {
        let text = Text::new(b"one\r\ntwo\r\nthree".to_vec());
        assert_eq!(text.line(2).unwrap(), "two");
        assert_eq!(text.raw_line(2).unwrap(), b"two\r\n");
        assert_eq!(text.line(4), None);
        assert_eq!(
            (text.line_start(2), text.line_start(4), text.line_start(5)),
            (Some(5), Some(15), None)
        );
        assert_eq!(text.line_ending(), "\r\n");
        assert!(!text.ends_with_newline());
    }

    #[test]
    fn keeps_latin1() {
        let text = Text::new(b"gr\xfc\xdf\n".to_vec());
        assert!(text.is_latin1());
        assert_eq!(text.line(1).unwrap(), "gr\u{fc}\u{df}");
        assert_eq!(text.encode("gr\u{fc}\u{df}").unwrap(), b"gr\xfc\xdf");
        assert_eq!(text.encode("\u{20ac}"), None);
    }

    proptest! {
        #[test]
        fn lines_make_up_the_file(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let text = Text::new(bytes.clone());
            let mut again = Vec::new();
            for line in 1..=text.line_count() {
                again.extend_from_slice(text.raw_line(line).unwrap());
                let decoded = text.line(line).unwrap();
                prop_assert!(text.encode(&decoded).is_some());
            }
            prop_assert_eq!(again, bytes);
        }
    }
}
