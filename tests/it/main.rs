//! Behaviour through the real command line and HTTP, and the house rules. One binary: one link.
//!
//! A module per behaviour, in alphabetical order.

#[cfg(test)]
mod audit;
#[cfg(test)]
mod backport;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod busy;
#[cfg(test)]
mod challenged;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod compact;
#[cfg(test)]
mod consulted;
#[cfg(test)]
mod crs;
#[cfg(test)]
#[cfg(test)]
mod examples;
#[cfg(test)]
mod export;
#[cfg(test)]
mod fix;
#[cfg(test)]
mod found;
#[cfg(test)]
mod guides;
#[cfg(test)]
mod hints;
#[cfg(test)]
mod house;
#[cfg(test)]
mod http;
#[cfg(test)]
mod init;
#[cfg(test)]
mod issue;
#[cfg(test)]
mod judge;
#[cfg(test)]
mod judged;
#[cfg(test)]
mod lanes;
#[cfg(test)]
mod litellm;
#[cfg(test)]
mod mcp;
mod mistakes;
#[cfg(test)]
mod model;
#[cfg(test)]
mod money;
#[cfg(test)]
mod oss_fuzz;
#[cfg(test)]
mod pause;
#[cfg(test)]
mod pipelines;
#[cfg(test)]
mod probes;
#[cfg(test)]
mod queue;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod review;
mod revise;
#[cfg(test)]
mod run;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod send;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod siblings;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod source;
#[cfg(test)]
mod store;
#[cfg(test)]
mod superseded;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod upstream;
