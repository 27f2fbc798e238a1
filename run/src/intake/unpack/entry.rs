//! Reads one entry of an archive: what it is, and a path that stays inside.
//!
//! Long names come as entries of their own before the one they belong to. They
//! are read here, and not by the archive reader, because there they have no
//! limit.

use super::{UnpackError, unfit};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use tar::EntryType;

/// Folders of a path: the deepest trees of real projects have about 40, and no
/// system call takes a path of more than 4,096 bytes.
const DEEPEST: usize = 256;
/// Bytes of the longest entry that only names another one.
const NAMING: u64 = 64 * 1024;
/// Bytes of a path that an error shows.
const SHOWN: usize = 120;

/// An entry that may be written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) executable: bool,
    /// Seconds since 1970.
    pub(super) time: u64,
}

/// The kind of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The folder that everything is unpacked to.
    Root,
    Folder,
    File,
    /// A symbolic link.
    Link(PathBuf),
    /// A hard link.
    Copy(PathBuf),
}

/// The long names that wait for their entry.
#[derive(Debug, Default)]
pub(super) struct Names {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl Names {
    /// The next entry; `None` when it only named another one.
    pub(super) fn read<R: Read>(
        &mut self,
        raw: &mut tar::Entry<'_, R>,
    ) -> Result<Option<Entry>, UnpackError> {
        let header = raw.header();
        let (kind, size) = (header.entry_type(), header.entry_size()?);
        match kind {
            EntryType::GNULongName => self.path = Some(naming(raw, size)?),
            EntryType::GNULongLink => self.link = Some(naming(raw, size)?),
            EntryType::XHeader => self.extensions(&naming(raw, size)?)?,
            // For the whole archive: git writes the commit there.
            EntryType::XGlobalHeader => {
                naming(raw, size)?;
            }
            _ => return self.entry(raw).map(Some),
        }
        Ok(None)
    }

    fn extensions(&mut self, bytes: &[u8]) -> Result<(), UnpackError> {
        for extension in tar::PaxExtensions::new(bytes) {
            let extension = extension?;
            let value = || Some(extension.value_bytes().to_vec());
            match extension.key_bytes() {
                b"path" => self.path = value(),
                b"linkpath" => self.link = value(),
                b"size" => {
                    return Err(unfit("the archive holds a file of more than 8 GiB"));
                }
                key if key.starts_with(b"GNU.sparse") => return Err(sparse(self.path.as_deref())),
                _ => {}
            }
        }
        Ok(())
    }

    fn entry<R: Read>(&mut self, raw: &tar::Entry<'_, R>) -> Result<Entry, UnpackError> {
        let header = raw.header();
        let name = self.path.take();
        let name = name.unwrap_or_else(|| header.path_bytes().into_owned());
        let link = self.link.take();
        let link = link.or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
        let path = inside(&name)?;
        let link = link.unwrap_or_default();
        let kind = match header.entry_type() {
            _ if path.as_os_str().is_empty() => Kind::Root,
            EntryType::Directory => Kind::Folder,
            // The oldest archives mark a folder by a slash alone.
            EntryType::Regular if name.ends_with(b"/") => Kind::Folder,
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Symlink => Kind::Link(link_inside(&name, &path, &link)?),
            EntryType::Link => Kind::Copy(inside(&link)?),
            EntryType::Block | EntryType::Char => return Err(refused(&name, "a device node")),
            EntryType::Fifo => return Err(refused(&name, "a named pipe")),
            EntryType::GNUSparse => return Err(sparse(Some(&name))),
            _ => return Err(refused(&name, "an entry of an unknown kind")),
        };
        Ok(Entry {
            path,
            kind,
            executable: header.mode().is_ok_and(|mode| mode & 0o100 != 0),
            time: header.mtime().unwrap_or_default(),
        })
    }
}

fn sparse(name: Option<&[u8]>) -> UnpackError {
    refused(
        name.unwrap_or_default(),
        "a file with holes; pack it without --sparse",
    )
}

fn naming<R: Read>(raw: &mut tar::Entry<'_, R>, size: u64) -> Result<Vec<u8>, UnpackError> {
    if size > NAMING {
        return Err(unfit("the archive holds a name of more than 64 KiB"));
    }
    let mut bytes = Vec::new();
    raw.take(NAMING).read_to_end(&mut bytes)?;
    if raw.header().entry_type() != EntryType::XHeader {
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
    }
    Ok(bytes)
}

/// A relative path without anything that leads up.
fn inside(name: &[u8]) -> Result<PathBuf, UnpackError> {
    if name.contains(&0) {
        return Err(refused(name, "a name with a zero byte"));
    }
    let mut path = PathBuf::new();
    for component in Path::new(OsStr::from_bytes(name)).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return Err(refused(name, "a path that climbs")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(refused(name, "an absolute path"));
            }
        }
    }
    if path.components().count() > DEEPEST {
        return Err(refused(name, "a path of more than 256 folders"));
    }
    Ok(path)
}

/// The target of a symbolic link. It may climb first, though not out, and then
/// only go down: then no chain of links leads out either.
fn link_inside(name: &[u8], path: &Path, link: &[u8]) -> Result<PathBuf, UnpackError> {
    const OUT: &str = "a link that leads out or cannot be followed safely";
    if link.is_empty() || link.contains(&0) {
        return Err(refused(name, "a link to nothing"));
    }
    let target = Path::new(OsStr::from_bytes(link));
    let depth = path.components().count().saturating_sub(1);
    let (mut climbed, mut descended) = (0, false);
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(_) => descended = true,
            Component::ParentDir if !descended && climbed < depth => climbed += 1,
            _ => return Err(refused(name, OUT)),
        }
    }
    Ok(target.to_path_buf())
}

pub(super) fn refused(name: &[u8], problem: &'static str) -> UnpackError {
    let mut path = String::from_utf8_lossy(name).into_owned();
    if path.len() > SHOWN {
        let end = path.floor_char_boundary(SHOWN);
        path.truncate(end);
        path.push_str("..");
    }
    unfit(format!("the archive holds {path:?}, {problem}"))
}
