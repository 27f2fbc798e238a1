//! What the integration tests share: the command line under test and a model
//! endpoint whose answers a test writes.
//!
//! Support only; the tests themselves lie in `it/`.

pub mod command;
pub mod model;
