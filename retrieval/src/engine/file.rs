//! Answers about files: lines of one, the whole of a small one, the outline
//! of a large one. Every path is brought into the tree or refused first.

use super::lookup::described;
use super::{Engine, FILE_LINES};
use crate::answer::{Answer, Answered, Miss};
use crate::error::Result;
use crate::query::LineRange;
use crate::snippet::{Snippet, place};
use itertools::Itertools;
use patchwright_source::{SourceError, Text, TreePath};

/// Limit on how many names are offered in place of one that was not found.
const NEAREST: usize = 5;
/// Limit on how many lines of a large file without definitions are shown.
const HEAD: u32 = 80;

impl Engine {
    pub(super) fn answer_file(
        &self,
        mut answer: Answer,
        path: &str,
        lines: &[LineRange],
    ) -> Answered {
        let (path, note) = self.resolve(path)?;
        answer.notes.extend(note);
        let text = self.tree().read(&path)?;
        if text.is_binary() {
            let reason = format!("{path} is binary, {} bytes", text.bytes().len());
            return Err(Miss::Unreadable(reason));
        }
        if lines.is_empty() {
            self.whole_or_outline(&mut answer, &path, &text)?;
        } else {
            self.ranges(&mut answer, &path, &text, lines)?;
        }
        answer.total = answer.snippets.len();
        answer.shown = answer.total;
        Ok(answer)
    }

    /// Brings a path into the tree: as it is, without leading parts of another
    /// machine, or as the only file of that name.
    pub(crate) fn resolve(&self, written: &str) -> Result<(TreePath, Option<String>), Miss> {
        let own = TreePath::new(written);
        if let Ok(path) = &own
            && self.tree().has_file(path)
        {
            return Ok((path.clone(), None));
        }
        let wanted = written.trim_start_matches(['/', '.', '\\']);
        let files = self.files().iter();
        let by_end: Vec<&TreePath> = files
            .filter(|path| ends_with_path(path.as_str(), wanted))
            .collect();
        let found = self.tree().rebase(written);
        let only = by_end.first().filter(|_| by_end.len() == 1);
        if let Some(path) = found.or_else(|| only.map(|path| (*path).clone())) {
            let note = format!("{written} is {path} in this tree");
            return Ok((path, Some(note)));
        }
        match own {
            Ok(path) => {
                let read = self.tree().read_up_to(&path, 0);
                if let Err(error @ (SourceError::NotAFile { .. } | SourceError::Outside { .. })) =
                    read
                {
                    return Err(error.into());
                }
            }
            Err(error) if by_end.is_empty() => {
                let reason = format!("{error}, and no file of the tree has such an ending");
                return Err(Miss::Outside(reason));
            }
            Err(_) => {}
        }
        let (what, nearest) = if by_end.is_empty() {
            let what = format!("no file {written}");
            (what, self.nearest_paths(written))
        } else {
            let paths = by_end.iter().take(NEAREST).map(ToString::to_string);
            let what = format!("{written} names {} files", by_end.len());
            (what, paths.collect())
        };
        Err(Miss::NotFound { what, nearest })
    }

    /// The files and folders whose names are most like the last part of a path.
    pub(super) fn nearest_paths(&self, written: &str) -> Vec<String> {
        let written = written.trim_end_matches('/');
        let name = written.rsplit('/').next().unwrap_or(written);
        let folders = self.files().iter().map(TreePath::folder).unique();
        let folders = folders.filter(|folder| !folder.is_empty());
        let paths = self.files().iter().map(TreePath::as_str).chain(folders);
        let nearest = paths
            .map(|path| {
                let last = path.rsplit('/').next().unwrap_or(path);
                (strsim::levenshtein(last, name), path)
            })
            .filter(|(distance, _)| *distance <= name.len() / 2);
        let nearest = nearest.sorted_unstable().take(NEAREST);
        nearest.map(|(_, path)| path.to_owned()).collect()
    }

    fn whole_or_outline(&self, answer: &mut Answer, path: &TreePath, text: &Text) -> Result<()> {
        let count = text.line_count();
        if count == 0 {
            answer.listing.push(format!("{path} is empty"));
        } else if count <= FILE_LINES {
            let whole = Snippet::cut(path, text, &[(1, count as u32)], false);
            answer.snippets.extend(whole);
        } else {
            answer.note(format!(
                "{path} has {count} lines: its outline; ask for lines by {path}:FIRST-LAST"
            ));
            answer.listing = self.outline_lines(path, text)?;
            if answer.listing.is_empty() {
                let head = Snippet::cut(path, text, &[(1, HEAD)], false);
                answer.snippets.extend(head);
            }
        }
        Ok(())
    }

    fn ranges(
        &self,
        answer: &mut Answer,
        path: &TreePath,
        text: &Text,
        lines: &[LineRange],
    ) -> Result<()> {
        let count = text.line_count() as u32;
        let limit = FILE_LINES as u32;
        let mut left = limit;
        let mut shown = Vec::new();
        for range in lines {
            let wanted = range.last.min(count);
            let last = wanted.min(range.first.saturating_add(left).saturating_sub(1));
            if last < range.first {
                continue;
            }
            if last < wanted {
                answer.note(format!(
                    "at most {limit} lines at a time; go on with {}",
                    place(path, last + 1, wanted)
                ));
            }
            left -= last - range.first + 1;
            shown.push((range.first, last));
        }
        let Some(mut snippet) = Snippet::cut(path, text, &shown, false) else {
            answer.miss = Some(Miss::nothing(format!("{path} has {count} lines")));
            return Ok(());
        };
        let around = self.enclosing(path, (snippet.start_line, snippet.end_line))?;
        snippet.note = around.as_ref().map(described);
        answer.snippets.push(snippet);
        Ok(())
    }
}

/// Returns whether a path ends in whole components of another.
pub(super) fn ends_with_path(path: &str, wanted: &str) -> bool {
    let before = path.strip_suffix(wanted).filter(|_| !wanted.is_empty());
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
