//! Compared values: what the comparisons of a patch see on an input that comes there.
//!
//! A bound may stand in a field, a macro or a length rather than in the patch. So the debugger
//! reads both sides of each comparison that the patch brings, and inputs are brought to these
//! values as to a constant (input-to-state correspondence: Aschermann et al., "REDQUEEN", NDSS
//! 2019). A value that cannot be read is left out: it only makes inputs, and decides nothing.

use super::Comparison;
use super::pool::ComparedInput;
use crate::attempt::AttemptFacts;
use crate::mutation::said_numbers;
use patchwright_source::{Language, parse};
use patchwright_target::TargetError;
use patchwright_target::probe::{Expression, Observation, Probe};
use patchwright_target::runner::InputFile;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// The most sides of comparisons that are read, in one run of the debugger.
const MOST_SIDES: usize = 8;
/// The most values that inputs are brought to.
const MOST_VALUES: usize = 3;
/// Smaller values are everywhere.
const LEAST: u64 = 2;

impl Comparison<'_> {
    /// Returns values that the patch compares on an input, those first that it does not name:
    /// what the input names is the other side.
    pub(super) async fn compared_values(
        &mut self,
        attempt: &AttemptFacts,
        input: &ComparedInput,
    ) -> Result<Vec<u64>, TargetError> {
        let probes = probes(attempt);
        if probes.is_empty() {
            return Ok(Vec::new());
        }
        let file = InputFile::like(self.pov, &input.bytes)?;
        let patched = self.builds.1;
        let seen = self.target.probe(patched, file.pov(), &probes).await?;
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
        let path = attempt.changes.renamed.get(&touched.path);
        let path = path.unwrap_or(&touched.path);
        let Some(bytes) = attempt.changes.files.get(path) else {
            continue;
        };
        let sides = Language::of(path, bytes).map(|language| sides(language, bytes));
        for (line, side) in sides.into_iter().flatten() {
            let mut pieces = touched.new.iter();
            if !pieces.any(|(first, last)| (first..=last).contains(&&line)) {
                continue;
            }
            probes.extend(Expression::read(&side).ok().map(|expression| Probe {
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
    let tree = parse(language, text);
    let mut open: Vec<Node<'_>> = tree.iter().map(|tree| tree.root_node()).collect();
    let mut found = Vec::new();
    while let Some(node) = open.pop() {
        if is_comparison(node, text) {
            let sides = ["left", "right"].map(|side| node.child_by_field_name(side));
            let sides = sides.into_iter().flatten();
            let sides = sides.filter(|side| !side.kind().ends_with("literal"));
            found.extend(sides.filter_map(|side| {
                let line = side.start_position().row as u32 + 1;
                Some((line, side.utf8_text(text).ok()?.to_owned()))
            }));
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    found.sort();
    found.dedup();
    found
}

fn is_comparison(node: Node<'_>, text: &[u8]) -> bool {
    let operator = node.child_by_field_name("operator");
    let operator = operator.and_then(|operator| operator.utf8_text(text).ok());
    node.kind() == "binary_expression"
        && operator.is_some_and(|one| matches!(one, "<" | ">" | "<=" | ">=" | "==" | "!="))
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
