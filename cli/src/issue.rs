//! An issue of a public forge as the start of a repair: its text is the report, its attachments
//! and the inputs that it quotes are candidates for the PoV. The comments to a pull request are a
//! review of its patch.
//!
//! Only the forge that the address names is asked, under the rules for addresses that somebody
//! else names (`patchwright_run::intake`). Everything it answers is data: file names are made
//! plain, and sizes are limited.

pub(crate) mod attached;
#[cfg(feature = "daemon")]
mod remarks;

#[cfg(feature = "daemon")]
pub(crate) use remarks::{Remark, bytes, remarks};

use crate::common::WrongInput;
use anyhow::Context;
use patchwright_config::{Intake, Settings};
use patchwright_run::intake::{address, download};
use reqwest::Url;
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
        let who = author(comment).unwrap_or("somebody");
        let body = text_of(comment, &["body"]);
        let _ = write!(text, "\nComment of {who}:\n\n{body}\n");
    }
    text
}

/// Returns the first of these fields that holds a text.
fn text_of(value: &Value, fields: &[&str]) -> String {
    let mut texts = fields.iter().filter_map(|field| value[*field].as_str());
    texts.next().unwrap_or_default().replace("\r\n", "\n")
}

/// Whoever wrote an issue, a request or a comment.
fn author(value: &Value) -> Option<&str> {
    let who = value.pointer("/user/login");
    who.or_else(|| value.pointer("/author/username"))?.as_str()
}

async fn read(url: &str, allowed: &Intake) -> anyhow::Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new()?;
    download::to_file(url, file.path(), LARGEST, allowed).await?;
    Ok(std::fs::read(file.path())?)
}

/// Returns what may be asked for an address that somebody gave: these hosts, and one inside only
/// where the settings allow this very one.
fn allowed(url: &Url, hosts: &[&str], intake: &Intake) -> Intake {
    let inside = Intake {
        hosts: Vec::new(),
        ..intake.clone()
    };
    let private = address::check_url(url, &inside).is_ok();
    let host = url.host_str().filter(|_| private);
    Intake {
        hosts: hosts.iter().copied().map(str::to_owned).collect(),
        private_hosts: host.into_iter().map(str::to_owned).collect(),
        ..inside
    }
}

/// The most bytes of an answer or of an attachment.
const LARGEST: u64 = 16 << 20;
/// Where GitHub keeps attachments: its addresses redirect there.
const GITHUB: [&str; 3] = ["github.com", "api.github.com", "*.githubusercontent.com"];

/// The places of one issue at its forge.
#[derive(Debug)]
pub(super) struct Forge {
    /// Scheme, host and port of the address.
    pub(super) origin: String,
    /// The page of the project.
    pub(super) project: String,
    /// The issue and its comments in the forge's API.
    pub(super) issue: String,
    pub(super) comments: String,
    allowed: Intake,
}

impl Forge {
    /// Reads the address of an issue's page; `None` for any other.
    pub(super) fn read(url: &str, intake: &Intake) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let origin = url.origin().ascii_serialization();
        let host = url.host_str()?.to_owned();
        let (hosts, rest) = match host.as_str() {
            "github.com" => (GITHUB.to_vec(), "https://api.github.com".to_owned()),
            host => (vec![host], format!("{origin}/api/v3")),
        };
        let parts: Vec<&str> = url.path().trim_matches('/').split('/').collect();
        let (project, issue, comments) = match parts.as_slice() {
            [
                project @ ..,
                "-",
                kind @ ("issues" | "work_items" | "merge_requests"),
                number,
            ] if !project.is_empty() => {
                let api = format!("{origin}/api/v4/projects/{}", project.join("%2F"));
                let kind = kind.replace("work_items", "issues");
                let issue = format!("{api}/{kind}/{number}");
                let comments = format!("{issue}/notes?sort=asc&per_page=100");
                (project.join("/"), issue, comments)
            }
            [owner, name, "issues" | "pull", number, ..] => {
                let issue = format!("{rest}/repos/{owner}/{name}/issues/{number}");
                let comments = format!("{issue}/comments?per_page=100");
                (format!("{owner}/{name}"), issue, comments)
            }
            _ => return None,
        };
        Some(Self {
            project: format!("{origin}/{project}"),
            origin,
            issue,
            comments,
            allowed: allowed(&url, &hosts, intake),
        })
    }

    pub(super) async fn json(&self, url: &str) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.bytes(url).await?).context("the answer is no JSON")
    }

    pub(super) async fn bytes(&self, url: &str) -> anyhow::Result<Vec<u8>> {
        read(url, &self.allowed).await
    }
}

#[cfg(test)]
mod tests {
    use super::Forge;
    use patchwright_config::Settings;

    #[test]
    fn addresses_of_issues_are_known() {
        let intake = Settings::with(&[]).unwrap().intake;
        for (url, expected) in [
            (
                "https://github.com/a/b/issues/7#issuecomment-1",
                Some("https://api.github.com/repos/a/b/issues/7"),
            ),
            (
                "https://git.example.org/a/b/issues/7",
                Some("https://git.example.org/api/v3/repos/a/b/issues/7"),
            ),
            (
                "https://gitlab.com/g/h/p/-/issues/12",
                Some("https://gitlab.com/api/v4/projects/g%2Fh%2Fp/issues/12"),
            ),
            (
                "https://gitlab.com/g/p/-/merge_requests/3",
                Some("https://gitlab.com/api/v4/projects/g%2Fp/merge_requests/3"),
            ),
            ("https://github.com/a/b", None),
            ("issues/7", None),
        ] {
            let forge = Forge::read(url, &intake);
            let issue = forge.as_ref().map(|forge| forge.issue.as_str());
            assert_eq!(issue, expected, "{url}");
            assert!(forge.is_none_or(|forge| forge.allowed.private_hosts.is_empty()));
        }
    }
}
