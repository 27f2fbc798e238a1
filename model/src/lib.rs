//! Language models: endpoints, transcripts, retries, prices.
//!
//! [`Model`] is the trait that the loop sees. Its parts are put together like
//! boxes in boxes: [`openai`] speaks to one endpoint and never tries twice,
//! `retry` tries again, `fallback` changes the model, [`recorded`] answers
//! from a transcript or writes one. [`tokens`] counts, [`price`] turns counts
//! into money, [`account`] adds it up for commands outside a run.
//!
//! What this crate deliberately does not do: keep a history, hold a budget, or
//! read what the text of a reply means.

pub mod account;
mod connect;
mod fallback;
pub mod http;
pub mod journaled;
mod model;
pub mod openai;
pub mod price;
pub mod recorded;
mod retry;
#[cfg(test)]
mod test_double;
pub mod tokens;

pub use connect::{Models, connect};
pub use model::{Finish, Message, Model, ModelError, Reply, Request, Result, Role, Usage};
