//! Autonomous repair of crashes, with evidence.

pub mod cli;
pub mod model;
pub mod settings;
pub mod task;
