//! What comes from outside, before anything trusts it: archives that are
//! unpacked, addresses that are asked, and what a task that was sent over the
//! network may name.
//!
//! It says yes or no and why. It runs nothing of what it lets in, and it knows
//! neither the queue nor the interface that a task came through.

pub mod address;
pub mod admission;

pub mod download;
pub mod unpack;
