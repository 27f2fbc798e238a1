//! The interfaces of cyber reasoning systems, each with a stand-in for the
//! other side, over real HTTP.

mod challenges;
mod competition;
mod daemon;
mod oss;
mod rows;
mod served;
mod twins;
