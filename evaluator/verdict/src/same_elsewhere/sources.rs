//! Sources of inputs for the patch at hand, once the pool is used up.
//!
//! *Aimed* inputs are brought to the constants of the patch. A bound that is too small shows only
//! on inputs beyond it, and given inputs are small. So inputs that reach a touched function are
//! changed by the dictionary of the patch's constants and of the values that it compares, or of
//! usual sizes where there are none: numbers replaced, items repeated. Where the patched program
//! refuses such an input, it is a doubt, since the repair may be that bound. Where both programs
//! accept it and print different output, the patch is refuted. Nothing is tried where the PoV
//! exhausts stack, memory or time, because there a bound of any size is the repair.
//!
//! A bound may stand in a field, a macro or a length rather than in the patch. So the debugger
//! reads both sides of each comparison that the patch brings, and inputs are brought to these
//! values as to a constant (input-to-state correspondence: Aschermann et al., "REDQUEEN", NDSS
//! 2019). A value that cannot be read is left out: it only makes inputs, and decides nothing.
//!
//! *Searched* inputs are those that the project's own fuzzer finds. Where a branch of the patch is
//! not accounted for, or too few inputs come there, a harness that is a fuzzer is asked for a few
//! seconds: on the patched program, from inputs that come near. What it keeps is compared like any
//! derived input. Harnesses that take one input in a process of their own are no fuzzers, and
//! nothing is searched for them.

use super::decisions::{COMPARISONS, operator};
use super::doubts::Differing;
use super::pool::{ComparedInput, InputKind};
use super::runs::Part;
use super::{CHUNK, Comparison};
use crate::attempt::{AttemptFacts, nodes, rows};
use crate::given_inputs;
use crate::mutation::{Dictionary, said_numbers};
use crate::robust::{bounds, is_fuzzer};
use crate::rung::Programs;
use patchwright_crash::CrashReport;
use patchwright_source::{Language, parse};
use patchwright_target::Result;
use patchwright_target::probe::{Expression, Probe};
use patchwright_target::runner::{InputFile, Outcome};
use std::collections::BTreeSet;
use std::time::Duration;

/// Numbers and sizes that are tried where a patch has none: beyond a byte, and beyond
/// usual buffers.
const SIZES: [u64; 2] = [300, 5000];
/// The most inputs that are made of one.
const MOST: usize = 3 * 160;
/// The most inputs that others are made from.
const SEEDS: usize = 4;
/// The largest such input, in bytes.
const LARGEST_SEED: usize = 1 << 14;
/// The fewest that have to be run, where there are so many.
const FLOOR: usize = 32;
/// Least time for some of them until so many were run, on a busy machine.
const LEAST_AIMED: Duration = Duration::from_secs(12);
/// Time for the fuzzer, and least time for comparing what it finds.
const FUZZER_TIME: Duration = Duration::from_secs(5);
const LEAST_FOUND: Duration = Duration::from_secs(5);
/// The most seeds of the fuzzer beside the PoVs.
const FUZZER_SEEDS: usize = 24;
/// The most sides of comparisons that are read, in one run of the debugger.
const MOST_SIDES: usize = 8;
/// The most values that inputs are brought to.
const MOST_VALUES: usize = 3;
/// Smaller values are everywhere.
const LEAST: u64 = 2;

impl Comparison<'_> {
    /// Compares the outputs of inputs that are aimed at the patch's numbers.
    pub(super) async fn aimed(&mut self) -> Result<Option<Differing>> {
        if self.is_exhaustion() {
            return Ok(None);
        }
        let known = self.compared.len();
        let mut constants = bounds(self.programs.attempt);
        if let Some(seed) = self.seeds().first().map(|seed| (*seed).clone()) {
            constants.extend(self.compared_values(&seed).await?);
        }
        if constants.is_empty() {
            constants.extend(SIZES);
        }
        let mut inputs = self.inputs_at(&Dictionary::new(&constants));
        let floor = FLOOR.min(inputs.len());
        inputs.truncate((self.programs.task().limits.compared as usize).max(floor));
        let mut run = 0;
        while !inputs.is_empty() {
            let least = if run < floor {
                LEAST_AIMED
            } else {
                Duration::ZERO
            };
            let left = self.clock.left(Part::AIMED).max(least);
            let before = self.answered();
            if left.is_zero() {
                break;
            }
            let count = self.fits(left).min(CHUNK).min(inputs.len());
            let chunk: Vec<ComparedInput> = inputs.drain(..count).collect();
            self.tried
                .extend(chunk.iter().map(|input| input.bytes.clone()));
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
            let now = self.answered() - before;
            run += now as usize;
            if now == 0 {
                break;
            }
        }
        self.missed = shortfall(run, floor);
        // They are made of inputs that come to the patch, and most come there too.
        if self.is_open() {
            let reached = self.count_since(known).await?;
            self.count("aimed and reached the patch", reached);
        }
        Ok(None)
    }

    /// Compares what the project's fuzzer finds, where something of the patch is open.
    pub(super) async fn searched(&mut self) -> Result<Option<Differing>> {
        if !is_fuzzer(self.programs.before) || !self.is_open() {
            return Ok(None);
        }
        let mut seeds = given_inputs::povs(self.programs.task())?;
        let near = self.reaching.iter().chain(&self.compared);
        let near = near.map(|input| input.bytes.clone());
        seeds.extend(near.take(FUZZER_SEEDS));
        let Programs { target, pov, .. } = self.programs;
        let fuzzed = target.fuzz(&self.programs.new, pov, &seeds, FUZZER_TIME);
        let Some(fuzzed) = fuzzed.await? else {
            return Ok(None);
        };
        let name = |number| format!("input {number} of the fuzzer");
        let mut inputs = ComparedInput::numbered(InputKind::Derived, fuzzed.kept, name);
        self.count("found by the fuzzer", inputs.len() as u64);
        let known = self.compared.len();
        let mut least = LEAST_FOUND;
        while !inputs.is_empty() {
            let left = self.clock.left(Part::AIMED).max(std::mem::take(&mut least));
            if left.is_zero() {
                break;
            }
            let count = self.fits(left).min(CHUNK).min(inputs.len());
            let chunk = inputs.drain(..count).collect();
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
        }
        self.count_since(known).await?;
        Ok(None)
    }

    pub(super) fn is_exhaustion(&self) -> bool {
        let before = &self.programs.before.replay;
        let crash = before.crash.as_ref();
        let overflows = crash.is_some_and(CrashReport::is_stack_overflow);
        overflows || matches!(before.outcome, Outcome::Hung | Outcome::Exhausted(_))
    }

    /// The inputs that others are made from.
    fn seeds(&self) -> Vec<&ComparedInput> {
        let mut seeds: Vec<&ComparedInput> = self.reaching.iter().collect();
        seeds.retain(|seed| seed.bytes.len() <= LARGEST_SEED);
        seeds.sort_by_key(|seed| seed.kind as u8);
        seeds.truncate(SEEDS);
        seeds
    }

    fn inputs_at(&self, dictionary: &Dictionary) -> Vec<ComparedInput> {
        let made = self.seeds().into_iter().flat_map(|seed| {
            let mut made = dictionary.at_bounds(&seed.bytes);
            made.extend(dictionary.mutants(&seed.bytes, MOST));
            let kind = match seed.kind {
                InputKind::Derived => InputKind::Derived,
                _ => InputKind::Aimed,
            };
            ComparedInput::numbered(kind, made, |number| {
                format!("{}, changed towards a bound ({number})", seed.name)
            })
        });
        made.collect()
    }

    /// Tells whether inputs are missing at the patch, or at a way out of one of its branches.
    pub(super) fn is_open(&mut self) -> bool {
        let floor = self.programs.task().limits.reached;
        self.reach.as_mut().is_some_and(|reach| {
            reach.settle(self.programs.attempt);
            reach.reached < floor || !reach.unaccounted.is_empty()
        })
    }

    /// Counts what the inputs run that were compared since, those that both programs accept
    /// before others; returns how many of them come to the patch.
    pub(super) async fn count_since(&mut self, known: usize) -> Result<u64> {
        let mut new: Vec<ComparedInput> = self.compared.iter().skip(known).cloned().collect();
        new.sort_by_key(|input| input.refused);
        new.truncate(CHUNK);
        let Some(mut reach) = self.reach.take() else {
            return Ok(0);
        };
        let before = reach.reached;
        let counted = self.count_chunk(&mut reach, &new, LEAST_FOUND).await;
        let come = reach.reached - before;
        self.reach = Some(reach);
        counted.map(|()| come)
    }

    /// Returns values that the patch compares on an input, those first that it does not name:
    /// what the input names is the other side.
    async fn compared_values(&mut self, input: &ComparedInput) -> Result<Vec<u64>> {
        let probes = probes(self.programs.attempt);
        if probes.is_empty() {
            return Ok(Vec::new());
        }
        let file = InputFile::like(self.programs.pov, &input.bytes)?;
        let Programs { target, new, .. } = &self.programs;
        let seen = target.probe(new, file.pov(), &probes).await?;
        let told = |why| format!("values that the patch compares: {why}");
        self.experiments.extend(seen.problem.map(told));
        // The least and the greatest number that was seen at each.
        let ends = seen.probes.iter().flat_map(|seen| [seen.least, seen.most]);
        let numbers = ends.flatten().map(|(value, _)| u64::try_from(value));
        let mut values: Vec<u64> = numbers.filter_map(Result::ok).collect();
        let said = said_numbers(&input.bytes);
        values.sort_by_key(|value| said.contains(value));
        let mut known = BTreeSet::new();
        values.retain(|value| *value >= LEAST && known.insert(*value));
        values.truncate(MOST_VALUES);
        self.count("values that the patch compares", values.len() as u64);
        Ok(values)
    }
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
    let sides = sides
        .flatten()
        .filter(|side| !side.kind().ends_with("literal"));
    let mut found: Vec<(u32, String)> = sides
        .filter_map(|side| Some((rows(side).0, side.utf8_text(text).ok()?.to_owned())))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Says how many inputs are missing at the floor.
fn shortfall(run: usize, floor: usize) -> Option<String> {
    (run < floor).then(|| {
        format!(
            "only {run} of {floor} inputs aimed at the patch could be run in the time (limits.same)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{shortfall, sides};
    use patchwright_source::Language;

    #[test]
    fn too_few_aimed_inputs_say_how_many_are_missing() {
        assert_eq!(shortfall(0, 0), None);
        assert_eq!(shortfall(40, 32), None);
        let missing = shortfall(7, 32).unwrap();
        assert!(missing.starts_with("only 7 of 32 inputs"), "{missing}");
    }

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
