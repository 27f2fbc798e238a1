//! An issue of a public forge as the start of a repair: its text is the report, its attachments
//! and the inputs that it quotes are candidates for the PoV.
//!
//! Only the forge that the address names is asked, under the rules for addresses that somebody
//! else names (`patchwright_run::intake`). Everything it answers is data: file names are made
//! plain, and sizes are limited.

mod attached;
mod forge;

use crate::common::WrongInput;
use forge::Forge;
use patchwright_config::Settings;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The most attachments that are downloaded, and the most inputs that are kept.
const ATTACHMENTS: usize = 8;
const INPUTS: usize = 12;

/// An issue as it was written to a folder.
#[derive(Debug)]
pub(crate) struct Issue {
    pub(crate) title: String,
    /// Title, labels, text, comments and attached crash reports.
    pub(crate) report: PathBuf,
    /// Files of which one may be the PoV, the likeliest first.
    pub(crate) inputs: Vec<PathBuf>,
}

/// Reads an issue, and writes its report and inputs to a folder.
///
/// # Errors
/// The address is no issue of a forge, the forge does not answer, or a file cannot be written.
pub(crate) async fn fetch(url: &str, into: &Path, settings: &Settings) -> anyhow::Result<Issue> {
    let forge = Forge::read(url, &settings.intake).ok_or_else(|| {
        let forms = "https://HOST/OWNER/REPOSITORY/issues/NUMBER, or https://HOST/PROJECT/-/issues/NUMBER for GitLab";
        WrongInput(format!("--issue: {url} is no address of an issue: expected {forms}"))
    })?;
    let failed =
        |error: anyhow::Error| WrongInput(format!("--issue: {url} cannot be read: {error:#}"));
    let issue = forge.json(&forge.issue).await.map_err(failed)?;
    let comments = forge.json(&forge.comments).await.map_err(failed)?;
    let title = text_of(&issue, &["title"]);
    let mut text = written(&issue, &comments);
    let mut inputs = Vec::new();
    let links = attached::links(&text, &forge.origin, &forge.project);
    for link in links.iter().take(ATTACHMENTS) {
        if inputs.len() >= INPUTS {
            break;
        }
        match forge.bytes(link).await {
            Ok(bytes) => inputs.extend(attached::files(link, bytes)),
            Err(error) => {
                let _ = writeln!(text, "\n({link} could not be downloaded: {error:#})");
            }
        }
    }
    inputs.extend(attached::quoted(&text));
    std::fs::create_dir_all(into)?;
    let mut files = Vec::new();
    for (number, (name, bytes)) in (1..).zip(inputs.into_iter().take(INPUTS)) {
        if let Some(log) = attached::as_report(&bytes) {
            let _ = write!(text, "\nAttached as {name}:\n\n```\n{log}\n```\n");
            continue;
        }
        let file = into.join(format!("{number}-{name}"));
        std::fs::write(&file, bytes)?;
        files.push(file);
    }
    let report = into.join("report.md");
    std::fs::write(&report, text)?;
    Ok(Issue {
        title,
        report,
        inputs: files,
    })
}

/// Writes an issue as one text, in the order in which people read it.
fn written(issue: &Value, comments: &Value) -> String {
    let mut text = format!("{}\n", text_of(issue, &["title"]));
    let labels = issue["labels"].as_array().into_iter().flatten();
    let labels = labels.filter_map(|label| label.as_str().or(label["name"].as_str()));
    let labels: Vec<&str> = labels.collect();
    if !labels.is_empty() {
        let _ = write!(text, "\nLabels: {}\n", labels.join(", "));
    }
    let _ = write!(text, "\n{}\n", text_of(issue, &["body", "description"]));
    let said = comments.as_array().into_iter().flatten();
    for comment in said.filter(|comment| comment["system"] != true) {
        let who = comment.pointer("/user/login");
        let who = who.or_else(|| comment.pointer("/author/username"));
        let who = who.and_then(Value::as_str);
        let body = text_of(comment, &["body"]);
        let _ = write!(
            text,
            "\nComment of {}:\n\n{body}\n",
            who.unwrap_or("somebody")
        );
    }
    text
}

/// Returns the first of these fields that holds a text.
fn text_of(value: &Value, fields: &[&str]) -> String {
    let mut texts = fields.iter().filter_map(|field| value[*field].as_str());
    texts.next().unwrap_or_default().replace("\r\n", "\n")
}
