//! Interfaces for cyber reasoning systems, each with a double of the other side,
//! over real HTTP.

mod challenges;
mod competition;
mod daemon;
mod oss;
mod rows;
pub(crate) mod served;
mod twins;
