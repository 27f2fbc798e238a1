//! The daemon: a queue of tasks that any number of workers on any number of
//! machines work off, its HTTP interfaces and its telemetry; and [`session`], a
//! run from its beginning to its report, which the command line uses too.
//!
//! [`service`] is what every front talks to. Nothing here decides how a crash
//! is repaired, and nothing of a front reaches the store but through it.

mod admission;
pub mod api;
pub mod crs;
mod files;
pub mod follow_up;
mod login;
mod machine;
pub mod review;
pub mod service;
pub mod session;
mod submitter;
mod task_watcher;
pub mod telemetry;
mod tokens;
pub mod worker;
