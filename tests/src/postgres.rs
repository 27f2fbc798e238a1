//! A PostgreSQL of the tests' own: Debian's server in a temporary folder, on a
//! socket, with nothing shared.
//!
//! A shell stands between: it holds the server, and when this process ends,
//! however it ends, it stops the server and takes the folder away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Debian's folder of the servers, one folder a version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user of Debian's package: a server refuses to be root.
const USER: &str = "postgres";
/// A server that is not up by then does not come.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two looks.
const GLANCE: Duration = Duration::from_millis(50);

/// Keeps the server until standard input is closed. Its data must not be safe
/// from a power cut.
const KEEPER: &str = r#"
folder=$1 bin=$2
shift 2
"$@" "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off \
  -c max_connections=200 -c shared_buffers=32MB >"$folder/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT "$server" 2>/dev/null
wait "$server"
[ -e "$folder/keep" ] || rm -rf "$folder"
"#;

/// A server with its folder.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    keeper: Option<Child>,
    databases: AtomicUsize,
}

impl Postgres {
    /// The server that the tests of this process share, each with databases of
    /// its own.
    ///
    /// # Panics
    /// When there is none and none can be started.
    #[expect(
        clippy::expect_used,
        reason = "a test that needs the server cannot go on without it"
    )]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().expect("PostgreSQL starts; see scripts/setup.sh"))
    }

    /// A server for one test, which may stop and start it.
    pub fn start() -> io::Result<Self> {
        let folder = TempDir::with_prefix("patchwright-postgres-")?.keep();
        give_away(&folder)?;
        let data = folder.join("data");
        let made = as_user(&bin()?.join("initdb"))
            .args([
                "--username=postgres",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .arg("--pgdata")
            .arg(&data)
            .output()?;
        succeeded(&made)?;
        let mut server = Self {
            folder,
            keeper: None,
            databases: AtomicUsize::new(0),
        };
        server.up()?;
        Ok(server)
    }

    /// Starts the server again.
    pub fn up(&mut self) -> io::Result<()> {
        let _ = fs::remove_file(self.folder.join("keep"));
        let mut keeper = Command::new("sh");
        keeper
            .args(["-c", KEEPER, "keeper"])
            .arg(&self.folder)
            .arg(bin()?);
        keeper.args(prefix());
        // A group of its own: a terminal's interrupt is not for the server.
        std::os::unix::process::CommandExt::process_group(&mut keeper, 0);
        self.keeper = Some(keeper.stdin(Stdio::piped()).spawn()?);
        let since = Instant::now();
        while !self
            .psql("SELECT 1")
            .is_ok_and(|output| output.status.success())
        {
            if since.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(io::Error::other(format!(
                    "PostgreSQL does not start: {log}"
                )));
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Stops the server as a restart does: connections are cut, data stay.
    pub fn down(&mut self) -> io::Result<()> {
        fs::write(self.folder.join("keep"), "")?;
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait()?;
        }
        Ok(())
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> io::Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        succeeded(&self.psql(&format!("CREATE DATABASE test{number}"))?)?;
        Ok(format!(
            "postgres://postgres@localhost/test{number}?host={}",
            self.folder.display()
        ))
    }

    fn psql(&self, statement: &str) -> io::Result<Output> {
        Command::new(bin()?.join("psql"))
            .args([
                "--no-psqlrc",
                "--username=postgres",
                "--dbname=postgres",
                "--command",
                statement,
            ])
            .arg("--host")
            .arg(&self.folder)
            .output()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.join("keep"));
        match self.keeper.take() {
            Some(mut keeper) => {
                drop(keeper.stdin.take());
                let _ = keeper.wait();
            }
            None => {
                let _ = fs::remove_dir_all(&self.folder);
            }
        }
    }
}

/// The programs of the newest version.
fn bin() -> io::Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(VERSIONS)
        .map_err(|error| io::Error::new(error.kind(), format!("{VERSIONS}: {error}")))?
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort();
    let (_, newest) = versions
        .pop()
        .ok_or_else(|| io::Error::other(format!("no PostgreSQL in {VERSIONS}")))?;
    Ok(newest)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0)
}

/// Returns the words in front of the server's command: they change the user when
/// this is root.
fn prefix() -> Vec<String> {
    if !is_root() {
        return Vec::new();
    }
    [
        "setpriv",
        "--reuid",
        USER,
        "--regid",
        USER,
        "--clear-groups",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn as_user(program: &Path) -> Command {
    let mut prefix = prefix().into_iter();
    let Some(first) = prefix.next() else {
        return Command::new(program);
    };
    let mut command = Command::new(first);
    command.args(prefix).arg(program);
    command
}

/// The server's user must reach and own the folder.
fn give_away(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    if !is_root() {
        return Ok(());
    }
    let owner = format!("{USER}:{USER}");
    succeeded(&Command::new("chown").arg(owner).arg(folder).output()?)
}

fn succeeded(output: &Output) -> io::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}
