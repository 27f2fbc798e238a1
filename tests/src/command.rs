//! The command line under test: the binary `patchwright`, run with an
//! environment, a home and a state of its own.
//!
//! It knows nothing of what the verbs do.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A command that takes longer than this hangs. No test measures time by it.
const PATIENCE: Duration = Duration::from_mins(10);

/// The interval at which a running command is polled.
const GLANCE: Duration = Duration::from_millis(10);

/// A Patchwright of a test's own: nothing of the user's settings, keys, state
/// or cache is seen, and nothing is left behind.
#[derive(Debug)]
pub struct Patchwright {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// The result of a finished command.
#[derive(Debug)]
pub struct Finished {
    /// The exit status; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Patchwright {
    /// Makes the folders; builds the binary when it is the first of its process.
    pub fn new() -> io::Result<Self> {
        binary()?;
        let folder = TempDir::with_prefix("patchwright-test-")?;
        for name in ["home", "state", "cache", "config", "scratch"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        Ok(Self {
            folder,
            variables: Vec::new(),
        })
    }

    /// Sets a variable for every command from now on.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder of this Patchwright; `scratch` in it is the test's own.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the scratch folder.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.folder.path().join("scratch").join(name)
    }

    /// The command with its environment, run in the scratch folder; standard input is closed.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> io::Result<Command> {
        let folder = self.folder.path();
        let mut command = Command::new(binary()?);
        command
            .args(arguments)
            .current_dir(folder.join("scratch"))
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", folder.join("home"))
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("NO_COLOR", "1")
            // Asked only where a test is about them.
            .env("PATCHWRIGHT_CRITIC__CALLS", "0")
            .env("PATCHWRIGHT_LIMITS__CHALLENGES", "0")
            .env("PATCHWRIGHT_LIMITS__CANDIDATES", "0")
            .env("PATCHWRIGHT_LIMITS__REGRESSION_TESTS", "0")
            .env("PATCHWRIGHT_LIMITS__MINIMIZE", "0s")
            // Small programs have shown what they can by then.
            .env("PATCHWRIGHT_LIMITS__ROBUST", "6s")
            .env("PATCHWRIGHT_LIMITS__COMPARED", "400")
            .stdin(Stdio::null());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        Ok(command)
    }

    /// The command among other mounts, which `bwrap` makes of its own options;
    /// `before` is what starts it.
    pub fn among(
        &self,
        mounts: &[&str],
        before: &[&str],
        arguments: &[&str],
    ) -> io::Result<Command> {
        let inner = self.command(arguments)?;
        let mut command = Command::new("bwrap");
        command.args(["--die-with-parent", "--dev-bind", "/", "/"]);
        command.args(mounts).arg("--").args(before);
        command.arg(inner.get_program()).args(inner.get_args());
        command.current_dir(self.folder.path().join("scratch"));
        command.env_clear().stdin(Stdio::null());
        for (name, value) in inner.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        Ok(command)
    }

    /// Runs the command to its end and keeps what it printed.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> io::Result<Finished> {
        let mut child = self
            .command(arguments)?
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let code = wait(&mut child)?;
        Ok(Finished {
            code,
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
        })
    }
}

/// Reads a stream on a thread of its own, so that a full pipe stops nobody.
fn collect<R: Read + Send + 'static>(stream: Option<R>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is still worth showing.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> io::Result<Option<i32>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            let message = format!("patchwright did not end within {PATIENCE:?}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        thread::sleep(GLANCE);
    }
}

/// The binary of the profile that this test was built with, brought up to date
/// once a process: Cargo builds no binary of another package for a test.
///
/// # Errors
/// When it does not build.
pub fn binary() -> io::Result<&'static Path> {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match BINARY.get_or_init(|| build().map_err(|problem| problem.to_string())) {
        Ok(path) => Ok(path),
        Err(problem) => Err(io::Error::other(problem.clone())),
    }
}

/// Names the program where it was built together with the tests.
const BUILT: &str = "PATCHWRIGHT_UNDER_TEST";

#[expect(
    clippy::disallowed_methods,
    reason = "the test run says where it built the program"
)]
fn build() -> io::Result<PathBuf> {
    if let Some(built) = std::env::var_os(BUILT) {
        return Ok(PathBuf::from(built));
    }
    // target/PROFILE/deps/it-HASH
    let test = std::env::current_exe()?;
    let profile = test
        .ancestors()
        .nth(2)
        .ok_or_else(|| io::Error::other("this test does not lie in a target folder"))?;
    let target = profile.parent().unwrap_or(profile);
    let mut command = Command::new(env!("CARGO"));
    // The test run may set it to see times; crates would be compiled anew for it.
    command.env_remove("RUSTC_BOOTSTRAP");
    command
        .args([
            "build",
            "--quiet",
            "--locked",
            "--offline",
            "--package",
            "patchwright",
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        command.arg("--release");
    }
    let output = command.output()?;
    if output.status.success() {
        return Ok(profile.join("patchwright"));
    }
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!(
        "patchwright does not build:\n{log}"
    )))
}

/// Returns the search path of this process.
#[expect(
    clippy::disallowed_methods,
    reason = "the command under test must find the compilers that the test finds"
)]
pub fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}
