//! `patchwright submit`: hand tasks to a daemon, with the files of their folders.

use super::client::{Daemon, field};
use crate::common::{Common, tell};
use anyhow::{Context, ensure};
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use patchwright_agent::task;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use walkdir::{DirEntry, WalkDir};

/// The most bytes that are sent with one task.
const LARGEST: u64 = 512 << 20;
/// The name under which a source is sent.
const PACKED: &str = "patchwright-source.tar.gz";

#[derive(Debug, Args, Serialize)]
pub(crate) struct SubmitArguments {
    /// Folders with a task.toml, or task files
    #[arg(required = true)]
    #[serde(skip)]
    pub tasks: Vec<PathBuf>,
    /// Higher goes first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i32,
    /// When nobody wants the patch any more, as in 2030-12-31T18:00:00Z
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
    /// Name the folder of a source by its path, for a daemon that reads it there (intake.folders); by default the
    /// folder is packed and sent
    #[arg(long)]
    #[serde(skip)]
    pub in_place: bool,
    /// The project: PoVs of one project are candidates for one patch
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

/// Hands the tasks in, one after the other, and prints what became of each.
///
/// # Errors
/// A task cannot be read, or the daemon refuses it; those before are in.
pub(crate) async fn run(common: &Common, arguments: &SubmitArguments) -> anyhow::Result<ExitCode> {
    let daemon = Daemon::of(&common.load(Vec::new())?)?;
    for path in &arguments.tasks {
        let form = form(path, arguments.in_place)?;
        let request = daemon.request(Method::POST, &["tasks"])?.query(arguments);
        let answer = daemon.json(request.multipart(form)).await;
        let answer = answer.with_context(|| path.display().to_string())?;
        let (id, state) = (field(&answer, "id"), field(&answer, "state"));
        writeln!(std::io::stdout(), "{id} {state}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the task, the files beside it and its source.
fn form(path: &Path, in_place: bool) -> anyhow::Result<Form> {
    let (mut task, file) = task::keys(path)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let source = task.source.path.as_deref().map(|path| folder.join(path));
    let source = source.map(|path| path.canonicalize()).transpose()?;
    let sent = source.as_deref().filter(|_| !in_place).map(packed);
    let sent = sent.transpose().context("the source cannot be packed")?;
    if sent.is_some() {
        task.source.path = None;
        task.source.archive = Some(PACKED.to_owned());
    } else {
        task.source.path = source.as_ref().map(|path| path.display().to_string());
    }
    let unreadable = || folder.display().to_string();
    let mut size = sent.as_ref().map_or(0, Vec::len) as u64;
    let mut files = beside(&file, folder, source.as_deref()).with_context(unreadable)?;
    files.sort();
    for file in &files {
        size += file.metadata().with_context(unreadable)?.len();
    }
    ensure!(
        size <= LARGEST,
        "{} has more than {LARGEST} bytes of source and files beside the task",
        folder.display()
    );
    // A name is a path: it goes as it is.
    let mut form = Form::new().percent_encode_noop();
    let task = Part::bytes(serde_json::to_vec(&task)?).mime_str("application/json")?;
    form = form.part("task", task);
    if let Some(source) = sent {
        form = form.part(PACKED, Part::bytes(source));
    }
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        let Some(name) = name.to_str() else {
            let name = name.display();
            tell(&format!("{name} is not sent: its name is not UTF-8"))?;
            continue;
        };
        let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        form = form.part(name.to_owned(), Part::bytes(bytes));
    }
    Ok(form)
}

/// Packs the folder of a source: the same bytes for the same files, so that the same task is known
/// as the same.
fn packed(source: &Path) -> anyhow::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    archive.mode(tar::HeaderMode::Deterministic);
    archive.follow_symlinks(false);
    for entry in WalkDir::new(source).min_depth(1).sort_by_file_name() {
        let entry = entry?;
        let kind = entry.file_type();
        if kind.is_file() || kind.is_dir() || kind.is_symlink() {
            let name = entry.path().strip_prefix(source)?;
            archive.append_path_with_name(entry.path(), name)?;
        }
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Returns every file below the folder of a task file but those of the source; links are not
/// followed.
fn beside(file: &Path, folder: &Path, source: Option<&Path>) -> walkdir::Result<Vec<PathBuf>> {
    let all = WalkDir::new(folder).min_depth(1).into_iter();
    let kept = all.filter_entry(|entry| Some(entry.path()) != source && entry.path() != file);
    let is_file = |entry: &DirEntry| entry.file_type().is_file();
    let files = kept.filter(|entry| entry.as_ref().map_or(true, is_file));
    files.map(|entry| entry.map(DirEntry::into_path)).collect()
}
