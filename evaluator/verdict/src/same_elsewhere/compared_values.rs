//! Compared values: what the comparisons of a patch see on an input that comes there.
//!
//! A bound may stand in a field, a macro or a length rather than in the patch. So the debugger
//! reads both sides of each comparison that the patch brings, and inputs are brought to these
//! values as to a constant (input-to-state correspondence: Aschermann et al., "REDQUEEN", NDSS
//! 2019). A value that cannot be read is left out: it only makes inputs, and decides nothing.

use super::Comparison;
use super::decisions::{COMPARISONS, nodes, operator, rows};
use super::pool::ComparedInput;
use crate::attempt::AttemptFacts;
use crate::mutation::said_numbers;
use crate::rung::Programs;
use patchwright_source::{Language, parse};
use patchwright_target::Result;
use patchwright_target::probe::{Expression, Observation, Probe};
use patchwright_target::runner::InputFile;
use std::collections::BTreeSet;

/// The most sides of comparisons that are read, in one run of the debugger.
const MOST_SIDES: usize = 8;
/// The most values that inputs are brought to.
const MOST_VALUES: usize = 3;
/// Smaller values are everywhere.
const LEAST: u64 = 2;

impl Comparison<'_> {
    /// Returns values that the patch compares on an input, those first that it does not name:
    /// what the input names is the other side.
    pub(super) async fn compared_values(&mut self, input: &ComparedInput) -> Result<Vec<u64>> {
        let probes = probes(self.programs.attempt);
        if probes.is_empty() {
            return Ok(Vec::new());
        }
        let file = InputFile::like(self.programs.pov, &input.bytes)?;
        let Programs { target, new, .. } = &self.programs;
        let seen = target.probe(new, file.pov(), &probes).await?;
        if let Some(why) = &seen.problem {
            let why = format!("values that the patch compares: {why}");
            self.experiments.push(why);
        }
        let mut values: Vec<u64> = seen.probes.iter().flat_map(numbers).collect();
        let said = said_numbers(&input.bytes);
        values.sort_by_key(|value| said.contains(value));
        let mut known = BTreeSet::new();
        values.retain(|value| *value >= LEAST && known.insert(*value));
        values.truncate(MOST_VALUES);
        self.count("values that the patch compares", values.len() as u64);
        Ok(values)
    }
}

/// The least and the greatest number that was seen.
fn numbers(observation: &Observation) -> impl Iterator<Item = u64> {
    let ends = [observation.least, observation.most].into_iter().flatten();
    ends.filter_map(|(value, _)| u64::try_from(value).ok())
}

/// Questions for the sides of the comparisons on the lines that a patch brings.
fn probes(attempt: &AttemptFacts) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for touched in &attempt.touched {
        let path = attempt.changes.new_name(&touched.path);
        let Some(bytes) = attempt.changes.files.get(path) else {
            continue;
        };
        let sides = Language::of(path, bytes).map(|language| sides(language, bytes));
        for (line, side) in sides.into_iter().flatten() {
            let expression = Expression::read(&side).ok().filter(|_| touched.wrote(line));
            probes.extend(expression.map(|expression| Probe {
                path: path.clone(),
                line,
                expression,
            }));
        }
    }
    probes.truncate(MOST_SIDES);
    probes
}

/// Returns the sides of the comparisons of a text that are no literals, with their lines.
fn sides(language: Language, text: &[u8]) -> Vec<(u32, String)> {
    let Some(tree) = parse(language, text) else {
        return Vec::new();
    };
    let all = nodes(tree.root_node());
    let compared = all.filter(|node| COMPARISONS.contains(&operator(*node, text)));
    let sides = compared.flat_map(|node| ["left", "right"].map(|s| node.child_by_field_name(s)));
    let sides = sides.flatten();
    let sides = sides.filter(|side| !side.kind().ends_with("literal"));
    let mut found: Vec<(u32, String)> = sides
        .filter_map(|side| Some((rows(side).0, side.utf8_text(text).ok()?.to_owned())))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::sides;
    use patchwright_source::Language;

    #[test]
    fn the_sides_of_comparisons_are_read_and_literals_are_none() {
        for (language, line, expected) in [
            (
                Language::C,
                "if (count > c->most) count = 7;",
                vec!["c->most", "count"],
            ),
            (
                Language::C,
                "while (a[i] != 0 && 3 < n) i++;",
                vec!["a[i]", "n"],
            ),
            (Language::C, "x = y + z;", vec![]),
            (
                Language::Cpp,
                "return size() <= kMost ? a : b;",
                vec!["kMost", "size()"],
            ),
            (
                Language::Java,
                "if (at >= names.length) return;",
                vec!["at", "names.length"],
            ),
        ] {
            let text = format!("class A {{ int f(int n) {{\n{line}\n}} }}");
            let text = match language {
                Language::Java => text,
                _ => format!("int f(int n)\n{{\n{line}\n}}"),
            };
            let mut found: Vec<String> = sides(language, text.as_bytes())
                .into_iter()
                .map(|(_, side)| side)
                .collect();
            found.sort();
            assert_eq!(found, expected, "{line}");
        }
    }
}
