//! Cases: how the files of a challenge or a known project are obtained, and the tasks that
//! its findings become.
//!
//! A challenge brings its files along, so that any machine can work on it; a
//! project of the settings lies on the machine that knows it.

mod oss_fuzz;

use crate::crs::Failure;
use crate::crs::patch_request::PatchRequest;
use crate::crs::protocol::{SourceDetail, SourceKind, TaskDetail, TaskKind, decode};
use crate::crs::rows::{CaseRow, FindingRow, Prepared};
use patchwright_agent::task::{self, NOWHERE, Pov, Sender, Task, TaskFile};
use patchwright_config::Settings;
use patchwright_run::files::hash_of;
use patchwright_run::intake::download;
use patchwright_run::intake::unpack::{UnpackLimits, unpack};
use patchwright_source::Tree;
use patchwright_store::Store;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest file of a project's folder that goes along with a challenge.
const PROJECT_FILE: u64 = 16 << 20;

/// The template of a project that the settings know, and its folder.
pub fn template(name: &str, settings: &Settings) -> Result<Option<(TaskFile, PathBuf)>, Failure> {
    let Some(projects) = &settings.crs.projects else {
        return Ok(None);
    };
    let folder = Path::new(projects).join(name);
    if !folder.join("task.toml").is_file() {
        return Ok(None);
    }
    let folder = folder.canonicalize()?;
    let (keys, _) = task::keys(&folder)?;
    Ok(Some((keys, folder)))
}

/// The task of a finding, under the id that the queue knows it by.
pub async fn task(
    case: &CaseRow,
    finding: &FindingRow,
    settings: &Settings,
    store: &Store,
) -> Result<Task, Failure> {
    let request = &finding.request;
    let named = |keys: TaskFile| TaskFile {
        id: queue_id(finding),
        title: Some(format!("{} ({})", case.project, finding.id)),
        ..keys
    };
    let task = match (template(&case.project, settings)?, &case.prepared) {
        (Some((keys, folder)), Some(prepared)) => {
            let known = (named(keys), Some(&*folder));
            of_challenge(known, (prepared, request), (settings, store)).await
        }
        (Some((keys, folder)), None) => known(named(keys), request, &folder, settings),
        (None, Some(prepared)) => {
            let keys = named(oss_fuzz::keys(prepared, request)?);
            of_challenge((keys, None), (prepared, request), (settings, store)).await
        }
        (None, None) => {
            let reason = format!("the project {:?} is not known here", case.project);
            Err(Failure::Lasting(reason))
        }
    }?;
    Ok(Task {
        sender: Sender::Crs,
        ..task
    })
}

/// The name of a finding's task in the queue; another one for each round.
pub fn queue_id(finding: &FindingRow) -> String {
    let kind = finding.kind;
    match finding.round {
        0 => format!("{kind}-{}", finding.id),
        round => format!("{kind}-{}.{}", finding.id, round + 1),
    }
}

/// A task of a project on this machine.
fn known(
    mut keys: TaskFile,
    request: &PatchRequest,
    folder: &Path,
    settings: &Settings,
) -> Result<Task, Failure> {
    let inputs = settings.store.folder.join("crs-inputs");
    std::fs::create_dir_all(&inputs)?;
    keys.pov = povs(request, &keys, |bytes| {
        let path = inputs.join(format!("{:x}", Sha256::digest(bytes)));
        if !path.is_file() {
            let fresh = tempfile::NamedTempFile::new_in(&inputs)?;
            std::fs::write(fresh.path(), bytes)?;
            fresh.persist(&path).map_err(|error| error.error)?;
        }
        Ok(path.display().to_string())
    })?;
    let mut task = task::from_file(keys, folder, &folder.join("task.toml"))?;
    task.hints.sarif = request.sarif().or(task.hints.sarif);
    Ok(task)
}

/// Makes the task of a challenge, whose files every worker can get.
async fn of_challenge(
    (mut keys, template): (TaskFile, Option<&Path>),
    (prepared, request): (&Prepared, &PatchRequest),
    (settings, store): (&Settings, &Store),
) -> Result<Task, Failure> {
    let folder = scratch(settings)?;
    let place = folder.path();
    let mut fresh = template.map_or_else(|| Ok(Vec::new()), |from| copy(from, place))?;
    std::fs::create_dir_all(place.join("pov"))?;
    keys.pov = povs(request, &keys, |bytes| {
        // Named by content: the PoVs of several findings can lie side by side.
        let name = format!("pov/{:x}", Sha256::digest(bytes));
        std::fs::write(place.join(&name), bytes)?;
        fresh.push(name.clone());
        Ok(name)
    })?;
    if let Some(sarif) = request.sarif() {
        std::fs::write(place.join("finding.sarif"), sarif)?;
        fresh.push("finding.sarif".to_owned());
        keys.hints.sarif = Some("finding.sarif".to_owned());
    }
    if let Some(hash) = prepared.files.get("ref.diff") {
        store.file_to(hash, &place.join("ref.diff")).await?;
        keys.hints.diff = Some("ref.diff".to_owned());
    }
    keys.source = oss_fuzz::source(prepared);
    let task = task::from_file(keys, place, Path::new("challenge"))?;
    let mut sent = prepared.files.clone();
    for name in fresh {
        let hash = hash_of(&place.join(&name))?;
        store.keep_file(&hash, &place.join(&name), None).await?;
        sent.insert(name, hash);
    }
    let task = task.moved_to(Path::new(NOWHERE));
    Ok(Task { sent, ..task })
}

/// The PoVs of a request, each put where `keep` says.
fn povs(
    request: &PatchRequest,
    keys: &TaskFile,
    mut keep: impl FnMut(&[u8]) -> std::io::Result<String>,
) -> Result<Vec<Pov>, Failure> {
    let mut povs = Vec::new();
    for blob in &request.blobs {
        let bytes = decode(&blob.blob_data)
            .ok_or_else(|| Failure::Lasting("an input of the finding is no base64".to_owned()))?;
        let known = keys.builds.contains_key(&blob.sanitizer_name);
        if !known && !keys.builds.is_empty() {
            let name = &blob.sanitizer_name;
            let reason = format!("the project has no build for the sanitizer {name:?}");
            return Err(Failure::Lasting(reason));
        }
        let like = keys.pov.first();
        povs.push(Pov {
            file: keep(&bytes)?.into(),
            build: known.then(|| blob.sanitizer_name.clone()),
            harness: Some(blob.harness_name.clone()),
            repeat: None,
            ..like.cloned().unwrap_or_default()
        });
    }
    Ok(povs)
}

fn scratch(settings: &Settings) -> std::io::Result<tempfile::TempDir> {
    let folder = settings.cache.folder.join("crs");
    std::fs::create_dir_all(&folder)?;
    tempfile::tempdir_in(&folder)
}

/// Copies the files of a project's folder, and tells their names.
fn copy(from: &Path, into: &Path) -> Result<Vec<String>, Failure> {
    let unreadable = |error: patchwright_source::SourceError| {
        Failure::Lasting(format!("the project's folder cannot be read: {error}"))
    };
    let tree = Tree::open(from).map_err(unreadable)?;
    let mut names = Vec::new();
    for path in tree.files() {
        let text = tree.read_up_to(&path, PROJECT_FILE).map_err(unreadable)?;
        let place = into.join(path.as_str());
        if let Some(above) = place.parent() {
            std::fs::create_dir_all(above)?;
        }
        std::fs::write(&place, text.bytes())?;
        names.push(path.as_str().to_owned());
    }
    Ok(names)
}

/// Gets the files of a challenge into the store and reads what a task needs to know.
///
/// # Errors
/// When a file does not come, is another one, or lacks something.
pub async fn prepare(
    detail: &TaskDetail,
    settings: &Settings,
    store: &Store,
) -> Result<Prepared, Failure> {
    let folder = scratch(settings)?;
    let place = |name: &str| folder.path().join(name);
    let mut files = BTreeMap::new();
    for source in &detail.source {
        let name = archive(source.kind);
        let hash = fetched(source, &place(name), settings).await?;
        files.insert(name.to_owned(), hash);
    }
    let limits = UnpackLimits::of(&settings.intake);
    let tooling = unpacked(SourceKind::FuzzTooling, folder.path(), limits).await?;
    let project = oss_fuzz::project(&tooling, &detail.project_name)?;
    if detail.kind == TaskKind::Delta {
        let diff = unpacked(SourceKind::Diff, folder.path(), limits).await?;
        std::fs::copy(oss_fuzz::reference_diff(&diff)?, place("ref.diff"))?;
        files.remove(archive(SourceKind::Diff));
        files.insert("ref.diff".to_owned(), hash_of(&place("ref.diff"))?);
    }
    for (name, text) in [("focus", &detail.focus), ("project", &detail.project_name)] {
        std::fs::write(place(name), text)?;
        files.insert(name.to_owned(), hash_of(&place(name))?);
    }
    for (name, hash) in &files {
        store.keep_file(hash, &place(name), None).await?;
    }
    Ok(Prepared { files, ..project })
}

fn archive(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Repo => "repo.tar.gz",
        SourceKind::FuzzTooling => "tooling.tar.gz",
        SourceKind::Diff => "diff.tar.gz",
    }
}

/// Downloads a tarball and yields its hash.
async fn fetched(
    source: &SourceDetail,
    into: &Path,
    settings: &Settings,
) -> Result<String, Failure> {
    let limit = settings.intake.archive_mb << 20;
    download::to_file(&source.url, into, limit, &settings.intake)
        .await
        .map_err(|error| {
            let message = format!("{}: {error}", source.url);
            if error.is_final() {
                Failure::Lasting(message)
            } else {
                Failure::Passing(message)
            }
        })?;
    let found = hash_of(into)?;
    if found.eq_ignore_ascii_case(&source.sha256) {
        return Ok(found);
    }
    Err(Failure::Lasting(format!(
        "{}: has the SHA-256 {found}, the challenge says {}",
        source.url, source.sha256
    )))
}

/// Unpacks a tarball into a folder beside it.
async fn unpacked(
    kind: SourceKind,
    folder: &Path,
    limits: UnpackLimits,
) -> Result<PathBuf, Failure> {
    let name = archive(kind);
    let file = folder.join(name);
    let into = folder.join(name.trim_end_matches(".tar.gz"));
    std::fs::create_dir(&into)?;
    let place = into.clone();
    tokio::task::spawn_blocking(move || unpack(&file, &place, limits))
        .await
        .map_err(std::io::Error::other)?
        .map_err(|error| Failure::Lasting(format!("{name} cannot be unpacked: {error}")))?;
    Ok(into)
}
