//! Fetches an archive from an address that somebody else named.
//!
//! Every address on the way is checked, also those that a redirect leads to,
//! and the connection goes to the very address that was checked. Proxies of the
//! environment are not used: behind one nobody could tell where a name leads.

use super::address::{self, AddressError};
use patchwright_config::Intake;
use patchwright_model::http::{client_builder, default_client};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// The most redirects that are followed.
const REDIRECTS: usize = 5;
/// Until a connection stands.
const CONNECT: Duration = Duration::from_secs(20);
/// Between two pieces of what is downloaded.
const SILENCE: Duration = Duration::from_mins(1);
/// The service by which git asks what a repository has.
const GIT: &str = "/info/refs?service=git-upload-pack";

/// Why something could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The address may not be asked.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// The server answered, but not with what was asked for.
    #[error("{host} answered with status {status}")]
    Status {
        /// The server.
        host: String,
        /// Its message.
        status: u16,
    },
    /// It is larger than allowed.
    #[error("it has more than {0} bytes")]
    TooLarge(u64),
    /// The network failed.
    #[error("{0}")]
    Network(String),
    /// It could not be written.
    #[error("it cannot be kept: {0}")]
    Disk(#[from] io::Error),
}

impl DownloadError {
    /// Tells whether the task is wrong, and trying again would not help.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Address(AddressError::Unknown(_)) | Self::Network(_) | Self::Disk(_) => false,
            Self::Address(_) | Self::TooLarge(_) => true,
            Self::Status { status, .. } => matches!(status, 400..=499) && *status != 429,
        }
    }
}

/// Downloads a URL into a file.
///
/// # Errors
/// When the address may not be asked, or does not give at most `limit` bytes.
pub async fn to_file(
    url: &str,
    into: &Path,
    limit: u64,
    settings: &Intake,
) -> Result<(), DownloadError> {
    save(get(url, settings).await?, into, limit).await
}

/// The same for a user of this machine, who may reach whatever it reaches.
///
/// # Errors
/// When it does not give at most `limit` bytes.
pub async fn to_file_of_anybody(url: &str, into: &Path, limit: u64) -> Result<(), DownloadError> {
    let request = default_client().get(url);
    let response = request.send().await.map_err(|error| network(&error))?;
    save(successful(response)?, into, limit).await
}

async fn save(
    mut response: reqwest::Response,
    into: &Path,
    limit: u64,
) -> Result<(), DownloadError> {
    let mut file = std::fs::File::create(into)?;
    let mut left = limit;
    while let Some(chunk) = response.chunk().await.map_err(|error| network(&error))? {
        let rest = left.checked_sub(chunk.len() as u64);
        left = rest.ok_or(DownloadError::TooLarge(limit))?;
        file.write_all(&chunk)?;
    }
    file.flush()?;
    Ok(())
}

/// Where a repository really lies, and the addresses that were checked for it,
/// as git's `http.curloptResolve` wants them.
///
/// # Errors
/// When it may not be asked or is not there.
pub async fn repository(url: &str, settings: &Intake) -> Result<(String, String), DownloadError> {
    let base = url.trim_end_matches('/');
    let response = get(&format!("{base}{GIT}"), settings).await?;
    let found = response.url().clone();
    drop(response);
    let found = found.as_str().strip_suffix(GIT).unwrap_or(base).to_owned();
    let parsed = address::check(&found, settings)?;
    let (host, port) = endpoint(&parsed);
    let addresses = address::resolve(&host, port, settings).await?;
    let listed: Vec<String> = addresses
        .iter()
        .map(|address| match address.ip() {
            std::net::IpAddr::V4(ip) => ip.to_string(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        })
        .collect();
    Ok((found, format!("{host}:{port}:{}", listed.join(","))))
}

async fn get(url: &str, settings: &Intake) -> Result<reqwest::Response, DownloadError> {
    let url = address::check(url, settings)?;
    // Said before the request, because the client would wrap it up.
    let (host, port) = endpoint(&url);
    address::resolve(&host, port, settings).await?;
    let response = client(settings)?.get(url).send().await;
    successful(response.map_err(|error| network(&error))?)
}

fn successful(response: reqwest::Response) -> Result<reqwest::Response, DownloadError> {
    if response.status().is_success() {
        return Ok(response);
    }
    let (host, _) = endpoint(response.url());
    Err(DownloadError::Status {
        host,
        status: response.status().as_u16(),
    })
}

fn endpoint(url: &Url) -> (String, u16) {
    let host = url.host_str().unwrap_or_default().to_owned();
    (host, url.port_or_known_default().unwrap_or_default())
}

fn client(settings: &Intake) -> Result<Client, DownloadError> {
    let allowed = settings.clone();
    let policy = Policy::custom(move |attempt| {
        if attempt.previous().len() > REDIRECTS {
            return attempt.error("too many redirects");
        }
        match address::check_url(attempt.url(), &allowed) {
            Ok(()) => attempt.follow(),
            Err(error) => attempt.error(error),
        }
    });
    client_builder()
        .user_agent(concat!("patchwright/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(policy)
        .dns_resolver(Checked(settings.clone()))
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .build()
        .map_err(|error| network(&error))
}

/// The innermost cause: the outer ones only say that a request failed.
fn network(error: &reqwest::Error) -> DownloadError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        if let Some(error) = inner.downcast_ref::<AddressError>() {
            return DownloadError::Address(error.clone());
        }
        cause = inner;
    }
    DownloadError::Network(cause.to_string())
}

/// Looks names up and refuses what lies inside.
#[derive(Debug, Clone)]
struct Checked(Intake);

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let settings = self.0.clone();
        Box::pin(async move {
            // The port is filled in by the client.
            let found = address::resolve(name.as_str(), 0, &settings).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
