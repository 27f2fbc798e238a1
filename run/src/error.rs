//! Error of whoever names what is not there, or gives settings or an environment that make no sense.

/// A fault of the user's input, and what to do about it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct WrongInput(pub String);
