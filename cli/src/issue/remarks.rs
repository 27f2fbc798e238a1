//! The comments to a pull request, as a review of its patch; or a mail in an archive.

use super::{Forge, allowed, author, read, text_of};
use anyhow::Context;
use patchwright_config::Settings;
use reqwest::Url;
use serde_json::Value;

/// A comment to a pull request.
#[derive(Debug)]
pub(crate) struct Remark {
    pub(crate) text: String,
    /// The lines of the diff that it is about, as far as the forge gives them.
    pub(crate) lines: String,
}

/// Reads what others than its author said of a pull request, in the order in which they said it,
/// with its title; `None` where the address is none of a forge.
///
/// # Errors
/// The forge does not answer, or not in JSON.
pub(crate) async fn remarks(
    url: &str,
    settings: &Settings,
) -> anyhow::Result<Option<(String, Vec<Remark>)>> {
    let Some(forge) = Forge::read(url, &settings.intake) else {
        return Ok(None);
    };
    let request = forge.json(&forge.issue).await?;
    let mut said = Vec::new();
    for address in addresses(url, &forge) {
        let answer = forge.json(&address).await?;
        said.extend(answer.as_array().cloned().unwrap_or_default());
    }
    let author = author(&request);
    said.retain(|remark| super::author(remark) != author && remark["system"] != true);
    let since = |remark: &Value| text_of(remark, &["created_at", "submitted_at"]);
    said.sort_by_key(since);
    let remark = |said: &Value| Remark {
        text: text_of(said, &["body"]),
        lines: text_of(said, &["diff_hunk"]),
    };
    let remarks = said.iter().map(remark).collect();
    Ok(Some((text_of(&request, &["title"]), remarks)))
}

/// Where a forge keeps what is said of a request: GitHub has reviews, and comments to lines, apart.
fn addresses(url: &str, forge: &Forge) -> Vec<String> {
    let mut addresses = vec![forge.comments.clone()];
    let url = Url::parse(url).ok();
    let kind = url.as_ref().and_then(|url| url.path_segments()?.nth(2));
    if kind == Some("pull") {
        let request = forge.issue.replace("/issues/", "/pulls/");
        let of = |what| format!("{request}/{what}?per_page=100");
        addresses.extend(["comments", "reviews"].map(of));
    }
    addresses
}

/// Reads what an address names.
///
/// # Errors
/// The address is not allowed, or nothing answers there.
pub(crate) async fn bytes(url: &str, settings: &Settings) -> anyhow::Result<Vec<u8>> {
    let address = Url::parse(url).context("it is no address")?;
    let host = address.host_str().context("it names no host")?;
    read(url, &allowed(&address, &[host], &settings.intake)).await
}
