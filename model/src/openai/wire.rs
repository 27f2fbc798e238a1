//! Writes down what went over the wire, call by call, for whoever has to find
//! out why an endpoint and Patchwright do not understand each other.
//!
//! One line of JSON a call: the body that was sent, the status, and the bytes
//! that came back as they came. Headers are left out, and the key is too.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::{ModelError, Result};

/// Bytes of one answer that are kept.
pub(super) const KEPT: usize = 4 * 1024 * 1024;

/// Bytes that one call sent and got.
#[derive(Debug, Clone, Default)]
pub(super) struct Tape {
    pub(super) sent: String,
    pub(super) status: Option<u16>,
    pub(super) received: Vec<u8>,
}

/// A file with one line a call.
#[derive(Debug)]
pub(super) struct WireLog(Mutex<File>);

impl WireLog {
    /// Appends to the file at `path`.
    pub(super) fn open(path: &str) -> Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(Path::new(path));
        let file = file.map_err(|error| {
            ModelError::fatal(format!(
                "model.wire_log {path:?} cannot be written: {error}"
            ))
        })?;
        Ok(Self(Mutex::new(file)))
    }

    /// Writes one call down. A log that cannot be written stops no call.
    pub(super) fn write(
        &self,
        address: &str,
        tape: &Tape,
        (key, failure): (&str, Option<&ModelError>),
    ) {
        let text = |text: &str| {
            if key.is_empty() {
                text.to_owned()
            } else {
                text.replace(key, "[key]")
            }
        };
        let sent = text(&tape.sent);
        let line = json!({
            "address": address,
            "sent": serde_json::from_str(&sent).unwrap_or(Value::String(sent)),
            "status": tape.status,
            "received": text(&String::from_utf8_lossy(&tape.received)),
            "failure": failure.map(|failure| text(&failure.to_string())),
        });
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            tracing::warn!(%error, "model.wire_log cannot be written");
        }
    }
}
