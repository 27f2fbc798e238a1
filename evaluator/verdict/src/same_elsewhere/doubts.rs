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

/// Reason why a difference between two refusals tells nothing.
pub(super) const BOTH_REFUSE: &str = "both programs refuse the input";
/// Reason why an input is known to reach the defect.
const HOLDS_IT: &str =
    "cut short behind what was changed, it makes the unpatched program crash as the PoV does";

/// An input on which the programs differ, and what they did.
pub(super) struct Differing {
    pub(super) input: ComparedInput,
    pub(super) what: String,
    pub(super) before: InputRun,
    pub(super) after: InputRun,
    /// Reason why it tells nothing of the patch; none while it is open.
    pub(super) settled: Option<String>,
    /// The function in which the programs part first, where that was looked for.
    diverges: Option<String>,
}

impl Differing {
    pub(super) fn new(input: ComparedInput, what: String, [before, after]: [&InputRun; 2]) -> Self {
        Self {
            input,
            what,
            before: before.clone(),
            after: after.clone(),
            settled: None,
            diverges: None,
        }
    }

    /// Tells differences of one kind: how both ended, and what they said but for numbers.
    fn kind(&self) -> [(String, u64); 2] {
        let kind = |run: &InputRun| (run.ending.to_string(), digest(&run.output));
        [kind(&self.before), kind(&self.after)]
    }
}

impl Comparison<'_> {
    /// Settles the differences on derived inputs, and keeps what stays open.
    pub(super) async fn settle_differences(&mut self) -> Result<()> {
        let mut looked_at = std::mem::take(&mut self.differing);
        let inputs = looked_at.iter().map(|one| one.input.bytes.clone());
        self.tried.extend(inputs);
        let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
        looked_at.retain(|one| {
            let seen = kinds.entry(one.kind()).or_default();
            *seen += 1;
            *seen <= OF_A_KIND
        });
        looked_at.truncate(MOST);
        self.settle_undefined(&mut looked_at).await?;
        self.settle_by_witnesses(&mut looked_at).await?;
        for one in looked_at.iter_mut().filter(|one| one.settled.is_none()) {
            if !one.before.ending.success() && !one.after.ending.success() {
                one.settled = Some(BOTH_REFUSE.to_owned());
            } else if self.holds_the_defect(&one.input.bytes).await? {
                one.settled = Some(HOLDS_IT.to_owned());
            }
        }
        self.settle_refused_as_the_pov(&mut looked_at).await?;
        let (settled, mut open): (Vec<_>, Vec<_>) =
            looked_at.into_iter().partition(|one| one.settled.is_some());
        for one in settled {
            self.count("differences settled", 1);
            self.keep_doubt(&one);
        }
        self.find_diverging(&mut open).await?;
        open.iter().for_each(|one| self.keep_doubt(one));
        Ok(())
    }

    /// Settles open inputs on which the unpatched program is not defined, each by what shows it.
    pub(super) async fn settle_undefined(&self, differing: &mut [Differing]) -> Result<()> {
        let is_java = self.programs.task().language == Language::Java;
        if is_java || differing.iter().all(|one| one.settled.is_some()) {
            return Ok(());
        }
        let inputs: Vec<ComparedInput> = differing.iter().map(|one| one.input.clone()).collect();
        // The files have other names than before, and programs print names.
        let old = self.programs.old;
        let usual = self.run(old, &inputs, self.again()).await?;
        for (fill, redzone) in PATTERNS {
            let how = Inputs {
                memory: Some(MemoryPattern { fill, redzone }),
                ..self.again()
            };
            if self.clock.left(Part::DIFFERENCES).is_zero() {
                break;
            }
            for (index, run) in self.run(old, &inputs, how).await? {
                let how = if run.is_failure() {
                    "the unpatched program fails on it when objects lie further apart in memory"
                } else if usual.get(&index).is_some_and(|usual| *usual != run) {
                    "what the unpatched program says depends on memory that it has not written"
                } else {
                    continue;
                };
                if let Some(one) = differing.get_mut(index) {
                    one.settled.get_or_insert_with(|| how.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Settles inputs on which a second witness sees the unpatched program err, as far as nothing
    /// else does. Where it sees errors on an accepted input as well, they are no news.
    /// The log says what came of each witness.
    async fn settle_by_witnesses(&mut self, differing: &mut [Differing]) -> Result<()> {
        let accepted = self.compared.iter().filter(|input| !input.refused);
        let controls: Vec<Vec<u8>> = accepted
            .map(|input| input.bytes.clone())
            .take(CONTROLS)
            .collect();
        for witness in Witness::of(self.programs.task().language).iter().copied() {
            let open = differing.iter_mut().filter(|one| one.settled.is_none());
            let mut open: Vec<&mut Differing> = open.collect();
            let inputs = open.iter().map(|one| one.input.bytes.as_slice());
            let inputs: Vec<&[u8]> = inputs.collect();
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
                    for place in &erring {
                        if let Some(one) = open.get_mut(*place) {
                            let why = format!("the unpatched program errs on it ({name})");
                            one.settled = Some(why);
                        }
                    }
                    format!("errs on {} of {}", erring.len(), open.len())
                }
                Err(reason) => reason.to_owned(),
            };
            self.experiments
                .push(format!("the unpatched program under {name}: {told}"));
        }
        Ok(())
    }

    /// Finds the function in which the programs part first, for some of the inputs.
    async fn find_diverging(&self, open: &mut [Differing]) -> Result<()> {
        let inputs = open.iter().take(DIVERGING).map(|one| one.input.clone());
        let inputs: Vec<ComparedInput> = inputs.collect();
        if inputs.is_empty() || self.functions.is_empty() {
            return Ok(());
        }
        let values = Capture::Values(self.functions.clone());
        let both = self.run_both(&inputs, values, self.clock.again()).await?;
        for (place, _, [before, after]) in both.pairs() {
            let departure = Values::read(before).departure(&Values::read(after));
            if let Some(one) = open.get_mut(place) {
                one.diverges = departure.map(|departure| departure.what);
            }
        }
        Ok(())
    }

    /// Keeps a doubt about an input and what both programs did with it.
    pub(super) fn keep_doubt(&mut self, one: &Differing) {
        let doubt = self.doubt(one);
        self.result.doubts.push(doubt);
    }

    pub(super) fn doubt(&self, one: &Differing) -> Doubt {
        let input = &one.input;
        Doubt {
            what: format!("{}: {}", input.name, one.what),
            settled: one.settled.clone(),
            input: Some(DoubtedInput {
                name: input.name.clone(),
                before: shown(&one.before),
                after: shown(&one.after),
                diverges: one.diverges.clone(),
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
