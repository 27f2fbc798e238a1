//! The files of a challenge: downloaded, compared with their hashes, kept in the
//! store, and read as far as a task needs to know them.

use super::{hash_of, oss_fuzz, scratch};
use crate::crs::Failure;
use crate::crs::protocol::{SourceDetail, SourceKind, TaskDetail, TaskKind};
use crate::crs::rows::Prepared;
use patchwright_config::Settings;
use patchwright_run::intake::download;
use patchwright_run::intake::unpack::{UnpackLimits, unpack};
use patchwright_store::Store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    Ok(Prepared {
        files,
        language: project.language,
        tests: project.tests,
    })
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
                Failure::lasting(message)
            } else {
                Failure::later(message)
            }
        })?;
    let found = hash_of(into)?;
    if found.eq_ignore_ascii_case(&source.sha256) {
        return Ok(found);
    }
    Err(Failure::lasting(format!(
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
    let (file, into) = (
        folder.join(name),
        folder.join(name.trim_end_matches(".tar.gz")),
    );
    std::fs::create_dir(&into)?;
    let place = into.clone();
    tokio::task::spawn_blocking(move || unpack(&file, &place, limits))
        .await
        .map_err(std::io::Error::other)?
        .map_err(|error| Failure::lasting(format!("{name} cannot be unpacked: {error}")))?;
    Ok(into)
}
