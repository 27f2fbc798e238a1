//! The daemon: a queue of tasks that any number of workers on any number of
//! machines work off, its HTTP interfaces and its telemetry.
//!
//! [`service`] is what every front talks to. Nothing here decides how a crash
//! is repaired, and nothing of a front reaches the store but through it.

pub mod api;
pub mod crs;
pub mod follow_up;
mod login;
mod machine;
pub mod review;
pub mod service;
mod task_watcher;
pub mod telemetry;
pub mod worker;
