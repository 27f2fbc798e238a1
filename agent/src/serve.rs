//! The daemon: a queue of tasks that any number of workers on any number of
//! machines work off.
//!
//! [`service`] is what every front talks to. Nothing here decides how a crash
//! is repaired, and nothing of a front reaches the store but through it.

pub mod api;
pub mod disk;
pub mod files;
mod lookout;
pub mod queue;
pub mod service;
mod submitter;
pub mod tokens;
pub mod worker;

pub use service::{Service, ServiceError};

/// The name of this machine.
pub fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}
