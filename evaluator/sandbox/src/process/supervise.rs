//! The loop around one running program.

use super::capture::Collector;
use super::cgroup::Group;
use super::overrun::Watch;
use super::{Ending, Execution, Launch, Limit, Limits, Overrun};
use crate::identity::Ids;
use crate::{Result, SandboxError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fmt::Write as _;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Interval at which memory, processes and disk are measured.
const WATCH_EVERY: Duration = Duration::from_millis(60);
/// Time in which killed processes have to let go of the output.
const DRAIN: Duration = Duration::from_secs(5);
/// Most time in which a supervisor asks for its namespace.
const NAMESPACE_TIME: Duration = Duration::from_secs(20);
/// Bytes that are read at once: the capacity of a pipe.
const CHUNK: usize = 64 << 10;

/// Runs a program to its end. Dropping the future kills everything it started.
pub(crate) async fn run(launch: Launch, limits: Limits) -> Result<Execution> {
    let (called_off, caller) =
        std::io::pipe().map_err(|e| SandboxError::io("no pipe could be made", "pipe", e))?;
    let work = tokio::task::spawn_blocking(move || attend(&launch, limits, &called_off));
    let result = work.await.map_err(|error| {
        SandboxError::machinery(format!("the watching thread ended: {error}"), "command")
    })?;
    // Until here the open end told the thread that somebody still waits.
    drop::<PipeWriter>(caller);
    result
}

fn attend(launch: &Launch, limits: Limits, called_off: &PipeReader) -> Result<Execution> {
    let mut running = Running::start(launch, limits)?;
    loop {
        running.wait_for_something(called_off)?;
        if running.is_over() {
            return running.finish();
        }
        if let Some(overrun) = running.overrun() {
            running.kill();
            running.overrun = Some(overrun);
        }
    }
}

struct Running<'a> {
    launch: &'a Launch,
    limits: Limits,
    child: Child,
    /// Closing it ends everything.
    input: Option<UnixStream>,
    /// A descriptor that becomes readable when the child has ended.
    exit: OwnedFd,
    status: Option<ExitStatus>,
    /// Both output streams; nothing where they are at their end.
    pipe: Option<PipeReader>,
    output: Collector,
    started: Instant,
    last_output: Instant,
    next_watch: Instant,
    watch: Watch,
    overrun: Option<Overrun>,
    give_up: Option<Instant>,
}

impl<'a> Running<'a> {
    fn start(launch: &'a Launch, limits: Limits) -> Result<Self> {
        let fail = |e| SandboxError::io("a command could not be started", &launch.program, e);
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).current_dir("/");
        command.env_clear().envs(&launch.environment);
        let (input, other_end) = UnixStream::pair().map_err(fail)?;
        command.stdin(OwnedFd::from(other_end));
        let (pipe, writer) = std::io::pipe().map_err(fail)?;
        command.stdout(writer.try_clone().map_err(fail)?);
        command.stderr(writer);
        let child = command.spawn().map_err(fail)?;
        // The command holds our copies of the writing ends until it is gone.
        drop(command);
        if let Some(namespace) = &launch.namespace {
            // Without an answer the supervisor ends, and says what it lacks.
            if map_users(&child, &input, namespace).is_err() {
                let _ = input.shutdown(std::net::Shutdown::Both);
            }
        }
        let exit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let exit = exit.map_err(|errno| fail(errno.into()))?;
        let watch = Watch::new(child.id(), limits, &launch.writes, launch.in_memory);
        let now = Instant::now();
        Ok(Self {
            launch,
            limits,
            input: Some(input),
            child,
            exit,
            status: None,
            pipe: Some(pipe),
            output: Collector::new(limits.output),
            started: now,
            last_output: now,
            next_watch: now + WATCH_EVERY / 3,
            watch,
            overrun: None,
            give_up: None,
        })
    }

    fn is_over(&self) -> bool {
        let gave_up = self.give_up.is_some_and(|at| Instant::now() > at);
        gave_up || (self.status.is_some() && self.pipe.is_none())
    }

    fn wait_for_something(&mut self, called_off: &PipeReader) -> Result<()> {
        let deadline = self.give_up.unwrap_or(self.started + self.limits.wall);
        let until = deadline.min(self.next_watch);
        let timeout = until.saturating_duration_since(Instant::now()) + Duration::from_micros(500);
        let mut places = vec![PollFd::new(called_off, PollFlags::HUP)];
        if self.status.is_none() {
            places.push(PollFd::new(&self.exit, PollFlags::IN));
        }
        if let Some(pipe) = &self.pipe {
            places.push(PollFd::new(pipe, PollFlags::IN));
        }
        let timeout = Timespec {
            tv_sec: timeout.as_secs().cast_signed(),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut places, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => {
                return Err(SandboxError::io("poll failed", "command", errno.into()));
            }
        }
        let ready: Vec<bool> = places.iter().map(|p| !p.revents().is_empty()).collect();
        drop(places);
        self.take(&ready)
    }

    /// Takes what became ready: the caller's end, then the exit, then the output.
    fn take(&mut self, ready: &[bool]) -> Result<()> {
        let mut ready = ready.iter().copied();
        if ready.next().unwrap_or(false) {
            self.kill();
            let _ = self.child.wait();
            return Err(SandboxError::Canceled);
        }
        let exited = self.status.is_none() && ready.next().unwrap_or(false);
        if ready.next().unwrap_or(false) {
            self.read();
        }
        if exited {
            let status = self.child.try_wait();
            self.status = status
                .map_err(|e| SandboxError::io("a command could not be waited for", "command", e))?;
            self.give_up = Some(Instant::now() + DRAIN);
        }
        Ok(())
    }

    fn read(&mut self) {
        let mut chunk = vec![0; CHUNK];
        match self.pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
            Some(Ok(count @ 1..)) => {
                self.output.push(chunk.get(..count).unwrap_or_default());
                self.last_output = Instant::now();
            }
            _ => self.pipe = None,
        }
    }

    /// Returns a limit that the command has hit since the last look.
    fn overrun(&mut self) -> Option<Overrun> {
        if self.overrun.is_some() || self.status.is_some() {
            return None;
        }
        let now = Instant::now();
        let most = self.limits.idle;
        let idle = most.is_some_and(|most| now - self.last_output > most);
        if now - self.started > self.limits.wall || idle {
            return Some(Overrun::of_command(Limit::WallTime));
        }
        if now < self.next_watch {
            return None;
        }
        let overrun = self.watch.look();
        self.next_watch = Instant::now() + WATCH_EVERY;
        overrun
    }

    fn kill(&mut self) {
        self.input = None;
        self.give_up = Some(Instant::now() + DRAIN);
    }

    /// The supervisor was ended from outside, or by itself with its reason as the last line.
    fn failed(status: ExitStatus, text: &str) -> SandboxError {
        let last = text.lines().next_back().unwrap_or_default();
        let what = format!("the supervisor of a command failed ({status}): {last}");
        SandboxError::machinery(what, "command")
    }

    fn finish(mut self) -> Result<Execution> {
        let seconds = self.started.elapsed().as_secs_f64();
        if let Some(shortage) = self.overrun.and_then(|overrun| overrun.shortage) {
            return Err(SandboxError::machinery(shortage, "command"));
        }
        let status = self.status.ok_or_else(|| {
            SandboxError::machinery("a command did not die when it was killed", "command")
        })?;
        let group = self.launch.group.as_ref();
        if group.is_some_and(Group::ran_out_of_memory) {
            let out_of_memory = Overrun::of_command(Limit::Memory);
            self.overrun.get_or_insert(out_of_memory);
        }
        let output = std::mem::take(&mut self.output).finish();
        let ending = match (self.overrun, status.code()) {
            (Some(Overrun { limit, .. }), _) => {
                metrics::counter!("patchwright_sandbox_kills_total", "limit" => limit.text())
                    .increment(1);
                Ending::Limit(limit)
            }
            (None, Some(code)) => Ending::from_shell(code),
            (None, None) => return Err(Self::failed(status, &output.text())),
        };
        Ok(Execution {
            ending,
            output,
            seconds,
        })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.input = None;
            let _ = self.child.wait();
        }
    }
}

/// Maps the users of the namespace that the supervisor has made,
/// which only a process outside of it may do.
fn map_users(child: &Child, mut input: &UnixStream, all: &[(u32, Ids)]) -> std::io::Result<()> {
    input.set_read_timeout(Some(NAMESPACE_TIME))?;
    input.read_exact(&mut [0])?;
    let (mut users, mut groups) = (String::new(), String::new());
    for (inside, ids) in all {
        writeln!(users, "{inside} {} 1", ids.user).map_err(std::io::Error::other)?;
        writeln!(groups, "{inside} {} 1", ids.group).map_err(std::io::Error::other)?;
    }
    let set = |file: &str, text: &str| std::fs::write(format!("/proc/{}/{file}", child.id()), text);
    if all.len() == 1 {
        // Who maps but himself must first give up the right to drop groups.
        set("setgroups", "deny")?;
    }
    set("uid_map", &users)?;
    set("gid_map", &groups)?;
    input.write_all(b"x")
}
