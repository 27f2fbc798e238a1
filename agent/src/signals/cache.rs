//! Cache of endpoints' answers, by the hash of the question: the same text
//! is embedded once.
//!
//! One small file an answer. What cannot be read or written is asked again;
//! nothing here fails.

use sha2::{Digest, Sha256};
use std::io::Write as _;
use std::path::PathBuf;

/// A folder of answers.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The numbers that were kept for a question.
    pub(super) fn get(&self, question: &[&str]) -> Option<Vec<f32>> {
        let bytes = std::fs::read(self.path(question)).ok()?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        (rest.is_empty() && !numbers.is_empty()).then(|| {
            numbers
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect()
        })
    }

    /// Keeps the numbers for a question.
    pub(super) fn put(&self, question: &[&str], numbers: &[f32]) {
        let path = self.path(question);
        let kept = || -> std::io::Result<()> {
            let folder = path.parent().unwrap_or(&self.folder);
            patchwright_config::private_folder(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            let bytes: Vec<u8> = numbers.iter().flat_map(|one| one.to_le_bytes()).collect();
            file.write_all(&bytes)?;
            file.persist(&path)?;
            Ok(())
        };
        if let Err(error) = kept() {
            tracing::debug!(%error, "an answer was not kept");
        }
    }

    fn path(&self, question: &[&str]) -> PathBuf {
        let mut hash = Sha256::new();
        for part in question {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let name = format!("{:x}", hash.finalize());
        let (first, rest) = name.split_at(2);
        self.folder.join(first).join(rest)
    }
}
