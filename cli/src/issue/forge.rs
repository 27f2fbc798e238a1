//! The forge of an issue: its addresses, and what is downloaded from it.
//!
//! Only the host of the address is asked, and those that GitHub keeps attachments on.

use anyhow::Context;
use patchwright_config::Intake;
use patchwright_run::intake::{address, download};
use reqwest::Url;
use serde_json::Value;

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
        let parts: Vec<&str> = url.path().trim_matches('/').split('/').collect();
        let (project, issue, comments) = match parts.as_slice() {
            [project @ .., "-", "issues" | "work_items", number] if !project.is_empty() => {
                let api = format!("{origin}/api/v4/projects/{}", project.join("%2F"));
                let issue = format!("{api}/issues/{number}");
                let comments = format!("{issue}/notes?sort=asc&per_page=100");
                (project.join("/"), issue, comments)
            }
            [owner, name, "issues" | "pull", number] => {
                let api = match host.as_str() {
                    "github.com" => "https://api.github.com".to_owned(),
                    _ => format!("{origin}/api/v3"),
                };
                let issue = format!("{api}/repos/{owner}/{name}/issues/{number}");
                let comments = format!("{issue}/comments?per_page=100");
                (format!("{owner}/{name}"), issue, comments)
            }
            _ => return None,
        };
        let hosts = match host.as_str() {
            "github.com" => GITHUB.map(str::to_owned).to_vec(),
            _ => vec![host.clone()],
        };
        // A host inside is asked only where the settings allow this very one.
        let inside = Intake {
            hosts: Vec::new(),
            ..intake.clone()
        };
        let private = address::check_url(&url, &inside).is_ok();
        Some(Self {
            project: format!("{origin}/{project}"),
            origin,
            issue,
            comments,
            allowed: Intake {
                hosts,
                private_hosts: Some(host).filter(|_| private).into_iter().collect(),
                ..inside
            },
        })
    }

    pub(super) async fn json(&self, url: &str) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.bytes(url).await?).context("the answer is no JSON")
    }

    pub(super) async fn bytes(&self, url: &str) -> anyhow::Result<Vec<u8>> {
        let file = tempfile::NamedTempFile::new()?;
        download::to_file(url, file.path(), LARGEST, &self.allowed).await?;
        Ok(std::fs::read(file.path())?)
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
