//! Unpacks a tar archive that nobody has vouched for.
//!
//! Every entry is checked before anything of it is written: no absolute or
//! climbing path, no link out, no device, no more bytes or entries than
//! allowed. Links are made when all files lie there, so that no file is ever
//! written through one. Nothing is kept of owners and special modes; times are
//! kept, because build systems compare them.
//!
//! It reads plain and gzipped archives. What else compresses is told by
//! [`Packing`] and undone elsewhere, in a sandbox.

mod entry;
mod folder;
#[cfg(test)]
mod tests;

use entry::Kind;
use flate2::read::MultiGzDecoder;
use folder::Folder;
use patchwright_config::Intake;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Limits on the content of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnpackLimits {
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: u64,
}

impl UnpackLimits {
    pub fn of(settings: &Intake) -> Self {
        Self {
            bytes: settings.unpacked_mb.saturating_mul(1024 * 1024),
            entries: settings.entries,
        }
    }
}

/// Why an archive is not taken.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The archive or the folder cannot be read or written.
    #[error("the archive cannot be unpacked: {0}")]
    Io(#[from] io::Error),
    /// It is no archive that is understood, holds what must not be there, or is too large.
    #[error("{0}")]
    Refused(String),
}

/// The compression of an archive, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    Gzip,
    /// By a program of this name.
    Program(&'static str),
    /// It is no tar archive.
    Foreign(&'static str),
}

impl Packing {
    /// Looks at the first bytes of a file.
    pub fn of(archive: &Path) -> io::Result<Self> {
        let mut start = Vec::new();
        File::open(archive)?.take(8).read_to_end(&mut start)?;
        Ok(match start.as_slice() {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', ..] => Self::Program("bzip2"),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Program("xz"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Program("zstd"),
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Foreign(
                "the archive is a zip file; send a tar archive (.tar, .tar.gz, .tar.xz, .tar.bz2)",
            ),
            _ => Self::Plain,
        })
    }
}

/// Reads an archive to its end and writes nothing.
///
/// # Errors
/// Whatever [`unpack`] would refuse it for.
pub fn examine(archive: &Path, limits: UnpackLimits) -> Result<(), UnpackError> {
    walk(archive, limits, None)
}

/// Unpacks an archive into an empty folder. What was written before a refusal
/// is the caller's to remove.
///
/// # Errors
/// When the archive holds anything that it must not hold.
pub fn unpack(archive: &Path, into: &Path, limits: UnpackLimits) -> Result<(), UnpackError> {
    let mut folder = Folder::new(into.to_path_buf());
    walk(archive, limits, Some(&mut folder))?;
    folder.make_links()
}

fn walk(
    archive: &Path,
    limits: UnpackLimits,
    mut into: Option<&mut Folder>,
) -> Result<(), UnpackError> {
    let file = io::BufReader::new(File::open(archive)?);
    let reader: Box<dyn Read> = match Packing::of(archive)? {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(MultiGzDecoder::new(file)),
        Packing::Program(_) => return Err(unfit("the archive is still compressed")),
        Packing::Foreign(message) => return Err(unfit(message)),
    };
    let mut archive = tar::Archive::new(Bounded {
        inner: reader,
        left: limits.bytes,
    });
    let mut entries = 0;
    let mut names = entry::Names::default();
    let read_error = |error: io::Error| too_large(error, limits);
    for raw in archive.entries().map_err(read_error)?.raw(true) {
        let mut raw = raw.map_err(read_error)?;
        let Some(entry) = names.read(&mut raw).map_err(|error| match error {
            UnpackError::Io(error) => read_error(error),
            other @ UnpackError::Refused(_) => other,
        })?
        else {
            continue;
        };
        entries += 1;
        if entries > limits.entries {
            let limit = limits.entries;
            return Err(unfit(format!("the archive has more than {limit} entries")));
        }
        let taken = match &mut into {
            Some(folder) => folder.take(&entry, &mut raw),
            None => io::copy(&mut raw, &mut io::sink())
                .map(drop)
                .map_err(UnpackError::Io),
        };
        taken.map_err(|error| match error {
            UnpackError::Io(error) if entry.kind == Kind::File => read_error(error),
            other => other,
        })?;
    }
    match entries {
        0 => Err(unfit("the archive is empty or no tar archive")),
        _ => Ok(()),
    }
}

/// A reader that fails when more comes out than may.
struct Bounded<R> {
    inner: R,
    left: u64,
}

/// The message of [`Bounded`], which tells it from other failures.
const BOUND: &str = "more bytes than allowed";

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other(BOUND))?;
        Ok(read)
    }
}

/// The archive's own errors name paths and positions of no use to anybody; a
/// damaged archive is one thing.
fn too_large(error: io::Error, limits: UnpackLimits) -> UnpackError {
    if error.to_string().contains(BOUND) {
        let limit = limits.bytes;
        return unfit(format!("the archive unpacks to more than {limit} bytes"));
    }
    match error.kind() {
        io::ErrorKind::StorageFull
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::QuotaExceeded => UnpackError::Io(error),
        _ => unfit("the archive is damaged, cut off, or no tar archive"),
    }
}

fn unfit(message: impl Into<String>) -> UnpackError {
    UnpackError::Refused(message.into())
}

fn refused(path: &Path, problem: &'static str) -> UnpackError {
    entry::refused(path.as_os_str().as_encoded_bytes(), problem)
}
