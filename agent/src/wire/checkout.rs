//! Gets the source tree of a task: a folder as it is, or what a repository, an
//! archive or a fetch command gives, kept in the cache by what was asked for.
//!
//! Everything that is not a plain folder is got inside the sandbox, with
//! network; nothing of it becomes a word of a shell line.

use super::commands;
use crate::display::Display;
use crate::repair::{Ending, EndingKind};
use crate::settings::Settings;
use crate::task::{Source, Task};
use patchwright_evaluator::{TargetError, fetch};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Clones what `$TASK/url` names (a bundle beside it, say) at `$TASK/revision`.
const CLONE: &str = r#"export GIT_ALLOW_PROTOCOL=https:http:git:ssh:file GIT_TERMINAL_PROMPT=0
cd "$TASK"
git clone --quiet --no-checkout -- "$(cat url)" "$TREE"
git -C "$TREE" -c advice.detachedHead=false checkout --quiet --detach "$(cat revision)" --
"#;
/// Unpacks `$TASK/archive`.
const UNPACK: &str = r#"tar --extract --no-same-owner --no-same-permissions --file "$TASK/archive" --directory "$TREE""#;
/// The largest archive that is downloaded, in bytes.
const ARCHIVE_LIMIT: u64 = 2 << 30;
/// Files of a task folder that take part in the key of a fetched tree, up to
/// this many bytes each.
const KEYED_FILE: u64 = 1 << 20;

/// The folder with the pristine tree.
pub(super) async fn source(
    task: &Task,
    settings: &Settings,
    display: &Display,
) -> Result<PathBuf, Ending> {
    match &task.source {
        Source::Path(path) => Ok(path.clone()),
        Source::Fetch(command) => {
            let key = key_of(&["fetch", command], Some(&task.folder));
            let order = Order {
                key,
                command,
                folder: &task.folder,
            };
            order.get(settings, display).await
        }
        Source::Git { url, revision } => git(task, (url, revision), settings, display).await,
        Source::Archive { location, sha256 } => {
            archive(task, (location, sha256), settings, display).await
        }
    }
}

async fn git(
    task: &Task,
    (url, revision): (&str, &str),
    settings: &Settings,
    display: &Display,
) -> Result<PathBuf, Ending> {
    if revision.starts_with('-') || revision.trim().is_empty() {
        return Err(invalid(
            "source.revision: must name a commit, a tag or a branch",
        ));
    }
    let local = task.folder.join(url);
    let orders = tempfile::tempdir().map_err(|error| failed(&error))?;
    write(&orders.path().join("revision"), revision.as_bytes())?;
    let url = if local.is_dir() {
        // The sandbox sees nothing but this folder: the repository goes in as
        // a bundle of everything it has.
        bundle(&local, &orders.path().join("bundle")).await?;
        "bundle".to_owned()
    } else {
        url.to_owned()
    };
    write(&orders.path().join("url"), url.as_bytes())?;
    let key = key_of(&["git", &url, revision, &local.display().to_string()], None);
    Order {
        key,
        command: CLONE,
        folder: orders.path(),
    }
    .get(settings, display)
    .await
}

async fn bundle(repository: &Path, into: &Path) -> Result<(), Ending> {
    let script = r#"git -c safe.directory="*" bundle create "$TREE/bundle" --all"#;
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let script = format!("cd \"$TASK\"\n{script}");
    let limits = patchwright_evaluator::CommandLimits::default();
    let host = (
        patchwright_evaluator::sandbox::IsolationChoice::Auto,
        super::host(),
    );
    fetch(&script, repository, folder.path(), host, &limits)
        .await
        .map_err(|error| ending(&error))?;
    std::fs::copy(folder.path().join("bundle"), into)
        .map(|_| ())
        .map_err(|error| failed(&error))
}

async fn archive(
    task: &Task,
    (location, sha256): (&str, &str),
    settings: &Settings,
    display: &Display,
) -> Result<PathBuf, Ending> {
    let orders = tempfile::tempdir().map_err(|error| failed(&error))?;
    let file = orders.path().join("archive");
    if location.starts_with("https://") || location.starts_with("http://") {
        download(location, &file).await?;
    } else {
        let local = task.folder.join(location);
        std::fs::copy(&local, &file).map_err(|error| {
            invalid(&format!(
                "source.archive: {} cannot be read: {error}",
                local.display()
            ))
        })?;
    }
    let found = hash_of(&file)?;
    if found != sha256 {
        return Err(invalid(&format!(
            "source.sha256: the archive has {found}, the task says {sha256}"
        )));
    }
    let order = Order {
        key: key_of(&["archive", sha256], None),
        command: UNPACK,
        folder: orders.path(),
    };
    let tree = order.get(settings, display).await?;
    // An archive usually holds one folder with everything in it.
    let mut entries: Vec<PathBuf> = std::fs::read_dir(&tree)
        .map_err(|error| failed(&error))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    match (entries.pop(), entries.is_empty()) {
        (Some(only), true) if only.is_dir() && !only.is_symlink() => Ok(only),
        _ => Ok(tree),
    }
}

async fn download(url: &str, into: &Path) -> Result<(), Ending> {
    let wrong = |error: &dyn std::fmt::Display| {
        Ending::new(
            EndingKind::InfraError,
            format!("source.archive: {url} cannot be downloaded: {error}"),
        )
    };
    let mut response = reqwest::get(url)
        .await
        .and_then(reqwest::Response::error_for_status)
        .map_err(|error| wrong(&error))?;
    let mut file = std::fs::File::create(into).map_err(|error| failed(&error))?;
    let mut size = 0;
    while let Some(chunk) = response.chunk().await.map_err(|error| wrong(&error))? {
        size += chunk.len() as u64;
        if size > ARCHIVE_LIMIT {
            return Err(invalid(&format!(
                "source.archive: {url} has more than {ARCHIVE_LIMIT} bytes"
            )));
        }
        file.write_all(&chunk).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Something to be got by a command.
struct Order<'a> {
    key: String,
    command: &'a str,
    folder: &'a Path,
}

impl Order<'_> {
    /// The tree, from the cache or by the command. A tree appears in the cache
    /// whole or not at all.
    async fn get(&self, settings: &Settings, display: &Display) -> Result<PathBuf, Ending> {
        let sources = settings.cache.folder.join("sources");
        let kept = sources.join(&self.key);
        if kept.is_dir() {
            return Ok(kept);
        }
        display.line("  .. fetching the source");
        std::fs::create_dir_all(&sources).map_err(|error| failed(&error))?;
        let fresh = tempfile::tempdir_in(&sources).map_err(|error| failed(&error))?;
        let tree = fresh.path().join("tree");
        std::fs::create_dir(&tree).map_err(|error| failed(&error))?;
        let limits = commands::command_limits(&crate::task::Limits::default(), settings);
        let place = (commands::isolation(settings), super::host());
        fetch(self.command, self.folder, &tree, place, &limits)
            .await
            .map_err(|error| ending(&error))?;
        if std::fs::read_dir(&tree)
            .map_err(|error| failed(&error))?
            .next()
            .is_none()
        {
            return Err(invalid(
                "source.fetch: the command succeeded and left $TREE empty",
            ));
        }
        match std::fs::rename(&tree, &kept) {
            // Somebody else got the same tree meanwhile.
            Err(_) if kept.is_dir() => Ok(kept),
            Err(error) => Err(failed(&error)),
            Ok(()) => Ok(kept),
        }
    }
}

fn key_of(parts: &[&str], folder: Option<&Path>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let files = folder.and_then(|folder| patchwright_source::Tree::open(folder).ok());
    for (tree, path) in files
        .iter()
        .flat_map(|tree| tree.files().into_iter().map(move |path| (tree, path)))
    {
        if let Ok(text) = tree.read_up_to(&path, KEYED_FILE) {
            hash.update(path.as_str().as_bytes());
            hash.update((text.bytes().len() as u64).to_le_bytes());
            hash.update(text.bytes());
        }
    }
    format!("{:x}", hash.finalize())
}

fn hash_of(file: &Path) -> Result<String, Ending> {
    let mut hash = Sha256::new();
    let mut file = std::fs::File::open(file).map_err(|error| failed(&error))?;
    std::io::copy(&mut file, &mut hash).map_err(|error| failed(&error))?;
    Ok(format!("{:x}", hash.finalize()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Ending> {
    std::fs::write(path, bytes).map_err(|error| failed(&error))
}

fn ending(error: &TargetError) -> Ending {
    crate::drive::ending_of(error)
}

fn failed(error: &dyn std::fmt::Display) -> Ending {
    Ending::new(
        EndingKind::InfraError,
        format!("the source cannot be kept: {error}"),
    )
}

fn invalid(detail: &str) -> Ending {
    Ending::new(EndingKind::InvalidTask, detail)
}
