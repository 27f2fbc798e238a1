//! Goal of an attack: a file, a process, a key and sockets of the host,
//! set up to be found easily, and looked at when it is over.

use super::{Escape, escape, open_to_all, runs};
use crate::{Result, SandboxError};
use keyutils::keytypes::User;
use keyutils::{Key, Keyring, SpecialKeyring};
use std::fs;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Everything outside that an attack could reach.
pub(super) struct Outside {
    folder: PathBuf,
    /// Secret that nobody inside may come to know.
    canary: String,
    before: Facts,
    tcp: TcpListener,
    udp: UdpSocket,
    named: UnixListener,
    with_path: UnixListener,
    datagrams: UnixDatagram,
    victim: Child,
    key: Option<(Key, String)>,
    mark: String,
    segment: u32,
}

/// Metadata of a file.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    mode: u32,
    owner: (u32, u32),
    changed: (i64, i64),
    links: u64,
}

impl Facts {
    fn of(path: &Path) -> io::Result<Self> {
        let at = fs::symlink_metadata(path)?;
        Ok(Self {
            mode: at.mode(),
            owner: (at.uid(), at.gid()),
            changed: (at.ctime(), at.ctime_nsec()),
            links: at.nlink(),
        })
    }
}

impl Outside {
    pub(super) fn set_up(folder: &Path) -> Result<Self> {
        Self::make(folder)
            .map_err(|e| SandboxError::io("an attack could not be prepared", folder, e))
    }

    fn make(folder: &Path) -> io::Result<Self> {
        let mark = format!("{}{}.25", std::process::id(), folder.as_os_str().len());
        let canary = format!("canary-{}-{}", std::process::id(), random()?);
        fs::create_dir(folder)?;
        open_to_all(folder, 0o777)?;
        let file = folder.join("canary");
        fs::write(&file, &canary)?;
        open_to_all(&file, 0o666)?;
        let name = SocketAddr::from_abstract_name(&canary)?;
        let outside = Self {
            before: Facts::of(&file)?,
            tcp: TcpListener::bind(("127.0.0.1", 0))?,
            udp: UdpSocket::bind(("127.0.0.1", 0))?,
            named: UnixListener::bind_addr(&name)?,
            with_path: UnixListener::bind(folder.join("socket"))?,
            datagrams: UnixDatagram::bind(folder.join("datagrams"))?,
            victim: Command::new("/bin/sleep")
                .arg("600")
                .env_clear()
                .env("PATCHWRIGHT_VICTIM", "secret")
                .stdin(Stdio::null())
                .spawn()?,
            key: plant_key(&canary),
            segment: 0x5057_0000 | (std::process::id() & 0xffff),
            folder: folder.to_path_buf(),
            canary,
            mark,
        };
        for socket in ["socket", "datagrams"] {
            open_to_all(&folder.join(socket), 0o777)?;
        }
        outside.tcp.set_nonblocking(true)?;
        outside.udp.set_nonblocking(true)?;
        outside.named.set_nonblocking(true)?;
        outside.with_path.set_nonblocking(true)?;
        outside.datagrams.set_nonblocking(true)?;
        Ok(outside)
    }

    /// Returns the environment of the attack: where everything is.
    pub(super) fn variables(&self) -> [(&'static str, String); 10] {
        let port = |address: io::Result<std::net::SocketAddr>| {
            address.map_or_else(|_| "0".to_owned(), |address| address.port().to_string())
        };
        let folder = self.folder.display().to_string();
        let serial = self.key.as_ref().map_or("0", |(_, serial)| serial);
        [
            ("OUTSIDE", folder),
            ("CANARY", self.canary.clone()),
            ("TCP", port(self.tcp.local_addr())),
            ("UDP", port(self.udp.local_addr())),
            ("ABSTRACT", self.canary.clone()),
            ("VICTIM", self.victim.id().to_string()),
            ("KEY", serial.to_owned()),
            ("KEYNAME", self.canary.clone()),
            ("MARK", self.mark.clone()),
            ("SHMKEY", self.segment.to_string()),
        ]
    }

    /// Returns the variables that make a loader that is not yet in the sandbox write a file.
    pub(super) fn for_loader(&self) -> [(&'static str, String); 2] {
        let path = self.folder.join("loader").display().to_string();
        [
            ("LD_DEBUG", "statistics".to_owned()),
            ("LD_DEBUG_OUTPUT", path),
        ]
    }

    /// Returns the escapes that are seen from outside.
    pub(super) fn seen(&self) -> Vec<Escape> {
        let file = self.folder.join("canary");
        let intact = fs::read_to_string(&file).is_ok_and(|content| content == self.canary);
        let facts = Facts::of(&file).ok();
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !["canary", "socket", "datagrams"].contains(&name.as_str()))
            .collect();
        names.sort();
        let nothing_came = self.tcp.accept().is_err() && self.udp.recv(&mut [0; 16]).is_err();
        let nobody_came = self.named.accept().is_err()
            && self.with_path.accept().is_err()
            && self.datagrams.recv(&mut [0; 16]).is_err();
        let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        let segment = self.segment.to_string();
        let stays = segments
            .lines()
            .any(|line| line.split_whitespace().next() == Some(segment.as_str()));
        if stays {
            let _ = Command::new("ipcrm").args(["-M", &segment]).status();
        }
        vec![
            escape("seen outside: the file's content", intact, ""),
            escape(
                "seen outside: the file's mode, owner, times and links",
                facts.as_ref() == Some(&self.before),
                format!("{facts:?}"),
            ),
            escape("seen outside: new files", names.is_empty(), names.join(" ")),
            escape("seen outside: a connection", nothing_came, ""),
            escape("seen outside: a local connection", nobody_came, ""),
            escape("seen outside: a process left behind", !runs(&self.mark), ""),
            escape("seen outside: shared memory left behind", !stays, ""),
        ]
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        if let Some((key, _)) = self.key.take() {
            let _ = key.invalidate();
        }
    }
}

/// A key in the caller's session, and its number; nothing where there are no keys.
fn plant_key(canary: &str) -> Option<(Key, String)> {
    let mut session = Keyring::attach(SpecialKeyring::Session).ok()?;
    let key = session
        .add_key::<User, _, _>(canary, canary.as_bytes())
        .ok()?;
    let keys = fs::read_to_string("/proc/keys").ok()?;
    let line = keys.lines().find(|line| line.contains(canary))?;
    let serial = u32::from_str_radix(line.split_whitespace().next()?, 16).ok()?;
    Some((key, serial.to_string()))
}

fn random() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(format!("{:x}", u64::from_ne_bytes(bytes)))
}
