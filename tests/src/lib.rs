//! What the integration tests share: the command line and the daemon under test, a model
//! endpoint whose answers a test writes, a PostgreSQL, and a program with a bug.
//!
//! Support only; the tests themselves lie in `it/`.

pub mod command;
pub mod daemon;
pub mod http;
pub mod model;
pub mod postgres;
pub mod program;
