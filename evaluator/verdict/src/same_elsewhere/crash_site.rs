//! Crash site: the values that decide at the line of the crash, on the PoV and on inputs on
//! which the two programs differ.
//!
//! A debugger stops the unpatched program at the line where the PoV crashes and reads what the
//! report's condition is about: the indexes of the line, or which of its pointers is null. An
//! input that never comes there has nothing to do with the fault that was seen; one that comes
//! there with other values may be on the harmless side of it. This is told beside a doubt, for
//! whoever decides, and settles nothing: where the condition is violated the sanitizer of the
//! build, or one of those that the experiments add, ends the program.

use super::Comparison;
use super::clock::Part;
use super::doubts::{DIVERGING, Differing};
use crate::review;
use patchwright_crash::Access;
use patchwright_source::{Language, Tree, TreePath};
use patchwright_target::TargetError;
use patchwright_target::probe::{Expression, Observation, Observations, Probe};
use patchwright_target::runner::InputFile;
use std::collections::BTreeMap;

/// Values of one line that are read.
const MOST_VALUES: usize = 3;

impl Comparison<'_> {
    /// Returns in words the state at the crash for some of the inputs.
    pub(super) async fn states_at_the_crash(
        &mut self,
        open: &[Differing],
    ) -> Result<BTreeMap<usize, String>, TargetError> {
        let mut found = BTreeMap::new();
        if open.is_empty() || self.target.task().language == Language::Java {
            return Ok(found);
        }
        let Some((place, probes)) = self.crash_probes() else {
            let why = "values at the crash: the report names no line of the project";
            self.experiments.push(why.to_owned());
            return Ok(found);
        };
        let (target, old) = (self.target, self.builds.0);
        let usual = target.probe(old, self.pov, &probes).await?;
        if usual.problem.is_some() || !usual.probes.iter().any(|probe| probe.hits > 0) {
            let why = usual
                .problem
                .as_deref()
                .unwrap_or("the PoV does not stop there");
            self.experiments.push(format!("values at {place}: {why}"));
            return Ok(found);
        }
        // A debugger takes seconds for each.
        let no_time = self.clock.left(Part::Last).is_zero();
        let most = if no_time { 1 } else { DIVERGING };
        for (index, one) in open.iter().enumerate().take(most) {
            let input = InputFile::like(self.pov, &one.input.bytes)?;
            let seen = target.probe(old, input.pov(), &probes).await?;
            if seen.problem.is_some() || seen.ended == "time" {
                continue;
            }
            if !seen.probes.iter().any(|probe| probe.hits > 0) {
                self.count("open doubts that never come to the crash", 1);
            }
            found.insert(index, described(&place, &probes, &usual, &seen));
        }
        Ok(found)
    }

    /// Returns the place of the crash, and probes for the values of its line.
    pub(super) fn crash_probes(&self) -> Option<(String, Vec<Probe>)> {
        let task = self.target.task();
        let crash = self.before.replay.crash.as_ref()?;
        let stack = crash.main_stack()?;
        let frame = stack.frames.iter().find(|frame| task.in_project(frame))?;
        let (path, line) = (task.tree_path(frame)?, frame.line?);
        let near_null = crash.access.as_ref().is_some_and(Access::is_near_null);
        let text = line_of(&Tree::open(&task.tree).ok()?, &path, line)?;
        let mut expressions = operands(&text, near_null);
        if expressions.is_empty() {
            // Only the hits count.
            expressions.extend(Expression::read("1"));
        }
        let probes = expressions.into_iter().map(|expression| Probe {
            path: path.clone(),
            line,
            expression,
        });
        Some((format!("{path}:{line}"), probes.collect()))
    }
}

fn line_of(tree: &Tree, path: &TreePath, line: u32) -> Option<String> {
    let text = tree.read(path).ok()?;
    let text = String::from_utf8_lossy(text.bytes()).into_owned();
    let line = text.lines().nth((line as usize).checked_sub(1)?)?;
    Some(review::without_comments(line))
}

/// Describes what an input does at the crash, beside the PoV.
fn described(place: &str, probes: &[Probe], pov: &Observations, seen: &Observations) -> String {
    if !seen.probes.iter().any(|probe| probe.hits > 0) {
        return format!("the unpatched program never comes to {place}, where the PoV crashes");
    }
    let pairs = pov.probes.iter().zip(&seen.probes);
    let values = probes.iter().zip(pairs).filter_map(|(probe, (pov, seen))| {
        let (least, most) = (seen.least?.0, seen.most?.0);
        let range = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        let expression = probe.expression.to_string();
        (expression != "1").then(|| format!("{expression} is {range} ({} on the PoV)", last(pov)))
    });
    let values: Vec<String> = values.collect();
    let comes = format!("it comes to {place}, where the PoV crashes");
    if values.is_empty() {
        return comes;
    }
    format!("{comes}: {}", values.join(", "))
}

/// Returns the value at the last hit.
fn last(observation: &Observation) -> String {
    let spans = observation.last.iter().chain(&observation.first);
    let span = spans.max_by_key(|span| span.2);
    span.map_or_else(|| "unknown".to_owned(), |span| span.0.clone())
}

/// Returns the indexes of a line; where the crash is one of a null pointer, questions for
/// each of its pointers.
fn operands(line: &str, near_null: bool) -> Vec<Expression> {
    let found = if near_null {
        pointers(line)
    } else {
        indexes(line)
    };
    let mut read: Vec<Expression> = Vec::new();
    for text in found {
        let text = if near_null {
            format!("({text}) == 0")
        } else {
            text
        };
        let expression = Expression::read(&text).ok();
        read.extend(expression.filter(|one| !read.contains(one)));
    }
    read.truncate(MOST_VALUES);
    read
}

/// Returns what stands between brackets, unless it is a number.
fn indexes(line: &str) -> Vec<String> {
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for (at, letter) in line.char_indices() {
        match letter {
            '[' => open.push(at + 1),
            ']' => {
                let inside = open.pop().and_then(|start| line.get(start..at));
                let names = inside.filter(|text| text.contains(|c: char| c.is_alphabetic()));
                found.extend(names.map(|text| text.trim().to_owned()));
            }
            _ => {}
        }
    }
    found
}

/// Returns the pointers that a line goes through: what stands before arrows and brackets, and
/// behind stars that are no products.
fn pointers(line: &str) -> Vec<String> {
    let of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '>' | '-');
    let mut found = Vec::new();
    for (at, _) in line.match_indices("->").chain(line.match_indices('[')) {
        let before = line.get(..at).unwrap_or_default();
        let start = before
            .rfind(|c: char| !of_path(c))
            .map_or(0, |last| last + 1);
        found.extend(before.get(start..).map(str::to_owned));
    }
    for (at, _) in line.match_indices('*') {
        let (before, after) = line.split_at(at);
        let product = before
            .trim_end()
            .ends_with(|c: char| c.is_alphanumeric() || c == ')');
        let after = after.trim_start_matches('*');
        let end = after.find(|c: char| !of_path(c)).unwrap_or(after.len());
        if !product {
            found.extend(after.get(..end).map(str::to_owned));
        }
    }
    found.retain(|text| text.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    found
}

#[cfg(test)]
mod tests {
    use super::operands;

    #[test]
    fn the_values_of_a_line_are_those_that_its_fault_is_about() {
        for (line, near_null, expected) in [
            ("  table[at + 1] = from[n];", false, vec!["at + 1", "n"]),
            ("  a[b[i]] = 0; c[7] = f(x);", false, vec!["i", "b[i]"]),
            ("  memcpy(to, from, n);", false, vec![]),
            (
                "  return node->next->name[0];",
                true,
                vec![
                    "(node) == 0",
                    "(node->next) == 0",
                    "(node->next->name) == 0",
                ],
            ),
            ("  *to = a * b;", true, vec!["(to) == 0"]),
            ("  x = calls(y)[i];", true, vec![]),
        ] {
            let found: Vec<String> = operands(line, near_null)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
