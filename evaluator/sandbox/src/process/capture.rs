//! Output kept head and tail, so that no program can fill our memory with it.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt::Write;

/// Output of a command: the first and the last bytes, and their number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, empty when everything fitted into the head.
    pub tail: Vec<u8>,
    /// Number of bytes that were printed.
    pub total: u64,
}

impl Captured {
    /// Everything that was kept, with a line that tells what is missing between head and tail.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        let left_out = self.left_out();
        if left_out > 0 {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            // Writing to a string cannot go wrong.
            let _ = writeln!(text, "[... {left_out} bytes left out ...]");
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }

    /// Returns the number of bytes in the middle that were not kept.
    pub fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }
}

/// Collects output within a fixed number of bytes, half for the head, half for the tail.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Collector {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            half: (limit / 2).max(1),
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let rest = rest
            .get(rest.len().saturating_sub(self.half)..)
            .unwrap_or_default();
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..surplus);
    }

    pub(crate) fn finish(self) -> Captured {
        Captured {
            head: self.head,
            tail: self.tail.into(),
            total: self.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Collector;

    #[test]
    fn keeps_head_and_tail() {
        for (chunks, limit, expected, left_out) in [
            (vec!["abc", "def"], 100, "abcdef", 0),
            (vec!["abcdef"], 6, "abcdef", 0),
            (
                vec!["abcd", "efghijkl"],
                4,
                "ab\n[... 8 bytes left out ...]\nkl",
                8,
            ),
            (
                vec!["ab", "c", "d", "e"],
                4,
                "ab\n[... 1 bytes left out ...]\nde",
                1,
            ),
            (vec![], 4, "", 0),
        ] {
            let mut collector = Collector::new(limit);
            for chunk in chunks {
                collector.push(chunk.as_bytes());
            }
            let captured = collector.finish();
            assert_eq!(captured.text(), expected);
            assert_eq!(captured.left_out(), left_out);
        }
    }
}
