//! Sketch of an edit: its lines, each with the line of the file that it is.
//!
//! A sketch is made from a hunk whose place is known, disturbed as models
//! disturb what they copy, and written in one of the forms that they use. The
//! lines remember where they came from, so that the result can be judged.

use patchwright_patcher::{Edit, Hunk};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The side of an edit that a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Kept,
    Removed,
    Added,
}

/// One line of a sketch.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) tag: Tag,
    pub(crate) text: String,
    /// The text that it has where it is read rightly.
    pub(crate) meant: String,
    /// Its number in the file, from 0; `None` for one that is not there.
    pub(crate) at: Option<usize>,
}

impl Line {
    /// A line that is not in the file.
    pub(crate) fn stranger(tag: Tag, text: String) -> Self {
        Self {
            tag,
            meant: text.clone(),
            text,
            at: None,
        }
    }
}

/// The forms in which an edit is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Diff,
    Blocks,
    Tags,
}

impl Form {
    /// Returns the name of the form.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Diff => "unified diff",
            Self::Blocks => "SEARCH/REPLACE",
            Self::Tags => "XML edit",
        }
    }
}

/// An edit of which every line is known.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    pub(crate) file: String,
    /// The number that the edit names, from 1.
    pub(crate) start: Option<usize>,
    pub(crate) heading: Option<String>,
    pub(crate) lines: Vec<Line>,
    /// Removed lines of the file that the edit does not mention any more.
    pub(crate) forgotten: Vec<usize>,
}

impl Sketch {
    /// Makes a sketch of a hunk that stands at `start`, from 0.
    pub(crate) fn of(hunk: &Hunk, start: usize) -> Self {
        let mut lines = Vec::new();
        let mut push = |tag, text: &String, at| {
            lines.push(Line {
                tag,
                text: text.clone(),
                meant: text.clone(),
                at,
            });
        };
        for op in capture_diff_slices(Algorithm::Myers, &hunk.old, &hunk.new) {
            let tag = match op {
                DiffOp::Equal { .. } => Tag::Kept,
                _ => Tag::Removed,
            };
            for index in op.old_range() {
                push(tag, &hunk.old[index], Some(start + index));
            }
            if tag == Tag::Removed {
                for index in op.new_range() {
                    push(Tag::Added, &hunk.new[index], None);
                }
            }
        }
        Self {
            file: hunk.file.clone(),
            start: Some(start + 1),
            heading: hunk.heading.clone(),
            lines,
            forgotten: Vec::new(),
        }
    }

    /// Returns true when anything is left to change, and anything that tells where.
    pub(crate) fn says_something(&self) -> bool {
        let stands = |line: &Line| line.tag != Tag::Added && line.at.is_some();
        self.lines.iter().any(|line| line.tag != Tag::Kept) && self.lines.iter().any(stands)
    }

    /// Returns true when the old side stands as it is at the line that the edit names,
    /// and came from elsewhere.
    pub(crate) fn names_another_place(&self, form: Form, file: &[String]) -> bool {
        let Some(at) = self.start.and_then(|start| start.checked_sub(1)) else {
            return false;
        };
        let old = self.side(Tag::Added);
        let stands = file.get(at..at + old.len());
        let mut origins = self.lines.iter().filter(|line| line.tag != Tag::Added);
        form != Form::Blocks
            && stands.is_some_and(|lines| lines.iter().eq(&old))
            && !origins
                .by_ref()
                .zip(at..)
                .any(|(line, at)| line.at == Some(at))
    }

    fn side(&self, without: Tag) -> Vec<&str> {
        let lines = self.lines.iter().filter(|line| line.tag != without);
        lines.map(|line| line.text.as_str()).collect()
    }

    /// Writes the edit.
    pub(crate) fn write(&self, form: Form) -> String {
        let (old, new) = (self.side(Tag::Added), self.side(Tag::Removed));
        match form {
            Form::Diff => self.write_diff((old.len(), new.len())),
            Form::Blocks => format!(
                "{}\n<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n",
                self.file,
                old.join("\n"),
                new.join("\n")
            ),
            Form::Tags => {
                let lines = self.start.map_or(String::new(), |start| {
                    format!(" lines=\"{start}-{}\"", start + old.len().max(1) - 1)
                });
                format!(
                    "<patch>\n<edit file=\"{}\"{lines}>\n<original>\n{}\n</original>\n\
                     <replacement>\n{}\n</replacement>\n</edit>\n</patch>\n",
                    self.file,
                    old.join("\n"),
                    new.join("\n")
                )
            }
        }
    }

    fn write_diff(&self, (old, new): (usize, usize)) -> String {
        let mut out = format!("--- a/{0}\n+++ b/{0}\n", self.file);
        let heading = self.heading.as_deref().unwrap_or_default();
        // A side without lines names the line before.
        let start = self.start.map(|start| start - usize::from(old == 0));
        let _ = match start {
            Some(start) => writeln!(out, "@@ -{start},{old} +{start},{new} @@ {heading}"),
            None => writeln!(out, "@@ {heading}"),
        };
        for line in &self.lines {
            let mark = match line.tag {
                Tag::Kept => ' ',
                Tag::Removed => '-',
                Tag::Added => '+',
            };
            let _ = writeln!(out, "{mark}{}", line.text);
        }
        out
    }

    /// Returns true when a new file is what the edit means: the lines that it removes
    /// are gone, what it adds stands between the lines that it stands between
    /// here, and nothing else is different. Whitespace does not count, nor
    /// does the end of a line. A removed line that the edit does not mention
    /// stays; it may go where the edit adds it again.
    pub(crate) fn fits(&self, old: &[String], new: &[String]) -> bool {
        let mut gone: Vec<usize> = self
            .lines
            .iter()
            .filter(|line| line.tag == Tag::Removed)
            .filter_map(|line| line.at)
            .collect();
        if self.is_built_by(old, new, &gone) {
            return true;
        }
        let added: Vec<&str> = self
            .lines
            .iter()
            .filter(|line| line.tag == Tag::Added)
            .map(|line| line.meant.trim())
            .collect();
        let forgotten = self.forgotten.iter().copied();
        let again = |at: &usize| added.iter().any(|line| line.starts_with(old[*at].trim()));
        gone.extend(forgotten.filter(again));
        self.is_built_by(old, new, &gone)
    }

    /// Returns true when a file is the old one without the lines that are gone, and with
    /// every run of added lines at one of the places that it can have. Goes
    /// through the old lines with the sets of runs that can stand before each.
    fn is_built_by(&self, old: &[String], new: &[String], gone: &[usize]) -> bool {
        let runs = self.runs(old.len());
        // What is the same at both ends, and no change could touch, is left out.
        let equal = |(old, new): &(&String, &String)| old == new;
        let head = old.iter().zip(new).take_while(equal).count();
        let tail = old.iter().rev().zip(new.iter().rev());
        let tail = tail.take_while(equal).count();
        let first = gone.iter().copied().chain(runs.iter().map(|run| run.from));
        let last = gone
            .iter()
            .map(|at| at + 1)
            .chain(runs.iter().map(|run| run.to));
        let from = first.min().unwrap_or(0).min(head);
        let behind = (old.len() - last.max().unwrap_or(0).min(old.len())).min(tail);
        let behind = behind.min(old.len() - from).min(new.len() - from);
        let to = old.len() - behind;
        let changed = &new[from..new.len() - behind];
        let wanted = bare(changed.iter().map(String::as_str));
        let all = (1_u64 << runs.len().min(63)) - 1;
        let mut states = BTreeMap::from([(0_u64, 0_usize)]);
        for number in from..=to {
            for (index, run) in runs.iter().enumerate() {
                let bit = 1 << index.min(63);
                if (run.from..=run.to).contains(&number) {
                    let here: Vec<(u64, usize)> = states
                        .iter()
                        .filter(|(set, at)| {
                            *set & bit == 0 && wanted[**at..].starts_with(&run.text)
                        })
                        .map(|(set, at)| (set | bit, at + run.text.len()))
                        .collect();
                    states.extend(here);
                }
                states.retain(|set, _| number < run.to || set & bit != 0);
            }
            let stays = number < to && !gone.contains(&number);
            if let Some(line) = old.get(number).filter(|_| stays) {
                let line = bare(std::iter::once(line.as_str()));
                states.retain(|_, at| wanted[*at..].starts_with(&line));
                for at in states.values_mut() {
                    *at += line.len();
                }
            }
            if states.is_empty() {
                return false;
            }
        }
        states.get(&all) == Some(&wanted.len())
    }

    /// The runs of added lines, each with the lines before which it can stand.
    fn runs(&self, count: usize) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut index = 0;
        while index < self.lines.len() {
            if self.lines[index].tag != Tag::Added {
                index += 1;
                continue;
            }
            let rest = self.lines[index..].iter();
            let added = rest.take_while(|line| line.tag == Tag::Added);
            let text = bare(added.clone().map(|line| line.meant.as_str()));
            let length = added.count();
            let before = self.lines[..index].iter().rev().find_map(|line| line.at);
            let after = self.lines[index + length..].iter().find_map(|line| line.at);
            let from = before.map_or_else(|| after.unwrap_or(0), |at| at + 1);
            let to = after.unwrap_or(from).min(count);
            runs.push(Run {
                text,
                from,
                to: to.max(from).min(from + MOST_PLACES),
            });
            index += length;
        }
        runs
    }
}

/// A run of added lines is looked for at this many places.
const MOST_PLACES: usize = 40;

/// Added lines and where they can stand.
struct Run {
    text: String,
    from: usize,
    to: usize,
}

/// Lines as one text without whitespace.
fn bare<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines
        .flat_map(str::chars)
        .filter(|next| !next.is_whitespace())
        .collect()
}

/// The hunks of a patch whose old side stands in its file exactly once, as
/// sketches.
pub(crate) fn sketches(edits: &[Edit], read: &dyn Fn(&str) -> Option<Vec<String>>) -> Vec<Sketch> {
    edits
        .iter()
        .filter_map(|edit| {
            let Edit::Hunk(hunk) = edit else {
                return None;
            };
            let file = read(&hunk.file)?;
            let mut places = (0..file.len()).filter(|at| {
                let lines = file.get(*at..*at + hunk.old.len());
                lines.is_some_and(|lines| lines == hunk.old)
            });
            let place = places.next()?;
            let unique = places.next().is_none() && !hunk.old.is_empty();
            unique.then(|| Sketch::of(hunk, place))
        })
        .collect()
}
