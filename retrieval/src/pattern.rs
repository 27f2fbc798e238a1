//! Structural search: code patterns with `$X` (one node) and `$$$` (any
//! number), matched against syntax trees by ast-grep's core.
//!
//! A pattern without hits is relaxed step by step, and the outcome says how.
//! Which function a hit lies in, and how hits are shown, is decided elsewhere.

mod needs;
mod read;
mod relax;
#[cfg(test)]
mod tests;

use crate::Settings;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Matcher};
pub(crate) use needs::{Needs, Words};
use patchwright_source::{Language, Text, Tree, TreePath, is_binary};
use rayon::prelude::*;
pub(crate) use read::Grammar;
pub(crate) use read::{Readings, read_pattern};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Limit on how many matches of one file are kept.
const PER_FILE: usize = 200;
/// Limit on how long one structural search may take, all its relaxations included.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// One match: a file and the lines from the node's first to its last.
pub(crate) type Match = (TreePath, u32, u32);

/// Result of a search through files.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub(crate) found: Vec<Match>,
    /// The relaxation after which something was found.
    pub(crate) relaxed: Option<&'static str>,
    /// True when time ran out.
    pub(crate) stopped: bool,
    /// Files that were not looked into because of their size, as far as these are counted.
    pub(crate) too_large: usize,
}

/// A matcher for one language with what it needs.
pub(crate) struct Needle<M> {
    pub(crate) language: Language,
    pub(crate) matcher: M,
    pub(crate) needs: Needs,
}

/// Where to look, and since when.
pub(crate) struct Haystack<'h> {
    pub(crate) tree: &'h Tree,
    pub(crate) files: &'h [&'h TreePath],
    pub(crate) limits: &'h Settings,
    started: Instant,
}

/// Finds a pattern in every file whose language can read it. The error says
/// why no language can.
pub(crate) fn find_pattern(haystack: &Haystack<'_>, pattern: &str) -> Result<Matches, String> {
    let needles = haystack.needles(|language| {
        let matcher = read_pattern(language, pattern)?;
        Ok((matcher.needs(), matcher))
    })?;
    let forms = [needles];
    let (_, matches) = haystack.find(&forms);
    if matches.stopped || !matches.found.is_empty() {
        return Ok(matches);
    }
    let [needles] = forms;
    let (told, forms): (Vec<_>, Vec<_>) = relax::STEPS
        .into_iter()
        .map(|(step, told)| (told, relax::relax_all(&needles, step)))
        .filter(|(_, relaxed)| !relaxed.is_empty())
        .unzip();
    let (form, mut matches) = haystack.find(&forms);
    matches.relaxed = told.get(form).copied();
    Ok(matches)
}

impl<'h> Haystack<'h> {
    /// Starts a search through files.
    pub(crate) fn new(tree: &'h Tree, files: &'h [&'h TreePath], limits: &'h Settings) -> Self {
        Self {
            tree,
            files,
            limits,
            started: Instant::now(),
        }
    }

    /// The languages that the files are written in.
    pub(crate) fn languages(&self) -> BTreeSet<Language> {
        let mut languages: BTreeSet<Language> = self
            .files
            .iter()
            .filter_map(|path| Language::of_path(path))
            .collect();
        // A header's name does not tell which of the two it is.
        let headers = self.files.iter().any(|path| path.extension() == Some("h"));
        if languages.contains(&Language::C) && headers {
            languages.insert(Language::Cpp);
        }
        languages
    }

    /// Makes a matcher and its needs for each language that can read what is asked for. The error
    /// says why none can.
    pub(crate) fn needles<M>(
        &self,
        make: impl Fn(Language) -> Result<(Needs, M), String>,
    ) -> Result<Vec<Needle<M>>, String> {
        let mut needles = Vec::new();
        let mut reasons = Vec::new();
        for language in self.languages() {
            match make(language) {
                Ok((needs, matcher)) => needles.push(Needle {
                    language,
                    matcher,
                    needs,
                }),
                Err(reason) => reasons.push(format!("{language}: {reason}")),
            }
        }
        if needles.is_empty() && reasons.is_empty() {
            reasons.push("no file of the tree has a language that patterns work on".to_owned());
        }
        if needles.is_empty() {
            return Err(reasons.join("; "));
        }
        Ok(needles)
    }

    /// Looks for the first of several forms of one question that matches
    /// anywhere; gives which it was, with its matches in the order of the
    /// files. Each file is parsed once for all of them.
    pub(crate) fn find<M: Matcher + Sync>(&self, forms: &[Vec<Needle<M>>]) -> (usize, Matches) {
        let first = AtomicUsize::new(forms.len());
        let found: Vec<Option<Found>> = self
            .files
            .par_iter()
            // Files differ much in size: each is work of its own.
            .with_max_len(1)
            .map(|path| {
                if self.started.elapsed() > TIME_LIMIT {
                    return None;
                }
                let wanted = first.load(Ordering::Relaxed);
                let forms = forms.get(..=wanted).unwrap_or(forms);
                let found = self.find_in_file(path, forms);
                if let Some((form, _)) = &found {
                    first.fetch_min(*form, Ordering::Relaxed);
                }
                Some(found.unwrap_or_default())
            })
            .collect();
        let first = first.into_inner();
        let matches = Matches {
            stopped: found.iter().any(Option::is_none),
            found: found
                .into_iter()
                .flatten()
                .filter(|(form, _)| *form == first)
                .flat_map(|(_, found)| found)
                .collect(),
            ..Matches::default()
        };
        (first, matches)
    }

    /// The first form that matches in a file, with its matches.
    fn find_in_file<M: Matcher>(&self, path: &TreePath, forms: &[Vec<Needle<M>>]) -> Option<Found> {
        Language::of_path(path)?;
        let bytes = self
            .tree
            .bytes_up_to(path, self.limits.file_size_limit)
            .ok()?;
        let language = Language::of(path, &bytes)?;
        let needles: Vec<(usize, &Needle<M>)> = forms
            .iter()
            .enumerate()
            .flat_map(|(form, needles)| needles.iter().map(move |needle| (form, needle)))
            .filter(|(_, needle)| needle.language == language && needle.needs.words.are_in(&bytes))
            .collect();
        if needles.is_empty() || is_binary(&bytes) {
            return None;
        }
        let text = Text::new(bytes);
        let source = text.decode(text.bytes()).into_owned();
        let root = AstGrep::doc(StrDoc {
            tree: patchwright_source::parse(language, source.as_bytes())?,
            src: source,
            lang: Grammar(language),
        });
        needles.into_iter().find_map(|(form, needle)| {
            let found = needle.find_in(path, &root);
            (!found.is_empty()).then_some((form, found))
        })
    }
}

/// Which form matched in a file, and where.
type Found = (usize, Vec<Match>);

impl<M: Matcher> Needle<M> {
    fn find_in(&self, path: &TreePath, root: &AstGrep<StrDoc<Grammar>>) -> Vec<Match> {
        let top = root.root().get_inner_node();
        let text = root.root().get_doc().src.as_bytes();
        self.needs
            .candidates(top, text)
            .filter_map(|node| self.matcher.match_node(root.adopt(node)))
            .take(PER_FILE)
            .map(|node| {
                let (first, last) = (node.start_pos().line(), node.end_pos().line());
                (path.clone(), first as u32 + 1, last as u32 + 1)
            })
            .collect()
    }
}
