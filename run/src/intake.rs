//! Intake of files from outside, before anything trusts them: archives that are
//! unpacked, addresses that are asked, downloads.
//!
//! It says yes or no and why. It runs nothing of what it lets in.

pub mod address;
pub mod download;
pub mod unpack;
