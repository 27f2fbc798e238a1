//! The daemon under test: `patchwright serve` on a port of its own.
//!
//! It ends with the test, and its words are kept for when one fails.

use crate::command::Patchwright;
use crate::http::{Answer, Request};
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A daemon that takes longer to start does not. No test measures time by it.
const START: Duration = Duration::from_mins(2);
const GLANCE: Duration = Duration::from_millis(10);
/// The words in front of the address in its first message.
const LISTENING: &str = "listening on http://";

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    address: SocketAddr,
    told: Arc<Mutex<String>>,
}

impl Daemon {
    /// Starts a daemon with these further arguments, and waits until it listens.
    ///
    /// # Errors
    /// When it ends before; the error holds what it said.
    pub fn start(patchwright: &Patchwright, arguments: &[&str]) -> io::Result<Self> {
        let mut all = vec!["serve", "--set", "http.listen=127.0.0.1:0"];
        all.extend(arguments);
        Self::of(patchwright.command(&all)?)
    }

    /// Starts the daemon by a command of one's own: in a sandbox, say.
    ///
    /// # Errors
    /// When it ends before it listens; the error holds what it said.
    pub fn of(mut command: Command) -> io::Result<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let told = Arc::new(Mutex::new(String::new()));
        keep(child.stdout.take(), &told);
        keep(child.stderr.take(), &told);
        let since = Instant::now();
        loop {
            let text = told.lock().map(|text| text.clone()).unwrap_or_default();
            let address = text
                .split_once(LISTENING)
                .and_then(|(_, rest)| rest.split_once('\n'))
                .and_then(|(address, _)| address.trim().parse().ok());
            if let Some(address) = address {
                return Ok(Self {
                    child,
                    address,
                    told,
                });
            }
            if child.try_wait()?.is_some() || since.elapsed() > START {
                let _ = child.kill();
                thread::sleep(GLANCE);
                return Err(io::Error::other(format!(
                    "the daemon does not start: {text}"
                )));
            }
            thread::sleep(GLANCE);
        }
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns its messages so far, of both outputs.
    pub fn told(&self) -> String {
        self.told
            .lock()
            .map(|text| text.clone())
            .unwrap_or_default()
    }

    /// Sends a request. No answer has the status 0 and tells why.
    pub fn ask(&self, request: &Request) -> Answer {
        request.send(self.address).unwrap_or_else(|error| Answer {
            status: 0,
            headers: Vec::new(),
            body: format!(
                "no answer to {request:?}: {error}; the daemon said {}",
                self.told()
            )
            .into_bytes(),
        })
    }

    /// Asks for a path.
    pub fn get(&self, path: &str) -> Answer {
        self.ask(&Request::get(path))
    }

    /// Asks it to stop and waits until it has; its exit status.
    ///
    /// # Errors
    /// When it does not stop.
    pub fn stop(mut self) -> io::Result<Option<i32>> {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status()?;
        let since = Instant::now();
        while asked.success() && since.elapsed() < START {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code());
            }
            thread::sleep(GLANCE);
        }
        Err(io::Error::other("the daemon does not stop"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn keep<R: Read + Send + 'static>(stream: Option<R>, told: &Arc<Mutex<String>>) {
    let told = told.clone();
    let Some(stream) = stream else { return };
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
        {
            if let Ok(mut told) = told.lock() {
                told.push_str(&String::from_utf8_lossy(&line));
            }
            line.clear();
        }
    });
}
