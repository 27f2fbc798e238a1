//! Differences on derived inputs: settled by experiment, or left as doubts.
//!
//! No input on which the unpatched program is not defined tells anything of a
//! patch. A mutant of a PoV that does not crash may still reach the defect: the
//! unpatched program is then wrong in silence, and a right patch answers
//! differently. So such a difference never refutes. The unpatched program is
//! run again with other bytes in memory that it has not written, with objects
//! further apart, and with checks for undefined behaviour and for memory that was never written: where it fails or says
//! something else, it is not defined on the input, and the difference says nothing. Neither
//! does one where the patched program refuses the input on the way on which it refuses the
//! PoV, and which no accepted input takes. What stays open is told with the input, so that a model, a critic or a person can decide.

use super::Comparison;
use super::clock::Part;
use super::departure::Values;
use super::pool::ComparedInput;
use crate::evidence::{Doubt, DoubtedInput, change};
use patchwright_source::{Changes, Language};
use patchwright_target::TargetError;
use patchwright_target::runner::{
    Build, Capture, InputRun, Inputs, Instrumentation, MemoryPattern,
};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

/// Bytes of an output that are shown.
const SHOWN: usize = 600;
/// Other contents of memory, each with another distance between objects. The
/// first two tell a value that was never written from one that was; the last
/// lets an access far beyond an object be seen.
const PATTERNS: [MemoryPattern; 3] = [
    MemoryPattern {
        fill: 0,
        redzone: 16,
    },
    MemoryPattern {
        fill: 0xa5,
        redzone: 256,
    },
    MemoryPattern {
        fill: 0x41,
        redzone: 2048,
    },
];
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
    fn kind(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for run in [&self.before, &self.after] {
            run.ending.to_string().hash(&mut hasher);
            let words = run.output.iter().filter(|byte| !byte.is_ascii_digit());
            words.for_each(|byte| byte.hash(&mut hasher));
        }
        hasher.finish()
    }

    fn both_refuse(&self) -> bool {
        !self.before.ending.success() && !self.after.ending.success()
    }
}

impl Comparison<'_> {
    /// Settles the differences on derived inputs, and keeps what stays open.
    pub(super) async fn settle_differences(&mut self) -> Result<(), TargetError> {
        let differing = std::mem::take(&mut self.differing);
        let inputs = differing.iter().map(|one| one.input.bytes.clone());
        self.tried.extend(inputs);
        let mut kinds: BTreeMap<u64, usize> = BTreeMap::new();
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
        settled.extend(self.fails_under_checks(&looked_at, &settled).await?);
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
        settled.extend(self.refused_as_the_pov(&looked_at, &settled).await?);
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
    pub(super) async fn undefined_on(
        &self,
        one: &Differing,
    ) -> Result<Option<String>, TargetError> {
        let found = self.undefined(std::slice::from_ref(one)).await?;
        Ok(found.into_values().next())
    }

    /// The inputs on which the unpatched program is not defined, each with what shows it.
    async fn undefined(
        &self,
        differing: &[Differing],
    ) -> Result<BTreeMap<usize, String>, TargetError> {
        let mut found = BTreeMap::new();
        if differing.is_empty() || self.target.task().language == Language::Java {
            return Ok(found);
        }
        let inputs: Vec<ComparedInput> = differing.iter().map(|one| one.input.clone()).collect();
        // The files have other names than before, and programs print names.
        let old = self.builds.0;
        let usual = self.run_as(old, &inputs, Inputs::default()).await?;
        for memory in PATTERNS {
            let how = Inputs {
                memory: Some(memory),
                ..Inputs::default()
            };
            if self.clock.left(Part::Differences).is_zero() {
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

    /// The inputs on which a build of the unpatched program with more checks fails, as far as
    /// nothing else settles them: for undefined behaviour, then for uses of memory that was
    /// never written. The log says what came of each.
    async fn fails_under_checks(
        &mut self,
        differing: &[Differing],
        settled: &BTreeMap<usize, String>,
    ) -> Result<BTreeMap<usize, String>, TargetError> {
        let mut found = BTreeMap::new();
        let task = self.target.task();
        let language = task.language;
        let Some(crash) = self.before.replay.crash.as_ref() else {
            return Ok(found);
        };
        let undefined = Instrumentation::Undefined(task.files_of(crash));
        for (added, checks, why) in [
            (
                undefined,
                "UBSan",
                "the behaviour of the unpatched program is undefined on it (UBSan)",
            ),
            (
                Instrumentation::Memory,
                "MSan",
                "the unpatched program uses memory on it that it has not written (MSan)",
            ),
        ] {
            let open = |index: &usize| !settled.contains_key(index) && !found.contains_key(index);
            let left: Vec<usize> = (0..differing.len()).filter(open).collect();
            if left.is_empty() || language == Language::Java {
                break;
            }
            let inputs = left.iter().filter_map(|index| differing.get(*index));
            let inputs = inputs.map(|one| one.input.bytes.clone()).collect();
            let outcome = match (&added, language) {
                (Instrumentation::Memory, Language::Cpp) => {
                    Err("it is off for C++, whose library would have to be built with it")
                }
                _ => self.failing_with(&added, inputs).await?,
            };
            let told = match outcome {
                Ok(failing) => {
                    let shown = failing.iter().filter_map(|place| left.get(*place));
                    found.extend(shown.map(|index| (*index, why.to_owned())));
                    format!("fails on {} of {}", failing.len(), left.len())
                }
                Err(reason) => reason.to_owned(),
            };
            self.experiments
                .push(format!("{checks} on the unpatched program: {told}"));
        }
        Ok(found)
    }

    /// Runs inputs on the unpatched program with something added; the places of those that
    /// fail, or the reason why that tells nothing. Where an accepted input fails as well,
    /// failures are no news.
    async fn failing_with(
        &mut self,
        added: &Instrumentation,
        inputs: Vec<Vec<u8>>,
    ) -> Result<Result<Vec<usize>, &'static str>, TargetError> {
        let accepted = self.compared.iter();
        let accepted = accepted.filter(|input| !self.refused.contains(&input.bytes));
        let mut contents: Vec<Vec<u8>> = accepted
            .map(|input| input.bytes.clone())
            .take(CONTROLS)
            .collect();
        let controls = contents.len();
        if controls == 0 {
            return Ok(Err("no accepted input is there to compare with"));
        }
        if self.clock.left(Part::Last).is_zero() {
            return Ok(Err("there was no time left (limits.same)"));
        }
        contents.extend(inputs);
        let (nothing, name) = (Changes::default(), self.target.task().build_of(self.pov));
        let started = Instant::now();
        let build = self.target.instrumented_build(&nothing, &name, added);
        let build = build.await?;
        self.clock.leave_out(started.elapsed());
        let Some(build) = build else {
            return Ok(Err(
                "the build does not take it (it fails with it, or names its compilers by absolute paths)",
            ));
        };
        let inputs = Inputs {
            contents,
            budget: self.clock.again(),
            each: self.each(),
            capture: Capture::Failures,
            ..Inputs::default()
        };
        let runs = self.target.run_inputs(&build, self.pov, &inputs).await?;
        let failing = runs.iter().filter(|run| run.is_failure());
        let failing: Vec<usize> = failing.map(|run| run.index).collect();
        if failing.iter().any(|index| *index < controls) {
            return Ok(Err("it fails on accepted inputs too, so it tells nothing"));
        }
        let places = failing.iter().map(|index| index - controls);
        Ok(Ok(places.collect()))
    }

    /// Runs inputs on a build in the way that `how` says, and captures their outputs.
    pub(super) async fn run_as(
        &self,
        build: &Build,
        inputs: &[ComparedInput],
        how: Inputs,
    ) -> Result<BTreeMap<usize, InputRun>, TargetError> {
        let inputs = Inputs {
            contents: inputs.iter().map(|input| input.bytes.clone()).collect(),
            budget: self.clock.again(),
            each: self.each(),
            capture: Capture::Outputs,
            ..how
        };
        let runs = self.target.run_inputs(build, self.pov, &inputs).await?;
        Ok(runs.into_iter().map(|run| (run.index, run)).collect())
    }

    /// The function in which the programs part first, for some of the inputs.
    async fn diverging(&self, open: &[Differing]) -> Result<BTreeMap<usize, String>, TargetError> {
        let some = open.get(..DIVERGING.min(open.len())).unwrap_or_default();
        if some.is_empty() || self.functions.is_empty() {
            return Ok(BTreeMap::new());
        }
        let inputs: Vec<ComparedInput> = some.iter().map(|one| one.input.clone()).collect();
        let capture = || Capture::Values(self.functions.clone());
        let (old, new) = self.builds;
        let before = self
            .run(old, &inputs, capture(), self.clock.again())
            .await?;
        let after = self
            .run(new, &inputs, capture(), self.clock.again())
            .await?;
        let first = |index: usize| {
            let (before, after) = (before.get(&index)?, after.get(&index)?);
            let departure = Values::read(before).departure(&Values::read(after))?;
            Some((index, departure.what))
        };
        Ok((0..inputs.len()).filter_map(first).collect())
    }

    pub(super) fn doubt(
        &self,
        one: &Differing,
        settled: Option<String>,
        diverges: Option<String>,
    ) -> Doubt {
        let behaviours = (shown(&one.before), shown(&one.after));
        let mut doubt = self.doubt_about(
            &one.input,
            &one.what,
            (behaviours.0.as_str(), behaviours.1.as_str()),
        );
        doubt.settled = settled;
        if let Some(input) = &mut doubt.input {
            input.diverges = diverges;
        }
        doubt
    }

    /// Creates an open doubt about an input and what both programs did with it.
    pub(super) fn doubt_about(
        &self,
        input: &ComparedInput,
        what: &str,
        (before, after): (&str, &str),
    ) -> Doubt {
        let pov = std::fs::read(&self.pov.file).unwrap_or_default();
        Doubt {
            what: format!("{}: {what}", input.name),
            settled: None,
            input: Some(DoubtedInput {
                name: input.name.clone(),
                bytes: input.bytes.clone(),
                pov: self.pov.name(),
                change: change(&pov, &input.bytes),
                before: before.to_owned(),
                after: after.to_owned(),
                diverges: None,
            }),
        }
    }
}

/// Returns how a run ended and the beginning of its output.
pub(crate) fn shown(run: &InputRun) -> String {
    let head = run.output.get(..SHOWN).unwrap_or(&run.output);
    format!("{}\n{}", run.ending, String::from_utf8_lossy(head))
}
