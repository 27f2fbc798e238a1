//! Container engine of a test: Podman with a store of its own, and an image made of this
//! machine's own packages, so that no registry is needed. Both are gone with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Packages that the image is made of, with what they depend on.
const PACKAGES: &str = "bash coreutils dash findutils gcc gdb grep libc6-dev make perl-base procps python3-minimal sed";
/// Packs the files of packages and all that they depend on into `$2/image.tar`.
const LIST_FILES: &str = r#"
set -e
dpkg-query -W -f '${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\n' >"$2/packages"
python3 -c '
import os, re, subprocess, sys
needs, providers = {}, {}
names = lambda text: re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", text)
for line in open(sys.argv[2] + "/packages"):
    name, depends, provides = line.rstrip("\n").split("\t")
    needs[name] = names(depends)
    for virtual in names(provides) + [name]:
        providers.setdefault(virtual, []).append(name)
found, left = set(), sys.argv[1].split()
while left:
    for name in providers.get(left.pop(), []):
        if name not in found:
            found.add(name)
            left += needs[name]
listed = subprocess.run(["dpkg", "-L", *found], capture_output=True, text=True).stdout.split("\n")
listed += ["/etc/ld.so.cache", "/lib64"] + ["/etc/alternatives/" + name for name in os.listdir("/etc/alternatives")]
# Where /bin is a link into /usr, packages still name files below /bin.
place = lambda path: os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
paths = {place(path) for path in listed if path.startswith("/")}
print("\n".join(sorted(filter(os.path.lexists, paths))))
' "$1" "$2" >"$2/files"
tar -C / --no-recursion --hard-dereference -cf "$2/image.tar" -T "$2/files"
"#;
/// The name of the image.
pub const IMAGE: &str = "localhost/patchwright-test";

/// An engine with the image, gone with it.
#[derive(Debug)]
pub struct Engine {
    folder: TempDir,
    service: Child,
}

impl Engine {
    /// Starts Podman and makes the image; the reason where that is not possible here.
    pub fn start() -> Result<Self, String> {
        let engine = Self::begin(tempfile::tempdir().map_err(|error| error.to_string())?)?;
        engine.import()?;
        Ok(engine)
    }

    /// Starts Podman without the image, with room for so many megabytes.
    pub fn start_small(megabytes: u32) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let store = folder.path().join("store");
        fs::create_dir(&store).map_err(|error| error.to_string())?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"]);
        done(mount.arg(&store).output())?;
        Self::begin(folder)
    }

    fn begin(folder: TempDir) -> Result<Self, String> {
        let runc = Path::new("/usr/sbin/runc").exists();
        let runtime = if runc { "runc" } else { "crun" };
        // A client of the engine sets no limits, and the usual ones may be more than there are here.
        let settings = format!(
            "[containers]\ndefault_ulimits = [\"nofile=4096:4096\", \"nproc=4096:4096\"]\n[engine]\nruntime = \"{runtime}\"\n"
        );
        fs::write(folder.path().join("containers.conf"), settings)
            .map_err(|error| error.to_string())?;
        let socket = format!("unix://{}", folder.path().join("podman.sock").display());
        let service = podman_in(folder.path())
            .args(["system", "service", "--time=0", &socket])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("podman: {error}"))?;
        Ok(Self { folder, service })
    }

    /// The socket that it answers at.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("podman.sock")
    }

    /// A command of Podman on its store.
    pub fn podman(&self) -> Command {
        podman_in(self.folder.path())
    }

    /// The ids of all containers that are there.
    pub fn containers(&self) -> String {
        let listed = self.podman().args(["ps", "--all", "--quiet"]).output();
        match listed {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Makes the image of the files of installed packages.
    fn import(&self) -> Result<(), String> {
        let mut made = Command::new("sh");
        made.args(["-c", LIST_FILES, "sh", PACKAGES]);
        done(made.arg(self.folder.path()).output())?;
        let archive = self.folder.path().join("image.tar");
        let mut imported = self.podman();
        done(imported.arg("import").arg(&archive).arg(IMAGE).output())?;
        fs::remove_file(archive).map_err(|error| error.to_string())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.podman().args(["rm", "--all", "--force"]).output();
        let _ = self.podman().args(["rmi", "--all", "--force"]).output();
        let _ = self.service.kill();
        let _ = self.service.wait();
        for mount in ["store/overlay", "store"] {
            let place = self.folder.path().join(mount);
            let _ = Command::new("umount").arg(place).output();
        }
    }
}

fn podman_in(folder: &Path) -> Command {
    let mut command = Command::new("podman");
    command.env("CONTAINERS_CONF", folder.join("containers.conf"));
    for (option, place) in [("--root", "store"), ("--runroot", "run")] {
        command.arg(option).arg(folder.join(place));
    }
    command
}

fn done(output: std::io::Result<Output>) -> Result<(), String> {
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
