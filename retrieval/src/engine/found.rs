//! Answers from searches through files: literal text, patterns and rules.
//! Hits get the function around them, an order and a limit here.

use super::Engine;
use crate::answer::{Answer, Answered, Hit, Miss, merge_hits};
use crate::pattern::{Haystack, Matches};
use crate::snippet::Tier;
use crate::text::{find_literal, find_regex};
use itertools::Itertools;
use patchwright_source::TreePath;
use std::cmp::Reverse;

/// More hits than this say that the query says nothing.
const FAR_TOO_MANY: usize = 5_000;
/// From this many hits on, the answer advises how to narrow the query.
const MANY: usize = 200;
/// Limit on how many hits of a text are shown; the others are counted. A text is asked for
/// to learn where it is, and the nearest come first.
const TEXT_RESULTS: usize = 6;

impl Engine {
    pub(super) fn answer_text(
        &self,
        mut answer: Answer,
        (text, regex): (&str, bool),
        path: Option<&str>,
    ) -> Answered {
        answer.most = TEXT_RESULTS;
        let files = self.files_to_search(path)?;
        let haystack = Haystack::new(self.tree(), &files, &self.settings);
        let found = if regex {
            find_regex(&haystack, text).map_err(Miss::Bad)?
        } else {
            find_literal(&haystack, text)
        };
        if let Some(how) = found.relaxed {
            answer.note(format!("found only {how}"));
        }
        let at = path.map(|path| format!(" at {path}")).unwrap_or_default();
        let nothing = format!("this text is in none of the {} files{at}", files.len());
        let around = self.settings.context_lines as u32;
        self.fill(answer, &found, around, nothing)
    }

    /// The files in which to look; a miss where none has the path that was asked for.
    fn files_to_search(&self, path: Option<&str>) -> Result<Vec<&TreePath>, Miss> {
        let files = self.files_in(path);
        match path {
            Some(path) if files.is_empty() && !self.files().is_empty() => Err(Miss::NotFound {
                what: format!("no file or folder {path}"),
                nearest: self.nearest_paths(path),
            }),
            _ => Ok(files),
        }
    }

    /// Answers a query for code of a form, which `find` looks for.
    pub(super) fn answer_form(
        &self,
        mut answer: Answer,
        path: Option<&str>,
        find: impl FnOnce(&Haystack<'_>) -> Result<Matches, String>,
    ) -> Answered {
        let mut files = self.files_to_search(path)?;
        // When the file that takes longest comes last, one processor works and the others wait.
        let size = |path: &TreePath| self.index.file(path).map_or(0, |file| file.size);
        files.sort_by_cached_key(|path| Reverse(size(path)));
        let matches = find(&Haystack::new(self.tree(), &files, &self.settings));
        let matches = matches.map_err(Miss::Bad)?;
        if let (Some(how), false) = (matches.relaxed, matches.found.is_empty()) {
            answer.note(format!("no hit as written; the pattern was relaxed: {how}"));
        }
        let nothing = "no code of this form, not even with the pattern relaxed";
        self.fill(answer, &matches, 2, nothing)
    }

    /// Puts places in order, merges those that touch, and cuts the snippets.
    fn fill(
        &self,
        mut answer: Answer,
        matches: &Matches,
        around: u32,
        nothing: impl Into<String>,
    ) -> Answered {
        if matches.stopped {
            answer.note("time ran out; not every file was searched");
        }
        if matches.too_large > 0 {
            let count = matches.too_large;
            answer.note(format!("{count} files were too large to search"));
        }
        let places = &matches.found;
        if places.is_empty() {
            answer.miss = Some(Miss::nothing(nothing));
            return Ok(answer);
        }
        if places.len() > FAR_TOO_MANY {
            answer.miss = Some(Miss::TooMany {
                count: places.len(),
                advice: advice(places),
            });
            return Ok(answer);
        }
        if places.len() > MANY {
            answer.note(format!("{} hits; {}", places.len(), advice(places)));
        }
        let hits = places
            .iter()
            .map(|(path, first, last)| self.place_hit(path, *first, *last, around))
            .collect();
        self.with_hits(answer, merge_hits(hits), Tier::Low)
    }

    fn place_hit(&self, path: &TreePath, first: u32, last: u32, around: u32) -> Hit {
        // A match that is itself a page long needs its ends, not all of it.
        let (from, to) = (first.saturating_sub(around), last + around);
        let shown = if last - first > 60 {
            vec![(from, first + 20), (last - 5, to)]
        } else {
            vec![(from, to)]
        };
        Hit {
            inside: vec![(first, last)],
            ..self.hit(path, first, shown)
        }
    }
}

fn advice(places: &[(TreePath, u32, u32)]) -> String {
    let folders = places.iter().map(|(path, _, _)| path.folder()).counts();
    let folders = folders.into_iter();
    let folders = folders.sorted_by_key(|(folder, count)| (Reverse(*count), *folder));
    let most = folders.take(4);
    let mut most = most.map(|(folder, count)| match folder {
        "" => format!("{count} in ."),
        folder => format!("{count} in {folder}"),
    });
    format!(
        "write more of the text or add path=\"FOLDER\" ({})",
        most.join(", ")
    )
}
