//! The daemon: a queue of tasks that any number of workers on any number of
//! machines work off.
//!
//! [`service`] is what every front talks to. Nothing here decides how a crash
//! is repaired, and nothing of a front reaches the store but through it.

pub mod api;
pub mod files;
pub mod service;
mod submitter;
pub mod tokens;

pub use service::{Service, ServiceError};
