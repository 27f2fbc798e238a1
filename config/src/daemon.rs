//! The sections of the daemon: its interface, what it lets in, and what it
//! tells of itself. Meanings and defaults stand in `config/default.toml`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

/// The HTTP interface.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Http {
    /// Where it listens.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The file that a first token is written to, where others can reach the daemon and
    /// there is none.
    pub first_token: Option<String>,
    /// Where liveness and readiness are told besides.
    #[schemars(with = "Option<String>")]
    pub health: Option<SocketAddr>,
    /// Web pages that may call it without a token, besides its own.
    pub origins: Vec<String>,
    /// Kilobytes of a body that is not an upload.
    pub body_kb: usize,
    /// Megabytes of an upload, all its parts together.
    pub upload_mb: usize,
    /// Requests a second of one caller.
    pub rate: u32,
    /// Connections at once.
    pub connections: usize,
    /// Connections of one address at once.
    pub peer_connections: usize,
    /// Requests at once.
    pub requests: usize,
    /// Event streams at once.
    pub streams: usize,
    /// Time of a request.
    pub timeout: Duration,
    /// Time in which the headers of a request have to come.
    pub headers_timeout: Duration,
    /// Time of an upload.
    pub upload_timeout: Duration,
}

/// Rules for what is let in from outside.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Intake {
    /// Folders of this machine that tasks may name.
    pub folders: Vec<PathBuf>,
    /// Hosts that sources may come from.
    pub hosts: Vec<String>,
    /// Hosts that may lie in a private network.
    pub private_hosts: Vec<String>,
    /// True when commands with network are taken from outside.
    pub network_commands: bool,
    /// Megabytes of an archive that is downloaded.
    pub archive_mb: u64,
    /// Megabytes that an archive may unpack to.
    pub unpacked_mb: u64,
    /// Entries of an archive.
    pub entries: u64,
    /// Files that may come with one task.
    pub files: usize,
    /// Tasks of one token that have not ended.
    pub open_tasks: u64,
    /// Megabytes of tasks and files that are kept for one token.
    pub kept_mb: u64,
    /// Files that are kept for one token.
    pub kept_files: u64,
}

/// The webhook of a forge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Webhook {
    /// A word that the forge and the daemon alone know.
    #[schemars(with = "Option<String>")]
    pub secret: Option<SecretString>,
    /// People of the forge who decide about candidates.
    pub deciders: Vec<String>,
}

/// Telemetry: messages, traces and metrics of the daemon.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Telemetry {
    /// Which messages are written.
    pub log: String,
    /// Form in which they are written.
    pub format: LogFormat,
    /// Where traces are sent.
    pub otlp: Option<String>,
    /// Headers that go with them.
    #[schemars(with = "BTreeMap<String, String>")]
    pub otlp_headers: BTreeMap<String, SecretString>,
    /// The name that traces carry.
    pub service: String,
}

/// Form in which messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
