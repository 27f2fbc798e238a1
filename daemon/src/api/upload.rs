//! An upload while it is received: a folder that is gone when it is dropped.

use crate::api::Api;
use crate::api::extract::{cut_off, parse_json, too_large};
use crate::api::problem::{Kind, Problem};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use patchwright_agent::task::TaskFile;
use patchwright_config::Settings;
use patchwright_run::admission::inside;
use patchwright_run::intake::unpack::{self, Packing, UnpackLimits};
use patchwright_store::{Quota, Store, Usage};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

/// The part that holds the task.
const TASK: &str = "task";

/// A task's JSON and the files that came with it.
pub(super) struct Upload {
    pub(super) folder: TempDir,
    task: Option<Vec<u8>>,
    /// The hash of every file, by its path in the folder.
    pub(super) files: BTreeMap<String, String>,
}

impl Upload {
    /// Receives an upload to its end.
    pub(super) async fn receive(api: &Api, request: Request) -> Result<Self, Problem> {
        let mut parts = Multipart::from_request(request, &())
            .await
            .map_err(|error| Problem::new(Kind::Malformed, error.body_text()))?;
        let scratch = api.settings.cache.folder.join("uploads");
        let disk = |error: std::io::Error| Problem::store(&error);
        patchwright_config::private_folder(&scratch).map_err(disk)?;
        let mut upload = Self {
            folder: tempfile::tempdir_in(&scratch).map_err(disk)?,
            task: None,
            files: BTreeMap::new(),
        };
        let limit = api.upload_limit();
        let mut left = limit;
        while let Some(part) = parts
            .next_field()
            .await
            .map_err(|error| broken(&error, limit))?
        {
            let name = part.name().unwrap_or_default().to_owned();
            if name == TASK {
                upload.take_task(part, api.json_limit()).await?;
                continue;
            }
            let most = api.settings.intake.files;
            if upload.files.len() >= most {
                let detail = format!("at most {most} files are taken with a task (intake.files)");
                return Err(Problem::new(Kind::TooLarge, detail));
            }
            upload.take_file(&name, part, (&mut left, limit)).await?;
        }
        Ok(upload)
    }

    async fn take_task(&mut self, mut part: Field<'_>, limit: usize) -> Result<(), Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = part.chunk().await.map_err(|error| broken(&error, limit))? {
            if bytes.len() + chunk.len() > limit {
                return Err(too_large(limit));
            }
            bytes.extend_from_slice(&chunk);
        }
        match self.task.replace(bytes) {
            None => Ok(()),
            Some(_) => Err(Problem::wrong(TASK, "comes twice")),
        }
    }

    async fn take_file(
        &mut self,
        name: &str,
        mut part: Field<'_>,
        (left, limit): (&mut usize, usize),
    ) -> Result<(), Problem> {
        let plain = inside(name).map_err(|message| Problem::wrong("part", &message))?;
        if plain != name || self.files.contains_key(name) {
            let message = "comes twice, or is not written plainly";
            return Err(Problem::wrong(name, message));
        }
        let disk = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotADirectory
            | std::io::ErrorKind::AlreadyExists
            | std::io::ErrorKind::IsADirectory
            | std::io::ErrorKind::InvalidFilename => {
                Problem::wrong(name, "cannot be a file beside the others")
            }
            _ => Problem::store(&error),
        };
        let place = self.folder.path().join(name);
        if let Some(above) = place.parent() {
            tokio::fs::create_dir_all(above).await.map_err(disk)?;
        }
        let file = tokio::fs::File::create_new(&place).await.map_err(disk)?;
        let mut file = tokio::io::BufWriter::new(file);
        let mut hash = Sha256::new();
        while let Some(chunk) = part.chunk().await.map_err(|error| broken(&error, limit))? {
            *left = left
                .checked_sub(chunk.len())
                .ok_or_else(|| too_large(limit))?;
            hash.update(&chunk);
            file.write_all(&chunk).await.map_err(disk)?;
        }
        file.flush().await.map_err(disk)?;
        let hash = format!("{:x}", hash.finalize());
        self.files.insert(name.to_owned(), hash);
        Ok(())
    }

    /// The task that came with it.
    pub(super) fn task(&self) -> Result<TaskFile, Problem> {
        let missing = || Problem::wrong(TASK, "is missing; it holds the task as JSON");
        parse_json(self.task.as_ref().ok_or_else(missing)?)
    }

    /// Looks into an archive that was sent along, and fills in its hash when
    /// the task does not have it.
    pub(super) async fn examine_archive(
        &self,
        keys: &mut TaskFile,
        settings: &Settings,
    ) -> Result<(), Problem> {
        let Some(name) = keys.source.archive.clone() else {
            return Ok(());
        };
        let Some(found) = self.files.get(&name) else {
            return Ok(());
        };
        match &keys.source.sha256 {
            Some(told) if !told.eq_ignore_ascii_case(found) => {
                let message = format!("the archive has {found}");
                return Err(Problem::wrong("source.sha256", &message));
            }
            _ => keys.source.sha256 = Some(found.clone()),
        }
        let archive = self.folder.path().join(&name);
        let limits = UnpackLimits::of(&settings.intake);
        let looked = move || match Packing::of(&archive)? {
            // Only the sandbox undoes this, when the task is worked on.
            Packing::Program(_) => Ok(()),
            _ => unpack::examine(&archive, limits),
        };
        tokio::task::spawn_blocking(looked)
            .await
            .map_err(|error| Problem::internal(&error))?
            .map_err(|error| Problem::wrong("source.archive", &error.to_string()))
    }

    /// Puts every file into the store, if the caller's quota has room for those
    /// that are not there yet.
    pub(super) async fn keep(&self, store: &Store, quota: &Quota) -> Result<(), Problem> {
        let mut more = Usage::default();
        let disk = |error: std::io::Error| Problem::store(&error);
        let new: BTreeMap<&String, &String> = self.files.iter().map(|(a, b)| (b, a)).collect();
        for (hash, name) in new {
            if !store.has_file(hash).await? {
                let about = tokio::fs::metadata(self.folder.path().join(name)).await;
                more.files += 1;
                more.bytes += i64::try_from(about.map_err(disk)?.len()).unwrap_or(i64::MAX);
            }
        }
        let used = store.usage(&quota.submitter).await?;
        if let Some(key) = quota.exceeded(used, more) {
            return Err(full(key));
        }
        for (name, hash) in &self.files {
            let path = self.folder.path().join(name);
            let submitter = Some(quota.submitter.as_str());
            store.keep_file(hash, &path, submitter).await?;
        }
        Ok(())
    }
}

fn broken(error: &MultipartError, limit: usize) -> Problem {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(limit),
        StatusCode::BAD_REQUEST if error.body_text().contains("incomplete") => cut_off(),
        _ => {
            let detail = format!("the upload cannot be read: {}", error.body_text());
            Problem::new(Kind::Malformed, detail)
        }
    }
}

/// The refusal of a caller that has used its quota up.
pub(super) fn full(key: &str) -> Problem {
    let (kind, detail) = match key {
        "intake.open_tasks" => (
            Kind::TooMany,
            "as many tasks of this caller have not ended as are allowed",
        ),
        _ => (
            Kind::TooLarge,
            "this caller keeps as much in the store as is allowed",
        ),
    };
    Problem::new(kind, format!("{detail} ({key}); nothing was changed"))
}
