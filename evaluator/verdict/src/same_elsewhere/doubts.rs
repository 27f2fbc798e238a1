//! Differences on derived inputs: settled by experiment, or left as doubts.
//!
//! No input on which the unpatched program is not defined tells anything of a
//! patch. A mutant of a PoV that does not crash may still reach the defect: the
//! unpatched program is then wrong in silence, and a right patch answers
//! differently. So such a difference never refutes. The unpatched program is
//! run again with other bytes in memory that it has not written, with objects
//! further apart, and under the second witnesses: where it fails or says something else, it
//! is not defined on the input, and the difference says nothing. Neither does one where the
//! patched program refuses the input on the way on which it refuses the PoV, and which no
//! accepted input takes. What stays open is told with the input, so that a model, a critic or a
//! person can decide.

use super::Comparison;
use super::departure::Values;
use super::pool::ComparedInput;
use super::runs::{Part, digest};
use crate::evidence::{Doubt, DoubtedInput, doubted};
use crate::witness::{Watch, Witness};
use patchwright_source::Language;
use patchwright_target::runner::{Capture, InputRun, Inputs, MemoryPattern};
use patchwright_target::{Result, WorkTime};
use std::collections::BTreeMap;

/// Bytes of an output that are shown.
const SHOWN: usize = 600;
/// Other contents of memory, each with another distance between objects. The
/// first two tell a value that was never written from one that was; the last
/// lets an access far beyond an object be seen.
const PATTERNS: [(u8, u32); 3] = [(0, 16), (0xa5, 256), (0x41, 2048)];
/// Differences that are looked at, and those of one kind among them: not all
/// that look alike are.
const MOST: usize = 24;
const OF_A_KIND: usize = 3;
/// Open doubts for which the diverging function is looked for.
const DIVERGING: usize = 3;
/// Accepted inputs that must not fail under more checks.
const CONTROLS: usize = 3;

/// Reason why an input is known to reach the defect.
const HOLDS_IT: &str =
    "cut short behind what was changed, it makes the unpatched program crash as the PoV does";

/// An input on which the programs differ, and what they did.
pub(super) struct Differing {
    pub(super) input: ComparedInput,
    pub(super) what: String,
    pub(super) before: InputRun,
    pub(super) after: InputRun,
}

impl Differing {
    /// Tells differences of one kind: how both ended, and what they said but for numbers.
    fn kind(&self) -> [(String, u64); 2] {
        let kind = |run: &InputRun| (run.ending.to_string(), digest(&run.output));
        [kind(&self.before), kind(&self.after)]
    }

    fn both_refuse(&self) -> bool {
        !self.before.ending.success() && !self.after.ending.success()
    }
}

impl Comparison<'_> {
    /// Settles the differences on derived inputs, and keeps what stays open.
    pub(super) async fn settle_differences(&mut self) -> Result<()> {
        let differing = std::mem::take(&mut self.differing);
        let inputs = differing.iter().map(|one| one.input.bytes.clone());
        self.tried.extend(inputs);
        let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
        let looked_at: Vec<Differing> = differing
            .into_iter()
            .filter(|one| {
                let seen = kinds.entry(one.kind()).or_default();
                *seen += 1;
                *seen <= OF_A_KIND
            })
            .take(MOST)
            .collect();
        let mut settled = self.undefined(&looked_at).await?;
        self.errs_under_witnesses(&looked_at, &mut settled).await?;
        for (index, one) in looked_at.iter().enumerate() {
            if settled.contains_key(&index) {
                continue;
            }
            if one.both_refuse() {
                settled.insert(index, "both programs refuse the input".to_owned());
            } else if self.holds_the_defect(&one.input.bytes).await? {
                settled.insert(index, HOLDS_IT.to_owned());
            }
        }
        self.refused_as_the_pov(&looked_at, &mut settled).await?;
        let mut open = Vec::new();
        for (index, one) in looked_at.into_iter().enumerate() {
            match settled.remove(&index) {
                Some(settled) => {
                    self.count("differences settled", 1);
                    self.doubts.push(self.doubt(&one, Some(settled), None));
                }
                None => open.push(one),
            }
        }
        let diverging = self.diverging(&open).await?;
        for (index, one) in open.iter().enumerate() {
            let diverges = diverging.get(&index).cloned();
            self.doubts.push(self.doubt(one, None, diverges));
        }
        Ok(())
    }

    /// Returns the reason why the unpatched program is not defined on an input.
    pub(super) async fn undefined_on(&self, one: &Differing) -> Result<Option<String>> {
        let found = self.undefined(std::slice::from_ref(one)).await?;
        Ok(found.into_values().next())
    }

    /// The inputs on which the unpatched program is not defined, each with what shows it.
    async fn undefined(&self, differing: &[Differing]) -> Result<BTreeMap<usize, String>> {
        let mut found = BTreeMap::new();
        if differing.is_empty() || self.programs.task().language == Language::Java {
            return Ok(found);
        }
        let inputs: Vec<ComparedInput> = differing.iter().map(|one| one.input.clone()).collect();
        // The files have other names than before, and programs print names.
        let old = self.programs.old;
        let usual = self.run_as(old, &inputs, self.again()).await?;
        for (fill, redzone) in PATTERNS {
            let how = Inputs {
                memory: Some(MemoryPattern { fill, redzone }),
                ..self.again()
            };
            if self.clock.left(Part::DIFFERENCES).is_zero() {
                break;
            }
            for (index, run) in self.run_as(old, &inputs, how).await? {
                let how = if run.is_failure() {
                    "the unpatched program fails on it when objects lie further apart in memory"
                } else if usual.get(&index).is_some_and(|usual| *usual != run) {
                    "what the unpatched program says depends on memory that it has not written"
                } else {
                    continue;
                };
                found.entry(index).or_insert_with(|| how.to_owned());
            }
        }
        Ok(found)
    }

    /// Settles inputs on which a second witness sees the unpatched program err, as far as nothing
    /// else does. Where it sees errors on an accepted input as well, they are no news.
    /// The log says what came of each witness.
    async fn errs_under_witnesses(
        &mut self,
        differing: &[Differing],
        settled: &mut BTreeMap<usize, String>,
    ) -> Result<()> {
        let accepted = self.compared.iter().filter(|input| !input.refused);
        let controls: Vec<Vec<u8>> = accepted
            .map(|input| input.bytes.clone())
            .take(CONTROLS)
            .collect();
        for witness in Witness::of(self.programs.task().language).iter().copied() {
            let mut left: Vec<usize> = (0..differing.len()).collect();
            left.retain(|index| !settled.contains_key(index));
            let inputs = left.iter().filter_map(|index| differing.get(*index));
            let inputs: Vec<&[u8]> = inputs.map(|one| one.input.bytes.as_slice()).collect();
            if inputs.is_empty() {
                break;
            }
            let watch = Watch {
                witness,
                programs: &self.programs,
                accepted: &controls,
            };
            let started = WorkTime::now();
            let build = watch.unpatched().await?;
            self.clock.leave_out(started.elapsed());
            let erring = match &build {
                Some(build) if !controls.is_empty() => {
                    watch.errs(build, &inputs, self.clock.again()).await?
                }
                Some(_) => Err("no accepted input is there to compare with"),
                None => Err("the program does not build for it"),
            };
            let name = witness.name();
            let told = match erring {
                Ok(erring) => {
                    let why = format!("the unpatched program errs on it ({name})");
                    let shown = erring.iter().filter_map(|place| left.get(*place));
                    settled.extend(shown.map(|index| (*index, why.clone())));
                    format!("errs on {} of {}", erring.len(), left.len())
                }
                Err(reason) => reason.to_owned(),
            };
            self.experiments
                .push(format!("the unpatched program under {name}: {told}"));
        }
        Ok(())
    }

    /// The function in which the programs part first, for some of the inputs.
    async fn diverging(&self, open: &[Differing]) -> Result<BTreeMap<usize, String>> {
        let some = open.get(..DIVERGING.min(open.len())).unwrap_or_default();
        if some.is_empty() || self.functions.is_empty() {
            return Ok(BTreeMap::new());
        }
        let inputs: Vec<ComparedInput> = some.iter().map(|one| one.input.clone()).collect();
        let values = Capture::Values(self.functions.clone());
        let both = self.run_both(&inputs, values, self.clock.again()).await?;
        let first = |(index, before, after): (usize, &InputRun, &InputRun)| {
            let departure = Values::read(before).departure(&Values::read(after))?;
            Some((index, departure.what))
        };
        Ok(both.pairs().filter_map(first).collect())
    }

    /// Creates a doubt about an input and what both programs did with it.
    pub(super) fn doubt(
        &self,
        one: &Differing,
        settled: Option<String>,
        diverges: Option<String>,
    ) -> Doubt {
        let input = &one.input;
        Doubt {
            what: format!("{}: {}", input.name, one.what),
            settled,
            input: Some(DoubtedInput {
                name: input.name.clone(),
                before: shown(&one.before),
                after: shown(&one.after),
                diverges,
                ..doubted(self.programs.pov, &input.bytes)
            }),
            ..Doubt::default()
        }
    }
}

/// Returns how a run ended and the beginning of its output.
pub(crate) fn shown(run: &InputRun) -> String {
    let head = run.output.get(..SHOWN).unwrap_or(&run.output);
    format!("{}\n{}", run.ending, String::from_utf8_lossy(head))
}
