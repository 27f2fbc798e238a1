//! Patches of language models, turned into changes of a source tree, or into a refusal.
//!
//! [`reply::read`] takes a model's whole reply apart: analysis, queries, probes
//! and the patch. [`prepare`] finds the place of every edit of a [`Patch`] in
//! the pristine tree, refuses what the [`Guard`] forbids, and yields the
//! [`Changes`] together with their unified diff. [`read_diff_bytes`] does the same
//! for a unified diff that somebody else made; [`diff`] writes one of changes.
//!
//! Reading is tolerant, placing is not: an edit goes where its whole original
//! stands, and nowhere when that is in doubt. All edits are against the
//! pristine tree, in any order, all or nothing.
//!
//! This crate deliberately does not talk to a model, use the network,
//! run a program, write a file, or know what the code means.
//!
//! # Example
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # std::fs::write(folder.path().join("a.c"), "int f(int n) {\n    return 8 / n;\n}\n").unwrap();
//! # let tree = patchwright_source::Tree::open(folder.path()).unwrap();
//! let reply = patchwright_patcher::reply::read(
//!     "<patch><edit file='a.c' lines=2>
//!      <original>return 8 / n;</original>
//!      <replacement>return n ? 8 / n : 0;</replacement></edit></patch>",
//!     false,
//! );
//! let guard = patchwright_patcher::Guard::new(&[]).unwrap();
//! let patch = reply.patch.unwrap();
//! let prepared = patchwright_patcher::prepare(&tree, &patch, &guard, &|_| true).unwrap();
//! assert!(prepared.diff.contains("+    return n ? 8 / n : 0;"));
//! ```

mod background;
mod changes;
mod diff;
mod edit;
mod guard;
mod indent;
mod locate;
mod merge;
mod names;
mod normal;
mod numbers;
mod paths;
mod plan;
mod prepare;
mod pristine;
mod refusal;
pub mod reply;
mod script;
mod splice;
mod syntax;
mod tokens;
mod unescape;

pub use background::Background;
pub use changes::{Changes, Placement, PlacementKind, Prepared, Touched};
pub use diff::diff;
pub use edit::{Edit, Hunk, Patch};
pub use guard::{Guard, PatternError};
pub use prepare::{prepare, prepare_after, read_diff_bytes};
pub use refusal::{Refusal, Rule, ShownLine};
pub use reply::{Probe, RawQuery, Reply};
