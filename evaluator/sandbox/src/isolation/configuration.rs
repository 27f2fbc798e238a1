//! Copy of the system's configuration for commands with a root of their own: one
//! folder to mount where there would be forty files, each of which takes time. A folder
//! of hundreds of links is mounted into the copy.

use super::bubblewrap::USER;
use super::host::{ETC, Host, LINKS};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Others may read a file; others may read a folder and go into it.
const READ: u32 = 0o4;
const ENTER: u32 = 0o5;

/// Writes into a new folder what commands may read below `/etc`, and the accounts: one
/// user, with this home. The JVM, and with it Maven, does not look at `HOME` but there.
pub(super) fn write(folder: &Path, home: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    for path in Host::configuration(false) {
        let Ok(name) = path.strip_prefix(ETC) else {
            continue;
        };
        let to = folder.join(name);
        if let Some(above) = to.parent() {
            make_folders(folder, above)?;
        }
        // Some are links to files that are not shown: what they lead to is copied.
        skip_unreadable(fs::metadata(&path).and_then(|kind| copy(&path, &to, &kind)))?;
    }
    // What a command with network sees besides is mounted here.
    for path in Host::network_configuration() {
        if let Some(name) = path.file_name() {
            fs::write(folder.join(name), "")?;
        }
    }
    let home = home.display();
    let accounts = format!("user:x:{USER}:{USER}:user:{home}:/bin/sh\n");
    fs::write(folder.join("passwd"), accounts)?;
    open(folder, 0o755)
}

/// Makes the folders from the outermost one on, open to every user.
fn make_folders(outermost: &Path, folder: &Path) -> io::Result<()> {
    if folder == outermost || folder.exists() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_folders(outermost, above)?;
    }
    fs::create_dir(folder)?;
    open(folder, 0o755)
}

/// Copies what every user may read.
fn copy(from: &Path, to: &Path, kind: &fs::Metadata) -> io::Result<()> {
    let mode = kind.permissions().mode();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_file() && mode & READ == READ {
        fs::write(to, fs::read(from)?)?;
        return open(to, 0o644);
    }
    if !kind.is_dir() || mode & ENTER != ENTER {
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)?.filter(|_| from != Path::new(LINKS)) {
        let entry = entry?;
        let (path, below) = (entry.path(), to.join(entry.file_name()));
        skip_unreadable(entry.metadata().and_then(|kind| copy(&path, &below, &kind)))?;
    }
    open(to, 0o755)
}

/// Leaves out what cannot be read or has just gone.
fn skip_unreadable(copied: io::Result<()>) -> io::Result<()> {
    let lost = [ErrorKind::NotFound, ErrorKind::PermissionDenied];
    match copied {
        Err(error) if lost.contains(&error.kind()) => Ok(()),
        other => other,
    }
}

fn open(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::{copy, write};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    #[test]
    fn copies_what_everybody_may_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir_all(from.join("closed")).unwrap();
        for (name, mode) in [("open", 0o604), ("secret", 0o640), ("closed/key", 0o644)] {
            fs::write(from.join(name), name).unwrap();
            fs::set_permissions(from.join(name), Permissions::from_mode(mode)).unwrap();
        }
        symlink("/etc/shadow", from.join("link")).unwrap();
        fs::set_permissions(from.join("closed"), Permissions::from_mode(0o750)).unwrap();
        fs::set_permissions(&from, Permissions::from_mode(0o755)).unwrap();
        let to = folder.path().join("to");
        copy(&from, &to, &fs::metadata(&from).unwrap()).unwrap();
        assert_eq!(fs::read(to.join("open")).unwrap(), b"open");
        assert_eq!(
            fs::read_link(to.join("link")).unwrap(),
            Path::new("/etc/shadow")
        );
        assert!(!to.join("secret").exists() && !to.join("closed").exists());
    }

    #[test]
    fn holds_one_account_and_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let etc = folder.path().join("etc");
        write(&etc, Path::new("/home/x")).unwrap();
        let accounts = fs::read_to_string(etc.join("passwd")).unwrap();
        assert_eq!(accounts, "user:x:1000:1000:user:/home/x:/bin/sh\n");
        assert!(!etc.join("shadow").exists());
        let exists = Path::new("/etc/ld.so.cache").exists();
        assert_eq!(etc.join("ld.so.cache").exists(), exists);
    }
}
