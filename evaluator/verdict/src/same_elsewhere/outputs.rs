//! Output comparison: exit statuses and outputs of the two programs, input by input. A
//! difference refutes, becomes a doubt, or is examined as a malformed input.

use super::Comparison;
use super::doubts::Differing;
use super::pool::{ComparedInput, InputKind};
use super::runs::{BothRuns, Part, digest};
use crate::rung::leak;
use patchwright_crash::Tool;
use patchwright_sandbox::process::Ending;
use patchwright_source::Language;
use patchwright_target::runner::{Capture, InputRun, Inputs, content};
use patchwright_target::{Result, WorkTime};
use std::time::Duration;

/// The name of the count of inputs that both programs were run on.
const RUN: &str = "inputs run on both programs";
/// The name of the count of those that were run in a second, while outputs were compared.
const EACH_SECOND: &str = "inputs run on both programs each second";
/// Time for the first inputs, however little is left: they take a second or
/// two, and without them a busy machine would leave the rung open.
const FIRST: Duration = Duration::from_secs(15);
/// Differences that are settled one by one; once the time is out, further ones wait for the end.
const MOST_SETTLED: u64 = 8;

impl Comparison<'_> {
    /// Compares exit statuses and outputs for as long as they may take.
    pub(super) async fn all_outputs(&mut self) -> Result<Option<Differing>> {
        let part = match self.programs.task().language {
            Language::Java => Part::OUTPUTS_OF_JVM,
            _ => Part::OUTPUTS,
        };
        let started = WorkTime::now();
        while self.answered() < self.programs.task().limits.compared {
            let left = self.clock.left(part);
            if left.is_zero() {
                break;
            }
            let Some(chunk) = self.pool.next(self.fits(left)) else {
                break;
            };
            if let Some(difference) = self.outputs(chunk, left).await? {
                return Ok(Some(difference));
            }
            if let Some(difference) = self.weigh_turned_away().await? {
                return Ok(Some(difference));
            }
        }
        let seconds = started.elapsed().as_secs_f64().max(0.001);
        self.count(EACH_SECOND, (self.answered() as f64 / seconds) as u64);
        Ok(None)
    }

    /// Returns the number of inputs that both programs were run on.
    pub(super) fn answered(&self) -> u64 {
        self.counted(RUN)
    }

    /// Compares exit statuses and outputs of some inputs.
    pub(super) async fn outputs(
        &mut self,
        chunk: Vec<ComparedInput>,
        left: Duration,
    ) -> Result<Option<Differing>> {
        let half = half(left, self.compared.len() as u64);
        let mut both = self.run_both(&chunk, Capture::Outputs, half).await?;
        if self.is_leaking(&both) {
            self.leaks_allowed = true;
            both = self.run_both(&chunk, Capture::Outputs, half).await?;
        }
        if !both.before.is_empty() {
            self.seconds_each = Some(both.seconds / both.before.len() as f64);
        }
        self.late_side_by_side(&mut both).await?;
        let unsteady = self.unsteady(&both).await?;
        for (place, input, runs) in both.pairs() {
            let [before, _] = runs;
            self.count(RUN, 1);
            if before.is_failure() || unsteady.old.contains(&place) {
                self.not_comparable(input.clone(), before);
            } else if unsteady.new.contains(&place) {
                let mut one = differing(input.clone(), runs);
                one.what
                    .push_str(", and the patched program answers otherwise in another run");
                self.differing.push(one);
            } else if let Some(difference) = self.compare(input.clone(), runs).await? {
                return Ok(Some(difference));
            }
        }
        Ok(None)
    }

    /// Tells whether the unpatched program leaks memory on a given input, and that is not what is
    /// repaired: its answer is as defined as without.
    fn is_leaking(&self, both: &BothRuns<'_>) -> bool {
        let crash = self.programs.crash();
        !self.leaks_allowed
            && crash.is_none_or(|crash| crash.tool != Tool::LeakSanitizer)
            && both.pairs().any(|(_, input, [before, _])| {
                input.kind == InputKind::Given && leak::fails(before)
            })
    }

    /// Compares the outputs of both programs on an input that the unpatched one survives.
    async fn compare(
        &mut self,
        mut input: ComparedInput,
        [before, after]: [&InputRun; 2],
    ) -> Result<Option<Differing>> {
        let accepted = before.ending.success();
        if !accepted && input.kind.counts_if_accepted() {
            let why = format!("the unpatched program refuses it ({})", before.ending);
            self.note(&input.name, &why);
            return Ok(None);
        }
        self.count(input.kind.as_str(), 1);
        if !self.is_alike([before, after]) {
            return self.differs(differing(input, [before, after])).await;
        }
        input.fresh = self.outputs_seen.insert(digest(&before.output));
        input.refused = !accepted;
        if accepted {
            self.pool.accepted(&input);
        }
        self.compared.push(input);
        Ok(None)
    }

    /// Takes an input on which the unpatched program fails, or answers otherwise each time.
    fn not_comparable(&mut self, input: ComparedInput, before: &InputRun) {
        self.count("not comparable", 1);
        if !before.is_failure() {
            let why = "the unpatched program answers otherwise each time";
            return self.note(&input.name, why);
        }
        let why = format!("the unpatched program fails on it ({})", before.ending);
        self.note(&input.name, &why);
        if input.kind == InputKind::Derived {
            self.crashing.push(input);
        }
    }

    /// Runs inputs again, side by side, on which only the patched program hit a limit: the
    /// machine may have been busy.
    async fn late_side_by_side(&self, both: &mut BothRuns<'_>) -> Result<()> {
        let limited = |run: &InputRun| matches!(run.ending, Ending::Limit(_));
        let late = both.pairs();
        let late = late.filter(|(.., [before, after])| limited(after) && !limited(before));
        let late: Vec<usize> = late.map(|(place, ..)| place).collect();
        if late.is_empty() {
            return Ok(());
        }
        let again = || Inputs {
            budget: self.clock.again().max(self.each()),
            only: late.clone(),
            ..self.again()
        };
        let inputs = both.inputs;
        let run = |build| self.run(build, inputs, again());
        let again = futures::future::join(run(self.programs.old), run(&self.programs.new)).await;
        both.before.extend(again.0?);
        both.after.extend(again.1?);
        Ok(())
    }

    /// Takes an input on which the programs differ: what refutes is returned, the
    /// rest is kept to be looked at.
    async fn differs(&mut self, mut one: Differing) -> Result<Option<Differing>> {
        let refuses = !one.after.ending.success();
        one.settled = self.accepted(&one);
        let what = match one.input.kind {
            _ if one.settled.is_some() => "differences accepted",
            InputKind::Derived => "derived and answered differently",
            InputKind::FurtherMutant if refuses => "further mutants turned away",
            // More than the patch's own bound is refused: that may be the repair.
            InputKind::Aimed if refuses => {
                let why = "the patched program refuses an input beyond its own bound";
                one.settled = Some(why.to_owned());
                "aimed and answered differently"
            }
            kind => {
                self.settle_undefined(std::slice::from_mut(&mut one))
                    .await?;
                if one.settled.is_some() {
                    "differences settled"
                } else if self.is_exhaustion() && self.answers_as_the_pov(&one).await? {
                    one.what.push_str(", as the PoV's does; does it need as much as the PoV, or is the bound too low?");
                    self.count("given and answered as the PoV", 1);
                    self.differing.push(one);
                    return Ok(None);
                } else if kind == InputKind::GivenMutant && turns_away(&one.after) {
                    "mutants of given turned away"
                } else if kind == InputKind::Given {
                    return Ok(Some(one));
                } else if self.clock.left(Part::DIFFERENCES).is_zero()
                    && self.counted("differences settled") >= MOST_SETTLED
                {
                    // Each question takes a second: it is asked with the others at the end.
                    "differences seen late"
                } else {
                    self.settle_by_witnesses(std::slice::from_mut(&mut one))
                        .await?;
                    if one.settled.is_none() {
                        return Ok(Some(one));
                    }
                    "differences settled"
                }
            }
        };
        self.count(what, 1);
        match one.input.kind {
            _ if one.settled.is_some() => self.keep_doubt(&one),
            InputKind::GivenMutant if turns_away(&one.after) => self.turned_away.push(one),
            _ => self.differing.push(one),
        }
        Ok(None)
    }

    /// Tells whether the patched program answers an input as it does the PoV, each run alone, so that
    /// their names are equal. Where the PoV exhausts the stack or the time, a bound is the repair, and
    /// a given input may lie beyond it.
    async fn answers_as_the_pov(&self, one: &Differing) -> Result<bool> {
        let pov = content(self.programs.pov)?;
        let pov = ComparedInput::new(InputKind::Derived, String::new(), pov);
        let of_pov = self.run(&self.programs.new, &[pov], self.again()).await?;
        let input = std::slice::from_ref(&one.input);
        let of_input = self.run(&self.programs.new, input, self.again()).await?;
        let both = of_pov.get(&0).zip(of_input.get(&0));
        Ok(both.is_some_and(|(pov, input)| self.is_alike([pov, input])))
    }
}

/// Returns the time of one of the two programs for some inputs, given the number of inputs
/// compared before.
pub(super) fn half(left: Duration, compared: u64) -> Duration {
    let half = left.mul_f64(0.45);
    if compared == 0 { half.max(FIRST) } else { half }
}

/// Tells whether a program refused an input and exited by itself.
pub(super) fn turns_away(run: &InputRun) -> bool {
    !run.is_failure() && matches!(run.ending, Ending::Exited(1..))
}

/// Returns an input with the behaviours of both programs.
pub(super) fn differing(input: ComparedInput, runs: [&InputRun; 2]) -> Differing {
    let [before, after] = runs;
    let what = if before.ending == after.ending {
        "the output differs".to_owned()
    } else {
        format!("{} became {}", before.ending, after.ending)
    };
    let what = format!("{what} ({})", input.kind.as_str());
    Differing::new(input, what, runs)
}

#[cfg(test)]
mod tests {
    use super::super::tests::attempt_with;
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{PARSE, open, task};
    use std::fs;
    use std::time::Duration;

    #[tokio::test]
    async fn a_program_that_leaks_on_each_input_is_compared_without_its_leaks() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.same = Duration::from_secs(8);
        for (name, bytes) in [("a.bin", [3, 1]), ("b.bin", [8, 9])] {
            fs::write(folder.path().join(name), bytes).unwrap();
            task.harmless.push(folder.path().join(name));
        }
        let leaky = PARSE.replace("  free(p);\n", "");
        fs::write(task.tree.join("parse.c"), &leaky).unwrap();
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        for (fix, holds, reason) in [
            ("if (n < 2 || b[0] > 8)", Some(true), "patched lines"),
            (
                "if (n < 2 || b[0] > 7)",
                Some(false),
                "became exit status 1",
            ),
        ] {
            let attempt = attempt_with(leaky.replace("if (n < 2)", fix), (4, 4));
            let ladder = Ladder::new(&target, &baseline);
            let result = ladder.climb(&attempt, &[], RungName::SameElsewhere).await;
            let result = result.unwrap();
            assert_eq!(result.holds, holds, "{fix}: {result:#?}");
            assert!(result.reason.contains(reason), "{fix}: {}", result.reason);
        }
    }
}
