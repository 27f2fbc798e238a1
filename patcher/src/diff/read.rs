//! A unified diff as edits: git's, Subversion's, plain ones, those of models
//! (wrong counts, no numbers, no headers) and `*** Begin Patch` blocks.
//!
//! Line numbers are hints and counts are not trusted; what is placed where is
//! decided by the rules that hold for every edit.

use super::as_text;
use crate::{Edit, Hunk, Patch, Rule};
use patchwright_source::{HunkHeader, NO_FILE, Side, common_name, git_names, name_in};

impl Patch {
    /// Reads the edits of a unified diff that somebody else made: git, svn or plain,
    /// with or without headers. Bytes that are no UTF-8 are read as Latin-1.
    pub fn from_diff(diff: &[u8]) -> Self {
        let (text, latin1) = as_text(diff);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Self {
            explanation: None,
            edits: parse_diff(text, latin1, None),
        }
    }
}

/// Reads a diff. `file` is the file of hunks that stand under no header.
pub(crate) fn parse_diff(text: &str, latin1: bool, file: Option<&str>) -> Vec<Edit> {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let mut reader = Reader {
        lines: &lines,
        at: 0,
        latin1,
        section: Section {
            name: file.map(str::to_owned),
            ..Section::default()
        },
        edits: Vec::new(),
    };
    while reader.at < lines.len() {
        reader.step();
    }
    reader.finish();
    reader.edits
}

/// Section of a diff about one file.
#[derive(Debug, Default)]
struct Section {
    name: Option<String>,
    created: bool,
    deleted: bool,
    rename: (Option<String>, Option<String>),
    unsupported: Option<(Rule, String)>,
    hunks: Vec<Hunk>,
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    latin1: bool,
    section: Section,
    edits: Vec<Edit>,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    side: Side,
    text: &'a str,
    /// True when it is not blank, and stands there without any mark.
    bare: bool,
}

impl Part<'_> {
    fn is_blank_context(&self) -> bool {
        self.side == Side::Both && self.text.is_empty()
    }
}

impl Reader<'_> {
    fn line(&self, at: usize) -> &str {
        self.lines.get(at).copied().unwrap_or_default()
    }

    fn step(&mut self) {
        let line = self.line(self.at).to_owned();
        let next = self.line(self.at + 1).to_owned();
        self.at += 1;
        if let Some(rest) = line.strip_prefix("diff --git ") {
            self.finish();
            self.section.name = git_names(rest).map(|(old, new)| common_name(&old, &new));
        } else if let (Some(old), Some(new)) =
            (line.strip_prefix("--- "), next.strip_prefix("+++ "))
        {
            self.at += 1;
            self.file_header(&name_in(old), &name_in(new));
        } else if line.starts_with("@@") {
            self.hunk(HunkHeader::read(&line));
        } else if let Some(rest) = line.strip_prefix("*** ") {
            self.marker(rest);
        } else {
            self.extended(&line);
        }
    }

    fn file_header(&mut self, old: &str, new: &str) {
        // A section with hunks is another file's, and keeps its name.
        let by_git = if self.section.hunks.is_empty() {
            self.section.name.take()
        } else {
            self.finish();
            None
        };
        self.section.created |= old == NO_FILE;
        self.section.deleted |= new == NO_FILE;
        let name = common_name(old, new);
        let renames = self.section.rename.0.is_some();
        self.section.name = Some(match by_git {
            Some(git) if renames || name.ends_with(&git) => git,
            _ => name,
        });
    }

    /// Git's extended headers.
    fn extended(&mut self, line: &str) {
        let section = &mut self.section;
        if let Some(from) = line.strip_prefix("rename from ") {
            section.rename.0 = Some(name_in(from));
        } else if let Some(to) = line.strip_prefix("rename to ") {
            section.rename.1 = Some(name_in(to));
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            section.created = true;
            section.unsupported = wrong_mode(mode.trim());
        } else if line.starts_with("deleted file mode ") {
            section.deleted = true;
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            let what = format!("the mode would become {}", mode.trim());
            section.unsupported = Some((Rule::Mode, what));
        } else if line.starts_with("GIT binary patch")
            || (line.starts_with("Binary files ") && line.ends_with(" differ"))
        {
            let what = "the change is a binary one".to_owned();
            section.unsupported = Some((Rule::Binary, what));
        } else if line.starts_with("copy from ") {
            let what = "copies are not understood; send the new file in whole".to_owned();
            section.unsupported = Some((Rule::Incomplete, what));
        } else if line.starts_with("index ") && line.ends_with(" 120000") {
            let what = "it is a symbolic link".to_owned();
            section.unsupported = Some((Rule::Link, what));
        }
    }

    /// The lines of a `*** Begin Patch` block.
    fn marker(&mut self, rest: &str) {
        let Some((word, name)) = rest.split_once(": ") else {
            return;
        };
        let name = Some(name.trim().to_owned());
        match word {
            "Update File" | "Delete File" => {
                self.finish();
                self.section.deleted = word == "Delete File";
                self.section.name = name;
                if word == "Update File" && !self.line(self.at).starts_with(['@', '*']) {
                    self.hunk(HunkHeader::default());
                }
            }
            "Add File" => {
                self.finish();
                self.section.created = true;
                self.section.name = name;
                self.hunk(HunkHeader::default());
            }
            "Move to" => self.section.rename = (self.section.name.clone(), name),
            _ => {}
        }
    }

    fn hunk(&mut self, header: HunkHeader) {
        let ranges = header.ranges;
        let (want_old, want_new) = ranges.map_or((0, 0), |found| (found.old.1, found.new.1));
        let mut parts: Vec<Part<'_>> = Vec::new();
        let (mut old, mut new) = (0_u32, 0_u32);
        let (mut old_open, mut new_open) = (false, false);
        let lines = self.lines;
        while let Some(line) = lines.get(self.at).copied() {
            let full = ranges.is_some() && old >= want_old && new >= want_new;
            if self.ends_hunk(line, full) {
                break;
            }
            self.at += 1;
            if line.starts_with('\\') {
                let side = parts.last().map_or(Side::Both, |part| part.side);
                old_open |= side != Side::New;
                new_open |= side != Side::Old;
                continue;
            }
            let (side, text) = match line.split_at_checked(1) {
                Some(("-", text)) => (Side::Old, text),
                Some(("+", text)) => (Side::New, text),
                Some((" ", text)) => (Side::Both, text),
                _ => (Side::Both, line),
            };
            old += u32::from(side != Side::New);
            new += u32::from(side != Side::Old);
            let bare = side == Side::Both && !line.starts_with(' ') && !line.is_empty();
            parts.push(Part { side, text, bare });
        }
        for _ in 0..prose_behind(&parts) {
            parts.pop();
            (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
        }
        while (old > want_old || new > want_new) && parts.last().is_some_and(Part::is_blank_context)
        {
            parts.pop();
            (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
        }
        self.push_hunk(&parts, header, (old_open, new_open));
    }

    /// Returns true when a line is behind the hunk that is being read.
    fn ends_hunk(&self, line: &str, full: bool) -> bool {
        let next = self.line(self.at + 1);
        let heads = ["@@", "diff --git ", "Index: ", "*** ", "```"];
        let names_files = line.starts_with("--- ")
            && next.starts_with("+++ ")
            && (full || self.line(self.at + 2).starts_with("@@"));
        let header = names_files || heads.iter().any(|head| line.starts_with(head));
        if header || (line.is_empty() && self.at + 1 >= self.lines.len()) {
            return true;
        }
        full && (line == "-- " || line == "--" || !line.starts_with(['+', '-', ' ', '\\']))
    }

    fn push_hunk(&mut self, parts: &[Part<'_>], header: HunkHeader, open: (bool, bool)) {
        let without = |other: Side| -> Vec<String> {
            let parts = parts.iter().filter(|part| part.side != other);
            parts.map(|part| part.text.to_owned()).collect()
        };
        let quotes = parts.iter().any(|part| part.side != Side::New);
        let hunk = Hunk {
            file: String::new(),
            // A header that counts old lines where none is quoted does not say
            // between which of them the new ones stand.
            start: header
                .ranges
                .map(|ranges| ranges.old)
                .filter(|(_, count)| *count == 0 || quotes)
                .map(|(start, _)| start),
            heading: header.heading,
            old: without(Side::New),
            new: without(Side::Old),
            old_unterminated: open.0,
            new_unterminated: open.1,
            latin1: self.latin1,
        };
        if !hunk.old.is_empty() || !hunk.new.is_empty() {
            self.section.hunks.push(hunk);
        }
    }

    /// Turns the section into edits and begins a new one.
    fn finish(&mut self) {
        let section = std::mem::take(&mut self.section);
        let file = section.name.unwrap_or_default();
        if let Some((rule, what)) = section.unsupported {
            self.edits.push(Edit::Unsupported { file, what, rule });
            return;
        }
        if section.created {
            let lines: Vec<String> = section.hunks.iter().flat_map(|h| h.new.clone()).collect();
            self.edits.push(Edit::Create {
                file,
                text: lines.join("\n"),
                latin1: self.latin1,
                unterminated: section.hunks.iter().any(|hunk| hunk.new_unterminated),
            });
            return;
        }
        if section.deleted {
            let lines: Vec<String> = section.hunks.iter().flat_map(|h| h.old.clone()).collect();
            let original = Some(lines.join("\n")).filter(|_| !section.hunks.is_empty());
            self.edits.push(Edit::Delete { file, original });
            return;
        }
        let mut target = file;
        if let (Some(from), Some(to)) = section.rename {
            target.clone_from(&from);
            self.edits.push(Edit::Rename { from, to });
        }
        for mut hunk in section.hunks {
            hunk.file.clone_from(&target);
            self.edits.push(Edit::Hunk(hunk));
        }
    }
}

/// Counts the lines at the end of a hunk that are prose about the next one: without
/// marks, from the first one on that reads as a sentence.
fn prose_behind(parts: &[Part<'_>]) -> usize {
    let unmarked = |part: &&Part<'_>| part.bare || part.is_blank_context();
    let tail = parts.iter().rev().take_while(unmarked).count();
    let tail = parts.get(parts.len() - tail..).unwrap_or_default();
    let mut parts = tail.iter();
    let first = parts.position(|part| part.bare && is_sentence(part.text));
    first.map_or(0, |first| tail.len() - first)
}

/// Returns true when a line is prose: it begins with a letter at the margin, has several
/// words, and no sign of code at its end.
fn is_sentence(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let begins = line.starts_with(|first: char| first.is_alphabetic() || "*#`>".contains(first));
    let line = line.trim_end();
    begins && words >= 3 && !line.ends_with([';', '{', '}', ',', '(', ')', '\\', '|', '&', '='])
}

/// New files are plain ones: no link, no program, no submodule.
fn wrong_mode(mode: &str) -> Option<(Rule, String)> {
    match mode {
        "100644" | "0644" | "644" => None,
        "120000" => Some((Rule::Link, "it would be a symbolic link".to_owned())),
        other => Some((Rule::Mode, format!("its mode would be {other}"))),
    }
}
