//! Shared parts of the integration tests: the command line and the daemon under test, a
//! scripted model endpoint, a PostgreSQL, and a program with a bug.
//!
//! Support only; the tests themselves lie in `it/`.

pub mod browser;
pub mod command;
pub mod daemon;
pub mod engine;
pub mod http;
pub mod model;
pub mod postgres;
pub mod program;
