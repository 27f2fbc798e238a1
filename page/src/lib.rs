//! The review page: runs, candidates and plots as HTML that a server sends.
//!
//! Everything that comes from code under review, from logs or from a model is
//! text: it is escaped, and characters that nobody sees are written by their
//! number. This crate reads what the store and the agent record. It knows no HTTP
//! server and no queue, reads no file and asks nobody.

mod candidate;
mod code;
mod hunks;
mod list;
mod message;
mod plots;
mod run;
mod template;
mod text;
mod view;

pub use candidate::candidate;
pub use code::SourceLines;
pub use list::list;
pub use message::{event, interface, log, missing, sign_in, source};
pub use plots::plots;
pub use run::{changing_parts, run, story, story_lines};
pub use template::ROOT;
pub use view::{CandidateView, DiffStyle, ListView, PlotsView, RunView, Viewer, is_live};

pub const STYLE: &str = include_str!("assets/style.css");
/// The script: lazy parts, live updates, keys, trying out the HTTP interface.
pub const SCRIPT: &str = include_str!("assets/script.js");
pub const ICON: &str = include_str!("assets/icon.svg");
