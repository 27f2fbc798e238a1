//! Gets the source tree of a task: a folder as it is, or what a repository, an
//! archive or a fetch command gives, kept in the cache by what was asked for.
//!
//! Everything that is not a plain folder is got inside the sandbox, with
//! network; nothing of it becomes a word of a shell line.

use crate::commands;
use crate::commands::own_command_limits;
use crate::files::hash_of;
use crate::intake::download::{self, DownloadError};
use crate::intake::unpack::{self, Packing, UnpackError, UnpackLimits};
use patchwright_agent::drive::ending_of;
use patchwright_agent::progress::Observer;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::task::{Source, Task};
use patchwright_config::Settings;
use patchwright_sandbox::IsolationChoice;
use patchwright_source::{SourceError, Tree, digest};
use patchwright_target::{FetchPlace, fetch};
use std::path::{Path, PathBuf};

/// Clones what `$TASK/url` names (a bundle beside it, say) at `$TASK/revision`.
const CLONE: &str = include_str!("checkout/clone.sh");
/// The same for somebody over the network: only the addresses that were
/// checked, and no going on to others.
const CLONE_CHECKED: &str = include_str!("checkout/clone_checked.sh");
/// Bundles a repository on this machine. Its configuration is not trusted: it may name programs
/// to run, of which a remote that has the missing objects is the one that a bundle would ask.
const BUNDLE: &str = include_str!("checkout/bundle.sh");
/// Name of the archive while it is unpacked.
const ARCHIVE: &str = "archive";
/// Files of a task folder that take part in the key of a fetched tree, up to
/// this many bytes each.
const KEYED_FILE: u64 = 1 << 20;

/// The folder with the pristine tree.
pub(crate) async fn source(
    task: &Task,
    settings: &Settings,
    observer: &Observer,
) -> Result<PathBuf, Ending> {
    let checkout = Checkout {
        task,
        settings,
        observer,
    };
    match &task.source {
        Source::Path(path) => Ok(path.clone()),
        Source::Fetch(command) => {
            let key = key_of_fetched(command, &task.folder)?;
            checkout.get(key, Some(command), &task.folder).await
        }
        Source::Git { url, revision } => checkout.git(url, revision).await,
        Source::Archive { location, sha256 } => checkout.archive(location, sha256).await,
    }
}

/// The task whose source is got, and how.
struct Checkout<'a> {
    task: &'a Task,
    settings: &'a Settings,
    observer: &'a Observer,
}

impl Checkout<'_> {
    async fn git(&self, url: &str, revision: &str) -> Result<PathBuf, Ending> {
        if revision.starts_with('-') || revision.trim().is_empty() {
            return Err(invalid(
                "source.revision: must name a commit, a tag or a branch",
            ));
        }
        let orders = tempfile::tempdir().map_err(failed)?;
        write(&orders.path().join("revision"), revision.as_bytes())?;
        let local = self.task.folder.join(url);
        let (url, command) = if !self.task.sender.is_local() {
            let found = download::repository(url, &self.settings.intake).await;
            let (url, addresses) =
                found.map_err(|error| refused(&format!("source.git: {url}"), &error))?;
            write(&orders.path().join("addresses"), addresses.as_bytes())?;
            (url, CLONE_CHECKED)
        } else if local.is_dir() {
            // The sandbox sees nothing but this folder: the repository goes in as
            // a bundle of everything it has.
            self.bundle(&local, &orders.path().join("bundle")).await?;
            ("bundle".to_owned(), CLONE)
        } else {
            (url.to_owned(), CLONE)
        };
        write(&orders.path().join("url"), url.as_bytes())?;
        let key = digest(["git", &url, revision, &local.display().to_string()]);
        self.get(key, Some(command), orders.path()).await
    }

    async fn bundle(&self, repository: &Path, into: &Path) -> Result<(), Ending> {
        let folder = tempfile::tempdir().map_err(failed)?;
        let place = (IsolationChoice::Auto, false);
        self.run(BUNDLE, (repository, folder.path()), place).await?;
        let copied = std::fs::copy(folder.path().join("bundle"), into);
        copied.map(drop).map_err(failed)
    }

    async fn archive(&self, location: &str, sha256: &str) -> Result<PathBuf, Ending> {
        let orders = tempfile::tempdir().map_err(failed)?;
        let file = orders.path().join(ARCHIVE);
        if location.starts_with("https://") || location.starts_with("http://") {
            self.obtain(location, &file).await?;
        } else {
            let local = self.task.folder.join(location);
            std::fs::copy(&local, &file).map_err(|error| {
                let local = local.display();
                invalid(&format!("source.archive: {local} cannot be read: {error}"))
            })?;
        }
        let found = hash_of(&file).map_err(failed)?;
        if found != sha256 {
            return Err(invalid(&format!(
                "source.sha256: the archive has {found}, the task says {sha256}"
            )));
        }
        let key = digest(["archive", sha256]);
        let tree = self.get(key, None, orders.path()).await?;
        inner(tree).map_err(failed)
    }

    /// Downloads an archive: for a user of this machine as they would themselves,
    /// for anybody else within what the settings allow.
    async fn obtain(&self, url: &str, into: &Path) -> Result<(), Ending> {
        let intake = &self.settings.intake;
        let limit = intake.archive_mb.saturating_mul(1024 * 1024);
        let done = if self.task.sender.is_local() {
            download::to_file_of_anybody(url, into, limit).await
        } else {
            download::to_file(url, into, limit, intake).await
        };
        let what = format!("source.archive: {url} cannot be downloaded");
        done.map_err(|error| refused(&what, &error))
    }

    /// Unpacks the archive in `folder` into `tree`. What Rust code does not
    /// decompress, a program does, in the sandbox.
    async fn unpack_into(&self, folder: &Path, tree: &Path) -> Result<(), Ending> {
        let wrong = |error: UnpackError| match error {
            UnpackError::Io(error) => failed(error),
            other @ UnpackError::Refused(_) => invalid(&format!("source.archive: {other}")),
        };
        let mut archive = folder.join(ARCHIVE);
        let plain = tempfile::tempdir_in(tree.parent().unwrap_or(tree)).map_err(failed)?;
        if let Packing::Program(program) = Packing::of(&archive).map_err(failed)? {
            let command = format!("{program} -dc < \"$TASK/{ARCHIVE}\" > \"$TREE/{ARCHIVE}\"");
            let place = (commands::isolation(self.settings), false);
            self.run(&command, (folder, plain.path()), place).await?;
            archive = plain.path().join(ARCHIVE);
        }
        let limits = UnpackLimits::of(&self.settings.intake);
        let tree = tree.to_path_buf();
        let unpacked =
            tokio::task::spawn_blocking(move || unpack::unpack(&archive, &tree, limits)).await;
        unpacked.map_err(failed)?.map_err(wrong)
    }

    /// The tree with this key, from the cache or made from what lies in the folder: by a
    /// command in the sandbox, or else from the archive there. A tree appears in the cache
    /// whole or not at all.
    async fn get(
        &self,
        key: String,
        command: Option<&str>,
        folder: &Path,
    ) -> Result<PathBuf, Ending> {
        let sources = self.settings.cache.folder.join("sources");
        let kept = sources.join(key);
        if kept.is_dir() {
            return Ok(kept);
        }
        self.observer.remark("  .. fetching the source");
        patchwright_config::private_folder(&sources).map_err(failed)?;
        let fresh = tempfile::tempdir_in(&sources).map_err(failed)?;
        let tree = fresh.path().join("tree");
        std::fs::create_dir(&tree).map_err(failed)?;
        if let Some(command) = command {
            let place = (commands::isolation(self.settings), true);
            self.run(command, (folder, &tree), place).await?;
        } else {
            self.unpack_into(folder, &tree).await?;
        }
        let mut entries = std::fs::read_dir(&tree).map_err(failed)?;
        if entries.next().is_none() {
            return Err(invalid(
                "source.fetch: the command succeeded and left $TREE empty",
            ));
        }
        match std::fs::rename(&tree, &kept) {
            // Somebody else got the same tree meanwhile.
            Err(_) if kept.is_dir() => Ok(kept),
            Err(error) => Err(failed(error)),
            Ok(()) => Ok(kept),
        }
    }

    /// Runs a command in the sandbox that finds its orders in one folder and fills another.
    async fn run(
        &self,
        command: &str,
        (orders, tree): (&Path, &Path),
        (isolation, network): (IsolationChoice, bool),
    ) -> Result<(), Ending> {
        let place = FetchPlace {
            isolation,
            host: commands::host(),
            network,
        };
        let limits = own_command_limits(self.settings);
        let fetched = fetch(command, orders, tree, place, &limits).await;
        fetched.map(drop).map_err(|error| ending_of(&error))
    }
}

/// Returns the one folder of an archive, which usually holds everything in it.
fn inner(tree: PathBuf) -> std::io::Result<PathBuf> {
    let entries = std::fs::read_dir(&tree)?.flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    Ok(match (entries.pop(), entries.is_empty()) {
        (Some(only), true) if only.is_dir() && !only.is_symlink() => only,
        _ => tree,
    })
}

/// Returns the folder with the pristine tree where it lies on this machine already.
/// Nothing is fetched and nothing is run.
pub fn kept_source(task: &Task, settings: &Settings) -> Option<PathBuf> {
    let key = match &task.source {
        Source::Path(path) => return Some(path.clone()).filter(|path| path.is_dir()),
        Source::Fetch(command) => key_of_fetched(command, &task.folder).ok()?,
        Source::Git { url, revision } => {
            let local = task.folder.join(url);
            let bundled = task.sender.is_local() && local.is_dir();
            let url = if bundled { "bundle" } else { url };
            digest(["git", url, revision, &local.display().to_string()])
        }
        Source::Archive { sha256, .. } => digest(["archive", sha256]),
    };
    let kept = settings.cache.folder.join("sources").join(key);
    let tree = Some(kept).filter(|kept| kept.is_dir())?;
    match &task.source {
        Source::Archive { .. } => inner(tree).ok(),
        _ => Some(tree),
    }
}

/// Returns the name of a tree that a command fetches: the files beside the task
/// are part of it, because the command may use them. A larger file counts by its size.
fn key_of_fetched(command: &str, folder: &Path) -> Result<String, Ending> {
    let mut parts = vec!["fetch".to_owned(), command.to_owned()];
    // A task over the network that brought no files has no folder.
    if !folder.exists() {
        return Ok(digest(parts));
    }
    let tree = Tree::open(folder).map_err(failed)?;
    for path in tree.files() {
        let bytes = match tree.read_up_to(&path, KEYED_FILE) {
            Ok(text) => text.bytes().to_vec(),
            Err(SourceError::TooLarge { size, .. }) => size.to_le_bytes().to_vec(),
            // A link that leaves the folder leads nowhere in the sandbox.
            Err(SourceError::NotAFile { .. }) => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        parts.extend([path.to_string(), digest([bytes])]);
    }
    Ok(digest(parts))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Ending> {
    std::fs::write(path, bytes).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Ending {
    Ending::new(
        EndingKind::InfraError,
        format!("the source cannot be kept: {error}"),
    )
}

fn refused(what: &str, error: &DownloadError) -> Ending {
    let kind = if error.is_final() {
        EndingKind::InvalidTask
    } else {
        EndingKind::InfraError
    };
    Ending::new(kind, format!("{what}: {error}"))
}

fn invalid(detail: &str) -> Ending {
    Ending::new(EndingKind::InvalidTask, detail)
}

#[cfg(test)]
mod tests {
    use super::key_of_fetched;
    use std::path::Path;

    #[test]
    fn the_files_beside_a_task_are_part_of_the_name_of_its_tree() {
        let folder = tempfile::tempdir().unwrap();
        let key = || key_of_fetched("./fetch.sh", folder.path()).unwrap();
        let empty = key();
        assert_eq!(
            empty,
            key_of_fetched("./fetch.sh", Path::new("/nowhere")).unwrap()
        );
        std::fs::write(folder.path().join("fetch.sh"), "a").unwrap();
        let first = key();
        assert_ne!(first, empty);
        std::fs::write(folder.path().join("fetch.sh"), "b").unwrap();
        assert_ne!(key(), first);
        // Files that cannot be listed must not give the name of a folder without them.
        let file = folder.path().join("fetch.sh");
        assert!(key_of_fetched("./fetch.sh", &file).is_err());
    }
}
