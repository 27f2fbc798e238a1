//! The decisions of a run, and nothing but decisions.
//!
//! A [`Run`] says what can be done now ([`Run::ready`]) and takes what came of
//! it ([`Run::feed`]). There is no clock here, no input or output, no async, no
//! randomness: the same outcomes in the same order always give the same run,
//! which is how a run is resumed, replayed and tested. Whoever performs the
//! steps is `drive`.

mod lane;
mod opinion;
mod run;
#[cfg(test)]
mod tests;

pub use run::Run;
