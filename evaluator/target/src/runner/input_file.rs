//! Input file: bytes in a file of their own, to be run the way a PoV is run.

use super::Pov;
use crate::{Result, TargetError};

/// An input written to a file of its own, to be run the way a PoV is run.
#[derive(Debug)]
pub struct InputFile {
    pov: Pov,
    _folder: tempfile::TempDir,
}

impl InputFile {
    /// Writes the input; its file has the name of the PoV's.
    pub fn like(pov: &Pov, input: &[u8]) -> Result<Self> {
        let folder = tempfile::tempdir()
            .map_err(|e| TargetError::io("no folder for an input", "temporary folder", e))?;
        let file = folder.path().join(pov.file.file_name().unwrap_or_default());
        std::fs::write(&file, input)
            .map_err(|e| TargetError::io("an input could not be written", &file, e))?;
        Ok(Self {
            pov: Pov {
                file,
                ..pov.clone()
            },
            _folder: folder,
        })
    }

    /// Returns the PoV with this input in place of its own.
    pub fn pov(&self) -> &Pov {
        &self.pov
    }
}

/// Returns the content of a PoV.
///
/// # Errors
/// When it cannot be read.
pub fn content(pov: &Pov) -> Result<Vec<u8>> {
    std::fs::read(&pov.file).map_err(|e| TargetError::io("a PoV cannot be read", &pov.file, e))
}
