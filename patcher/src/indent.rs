//! The file's own indentation for new lines.
//!
//! If the original was found in spite of different whitespace, the pairs of
//! its lines tell how the writer's indentation maps to the file's: moved as a
//! whole, tabs for spaces, or two columns for four.

use crate::pristine::Pristine;
use std::ops::{Range, RangeInclusive};

/// Distance around a place within which the file's style is looked at, in lines.
const AROUND: usize = 50;

/// The step that is assumed where nothing tells.
const USUAL_STEP: usize = 4;

/// Differences in columns that can be a step.
const STEPS: RangeInclusive<usize> = 2..=8;

/// Indentation of a file near a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Tabs,
    Spaces,
    Mixed,
}

/// The whitespace at the start of a line.
pub(crate) fn lead(line: &str) -> &str {
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..length).unwrap_or_default()
}

/// Translation of the writer's indentation to the file's.
#[derive(Debug)]
pub(crate) struct Indent {
    pairs: Vec<(String, String)>,
    style: Style,
    /// One step in the writer's text, in columns.
    from_step: usize,
    /// One step in the file, in columns.
    to_step: usize,
    /// True when steps differ in width, so that columns are scaled.
    scaled: bool,
}

impl Indent {
    /// Takes the pairs of wanted lines and lines of the file, both non-blank;
    /// `written` are all lines of the writer.
    pub(crate) fn learn<'a>(
        file: &Pristine,
        range: &Range<usize>,
        pairs: Vec<(String, String)>,
        written: impl Iterator<Item = &'a str>,
    ) -> Self {
        let stop = (range.end + AROUND).min(file.count());
        let around = range.start.saturating_sub(AROUND)..stop;
        let leads: Vec<String> = around.map(|at| lead(&file.line(at)).to_owned()).collect();
        let by_tabs = pairs.iter().find_map(|(from, to)| {
            let tabs = to.len();
            let only = !to.is_empty() && to.chars().all(|c| c == '\t');
            let spaces = from.chars().all(|c| c == ' ') && !from.is_empty();
            (only && spaces && from.len() % tabs == 0).then(|| from.len() / tabs)
        });
        let from_step = by_tabs.unwrap_or_else(|| step(written.map(lead)));
        let to_step = step(leads.iter().map(String::as_str));
        let scaled = from_step != to_step
            && pairs.iter().any(|(from, to)| {
                from != to && !from.is_empty() && from.len() * to_step == to.len() * from_step
            });
        Self {
            pairs,
            style: style(&leads),
            from_step,
            to_step,
            scaled,
        }
    }

    /// A new line with the file's indentation.
    pub(crate) fn apply(&self, line: &str) -> String {
        let old = lead(line);
        let text = line.get(old.len()..).unwrap_or_default();
        if text.is_empty() {
            return line.to_owned();
        }
        self.map(old) + text
    }

    fn map(&self, old: &str) -> String {
        if let Some((_, to)) = self.pairs.iter().rev().find(|(from, _)| from == old) {
            return to.clone();
        }
        let pairs = self.pairs.iter();
        let below = pairs.filter(|(from, _)| old.starts_with(from.as_str()));
        let below = below.max_by_key(|(from, _)| from.len());
        let above = self.pairs.iter().filter(|(from, _)| from.starts_with(old));
        let above = above.min_by_key(|(from, _)| from.len());
        match (below, above) {
            (Some((from, to)), _) if !from.is_empty() || above.is_none() => {
                to.clone() + &self.restyle(old.get(from.len()..).unwrap_or_default())
            }
            (_, Some((from, to))) => {
                let gone = self.restyle(from.get(old.len()..).unwrap_or_default());
                let kept = to.len().saturating_sub(gone.len());
                to.get(..kept).unwrap_or_default().to_owned()
            }
            (Some((_, to)), None) => to.clone() + &self.restyle(old),
            (None, None) => self.restyle(old),
        }
    }

    /// Whitespace in the file's style.
    fn restyle(&self, part: &str) -> String {
        if part.is_empty() {
            return String::new();
        }
        let spaces = part.chars().filter(|c| *c == ' ').count();
        let tabs = part.chars().filter(|c| *c == '\t').count();
        let step = self.from_step.max(1);
        match self.style {
            Style::Tabs if spaces >= 2 => {
                "\t".repeat(tabs + spaces / step) + &" ".repeat(spaces % step)
            }
            Style::Spaces if tabs > 0 => " ".repeat(tabs * self.to_step + spaces),
            Style::Spaces if self.scaled => {
                " ".repeat(spaces / step * self.to_step + spaces % step)
            }
            _ => part.to_owned(),
        }
    }
}

/// Returns the style of the lines. One space is no indentation: it stands
/// before the star of a comment.
fn style(leads: &[String]) -> Style {
    let tabs = leads.iter().any(|lead| lead.starts_with('\t'));
    let spaces = leads.iter().any(|lead| lead.starts_with("  "));
    match (tabs, spaces) {
        (true, false) => Style::Tabs,
        (false, true) => Style::Spaces,
        _ => Style::Mixed,
    }
}

/// The usual difference between the indentations of two lines that follow each
/// other; lines that continue another one make few of them.
fn step<'a>(leads: impl Iterator<Item = &'a str>) -> usize {
    let leads = leads.filter(|lead| lead.chars().all(|c| c == ' '));
    let widths: Vec<usize> = leads.map(str::len).collect();
    let count = |step: &usize| {
        let pairs = widths.windows(2);
        let differing = pairs.filter(|pair| matches!(pair, [a, b] if a.abs_diff(*b) == *step));
        differing.count()
    };
    let steps = STEPS.filter(|step| count(step) > 0);
    let common = steps.min_by_key(|step| std::cmp::Reverse(count(step)));
    let least = widths.iter().copied().filter(|width| STEPS.contains(width));
    common.or(least.min()).unwrap_or(USUAL_STEP)
}

/// Old lines that lost all indentation say nothing about new lines that have
/// the file's: then these are meant as they are.
pub(crate) fn unflatten(
    leads: Vec<(String, String)>,
    old: &[String],
    new: &[String],
) -> Vec<(String, String)> {
    let flat = leads.iter().all(|(from, _)| from.is_empty());
    let least = leads.iter().map(|(_, to)| to).min_by_key(|to| to.len());
    let Some(least) = least.filter(|least| flat && !least.is_empty()) else {
        return leads;
    };
    let mut fresh = new
        .iter()
        .filter(|line| !line.trim().is_empty() && !old.contains(line))
        .peekable();
    if fresh.peek().is_none() || !fresh.all(|line| line.starts_with(least.as_str())) {
        return leads;
    }
    leads.into_iter().map(|(_, to)| (to.clone(), to)).collect()
}

#[cfg(test)]
mod tests {
    use super::Indent;
    use crate::pristine::Pristine;
    use patchwright_source::{Text, TreePath};

    fn check(file: &str, pairs: &[(&str, &str)], written: &[&str], line: &str, expected: &str) {
        let file = Pristine::new(TreePath::new("a.c").unwrap(), Text::new(file.into()));
        let pairs = pairs
            .iter()
            .map(|(from, to)| ((*from).to_owned(), (*to).to_owned()))
            .collect();
        let indent = Indent::learn(&file, &(0..file.count()), pairs, written.iter().copied());
        assert_eq!(indent.apply(line), expected, "{line:?}");
    }

    #[test]
    fn follows_the_file() {
        let tabs = "f {\n\ta;\n\t\tb;\n}\n";
        let spaces = "f {\n    a;\n        b;\n}\n";
        let two = "f {\n  a;\n    b;\n}\n";
        check(tabs, &[("    ", "\t")], &["    a;"], "        x;", "\t\tx;");
        check(
            tabs,
            &[("        ", "\t")],
            &["        a;"],
            "                x;",
            "\t\tx;",
        );
        check(tabs, &[("\t", "\t")], &["\ta;", "    x;"], "    x;", "\tx;");
        check(spaces, &[("\t", "    ")], &["\ta;"], "\t\tx;", "        x;");
        check(
            spaces,
            &[("        ", "    ")],
            &[],
            "            x;",
            "        x;",
        );
        check(
            spaces,
            &[("", "    ")],
            &["a;", "    x;"],
            "    x;",
            "        x;",
        );
        check(
            two,
            &[("    ", "  ")],
            &["    a;", "        x;"],
            "        x;",
            "    x;",
        );
        check(spaces, &[("        ", "        ")], &[], "    x;", "    x;");
        check(
            spaces,
            &[("            ", "        ")],
            &[],
            "        x;",
            "    x;",
        );
        check(tabs, &[("\t", "\t")], &[], "", "");
    }
}
