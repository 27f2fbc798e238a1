//! Container: runs one command in a container of its own, made from the project's image.
//!
//! The root is read-only, there is no network unless the command has it, no capability and no
//! way to one. Our own program is shown in the container with the libraries that it needs, and
//! puts the same filter of system calls on as in every other isolation. The container ends with
//! its command, with our process, or with a limit, and is removed after that.

use super::engine::{self, Engine, Image, OWNER, failed};
use super::enter::{Become, Doors};
use super::host::USUAL_PATH;
use super::seccomp::Surroundings;
use super::{Command, Host, IN_MEMORY, Place, SHELL, inner_helper};
use crate::process::{Collector, Ending, Execution, Limit, Watch};
use crate::{Result, SandboxError};
use bollard::container::AttachContainerResults;
use bollard::errors::Error;
use bollard::models::{
    ContainerCreateBody, ContainerStateStatusEnum, HostConfig, Mount, MountType, ResourcesUlimits,
};
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptions, InspectContainerOptions,
    StartContainerOptions,
};
use futures::StreamExt;
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The first process of each container. It ends all others when our end of its standard
/// input is gone, and leaves with the status of the command, which is not the first process,
/// because the kernel keeps signals from that one.
const FIRST: &str = include_str!("programs/first.sh");
/// Room for `/tmp` and for `/dev/shm`, in bytes each; they lie in memory.
const SCRATCH: i64 = 512 << 20;
/// Processes of the command's user on the whole machine. An engine can give no more than it
/// has, and Podman lowers its own number to the machine's last process id, 32768 by default.
const MOST_PROCESSES: i64 = 16_384;
/// The signal of whoever is killed for its memory.
const KILL: i32 = 9;
/// Interval between two looks at what a container uses.
const WATCH_EVERY: Duration = Duration::from_millis(40);
/// Time in which an engine must have noted that a container has ended.
const ENDING: Duration = Duration::from_secs(20);

/// An image in an engine, for the commands of one task.
#[derive(Debug, Clone)]
pub(super) struct Container {
    pub(super) engine: Engine,
    /// The image's id, so that a name that moves does not change what is run.
    pub(super) image: String,
    /// The variables that the image sets.
    variables: BTreeMap<String, OsString>,
    /// Our own program, its loader and its libraries.
    own: Vec<Place>,
}

impl Container {
    /// Connects to the engine and gets the image.
    pub(super) async fn open(image: &Image, host: &Host) -> Result<Self> {
        let engine = Engine::connect(host.engine.as_deref()).await?;
        let image = engine.image(image).await?;
        Ok(Self {
            variables: engine.variables(&image).await?,
            own: own_program(&host.helper)?,
            engine,
            image,
        })
    }

    /// Runs a command line to its end. Dropping the future ends the container.
    pub(super) async fn run(&self, host: &Host, command: &Command<'_>) -> Result<Execution> {
        let docker = &self.engine.docker;
        let body = self.body(host, command)?;
        let made = docker.create_container(None::<CreateContainerOptions>, body);
        let id = made
            .await
            .map_err(|e| failed("a container cannot be made", &e))?
            .id;
        let mut left = Leftover {
            engine: self.engine.clone(),
            id: Some(id.clone()),
        };
        let attach = AttachContainerOptionsBuilder::default()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        let streams = docker.attach_container(&id, Some(attach)).await;
        let streams = streams.map_err(|e| failed("a container says nothing", &e))?;
        let started = docker.start_container(&id, None::<StartContainerOptions>);
        started
            .await
            .map_err(|e| failed("a container cannot be started", &e))?;
        let execution = self.attend(&id, streams, command).await;
        left.id = None;
        self.engine.remove(&id).await;
        execution
    }

    /// Collects the output until the container ends or hits a limit.
    async fn attend(
        &self,
        id: &str,
        mut streams: AttachContainerResults,
        command: &Command<'_>,
    ) -> Result<Execution> {
        let began = Instant::now();
        let writable = command.places.iter().filter(|place| place.writable);
        let folders: Vec<_> = writable.map(|place| place.host.clone()).collect();
        let process = self.inspect(id).await?.process;
        let watch = |root| Watch::new(root, command.limits, &folders, IN_MEMORY);
        let mut watch = process.map(watch);
        let mut output = Collector::new(command.limits.output);
        let mut spoke = began;
        let limit = loop {
            match timeout_at(Instant::now() + WATCH_EVERY, streams.output.next()).await {
                Ok(None) => break None,
                Ok(Some(chunk)) => {
                    spoke = Instant::now();
                    let chunk = chunk.map_err(|e| failed("the output of a container broke", &e))?;
                    output.push(&chunk.into_bytes());
                }
                Err(_) => {}
            }
            let most = command.limits.idle;
            let idle = most.is_some_and(|most| spoke.elapsed() > most);
            if idle || began.elapsed() > command.limits.wall {
                break Some(Limit::WallTime);
            }
            if let Some(overrun) = watch.as_mut().and_then(Watch::look) {
                if let Some(shortage) = overrun.shortage {
                    return Err(SandboxError::machinery(shortage, "command"));
                }
                break Some(overrun.limit);
            }
        };
        let ending = match limit {
            Some(limit) => Ending::Limit(limit),
            None => match self.ending(id).await? {
                Ending::Signal(KILL) if watch.is_some_and(|watch| watch.was_near_memory()) => {
                    Ending::Limit(Limit::Memory)
                }
                ending => ending,
            },
        };
        Ok(Execution {
            ending,
            output: output.finish(),
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// Returns the end of a container whose output has ended.
    async fn ending(&self, id: &str) -> Result<Ending> {
        let until = Instant::now() + ENDING;
        loop {
            let state = self.inspect(id).await?;
            if let Some(ending) = state.ending {
                return Ok(ending);
            }
            if Instant::now() > until {
                let what = "a container has closed its output and does not end";
                return Err(SandboxError::machinery(what, "container engine"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn inspect(&self, id: &str) -> Result<State> {
        use ContainerStateStatusEnum::{DEAD, EXITED};
        let docker = &self.engine.docker;
        let found = docker.inspect_container(id, None::<InspectContainerOptions>);
        let found = match found.await {
            Ok(found) => found,
            // Podman says "stopped" between the two states that the API knows.
            Err(Error::JsonDataError { .. } | Error::JsonSerdeError { .. }) => {
                return Ok(State::default());
            }
            Err(error) => return Err(failed("a container is gone", &error)),
        };
        let state = found.state.unwrap_or_default();
        let ended = matches!(state.status, Some(EXITED | DEAD));
        let code = state.exit_code.and_then(|code| i32::try_from(code).ok());
        let ending = if state.oom_killed == Some(true) {
            Ending::Limit(Limit::Memory)
        } else {
            Ending::from_shell(code.unwrap_or_default())
        };
        let process = state.pid.and_then(|pid| u32::try_from(pid).ok());
        Ok(State {
            ending: ended.then_some(ending),
            process: process.filter(|pid| *pid > 0),
        })
    }

    fn body(&self, host: &Host, command: &Command<'_>) -> Result<ContainerCreateBody> {
        let words = self.words(host, command);
        let words = words.into_iter().map(|word| {
            word.into_string().map_err(|word| {
                let word = word.display();
                SandboxError::invalid(format!("{word} is no UTF-8, as containers need it"))
            })
        });
        Ok(ContainerCreateBody {
            image: Some(self.image.clone()),
            entrypoint: Some(words.collect::<Result<_, _>>()?),
            cmd: Some(Vec::new()),
            env: command.network.then(|| {
                let proxies = host.network_variables.iter();
                proxies
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect()
            }),
            user: Some(self.engine.user.clone()),
            labels: Some(HashMap::from([(OWNER.to_owned(), engine::owner())])),
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            open_stdin: Some(true),
            stdin_once: Some(true),
            host_config: Some(self.host_config(command)),
            ..ContainerCreateBody::default()
        })
    }

    /// The words with which our own program closes the last doors and becomes the first process.
    fn words(&self, host: &Host, command: &Command<'_>) -> Vec<OsString> {
        let doors = Doors {
            filter: Some(Surroundings {
                namespaces: true,
                network: command.network,
                counted: true,
                open_files: false,
                same_user: false,
            }),
            ..Doors::default()
        };
        let step = Become {
            doors,
            folder: command.folder.into(),
            file_size: command.file_size,
            handed_on: host.network_variables.keys().cloned().collect(),
        };
        let first = [SHELL, "-c", FIRST, "sh", command.script, "sh"];
        let environment = self.environment(command);
        let mut words = self.helper();
        words.extend(step.words(environment, &first, command.arguments));
        words
    }

    /// The words that start our own program in a container.
    pub(super) fn helper(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let loader = self.own.iter().find(|place| is_loader(&place.inside));
        if let Some(loader) = loader {
            words.push(loader.inside.clone().into());
            words.extend(["--library-path".into(), own_libraries().into()]);
        }
        words.push(inner_helper().into());
        words
    }

    /// The variables of a command: the image's, then its own. Those for the network it has from
    /// the engine.
    fn environment(&self, command: &Command<'_>) -> BTreeMap<String, OsString> {
        // The path that engines give to an image that sets none.
        let mut environment = BTreeMap::from([("PATH".to_owned(), USUAL_PATH.into())]);
        environment.extend(self.variables.clone());
        environment.extend(command.environment.clone());
        if let Some(home) = environment.get("HOME") {
            // There is no account for the user, where Maven and others look its home up.
            let option = format!("-Duser.home={}", home.to_string_lossy());
            environment.insert("MAVEN_OPTS".to_owned(), option.into());
        }
        environment
    }

    /// The protection, the folders and the limits of a container.
    fn host_config(&self, command: &Command<'_>) -> HostConfig {
        let bytes = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let scratch = format!("rw,exec,nosuid,nodev,mode=1777,size={SCRATCH}");
        let in_memory = ["/tmp", "/var/tmp"].map(|folder| (folder.to_owned(), scratch.clone()));
        let network = if command.network { "bridge" } else { "none" };
        HostConfig {
            mounts: Some(
                self.own
                    .iter()
                    .chain(command.places)
                    .map(|place| Mount {
                        typ: Some(MountType::BIND),
                        source: Some(place.host.display().to_string()),
                        target: Some(place.inside.display().to_string()),
                        read_only: Some(!place.writable),
                        ..Mount::default()
                    })
                    .collect(),
            ),
            tmpfs: Some(HashMap::from(in_memory)),
            shm_size: Some(SCRATCH),
            readonly_rootfs: Some(true),
            network_mode: Some(network.to_owned()),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            // A look from outside comes first, and says what happened. None of it is swap.
            memory: Some(bytes(command.limits.memory / 4 * 5)),
            memory_swap: Some(bytes(command.limits.memory / 4 * 5)),
            pids_limit: Some(bytes(command.limits.processes)),
            ulimits: Some(vec![
                // So small that none is written, and none is handed to the host's collector.
                ulimit("core", 1),
                ulimit("fsize", bytes(command.file_size)),
                ulimit("nofile", own_limit(Resource::Nofile)),
                ulimit("nproc", own_limit(Resource::Nproc).min(MOST_PROCESSES)),
            ]),
            ..HostConfig::default()
        }
    }
}

/// State of a container as far as it matters here.
#[derive(Default)]
struct State {
    ending: Option<Ending>,
    /// Its first process, as this machine numbers it.
    process: Option<u32>,
}

fn ulimit(name: &str, most: i64) -> ResourcesUlimits {
    ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(most),
        hard: Some(most),
    }
}

/// Our own limit: an engine's usual ones may be above what it may give.
fn own_limit(resource: Resource) -> i64 {
    let most = getrlimit(resource).current.unwrap_or(u64::MAX);
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// Finds our own program and everything that is loaded with it: a program that is linked
/// statically comes alone.
fn own_program(helper: &Path) -> Result<Vec<Place>> {
    let fail = |e| SandboxError::io("our own program cannot be shown to a container", helper, e);
    let program = std::fs::canonicalize(helper).map_err(fail)?;
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(fail)?;
    let libraries = maps.lines().filter_map(library);
    let libraries: BTreeSet<&Path> = libraries.map(Path::new).collect();
    let shown = |host: &Path, inside: PathBuf| Place {
        host: host.to_path_buf(),
        inside,
        writable: false,
    };
    let named = libraries.into_iter().filter_map(|path| {
        let inside = own_libraries().join(path.file_name()?);
        Some(shown(path, inside))
    });
    Ok(std::iter::once(shown(&program, inner_helper().into()))
        .chain(named)
        .collect())
}

/// Where our own program finds its libraries in a container.
fn own_libraries() -> PathBuf {
    inner_helper().with_file_name("lib")
}

/// The path of a shared library in a line of `maps`.
fn library(line: &str) -> Option<&str> {
    let path = line.get(line.find('/')?..)?;
    let name = path.rsplit('/').next()?;
    name.split('.').any(|part| part == "so").then_some(path)
}

fn is_loader(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("ld-") || name.starts_with("ld.so")
}

/// A container that is removed when its command is called off.
struct Leftover {
    engine: Engine,
    id: Option<String>,
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) {
            let engine = self.engine.clone();
            runtime.spawn(async move { engine.remove(&id).await });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_loader, library, own_program};
    use std::path::Path;

    #[test]
    fn our_own_program_comes_with_its_loader() {
        let program = std::env::current_exe().unwrap();
        let own = own_program(&program).unwrap();
        assert_eq!(own[0].host, program.canonicalize().unwrap());
        assert!(own.iter().all(|place| !place.writable));
        assert!(own.iter().any(|place| is_loader(&place.inside)), "{own:?}");
    }

    #[test]
    fn libraries_are_told_from_other_files() {
        let line = |path: &str| format!("7f00-7f01 r-xp 0000 fe:01 42                 {path}");
        for (path, is_one) in [
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", true),
            ("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", true),
            ("/usr/bin/patchwright", false),
            ("[heap]", false),
        ] {
            assert_eq!(library(&line(path)).is_some(), is_one, "{path}");
        }
        assert!(is_loader(Path::new(
            "/patchwright/lib/ld-linux-aarch64.so.1"
        )));
        assert!(!is_loader(Path::new("/patchwright/lib/libdl.so.2")));
    }
}
