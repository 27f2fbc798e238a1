//! Places that may have the flaw that a fix repaired elsewhere.
//!
//! The old lines of a fix, removed and unchanged ones, are aligned with every function of the
//! tree. A place that matches while the lines that the fix adds are not there is a candidate. Searching
//! for a fix's old lines is the idea of ReDeBug (Jang et al., 2012), keeping the names that many
//! functions share and letting local ones differ that of VUDDY (Kim et al., 2017), asking for the absence
//! of the new ones that of MVP (Xiao et al., 2020).
//!
//! The constants of this module were chosen on 67 fixes of seven C and C++ projects, those of what is shown on 42 of six
//! others, and measured on others again (docs/backport.md). It deliberately does not say that a candidate is a flaw, nor run anything.

mod align;
#[cfg(test)]
mod tests;
mod words;

use crate::engine::Engine;
use crate::error::Result;
use crate::rank::is_aside;
use crate::symbol::Symbol;
use align::{Place, Wanted};
use patchwright_source::{DiffHunk, FileDiff, Language, Side, TreePath, code_of_piece};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use words::{FunctionLine, Vocabulary, is_condition, variables};

/// Most candidates: a reader looks at each.
const MOST: usize = 5;
/// Least likeness of a candidate.
const LEAST: f64 = 0.3;
/// Least likeness beside the first candidate's.
const BESIDE_FIRST: f64 = 0.85;
/// Share of what a fix adds from which on a place is taken to have it already.
const PRESENT: f64 = 0.85;
/// Unchanged lines that are looked at before and after a change.
const CONTEXT: usize = 3;
/// Lines of a place that are shown at most.
const SHOWN: u32 = 14;
/// Conditions before a place that are shown at most.
const CHECKS: usize = 3;
/// Lines of a hunk beyond these say nothing more of it.
const HUNK_LINES: usize = 60;

/// A place like the one that was fixed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sibling {
    /// The function that it is in.
    pub symbol: Symbol,
    /// Its lines.
    pub first: u32,
    pub last: u32,
    /// Share of the fix's old lines that is found there, by weight, from 0 to 1.
    pub likeness: f64,
    /// Share of what the fix adds that is there.
    pub present: f64,
    /// The file and the first line of the hunk that it is like.
    pub like: (TreePath, u32),
    /// True where something in the tree calls the function by its name.
    pub is_called: bool,
    /// The code of its lines.
    pub code: Vec<CodeLine>,
    /// Conditions before it that name a variable of these lines: one of them may make it harmless.
    pub checks: Vec<CodeLine>,
}

/// A numbered line of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CodeLine {
    pub number: u32,
    pub text: String,
}

/// A changed part of a fix.
struct Part<'f> {
    path: TreePath,
    language: Language,
    hunk: &'f DiffHunk,
    wanted: Wanted,
}

impl Part<'_> {
    /// Returns whether a place is the one that was fixed, before or after the fix.
    fn is_at(&self, function: &Function, place: &Place) -> bool {
        let lines = (place.first, place.last);
        let is_there = |number: u32| number > 0 && (lines.0..=lines.1).contains(&number);
        let mut own = self.hunk.lines.iter();
        function.symbol.path == self.path
            && own.any(|line| is_there(line.old) || is_there(line.new))
    }
}

/// A function with its lines, as far as they matter.
struct Function {
    symbol: Symbol,
    lines: Vec<FunctionLine>,
}

/// A place of a function beside the part of the fix that it is like.
struct Candidate<'c> {
    function: &'c Function,
    part: &'c Part<'c>,
    place: Place,
    present: f64,
}

impl Engine {
    /// Finds the places that are like what a fix repaired and lack what it adds, the likest first.
    ///
    /// # Errors
    /// The index fails.
    pub fn siblings(&self, fix: &[FileDiff]) -> Result<Vec<Sibling>> {
        let _hold = self.index.hold();
        let mut vocabulary = Vocabulary::default();
        let parts = fix.iter().flat_map(|file| parts(file, &mut vocabulary));
        let mut parts: Vec<Part<'_>> = parts.collect();
        let functions = self.functions_saying(&parts, &vocabulary)?;
        vocabulary.count(functions.iter().map(|function| function.lines.as_slice()));
        for part in &mut parts {
            part.wanted.weigh(&vocabulary);
        }
        let found = functions
            .par_iter()
            .filter_map(|function| best(&parts, function));
        let mut found: Vec<Candidate<'_>> = found.collect();
        found.sort_by(|a, b| {
            let by_likeness = b.place.likeness.total_cmp(&a.place.likeness);
            by_likeness.then_with(|| a.function.symbol.by_place(&b.function.symbol))
        });
        let first = found.first().map_or(0.0, |first| first.place.likeness);
        found.retain(|candidate| candidate.place.likeness >= first * BESIDE_FIRST);
        let found = found.iter().take(MOST);
        found.map(|candidate| self.sibling(candidate)).collect()
    }

    /// Adds the code of a place, the conditions before it that name one of its variables, and
    /// whether it is called.
    fn sibling(&self, candidate: &Candidate<'_>) -> Result<Sibling> {
        let Candidate { place, part, .. } = candidate;
        let symbol = candidate.function.symbol.clone();
        let text = self.text(&symbol.path).ok();
        let line = |number: u32| {
            let text = text.as_ref()?.line(number as usize)?.into_owned();
            Some(CodeLine { number, text })
        };
        let shown = place.first..=place.last.min(place.first + SHOWN);
        let code: Vec<CodeLine> = shown.filter_map(line).collect();
        let named = code.iter().flat_map(|line| variables(&line.text));
        let named: BTreeSet<&str> = named.collect();
        let before = (symbol.start_line..place.first).rev();
        let checks = before.filter_map(line).filter(|line| {
            is_condition(&line.text) && variables(&line.text).any(|name| named.contains(name))
        });
        let callers = self.index.callers(&symbol.qualified(), 1, 1)?;
        Ok(Sibling {
            first: place.first,
            last: place.last,
            likeness: place.likeness,
            present: candidate.present,
            like: (part.path.clone(), part.hunk.old_start),
            is_called: !callers.is_empty(),
            checks: checks.take(CHECKS).collect(),
            code,
            symbol,
        })
    }

    /// Reads the functions of the languages of a fix.
    fn functions_saying(
        &self,
        parts: &[Part<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Function>> {
        let mut files = self.index.files();
        files.retain(|row| {
            let language = row.language.map(Language::family);
            let is_asked = parts.iter().any(|part| Some(part.language) == language);
            is_asked && !is_aside(&row.path)
        });
        let read = files
            .par_iter()
            .map(|row| self.read_functions(&row.path, vocabulary));
        let read: Vec<Vec<Function>> = read.collect::<Result<_>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    fn read_functions(&self, path: &TreePath, vocabulary: &Vocabulary) -> Result<Vec<Function>> {
        let limit = self.settings.file_size_limit;
        let Ok(text) = self.tree().bytes_up_to(path, limit) else {
            return Ok(Vec::new());
        };
        let text = String::from_utf8_lossy(&text);
        let language = Language::of_path(path);
        let lines: Vec<String> = code_of_piece(language, text.lines());
        let functions = self.index.functions_in(path)?;
        Ok(functions
            .into_iter()
            .map(|symbol| {
                let first = symbol.start_line.max(1) as usize - 1;
                let code = lines.get(first..lines.len().min(symbol.end_line as usize));
                let code = (symbol.start_line..).zip(code.unwrap_or_default());
                let lines = code.filter_map(|(number, line)| vocabulary.line(number, line));
                Function {
                    lines: lines.collect(),
                    symbol,
                }
            })
            .collect())
    }
}

/// Reads the parts of a fix to one file that change code.
fn parts<'f>(file: &'f FileDiff, vocabulary: &mut Vocabulary) -> Vec<Part<'f>> {
    let path = file.old.as_ref().and_then(|path| TreePath::new(path).ok());
    let Some(path) = path.filter(|path| !is_aside(path)) else {
        return Vec::new();
    };
    let Some(language) = Language::of_path(&path) else {
        return Vec::new();
    };
    let parts = file.hunks.iter().filter_map(|hunk| {
        Some(Part {
            wanted: wanted(hunk, language, vocabulary)?,
            path: path.clone(),
            language: language.family(),
            hunk,
        })
    });
    parts.collect()
}

/// Reads what a hunk found and what it adds; none where it changes no code.
fn wanted(hunk: &DiffHunk, language: Language, vocabulary: &mut Vocabulary) -> Option<Wanted> {
    let texts = hunk.lines.iter().map(|line| line.text.as_str());
    let code = code_of_piece(Some(language), texts);
    let sides = hunk.lines.iter().map(|line| line.side);
    let lines: Vec<(Side, &str)> = sides.zip(code.iter().map(|line| line.trim())).collect();
    let changes = |(side, text): &(Side, &str)| *side != Side::Both && !text.is_empty();
    let first = lines.iter().position(changes)?;
    let last = lines.iter().rposition(changes)?;
    let near = first.saturating_sub(CONTEXT)..lines.len().min(last + 1 + CONTEXT);
    let near: Vec<(Side, &str)> = lines.get(near)?.iter().take(HUNK_LINES).copied().collect();
    Some(Wanted::read(&near, vocabulary))
}

/// Finds the place of a function that is likest to a part of the fix.
fn best<'c>(parts: &'c [Part<'c>], function: &'c Function) -> Option<Candidate<'c>> {
    let language = function.symbol.language.family();
    let of_language = parts.iter().filter(|part| part.language == language);
    let places = of_language.filter_map(|part| {
        let place = part.wanted.place_in(&function.lines)?;
        let present = part.wanted.present_in(&function.lines, &place);
        let is_fixed = present >= PRESENT || parts.iter().any(|part| part.is_at(function, &place));
        (place.likeness >= LEAST && !is_fixed).then_some(Candidate {
            function,
            part,
            place,
            present,
        })
    });
    places.max_by(|a, b| a.place.likeness.total_cmp(&b.place.likeness))
}
