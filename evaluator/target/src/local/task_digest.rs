//! Task digest: covers everything that the builds and runs of a task depend on, by content:
//! the tree, the task's folder, the commands, their environment and limits, and the
//! compilers.

use crate::runner::{Commands, TargetTask};
use patchwright_record::result::{MAIL, RUN_FILE, TASK_FILE, is_of_result};
use patchwright_sandbox::contained_path::ContainedFolder;
use patchwright_sandbox::{Host, Sandbox};
use rustix::fs::FileType;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

/// Version of the cache entries, raised when their content or making changes.
const VERSION: &str = "3";
/// The most files of a folder; a task with a larger one is not cached.
const MOST_FILES: usize = 300_000;
/// Programs that determine the result of a build.
const COMPILERS: &[&str] = &[
    "cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "as", "make", "cmake", "ninja", "java",
    "javac", "mvn", "gradle", "python3", "sh",
];
/// Debian's list of packages: it is written anew with each of them.
const PACKAGES: &str = "/var/lib/dpkg/status";

/// The digests of one task on one host, each computed at its first use.
#[derive(Debug)]
pub struct TaskDigest {
    whole: Part,
    built: Part,
    prepared: Part,
    /// Files of the task's folder that are covered elsewhere, or by nothing but the whole: what was
    /// read from the file of the task, and the PoVs.
    left_out: Vec<PathBuf>,
    host: Host,
    /// The id of the image that commands run in.
    image: Option<String>,
}

/// As much of a task as something depends on, and its digest.
type Part = (TargetTask, OnceCell<Option<String>>);

impl TaskDigest {
    pub(super) fn new(task: TargetTask, sandbox: &Sandbox) -> Self {
        let prepared = Commands {
            prepare: task.commands.prepare.clone(),
            ..Commands::default()
        };
        let built = Commands {
            build: task.commands.build.clone(),
            ..prepared.clone()
        };
        let (main, mut prepared) = (task.main_build(), without_runs(&task, prepared));
        prepared.builds.retain(|name, _| *name == main);
        let povs = task.povs.iter();
        let povs = povs.filter_map(|pov| pov.file.strip_prefix(&task.task_folder).ok());
        let left_out = povs.chain([TASK_FILE, MAIL].map(Path::new)).map(Into::into);
        Self {
            left_out: left_out.collect(),
            built: (without_runs(&task, built), OnceCell::new()),
            prepared: (prepared, OnceCell::new()),
            whole: (task, OnceCell::new()),
            host: sandbox.host().clone(),
            image: sandbox.image().map(str::to_owned),
        }
    }

    /// Returns the name of a cache entry, which covers all that the entry
    /// depends on; none where the task has no digest.
    pub async fn entry_name(&self, parts: &[&str]) -> Option<String> {
        let (task, base) = match parts.first() {
            Some(&"prepared") => &self.prepared,
            Some(&("pristine" | "build")) => &self.built,
            _ => &self.whole,
        };
        let base = base.get_or_init(|| async {
            let (task, host, left_out) = (task.clone(), self.host.clone(), self.left_out.clone());
            let made = tokio::task::spawn_blocking(move || digest(&task, &host, &left_out));
            made.await.ok().flatten()
        });
        let base = base.await.as_deref()?;
        let image = self.image.as_deref().unwrap_or_default();
        let parts = [&[base, image], parts].concat();
        Some(patchwright_source::digest(parts))
    }
}

/// Returns a task with these commands alone and without PoVs, as builds see it.
fn without_runs(task: &TargetTask, commands: Commands) -> TargetTask {
    TargetTask {
        commands,
        povs: Vec::new(),
        ..task.clone()
    }
}

/// Computes the digest; none where a folder is too large or cannot be read.
fn digest(task: &TargetTask, host: &Host, left_out: &[PathBuf]) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(VERSION);
    folder(&mut hash, &task.tree, &[]).ok()?;
    let left_out = left_out.iter().cloned().chain(results(&task.task_folder));
    folder(&mut hash, &task.task_folder, &left_out.collect::<Vec<_>>()).ok()?;
    for pov in &task.povs {
        file(&mut hash, &pov.file).ok()?;
    }
    // Paths of this host have no effect on a build, since they are mapped.
    let mut named = task.clone();
    named.tree = PathBuf::new();
    named.task_folder = PathBuf::new();
    for pov in &mut named.povs {
        pov.file = pov.file.file_name().map(Into::into).unwrap_or_default();
    }
    named.harmless.clear();
    hash.update(format!("{named:?}"));
    hash.update(format!("{:?} {:?}", host.path, host.variables));
    for name in COMPILERS {
        let mut paths = host.path.iter().map(|folder| folder.join(name));
        if let Some(path) = paths.find(|path| path.is_file()) {
            program(&mut hash, &path);
        }
    }
    program(&mut hash, Path::new(PACKAGES));
    Some(format!("{:x}", hash.finalize()))
}

/// Returns the digest of the harmless inputs and of this program, since another version
/// may come to other verdicts.
pub fn digest_of_inputs(harmless: &[PathBuf]) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    program(&mut hash, &std::env::current_exe().ok()?);
    for path in harmless {
        let name = path.file_name().unwrap_or_default();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        file(&mut hash, path).ok()?;
    }
    Some(format!("{:x}", hash.finalize()))
}

fn program(hash: &mut Sha256, path: &Path) {
    let Ok(real) = fs::canonicalize(path) else {
        return;
    };
    if let Ok(facts) = fs::metadata(&real) {
        hash.update(real.as_os_str().as_bytes());
        // The time of the last change can be set by nobody.
        hash.update(facts.ino().to_le_bytes());
        hash.update(facts.len().to_le_bytes());
        hash.update(facts.ctime().to_le_bytes());
        hash.update(facts.ctime_nsec().to_le_bytes());
    }
}

/// Finds the results of earlier runs in a task's folder, which no command reads: folders that hold a
/// run's id and nothing but what a run writes.
fn results(task_folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(task_folder).into_iter().flatten().flatten();
    let results = entries.filter(|entry| {
        let mut within = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        let is_of_result = |one: fs::DirEntry| one.file_name().to_str().is_some_and(is_of_result);
        entry.path().join(RUN_FILE).is_file() && within.all(is_of_result)
    });
    results.map(|entry| entry.file_name().into())
}

fn folder(hash: &mut Sha256, root: &Path, left_out: &[PathBuf]) -> io::Result<()> {
    let mut count = 0;
    for visited in ContainedFolder::open(root)?.folders(|_| true) {
        let visited = visited?;
        count += visited.entries.len();
        if count > MOST_FILES {
            return Err(io::Error::other("too many files"));
        }
        for entry in &visited.entries {
            let path = visited.path_of(entry);
            if left_out.iter().any(|part| path.starts_with(part)) {
                continue;
            }
            hash.update((path.as_os_str().len() as u64).to_le_bytes());
            hash.update(path.as_os_str().as_bytes());
            hash.update(entry.facts.st_mode.to_le_bytes());
            match entry.kind() {
                FileType::Symlink => hash.update(visited.folder.link(&entry.name)?.as_bytes()),
                FileType::RegularFile => file(hash, &root.join(path))?,
                _ => {}
            }
        }
    }
    Ok(())
}

fn file(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    let mut file = fs::File::open(path)?;
    hash.update(file.metadata()?.len().to_le_bytes());
    io::copy(&mut file, hash).map(drop)
}
