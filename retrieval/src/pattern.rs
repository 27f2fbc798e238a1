//! Structural search: code patterns with `$X` (one node) and `$$$` (any
//! number), matched against syntax trees by ast-grep's core.
//!
//! A pattern without hits is relaxed step by step, and the outcome says how.
//! Which function a hit lies in, and how hits are shown, is decided elsewhere.

mod grammar;
mod read;
mod relax;
#[cfg(test)]
mod tests;

use crate::Settings;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Matcher};
pub(crate) use grammar::Grammar;
use patchwright_source::{Language, Tree, TreePath};
use rayon::prelude::*;
pub(crate) use read::{Readings, read_pattern};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How many matches of one file are kept.
const PER_FILE: usize = 200;
/// How long one structural search may take, all its relaxations included.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// One match: a file and the lines from the node's first to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) path: TreePath,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// What a structural search gave.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub(crate) found: Vec<Match>,
    /// How the pattern was relaxed before it matched.
    pub(crate) relaxed: Option<String>,
    /// Whether time ran out.
    pub(crate) stopped: bool,
}

/// A matcher with what a file must hold for it to match at all.
pub(crate) struct Needle<M> {
    pub(crate) language: Language,
    pub(crate) matcher: M,
    /// Text without which no file matches; empty for no such text.
    pub(crate) fixed: String,
}

/// Finds a pattern in every file whose language can read it. The error says
/// why no language can.
pub(crate) fn find_pattern(
    tree: &Tree,
    files: &[&TreePath],
    pattern: &str,
    limits: &Settings,
) -> Result<Matches, String> {
    let started = Instant::now();
    let mut needles: Vec<Needle<Readings>> = Vec::new();
    let mut reasons = BTreeSet::new();
    for language in languages(files) {
        match read_pattern(language, pattern) {
            Ok(matcher) => needles.push(Needle {
                language,
                fixed: matcher.fixed(),
                matcher,
            }),
            Err(reason) => {
                reasons.insert(format!("{language}: {reason}"));
            }
        }
    }
    if needles.is_empty() {
        return Err(if reasons.is_empty() {
            "no file of the tree has a language that patterns work on".to_owned()
        } else {
            reasons.into_iter().collect::<Vec<_>>().join("; ")
        });
    }
    let mut matches = find(tree, files, &needles, limits, started);
    for step in relax::STEPS {
        if !matches.found.is_empty() || matches.stopped {
            break;
        }
        let relaxed: Vec<Needle<Readings>> = needles
            .iter()
            .filter_map(|needle| relax::relax(needle, step))
            .collect();
        if relaxed.is_empty() {
            continue;
        }
        matches = find(tree, files, &relaxed, limits, started);
        matches.relaxed = Some(step.describe().to_owned());
    }
    Ok(matches)
}

/// The languages that a list of files is written in.
pub(crate) fn languages(files: &[&TreePath]) -> BTreeSet<Language> {
    let mut languages: BTreeSet<Language> = files
        .iter()
        .filter_map(|path| Language::of_path(path))
        .collect();
    // A header's name does not tell which of the two it is.
    if languages.contains(&Language::C) && files.iter().any(|path| path.extension() == Some("h")) {
        languages.insert(Language::Cpp);
    }
    languages
}

/// Runs matchers over files in parallel; the order of the result is that of
/// the files.
pub(crate) fn find<M: Matcher + Sync>(
    tree: &Tree,
    files: &[&TreePath],
    needles: &[Needle<M>],
    limits: &Settings,
    started: Instant,
) -> Matches {
    let found: Vec<Option<Vec<Match>>> = files
        .par_iter()
        .map(|path| {
            if started.elapsed() > TIME_LIMIT {
                return None;
            }
            Some(find_in_file(tree, path, needles, limits).unwrap_or_default())
        })
        .collect();
    Matches {
        stopped: found.iter().any(Option::is_none),
        found: found.into_iter().flatten().flatten().collect(),
        relaxed: None,
    }
}

fn find_in_file<M: Matcher>(
    tree: &Tree,
    path: &TreePath,
    needles: &[Needle<M>],
    limits: &Settings,
) -> Option<Vec<Match>> {
    Language::of_path(path)?;
    let text = tree.read_up_to(path, limits.file_size_limit).ok()?;
    if text.is_binary() {
        return None;
    }
    let language = Language::of(path, text.bytes())?;
    let needle = needles.iter().find(|needle| needle.language == language)?;
    let source = text.decode(text.bytes()).into_owned();
    if !source.contains(&needle.fixed) {
        return None;
    }
    let document = StrDoc {
        tree: patchwright_source::parse(language, source.as_bytes())?,
        src: source,
        lang: Grammar(language),
    };
    let root = AstGrep::doc(document);
    let matches = root
        .root()
        .find_all(&needle.matcher)
        .take(PER_FILE)
        .map(|node| Match {
            path: path.clone(),
            first: node.start_pos().line() as u32 + 1,
            last: node.end_pos().line() as u32 + 1,
        })
        .collect();
    Some(matches)
}
