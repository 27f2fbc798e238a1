//! Names of content: digests of its parts.

use sha2::{Digest, Sha256};

/// Returns a digest of parts that are told apart by their lengths, so that no other parts have
/// the same one.
pub fn digest<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("{:x}", hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn parts_are_told_apart() {
        assert_eq!(digest(["ab", "c"]), digest([b"ab".to_vec(), b"c".to_vec()]));
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_ne!(digest(["a"]), digest(["a", ""]));
    }
}
