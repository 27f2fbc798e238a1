//! What the integration tests share: the command line under test, a model
//! endpoint whose answers a test writes, and a PostgreSQL.
//!
//! Support only; the tests themselves lie in `it/`.

pub mod command;
pub mod model;
pub mod postgres;
