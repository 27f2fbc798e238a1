//! The facade: one tree, its index, and every query answered.
//!
//! Answering never fails; what cannot be found or read is said in the answer, and so is a
//! failure of the index.
//! Each kind of query has a file below; ranking and rendering live elsewhere.

mod documents;
mod file;
mod found;
pub(crate) mod frames;
pub(crate) mod lookup;
pub(crate) mod outline;
mod preferences;
mod symbol;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
mod uses;
mod values;

use crate::answer::{Answer, Answered, Hit, Miss};
use crate::error::Result;
use crate::index::{Index, IndexReport};
use crate::pattern::{Haystack, find_pattern};
use crate::query::Query;
use crate::rank::Proximity;
use crate::ranking::Ranking;
use crate::rule::find_rule;
use crate::search::{Scored, WordIndex};
use crate::settings::Settings;
use crate::snippet::{Lines, Snippet, Tier};
use crate::words::meaningful;
use file::ends_with_path;
use itertools::Itertools;
use patchwright_source::{CrashFrame, Language, Tree, TreePath};
use preferences::Preferences;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use texts::Texts;

/// The most lines that a file query shows at a time.
pub const FILE_LINES: usize = 300;
/// The most lines of code in one answer: what a reader takes in at once. Hits
/// beyond them are shown by their first lines.
const ANSWER_LINES: u32 = 600;
/// The lines that every hit shows.
const FIRST_LINES: u32 = 12;

/// One tree, ready to be asked.
///
/// # Example
/// ```
/// use patchwright_retrieval::{Engine, Memory, Query, Settings};
/// # let folder = tempfile::tempdir().unwrap();
/// # let cache = tempfile::tempdir().unwrap();
/// # std::fs::write(folder.path().join("a.c"), "int twice(int x)\n{\n    return 2 * x;\n}\n").unwrap();
/// let engine = Engine::open(folder.path(), cache.path(), Settings::default()).unwrap();
/// let query = Query::read("symbol", "twice", &[]).unwrap();
/// let mut memory = Memory::default();
/// let text = memory.render(1, &engine.answer_round(&memory, &[query]));
/// assert!(text.contains("a.c:1-4") && text.contains("3:     return 2 * x;"));
/// ```
#[derive(Debug)]
pub struct Engine {
    pub(crate) index: Index,
    pub(crate) settings: Settings,
    pub(crate) ranking: Ranking,
    /// The crash near which results come first, and in whose functions plain names of variables
    /// are meant.
    pub(crate) near: Proximity,
    /// Recency of changes by file, where it is known.
    recent: BTreeMap<TreePath, f64>,
    files: OnceLock<Vec<TreePath>>,
    texts: Texts,
    pub(crate) words: WordIndex,
    preferences: Preferences,
}

impl Engine {
    /// Opens a tree; its index in the cache folder is built or brought up to
    /// date first.
    pub fn open(tree: &Path, cache: &Path, settings: Settings) -> Result<Self> {
        Ok(Self {
            index: Index::open(tree, cache, settings.file_size_limit)?,
            settings,
            ranking: Ranking::shipped(),
            near: Proximity::default(),
            recent: BTreeMap::new(),
            files: OnceLock::new(),
            texts: Texts::default(),
            words: WordIndex::default(),
            preferences: Preferences::default(),
        })
    }

    /// Ranks by other weights than those that are shipped.
    pub fn rank_by(&mut self, ranking: Ranking) {
        self.ranking = ranking;
    }

    /// Returns what opening the index took, and which files it skipped and why.
    pub fn report(&self) -> &IndexReport {
        self.index.report()
    }

    /// Returns whether another engine of the same tree was opened on the same state of it.
    pub fn sees_the_same(&self, other: &Self) -> bool {
        self.index.state() == other.index.state() && self.files() == other.files()
    }

    /// The languages of the tree, the one with the most files first.
    pub fn indexed_languages(&self) -> Vec<String> {
        let files = self.index.files().into_iter();
        let counts = files.filter_map(|row| row.language).counts();
        let by_count = |(language, count): &(Language, usize)| (Reverse(*count), *language);
        let counts = counts.into_iter().sorted_by_key(by_count);
        counts.map(|(language, _)| language.to_string()).collect()
    }

    /// Sets the crash near which results are shown first.
    pub fn set_crash(&mut self, frames: &[CrashFrame]) -> Result<()> {
        let located = self.locate(frames)?;
        self.near = Proximity::default();
        for place in located {
            self.near.add(place.symbol, place.line);
        }
        Ok(())
    }

    /// Tells when files were last changed, in seconds: what changed recently is
    /// ranked higher. What is not named counts as old.
    pub fn set_modified(&mut self, times: &BTreeMap<TreePath, i64>) {
        let distinct: Vec<i64> = times.values().copied().sorted().dedup().collect();
        self.recent = times
            .iter()
            .map(|(path, time)| {
                let before = distinct.partition_point(|other| other <= time);
                (path.clone(), before as f64 / distinct.len().max(1) as f64)
            })
            .collect();
    }

    /// Returns how recently a file was changed, from 0 to 1.
    pub(crate) fn recency(&self, path: &TreePath) -> f64 {
        self.recent.get(path).copied().unwrap_or_default()
    }

    pub fn answer(&self, query: &Query) -> Answer {
        let (asked, _) = query.and_skip();
        let answered = self.answer_as(asked, Answer::new(query));
        answered.unwrap_or_else(|miss| Answer::missed(query, miss))
    }

    /// Returns whether a symbol or a header of this name exists in the tree.
    pub fn knows(&self, name: &str) -> Result<bool> {
        let name = name.trim();
        if self.index.knows(name)? {
            return Ok(true);
        }
        let is_path = name.contains('.') || name.contains('/');
        let mut files = self.files().iter();
        Ok(is_path && files.any(|path| ends_with_path(path.as_str(), name)))
    }

    /// The name of the function around a line.
    pub fn function_at(&self, path: &TreePath, line: u32) -> Result<Option<String>> {
        let around = self.index.enclosing_function(path, line)?;
        Ok(around.map(|symbol| symbol.name))
    }

    fn answer_as(&self, query: &Query, answer: Answer) -> Answered {
        match query {
            Query::Symbol { name } => self.answer_symbol(answer, name),
            Query::File { path, lines } => self.answer_file(answer, path, lines),
            Query::Text { text, regex, path } => {
                self.answer_text(answer, (text, *regex), path.as_deref())
            }
            Query::Pattern { pattern, path } => {
                let find = |files: &Haystack<'_>| find_pattern(files, pattern);
                self.answer_form(answer, path.as_deref(), find)
            }
            Query::Rule { rule, path } => {
                let find = |files: &Haystack<'_>| find_rule(files, rule);
                self.answer_form(answer, path.as_deref(), find)
            }
            Query::References { name } => self.answer_references(answer, name),
            Query::Callers { name, depth } => self.answer_callers(answer, name, *depth),
            Query::Callees { name, depth } => self.answer_callees(answer, name, *depth),
            Query::Path { from, to } => self.answer_path(answer, from, to),
            Query::Implementations { name } => self.answer_implementations(answer, name),
            Query::More { query: number } => {
                let reason = format!("no earlier query has the number {number}");
                Err(Miss::Bad(reason))
            }
            Query::Similar { name } => self.answer_similar(answer, name),
            Query::Sql { statement } => self.answer_sql(answer, statement),
            Query::Search { words } => self.answer_search(answer, words),
            Query::Flow { expression } => self.answer_flow(answer, expression),
            Query::Next { .. } => Ok(answer),
        }
    }

    /// The tree that is asked.
    pub fn tree(&self) -> &Tree {
        self.index.tree()
    }

    /// Definitions ranked by the words of a request.
    pub(crate) fn ranked(&self, words: &str, limit: usize) -> Result<Vec<Scored>> {
        self.words.search(&self.index, &meaningful(words), limit)
    }

    /// Counts the words of definitions that were not counted yet. Done by the
    /// first search; here for who wants it done before.
    pub fn prepare_search(&self) -> Result<()> {
        self.words.count(&self.index).map(|_| ())
    }

    /// Every file of the tree.
    pub(crate) fn files(&self) -> &[TreePath] {
        self.files
            .get_or_init(|| self.index.files().into_iter().map(|row| row.path).collect())
    }

    /// The files whose path holds some text; of a path from another machine its
    /// longest end that any path holds.
    pub(crate) fn files_in(&self, part: Option<&str>) -> Vec<&TreePath> {
        let Some(part) = part else {
            return self.files().iter().collect();
        };
        let part = part.trim_matches(['/', '*']);
        let after = part.match_indices('/');
        let after = after.filter_map(|(at, _)| part.get(at + 1..));
        let ends = std::iter::once(part).chain(after);
        ends.filter(|end| !end.is_empty() || part.is_empty())
            .map(|end| {
                let files = self.files().iter();
                files.filter(|path| path.as_str().contains(end)).collect()
            })
            .find(|files: &Vec<&TreePath>| !files.is_empty())
            .unwrap_or_default()
    }

    /// A hit of some lines of a file without a name and a remark.
    fn hit(&self, path: &TreePath, line: u32, ranges: Vec<Lines>) -> Hit {
        Hit {
            path: path.clone(),
            ranges,
            inside: Vec::new(),
            symbols: Vec::new(),
            note: None,
            sparse: false,
            order: self.near.order(path, line),
        }
    }

    /// Adds to an answer the hits that one page of it shows.
    pub(crate) fn with_hits(&self, mut answer: Answer, hits: Vec<Hit>, tier: Tier) -> Answered {
        let (_, skip) = answer.query.and_skip();
        let limit = self.settings.max_results.min(answer.most);
        answer.tier = tier;
        answer.total = hits.len();
        let mut left = ANSWER_LINES;
        for mut hit in hits.into_iter().skip(skip).take(limit) {
            answer.shown += 1;
            self.name_surroundings(&mut hit)?;
            left = shorten(&mut hit, left);
            let Ok(text) = self.tree().read(&hit.path) else {
                answer.note(format!("{} can no longer be read", hit.path));
                continue;
            };
            let snippet = Snippet::cut(&hit.path, &text, &hit.ranges, hit.sparse);
            answer.snippets.extend(snippet.map(|mut snippet| {
                snippet.note = hit.note;
                snippet.with_symbols(hit.symbols)
            }));
        }
        if answer.shown == 0 && answer.total > 0 {
            let what = format!("all {} hits were shown", answer.total);
            answer.miss = Some(Miss::nothing(what));
        }
        Ok(answer)
    }
}

fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves of a hit what still fits an answer, at least its first lines; gives
/// how many lines are left after it.
fn shorten(hit: &mut Hit, left: u32) -> u32 {
    let size = |ranges: &[Lines]| -> u32 {
        ranges
            .iter()
            .map(|(first, last)| last.saturating_sub(*first).saturating_add(1))
            .fold(0, u32::saturating_add)
    };
    let whole = size(&hit.ranges);
    if whole > left.max(FIRST_LINES) {
        let mut room = left.max(FIRST_LINES);
        hit.ranges.sort_unstable();
        for (first, last) in &mut hit.ranges {
            *last = (*last).min(first.saturating_add(room).saturating_sub(1));
            room = room.saturating_sub(last.saturating_sub(*first).saturating_add(1));
        }
        hit.ranges.retain(|(first, last)| first <= last);
        let note = hit.note.get_or_insert_default();
        note.push_str("; cut, ask for its lines by <file>");
    }
    left.saturating_sub(size(&hit.ranges))
}
