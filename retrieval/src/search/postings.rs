//! Posting lists: where a word occurs, in few bytes: definitions in ascending order, each as
//! the distance to the one before, a count and a length. Reading stops at the
//! first byte that makes no sense; it never fails.

/// Lengths are kept as so many steps for each doubling: within a tenth.
const STEPS: f64 = 8.0;

/// A word in a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    /// The definition.
    pub(super) id: i64,
    /// Frequency of the word, weighted by place.
    pub(super) count: u8,
    /// Number of words, on a scale of doublings.
    pub(super) length: u8,
}

impl Posting {
    pub(super) fn new(id: i64, count: u32, length: u32) -> Self {
        let steps = (f64::from(length) + 1.0).log2() * STEPS;
        Self {
            id,
            count: u8::try_from(count).unwrap_or(u8::MAX),
            length: steps.round() as u8,
        }
    }
}

/// Returns how many words a definition has whose length is on this place of the scale.
pub(super) fn length(scale: u8) -> f64 {
    (f64::from(scale) / STEPS).exp2() - 1.0
}

/// Postings in ascending order as bytes.
pub(super) fn write(postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * postings.len());
    let mut before = 0;
    for posting in postings {
        let mut step = posting.id.abs_diff(before);
        before = posting.id;
        while step >= 0x80 {
            bytes.push((step & 0x7f) as u8 | 0x80);
            step >>= 7;
        }
        bytes.push(step as u8);
        bytes.push(posting.count);
        bytes.push(posting.length);
    }
    bytes
}

/// Reads what [`write`] wrote.
pub(super) fn read(bytes: &[u8], postings: &mut Vec<Posting>) {
    let mut bytes = bytes.iter().copied();
    let mut id = 0_i64;
    while let Some(step) = read_step(&mut bytes)
        && let (Some(count), Some(length)) = (bytes.next(), bytes.next())
    {
        id = id.saturating_add_unsigned(step);
        postings.push(Posting { id, count, length });
    }
}

fn read_step(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut step = 0;
    for shift in (0..=56).step_by(7) {
        let byte = bytes.next()?;
        step |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(step);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Posting, read, write};
    use proptest::prelude::*;

    #[test]
    fn lengths_are_nearly_kept() {
        for length in [0, 1, 7, 100, 5_000, 60_000] {
            let kept = super::length(Posting::new(1, 1, length).length);
            assert!(
                (kept - f64::from(length)).abs() <= 0.05 * f64::from(length) + 0.1,
                "{length}: {kept}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut ids in prop::collection::vec(0..i64::MAX / 2, 0..50), count in 0u32..400) {
            ids.sort_unstable();
            let postings: Vec<Posting> = ids.iter().map(|id| Posting::new(*id, count, count * 7)).collect();
            let mut back = Vec::new();
            read(&write(&postings), &mut back);
            prop_assert_eq!(back, postings);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read(&bytes, &mut Vec::new());
        }
    }
}
