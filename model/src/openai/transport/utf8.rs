//! Makes text of bytes that come in pieces, whatever they are.

/// Replaces what is not UTF-8, over the borders of pieces.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    unfinished: Vec<u8>,
}

impl Utf8 {
    /// The text of a piece, as far as it is finished.
    pub(super) fn mend(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.unfinished);
        all.extend_from_slice(bytes);
        let mut mended = Vec::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            mended.extend_from_slice(chunk.valid().as_bytes());
            let invalid = chunk.invalid();
            let last = chunks.peek().is_none();
            if last && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none())
            {
                self.unfinished = invalid.to_vec();
            } else if !invalid.is_empty() {
                mended.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        mended
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mend_in_pieces(bytes: &[u8], size: usize) -> String {
        let mut utf8 = Utf8::default();
        let mended: Vec<u8> = bytes
            .chunks(size)
            .flat_map(|piece| utf8.mend(piece))
            .collect();
        String::from_utf8(mended).unwrap()
    }

    #[test]
    fn characters_may_be_torn_apart_and_garbage_is_replaced() {
        let text = "größer 漢字 🦀";
        for size in 1..8 {
            assert_eq!(mend_in_pieces(text.as_bytes(), size), text);
            assert_eq!(mend_in_pieces(b"a\xff\xfeb", size), "a\u{fffd}\u{fffd}b");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_become_text(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1_usize..9) {
            let mended = mend_in_pieces(&bytes, size);
            let whole = String::from_utf8_lossy(&bytes);
            // An unfinished character at the very end is still waited for.
            prop_assert!(whole.starts_with(mended.as_str()));
        }
    }
}
