//! Search for an original in the other files of the tree, to name the right one
//! in a refusal.

use super::Plan;
use crate::{Edit, Refusal, Rule};
use patchwright_source::TreePath;

/// Files beyond this many are not looked through.
const MOST_FILES: usize = 20_000;

/// Larger files are not looked through, in bytes.
const LARGEST: u64 = 2 * 1024 * 1024;

/// All that is read, in bytes.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// Shorter lines stand in many files.
const SHORTEST: usize = 16;

/// Files beyond this many are not named.
const MOST_NAMED: usize = 3;

impl Plan<'_> {
    /// Adds to a refusal where else the longest line of the original stands.
    /// Only one edit of a patch is worth the time.
    pub(super) fn look_elsewhere(&mut self, edit: &Edit, refusal: &mut Refusal) {
        let lost = matches!(refusal.rule, Rule::NoSuchFile | Rule::NotFound);
        let Some(line) = longest_line(edit).filter(|_| lost && !self.looked_elsewhere) else {
            return;
        };
        let own = self.paths.existing(edit.file(), true).ok();
        let line_in = |path: &TreePath| {
            let text = self.paths.tree.read_up_to(path, LARGEST).ok()?;
            let decoded = text.decode(text.bytes());
            decoded.lines().position(|other| other.trim() == line)
        };
        if own.as_ref().and_then(line_in).is_some() {
            return;
        }
        self.looked_elsewhere = true;
        let mut read = 0;
        let mut found = Vec::new();
        for path in self.paths.files().iter().take(MOST_FILES) {
            if found.len() > MOST_NAMED || read > MOST_BYTES || Some(path) == own.as_ref() {
                continue;
            }
            let size = std::fs::metadata(self.paths.tree.absolute(path));
            read += size.map_or(0, |size| usize::try_from(size.len()).unwrap_or(usize::MAX));
            found.extend(line_in(path).map(|at| format!("{path}:{}", at + 1)));
        }
        if (1..=MOST_NAMED).contains(&found.len()) {
            let places = found.join(" and ");
            refusal.reason = format!("{}; its line `{line}` stands in {places}", refusal.reason);
        }
    }
}

/// The longest line of what an edit quotes.
fn longest_line(edit: &Edit) -> Option<String> {
    let lines: Vec<&str> = match edit {
        Edit::Replace { original, .. } => original.as_deref()?.lines().collect(),
        Edit::Hunk(hunk) => hunk.old.iter().map(String::as_str).collect(),
        _ => return None,
    };
    let line = lines.into_iter().max_by_key(|line| line.len())?.trim();
    (line.len() >= SHORTEST).then(|| line.to_owned())
}
