//! Container engine: the connection to Docker or Podman over the API that both speak, the
//! image of a task, and containers that an earlier process of ours left behind.
//!
//! Only an engine of this machine will do: folders of this machine are shown in its
//! containers.

use crate::identity::{self, Ids};
use crate::{Result, SandboxError};
use bollard::errors::Error;
use bollard::query_parameters::{
    BuildImageOptionsBuilder, CreateImageOptionsBuilder, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder,
};
use bollard::{API_DEFAULT_VERSION, Docker, body_full};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Marks each container of ours, with the process that it belongs to.
pub(super) const OWNER: &str = "org.patchwright.owner";
/// Name of the images that are built for tasks.
const BUILT: &str = "localhost/patchwright-task";
/// Seconds after which an engine that says nothing is given up.
const SILENCE: u64 = 120;
/// Pauses before a container is removed again.
const REMOVAL_PAUSES: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
];
/// The largest folder that an image is built from, in bytes.
const MOST_CONTEXT: u64 = 1 << 30;
/// Lines of a failed build of an image that are told.
const TOLD: usize = 30;

/// An image of a container engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Image {
    /// Its name; it is pulled where the engine does not have it.
    Named(String),
    /// The file that it is built from, in the folder that it may copy from.
    Dockerfile(PathBuf),
}

/// An engine that answers.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    pub(super) docker: Docker,
    /// The user that commands are inside, as `user:group`: the one who owns their folders.
    pub(super) user: String,
    /// Protection that the engine does not give.
    pub(super) leaves_open: Vec<String>,
}

impl Engine {
    /// Connects to the engine behind a socket, else behind the first usual one that is there,
    /// and removes what earlier processes of ours left in it.
    pub(super) async fn connect(socket: Option<&Path>) -> Result<Self> {
        let socket = socket_of(socket)?;
        let unreachable = |error: Error| {
            let what = format!("the container engine does not answer: {error}");
            SandboxError::machinery(what, socket.display().to_string())
        };
        let path = socket.display().to_string();
        let docker = Docker::connect_with_unix(&path, SILENCE, API_DEFAULT_VERSION)
            .map_err(unreachable)?
            .negotiate_version()
            .await
            .map_err(unreachable)?;
        let info = docker.info().await.map_err(unreachable)?;
        let options = info.security_options.unwrap_or_default();
        let has = |name: &str| options.iter().any(|option| option.contains(name));
        let unfiltered = || "the container engine filters no system calls".to_owned();
        let engine = Self {
            user: user(has("rootless")),
            leaves_open: (!has("seccomp")).then(unfiltered).into_iter().collect(),
            docker,
        };
        engine.remove_those(is_gone).await;
        Ok(engine)
    }

    /// Returns the id of an image, which is pulled or built where it is not there.
    pub(super) async fn image(&self, image: &Image) -> Result<String> {
        match image {
            Image::Named(name) => match self.id_of(name).await? {
                Some(id) => Ok(id),
                None => self.pull(name).await,
            },
            Image::Dockerfile(file) => self.build(file).await,
        }
    }

    async fn id_of(&self, name: &str) -> Result<Option<String>> {
        match self.docker.inspect_image(name).await {
            Ok(found) => Ok(found.id),
            Err(Error::DockerResponseServerError {
                status_code: 404, ..
            }) => Ok(None),
            Err(error) => Err(failed("an image cannot be looked up", &error)),
        }
    }

    /// Returns the variables that an image sets.
    pub(super) async fn variables(&self, image: &str) -> Result<BTreeMap<String, OsString>> {
        let found = self.docker.inspect_image(image).await;
        let found = found.map_err(|error| failed("an image cannot be looked up", &error))?;
        let pairs = found.config.unwrap_or_default().env.unwrap_or_default();
        let pair = |text: &String| {
            let (name, value) = text.split_once('=')?;
            Some((name.to_owned(), value.into()))
        };
        Ok(pairs.iter().filter_map(pair).collect())
    }

    async fn pull(&self, name: &str) -> Result<String> {
        let missing = |reason: &str| {
            SandboxError::invalid(format!(
                "the image {name:?} is not on this machine and cannot be pulled: {reason}"
            ))
        };
        let options = CreateImageOptionsBuilder::default()
            .from_image(name)
            .build();
        let pulled = self.docker.create_image(Some(options), None, None);
        let steps: Result<Vec<_>, Error> = pulled.try_collect().await;
        steps.map_err(|error| full_store(&error).unwrap_or_else(|| missing(&reason(&error))))?;
        let id = self.id_of(name).await?;
        id.ok_or_else(|| missing("the engine says that it has, and does not have it"))
    }

    /// Builds an image from the folder of a Dockerfile; the same content is built once.
    async fn build(&self, file: &Path) -> Result<String> {
        let place = file.to_path_buf();
        let packed = tokio::task::spawn_blocking(move || pack(&place)).await;
        let packed = packed.map_err(|e| SandboxError::machinery(e.to_string(), "image"))??;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let digest = Sha256::digest([name.as_bytes(), &packed].concat());
        let tag = format!("{BUILT}:{digest:x}");
        if let Some(id) = self.id_of(&tag).await? {
            return Ok(id);
        }
        let options = BuildImageOptionsBuilder::default()
            .dockerfile(&name)
            .t(&tag)
            .rm(true)
            .build();
        let mut steps = self
            .docker
            .build_image(options, None, Some(body_full(packed.into())));
        let refuse = |error: Error, lines: &[String]| {
            full_store(&error).unwrap_or_else(|| not_built(file, &reason(&error), lines))
        };
        let mut lines: Vec<String> = Vec::new();
        while let Some(step) = steps.try_next().await.map_err(|e| refuse(e, &lines))? {
            lines.extend(step.stream);
        }
        let id = self.id_of(&tag).await?;
        let lost = "the engine says that it did, and has no image";
        id.ok_or_else(|| not_built(file, lost, &lines))
    }

    /// Removes a container with all that runs in it. An engine that is just noting that the
    /// container has ended refuses, so it is asked again.
    pub(super) async fn remove(&self, container: &str) {
        for pause in REMOVAL_PAUSES {
            let options = RemoveContainerOptionsBuilder::default().force(true).v(true);
            let removed = self
                .docker
                .remove_container(container, Some(options.build()));
            match removed.await {
                Ok(())
                | Err(Error::DockerResponseServerError {
                    status_code: 404, ..
                }) => return,
                Err(error) => tracing::warn!(%error, container, "a container stays for now"),
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Removes the containers with a label that fits.
    async fn remove_those(&self, fits: impl Fn(&str) -> bool) {
        let marked = HashMap::from([("label", vec![OWNER])]);
        let options = ListContainersOptionsBuilder::default()
            .all(true)
            .filters(&marked);
        let found = self.docker.list_containers(Some(options.build())).await;
        for container in found.unwrap_or_default() {
            let labels = container.labels.unwrap_or_default();
            let owner = labels.get(OWNER).map(String::as_str).unwrap_or_default();
            if let (true, Some(id)) = (fits(owner), container.id) {
                self.remove(&id).await;
            }
        }
    }
}

/// Address of an engine for other programs, such as the client `docker`.
#[derive(Debug, Clone)]
pub struct EngineAddress {
    pub socket: PathBuf,
    /// The label, as `name=value`, that makes a container one of this process: it is removed
    /// when this process is gone.
    pub label: String,
}

impl EngineAddress {
    /// Finds the engine that tasks with an image use, and removes what earlier processes of
    /// ours left in it.
    pub async fn find(socket: Option<&Path>) -> Result<Self> {
        let socket = socket_of(socket)?;
        Engine::connect(Some(&socket)).await?;
        Ok(Self {
            socket,
            label: format!("{OWNER}={}", owner()),
        })
    }

    /// Removes the containers that carry the label. An engine that is gone keeps them until
    /// the next [`Self::find`].
    pub async fn remove_containers(&self) {
        if let Ok(engine) = Engine::connect(Some(&self.socket)).await {
            engine.remove_those(|label| label == owner()).await;
        }
    }
}

/// Returns the socket that is named, else the first usual one that is there.
fn socket_of(named: Option<&Path>) -> Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    // Those of an engine of this user, then those of the system's.
    let usual = [
        format!("/run/user/{user}/docker.sock"),
        format!("/run/user/{user}/podman/podman.sock"),
        "/var/run/docker.sock".to_owned(),
        "/run/podman/podman.sock".to_owned(),
    ];
    let mut usual = usual.into_iter().map(PathBuf::from);
    let usual = || usual.find(|path| path.exists());
    named.map(Path::to_path_buf).or_else(usual).ok_or_else(|| {
        let what = "the task names an image, and no socket of Docker or Podman was found: \
                    start one of them, or name its socket in sandbox.engine";
        SandboxError::machinery(what, "sandbox.engine")
    })
}

/// An engine without root shows this user's files as those of its root.
fn user(rootless: bool) -> String {
    if rootless {
        return "0:0".to_owned();
    }
    let Ids { user, group } = identity::of_commands().unwrap_or_else(Ids::of_caller);
    format!("{user}:{group}")
}

/// Packs the folder of a Dockerfile.
fn pack(file: &Path) -> Result<Vec<u8>> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let unreadable = |e| SandboxError::io("the folder of an image cannot be read", folder, e);
    let folder = &folder.canonicalize().map_err(unreadable)?;
    if crate::process::size_below(folder) > MOST_CONTEXT {
        let folder = folder.display();
        let reason = format!("{folder} is too large to build an image from: more than 1 GiB");
        return Err(SandboxError::invalid(reason));
    }
    let mut archive = tar::Builder::new(Vec::new());
    archive.follow_symlinks(false);
    archive.mode(tar::HeaderMode::Deterministic);
    archive.append_dir_all(".", folder).map_err(unreadable)?;
    archive.into_inner().map_err(unreadable)
}

fn not_built(file: &Path, reason: &str, lines: &[String]) -> SandboxError {
    let text = lines.concat();
    let all: Vec<&str> = text.lines().collect();
    let last = all.len().saturating_sub(TOLD);
    SandboxError::Invalid {
        reason: format!("no image can be built from {}: {reason}", file.display()),
        log: all.get(last..).unwrap_or_default().join("\n"),
    }
}

/// Returns the error for an engine without room for images and containers, which says nothing
/// about the task.
fn full_store(error: &Error) -> Option<SandboxError> {
    let reason = reason(error);
    // The words of ENOSPC and EDQUOT, which engines hand on.
    let full = ["no space left on device", "disk quota exceeded"];
    let is_full = full
        .iter()
        .any(|words| reason.to_lowercase().contains(words));
    is_full.then(|| {
        let what = format!(
            "the store of the container engine is full: {reason}; make room, as with `podman system prune` or \
             `docker system prune`"
        );
        SandboxError::machinery(what, "container engine")
    })
}

/// An error of the engine's own.
pub(super) fn failed(what: &str, error: &Error) -> SandboxError {
    if let Some(full) = full_store(error) {
        return full;
    }
    SandboxError::machinery(format!("{what}: {}", reason(error)), "container engine")
}

fn reason(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        other => other.to_string().trim().to_owned(),
    }
}

/// Returns the label of a process of ours, made of facts that no later process shares: the start of
/// the machine and the namespace that the number counts in, the number, and when the process
/// started, in ticks of the clock.
fn label_of(process: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?.ino();
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold blanks and brackets; the facts come after its last bracket.
    let started = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{}.{namespace} {process} {started}", boot.trim()))
}

/// Tells whether the process of a label has ended; false for one that cannot be seen from here.
fn is_gone(label: &str) -> bool {
    let (own, mut words) = (owner(), label.split(' '));
    let is_here = words.next() == own.split(' ').next() && !own.is_empty();
    let process = words.next().and_then(|process| process.parse().ok());
    process.is_some_and(|process| is_here && label_of(process).as_deref() != Some(label))
}

/// Returns the label's value for containers of this process.
pub(super) fn owner() -> String {
    label_of(std::process::id()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{is_gone, owner, user};

    #[test]
    fn only_what_a_dead_process_left_is_an_orphan() {
        let own = owner();
        let words: Vec<&str> = own.split(' ').collect();
        let [world, process, _] = words[..] else {
            panic!("{own}");
        };
        assert!(!is_gone(&own));
        let before = format!("{world} {process} 1");
        assert!(is_gone(&before), "the number was given again");
        assert!(!is_gone(&format!("another-machine {process} 1")));
        assert!(!is_gone(""));
    }

    #[test]
    fn an_engine_without_root_maps_its_root_to_us() {
        assert_eq!(user(true), "0:0");
        assert!(!user(false).starts_with("0:") || cfg!(not(unix)));
    }
}
