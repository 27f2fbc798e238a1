//! The interfaces of cyber reasoning systems: what they send becomes tasks,
//! what we find goes back to them in their own words.
//!
//! Nothing here decides about a patch; that is the business of a run.

pub mod cover;
pub mod oss;
