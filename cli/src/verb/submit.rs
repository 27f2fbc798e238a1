//! `patchwright submit`: hand tasks to a daemon, with the files of their folders.

use super::client::{Daemon, field};
use crate::common::Common;
use anyhow::{Context, ensure};
use clap::Args;
use patchwright_agent::task::TaskFile;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The most bytes that are sent with one task.
const LARGEST: u64 = 512 << 20;
/// Between the parts of a body; random, so that no file holds it.
const BOUNDARY: &str = "patchwright-";

/// Arguments of `submit`.
#[derive(Debug, Args)]
pub(crate) struct SubmitArguments {
    /// Folders with a task.toml, or task files
    #[arg(required = true)]
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
        let (kind, body) = body(path)?;
        let mut request = daemon
            .request(Method::POST, &["tasks"])?
            .query(&[("priority", arguments.priority.to_string())]);
        for (name, value) in [
            ("deadline", &arguments.deadline),
            ("group", &arguments.group),
        ] {
            request = request.query(&value.as_ref().map(|value| [(name, value)]));
        }
        let request = request.header(CONTENT_TYPE, kind).body(body);
        let answer = daemon
            .json(request)
            .await
            .with_context(|| path.display().to_string())?;
        let (id, state) = (field(&answer, "id"), field(&answer, "state"));
        writeln!(std::io::stdout(), "{id} {state}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The task and the files beside it, as a form; and its type.
fn body(path: &Path) -> anyhow::Result<(String, Vec<u8>)> {
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
    collect(folder, source.as_deref(), &mut files);
    files.retain(|found| *found != file);
    files.sort();
    let size: u64 = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|data| data.len())
        .sum();
    ensure!(
        size <= LARGEST,
        "{} has more than {LARGEST} bytes of files beside the task",
        folder.display()
    );
    let boundary = format!("{BOUNDARY}{}", uuid::Uuid::now_v7().simple());
    let mut body = Vec::new();
    let task = serde_json::to_vec(&task)?;
    part(&mut body, &boundary, ("task", "application/json"), &task);
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        let Some(name) = name
            .to_str()
            .filter(|name| !name.contains(['"', '\r', '\n']))
        else {
            continue;
        };
        let bytes = std::fs::read(&file)?;
        part(
            &mut body,
            &boundary,
            (name, "application/octet-stream"),
            &bytes,
        );
    }
    body.extend(format!("--{boundary}--\r\n").into_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), body))
}

fn part(body: &mut Vec<u8>, boundary: &str, (name, kind): (&str, &str), bytes: &[u8]) {
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    body.extend(head.into_bytes());
    body.extend(bytes);
    body.extend(b"\r\n");
}

/// Every file below a folder but those of the source; links are not followed.
fn collect(folder: &Path, source: Option<&Path>, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && Some(path.as_path()) != source => {
                collect(&path, source, files);
            }
            Ok(kind) if kind.is_file() => files.push(path),
            _ => {}
        }
    }
}
