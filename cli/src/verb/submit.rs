//! `patchwright submit`: hand tasks to a daemon, with the files of their folders.

use super::client::{Daemon, field};
use crate::common::Common;
use anyhow::{Context, ensure};
use clap::Args;
use patchwright_agent::task::TaskFile;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The most bytes that are sent with one task.
const LARGEST: u64 = 512 << 20;

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
        let form = form(path)?;
        let request = daemon.request(Method::POST, &["tasks"])?.query(arguments);
        let answer = daemon
            .json(request.multipart(form))
            .await
            .with_context(|| path.display().to_string())?;
        let (id, state) = (field(&answer, "id"), field(&answer, "state"));
        writeln!(std::io::stdout(), "{id} {state}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the task and the files beside it.
fn form(path: &Path) -> anyhow::Result<Form> {
    let file = if path.is_dir() {
        path.join("task.toml")
    } else {
        path.to_path_buf()
    };
    let file = file
        .canonicalize()
        .with_context(|| format!("{} cannot be opened", file.display()))?;
    let text = std::fs::read_to_string(&file)?;
    let mut task: TaskFile = toml::from_str(&text).with_context(|| file.display().to_string())?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let source = task.source.path.as_deref().map(|path| folder.join(path));
    let source = source.map(|path| path.canonicalize()).transpose()?;
    task.source.path = source.as_ref().map(|path| path.display().to_string());
    let mut files = Vec::new();
    let (mut size, unreadable) = (0, || folder.display().to_string());
    collect(folder, source.as_deref(), &mut files).with_context(unreadable)?;
    files.retain(|found| *found != file);
    files.sort();
    for file in &files {
        size += file.metadata().with_context(unreadable)?.len();
    }
    ensure!(
        size <= LARGEST,
        "{} has more than {LARGEST} bytes of files beside the task",
        folder.display()
    );
    // A name is a path: it goes as it is.
    let mut form = Form::new().percent_encode_noop();
    let task = Part::bytes(serde_json::to_vec(&task)?).mime_str("application/json")?;
    form = form.part("task", task);
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        let Some(name) = name.to_str() else {
            let mut told = std::io::stderr();
            writeln!(
                told,
                "{} is not sent: its name is not UTF-8",
                name.display()
            )?;
            continue;
        };
        let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        form = form.part(name.to_owned(), Part::bytes(bytes));
    }
    Ok(form)
}

/// Collects every file below a folder but those of the source; links are not followed.
fn collect(folder: &Path, source: Option<&Path>, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && Some(path.as_path()) != source {
            collect(&path, source, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
