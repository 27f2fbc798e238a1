//! Autonomous repair of crashes, with evidence.

pub mod model;
pub mod settings;
