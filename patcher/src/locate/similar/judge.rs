//! Whether the differences between two pieces of code are harmless.

use super::bare;
use crate::How;
use crate::locate::Place;
use crate::names::{is_standard, tokens};
use crate::pristine::Pristine;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// Slips of the pen are only seen in names of this length.
const SHORTEST_NAME: usize = 5;

/// Decides whether the differences between two pieces of code are harmless.
pub(super) struct Judge<'a> {
    pub(super) file: &'a Pristine,
    pub(super) wanted: &'a [String],
    pub(super) wanted_code: &'a [String],
    pub(super) knows: &'a dyn Fn(&str) -> bool,
}

impl Judge<'_> {
    fn code_at(&self, at: usize) -> String {
        self.file
            .code()
            .get(at)
            .map(|code| bare(code))
            .unwrap_or_default()
    }

    fn wanted_code(&self, index: usize) -> String {
        self.wanted_code
            .get(index)
            .map(|code| bare(code))
            .unwrap_or_default()
    }

    /// Pairs the wanted lines with those of a range, if all differences are
    /// harmless.
    pub(super) fn pair(&self, start: usize, end: usize) -> Option<Place> {
        let old: Vec<u64> = self
            .wanted
            .iter()
            .map(|line| crate::pristine::key(line))
            .collect();
        let new: Vec<u64> = (start..end).filter_map(|at| self.file.key(at)).collect();
        let mut pairs = vec![None; self.wanted.len()];
        let mut fixed = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (ours, theirs) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                for (index, at) in ours.zip(theirs) {
                    *pairs.get_mut(index)? = Some(start + at);
                }
                continue;
            }
            let theirs = start + theirs.start..start + theirs.end;
            self.gap(ours, theirs, &mut pairs, &mut fixed)?;
        }
        Some(Place {
            range: start..end,
            how: How::Similar,
            pairs: Some(pairs),
            fixed,
        })
    }

    /// Pairs what stands between lines that are the same.
    fn gap(
        &self,
        ours: Range<usize>,
        theirs: Range<usize>,
        pairs: &mut [Option<usize>],
        fixed: &mut Vec<usize>,
    ) -> Option<()> {
        let mut rest = theirs.clone().peekable();
        for index in ours {
            let code = self.wanted_code(index);
            if code.is_empty() {
                let comment = rest.next_if(|at| self.code_at(*at).is_empty());
                *pairs.get_mut(index)? = comment;
                continue;
            }
            let mut partner = None;
            for at in rest.by_ref() {
                let alike = self.alike(index, at);
                if alike != Alike::No {
                    partner = Some((at, alike));
                    break;
                }
                self.may_be_left_out(at).then_some(())?;
            }
            let (at, alike) = partner?;
            *pairs.get_mut(index)? = Some(at);
            if alike == Alike::WhereKept {
                fixed.push(index);
            }
        }
        rest.all(|at| self.may_be_left_out(at)).then_some(())
    }

    /// Whether a line of the file may be missing among the wanted ones.
    fn may_be_left_out(&self, at: usize) -> bool {
        let code = self.code_at(at);
        !code.contains(['{', '}', '(', ')', '[', ']']) && !code.starts_with('#')
    }

    fn alike(&self, index: usize, at: usize) -> Alike {
        let ours = self.wanted_code.get(index).map_or("", String::as_str);
        let theirs = self.file.code().get(at).map_or("", String::as_str);
        if bare(ours) == bare(theirs) {
            return Alike::Yes;
        }
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            (tokens(ours).collect(), tokens(theirs).collect());
        if ours.len() != theirs.len() || theirs.first() == Some(&"#") {
            return Alike::No;
        }
        let mut alike = Alike::Yes;
        for (a, b) in ours.iter().zip(&theirs).filter(|(a, b)| a != b) {
            let quoted = |token: &str| token.starts_with('"') && token.len() > 1;
            if quoted(a) && quoted(b) {
                alike = Alike::WhereKept;
            } else if !self.is_slip(a, b) {
                return Alike::No;
            }
        }
        alike
    }

    /// Whether a name that exists nowhere is another one with one letter too
    /// few, one too many, or two exchanged.
    fn is_slip(&self, ours: &str, theirs: &str) -> bool {
        let is_name = |token: &str| {
            token.len() >= SHORTEST_NAME
                && token
                    .chars()
                    .all(|next| next.is_alphanumeric() || next == '_')
                && token.starts_with(|first: char| !first.is_ascii_digit())
        };
        let digits = |token: &str| {
            token
                .chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
        };
        is_name(ours)
            && is_name(theirs)
            && digits(ours) == digits(theirs)
            && one_slip(ours, theirs)
            && !self.file.names().contains(ours)
            && !is_standard(ours)
            && !(self.knows)(ours)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alike {
    Yes,
    /// Only if the line is not changed by the edit.
    WhereKept,
    No,
}

/// Whether one letter is missing, one is too many, or two are exchanged.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let prefix = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = |word: &[char], from: usize| word.get(from..).unwrap_or_default().to_vec();
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Less => {
            a.len() + 1 == b.len() && rest(&a, prefix) == rest(&b, prefix + 1)
        }
        std::cmp::Ordering::Greater => {
            b.len() + 1 == a.len() && rest(&a, prefix + 1) == rest(&b, prefix)
        }
        std::cmp::Ordering::Equal => {
            a.get(prefix) == b.get(prefix + 1)
                && a.get(prefix + 1) == b.get(prefix)
                && rest(&a, prefix + 2) == rest(&b, prefix + 2)
        }
    }
}
