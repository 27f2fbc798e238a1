//! The review page: runs, candidates and plots as HTML that a server sends.
//!
//! Everything that comes from code under review, from logs or from a model is
//! text: it is escaped, and characters that nobody sees are written by their
//! number. This crate reads what the store and the agent record. It knows no HTTP
//! server and no queue, reads no file and asks nobody.

mod assets;
mod candidate;
mod code;
mod hunks;
mod interface;
mod layout;
mod list;
mod message;
mod plots;
mod run;
mod stages;
mod text;
mod view;

pub use assets::{ICON, SCRIPT, STYLE};
pub use candidate::candidate;
pub use code::SourceLines;
pub use interface::interface;
pub use layout::ROOT;
pub use list::list;
pub use message::{event, log, missing, sign_in, source};
pub use plots::plots;
pub use run::{changing_parts, run, story_line, story_lines};
pub use view::{CandidateView, DiffStyle, ListView, PlotsView, RunView, Viewer, is_live};
