//! What the integration tests share: the command line under test.
//!
//! Support only; the tests themselves lie in `it/`.

pub mod command;
