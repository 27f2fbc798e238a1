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
//!
//! Mutants of given inputs that only the patched program refuses count against the patch unless an
//! experiment shows that one is malformed as the PoV is: cut short somewhere behind what was
//! changed, it makes the unpatched program crash as the PoV does, while the input that it was made
//! from brings no failure wherever it is cut. Then the unpatched program accepted the mutant only
//! because more bytes happened to lie where it reads what is not its own. What cannot be shown
//! counts. Java is left out: each cut would start a JVM.

use super::Comparison;
use super::departure::Values;
use super::pool::{ComparedInput, spread};
use super::runs::{Part, digest};
use crate::evidence::{Doubt, DoubtedInput, changed_at, doubted};
use crate::witness::{Watch, Witness};
use patchwright_source::{Changes, Language};
use patchwright_target::runner::{Capture, InputRun, Inputs, MemoryPattern, content};
use patchwright_target::{Result, WorkTime};
use std::collections::BTreeMap;
use std::time::Duration;

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

/// Cuts that are tried, from the first changed byte on: a length that was
/// changed tells of the bytes that follow it.
const MOST_CUTS: usize = 512;
/// Pieces of a mutant of a PoV that are tried.
const MOST_PIECES: usize = 48;
/// Failing cuts whose crash is compared with the PoV's.
const LOOKED_AT: usize = 4;
/// Most and least time for all cuts of one input. A cut takes milliseconds: this
/// only ends what goes astray.
const WALL: Duration = Duration::from_mins(1);
const LEAST: Duration = Duration::from_secs(4);

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

    /// Returns how both runs ended and their outputs, long ones from shortly before the first
    /// difference on.
    pub(super) fn answers(&self) -> [String; 2] {
        let (before, after) = (&self.before.output, &self.after.output);
        let from = changed_at(before, after);
        let is_early = from <= SHOWN / 2 || before == after;
        let from = if is_early { 0 } else { from - SHOWN / 4 };
        [&self.before, &self.after].map(|run| shown_from(run, from))
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
        // What is noise may have been learnt later.
        looked_at.retain(|one| !self.is_alike([&one.before, &one.after]));
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
        for one in &open {
            self.keep_doubt(one);
        }
        Ok(())
    }

    /// Settles open inputs on which the unpatched program is not defined, each by what shows it.
    pub(super) async fn settle_undefined(&self, differing: &mut [Differing]) -> Result<()> {
        let is_java = self.programs.task().language == Language::Java;
        if is_java || differing.iter().all(|one| one.settled.is_some()) {
            return Ok(());
        }
        let inputs: Vec<ComparedInput> = differing.iter().map(|one| one.input.clone()).collect();
        // The files have other names than before, and programs print names. Twice, since what differs
        // between these two does not come from memory.
        let old = self.programs.old;
        let usual = [
            self.run(old, &inputs, self.again()).await?,
            self.run(old, &inputs, self.again()).await?,
        ];
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
                } else if let [Some(once), Some(again)] =
                    usual.each_ref().map(|usual| usual.get(&index))
                    && self.is_otherwise([once, again], &run)
                {
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
    pub(super) async fn settle_by_witnesses(&mut self, differing: &mut [Differing]) -> Result<()> {
        let accepted = self.compared.iter().filter(|input| !input.refused);
        let controls = accepted.take(CONTROLS).map(|input| input.bytes.clone());
        let controls: Vec<Vec<u8>> = controls.collect();
        for witness in Witness::of(self.programs.task().language).iter().copied() {
            let open = differing.iter_mut().filter(|one| one.settled.is_none());
            let mut open: Vec<&mut Differing> = open.collect();
            let inputs = open.iter().map(|one| one.input.bytes.clone());
            let inputs: Vec<Vec<u8>> = inputs.collect();
            if inputs.is_empty() {
                break;
            }
            let watch = Watch {
                witness,
                programs: &self.programs,
                accepted: &controls,
                shares: false,
            };
            let started = WorkTime::now();
            let build = watch.build(&Changes::default()).await?;
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
                    for one in &mut open {
                        let errs = erring.contains(&&one.input.bytes);
                        one.settled = errs.then(|| why.clone());
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

    /// Returns the first refused mutant that is not shown to be malformed.
    /// Once there is no time left, the rest stay as they are, and the rung is open.
    pub(super) async fn weigh_turned_away(&mut self) -> Result<Option<Differing>> {
        while let Some(mut one) = self.turned_away.pop() {
            if self.clock.left(Part::DIFFERENCES).is_zero() {
                self.turned_away.push(one);
                break;
            }
            if !self.is_malformed(&one.input).await? {
                return Ok(Some(one));
            }
            self.count("malformed mutants turned away", 1);
            one.settled = Some("the input is malformed as the PoV is".to_owned());
            self.keep_doubt(&one);
        }
        Ok(None)
    }

    async fn is_malformed(&self, mutant: &ComparedInput) -> Result<bool> {
        let parent = match &mutant.parent {
            Some(parent) if self.programs.task().language != Language::Java => parent,
            _ => return Ok(false),
        };
        let from = changed_at(parent, &mutant.bytes);
        let pieces = cuts(&mutant.bytes, from);
        if !self.any_crashes_as_the_pov(pieces).await? {
            return Ok(false);
        }
        let control = self.failing(cuts(parent, from)).await?;
        Ok(control.is_some_and(|failing| failing.is_empty()))
    }

    /// Tells whether a mutant of a PoV still has its defect: it is cut short at some
    /// places behind what was changed, and the unpatched program crashes on a
    /// piece as on the PoV.
    pub(super) async fn holds_the_defect(&mut self, mutant: &[u8]) -> Result<bool> {
        let no_time = self.clock.left(Part::DIFFERENCES).is_zero();
        if self.programs.task().language == Language::Java || no_time {
            return Ok(false);
        }
        let pov = content(self.programs.pov).unwrap_or_default();
        let pieces = spread(&cuts(mutant, changed_at(&pov, mutant)), MOST_PIECES);
        self.any_crashes_as_the_pov(pieces).await
    }

    /// Tells whether one of the first inputs on which the unpatched program fails makes it crash as
    /// the PoV does; false where not all of them could be run.
    async fn any_crashes_as_the_pov(&self, inputs: Vec<Vec<u8>>) -> Result<bool> {
        let failing = self.failing(inputs).await?.unwrap_or_default();
        for input in failing.iter().take(LOOKED_AT) {
            if self.crashes_as_the_pov(input).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns those inputs on which the unpatched program fails; none where not all of
    /// them could be run.
    async fn failing(&self, contents: Vec<Vec<u8>>) -> Result<Option<Vec<Vec<u8>>>> {
        let budget = self.clock.left(Part::LAST).clamp(LEAST, WALL);
        let cuts = Inputs {
            leaks_allowed: self.leaks_allowed,
            ..Inputs::new(contents, budget, self.each())
        };
        let runs = self.programs.run(self.programs.old, &cuts).await?;
        if runs.len() < cuts.contents.len() {
            return Ok(None);
        }
        let failing = runs.iter().filter(|run| run.is_failure());
        let failing = failing.filter_map(|run| cuts.contents.get(run.index).cloned());
        Ok(Some(failing.collect()))
    }

    pub(super) async fn crashes_as_the_pov(&self, input: &[u8]) -> Result<bool> {
        let replay = self.programs.replay(self.programs.old, input).await?;
        let mut crash = replay.crash.iter();
        Ok(crash.any(|crash| self.programs.is_the_povs(crash)))
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
        let [before, after] = one.answers();
        Doubt {
            what: format!("{}: {}", input.name, one.what),
            settled: one.settled.clone(),
            input: Some(DoubtedInput {
                name: input.name.clone(),
                before,
                after,
                diverges: one.diverges.clone(),
                ..doubted(self.programs.pov, &input.bytes)
            }),
            ..Doubt::default()
        }
    }
}

/// Returns how a run ended and the beginning of its output.
pub(crate) fn shown(run: &InputRun) -> String {
    shown_from(run, 0)
}

fn shown_from(run: &InputRun, from: usize) -> String {
    let rest = run.output.get(from..).unwrap_or_default();
    let part = rest.get(..SHOWN).unwrap_or(rest);
    let left_out = match from {
        0 => String::new(),
        bytes => format!("[{bytes} bytes that are alike]\n"),
    };
    let more = match rest.len() - part.len() {
        0 => String::new(),
        bytes => format!("\n[{bytes} more bytes]\n"),
    };
    format!(
        "{}\n{left_out}{}{more}",
        run.ending,
        String::from_utf8_lossy(part)
    )
}

/// Returns the input cut after each of its bytes from a position on.
fn cuts(input: &[u8], from: usize) -> Vec<Vec<u8>> {
    (from + 1..input.len())
        .take(MOST_CUTS)
        .filter_map(|length| input.get(..length).map(<[u8]>::to_vec))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ComparedInput, Differing, InputRun, MOST_CUTS, SHOWN, changed_at, cuts};
    use crate::same_elsewhere::pool::InputKind;
    use patchwright_sandbox::process::Ending;

    #[test]
    fn long_answers_are_shown_where_they_differ() {
        for (alike, is_shown) in [(0, true), (SHOWN / 4, true), (9 * SHOWN, false)] {
            let run = |end: &str| InputRun {
                index: 0,
                ending: Ending::Exited(0),
                output: ["first ", &"=".repeat(alike), end].concat().into(),
            };
            let input = ComparedInput::new(InputKind::Given, String::new(), Vec::new());
            let one = Differing::new(input, String::new(), [&run("old"), &run("new")]);
            let [before, after] = one.answers();
            assert!(before.ends_with("=old") || alike == 0, "{before}");
            assert!(after.ends_with("new"), "{after}");
            assert_eq!(after.contains("first "), is_shown, "{after}");
            assert_ne!(after.contains("bytes that are alike"), is_shown, "{after}");
        }
    }

    #[test]
    fn an_input_is_cut_behind_what_was_changed() {
        for (parent, mutant, place, lengths) in [
            ("abcdef", "abXdef", 2, vec![3, 4, 5]),
            ("abcdef", "abc", 3, vec![]),
            ("abc", "abcdef", 3, vec![4, 5]),
            ("abc", "Xbc", 0, vec![1, 2]),
            ("", "", 0, vec![]),
        ] {
            let (parent, mutant) = (parent.as_bytes(), mutant.as_bytes());
            assert_eq!(changed_at(parent, mutant), place);
            let made = cuts(mutant, place);
            let found: Vec<usize> = made.iter().map(Vec::len).collect();
            assert_eq!(found, lengths);
            assert!(made.iter().all(|cut| mutant.starts_with(cut)));
        }
        assert_eq!(cuts(&[0; 9000], 7).len(), MOST_CUTS);
    }
}
