//! Conditions of the patch that no run has seen otherwise, and that the repair rests on.
//!
//! A guard may refuse what nobody has sent yet: that does no harm. A guard that protects only for
//! as long as a counter is low, a time has not come or a sum is not a certain one is no repair,
//! and no search finds its other side. So each condition with one outcome alone, over all runs
//! that were counted, is turned round in the source: where the PoV then crashes as before the
//! patch, the repair rests on it, and a second reader decides whether it can be otherwise.
//! Mutation of conditions is that of mutation testing (DeMillo, Lipton and Sayward, 1978).

use super::Comparison;
use super::branches::is_written;
use super::decisions::{Operand, OperandKind, operands};
use super::doubts::Differing;
use super::pool::{ComparedInput, InputKind, spread};
use super::reach::Reach;
use crate::attempt::AttemptFacts;
use crate::rung::patch;
use patchwright_source::{Language, TreePath, counted};
use patchwright_target::runner::{Build, InputRun, content};
use patchwright_target::{Result, WorkTime};

/// The most conditions that are turned round, each of which costs a build.
const MOST: usize = 24;
/// Count of the conditions that were turned round.
const TURNED: &str = "conditions turned round";

/// Inputs of each kind on which a condition is taken for one value.
const INPUTS: usize = 48;

/// A condition of the patch with one outcome alone, as far as it is known.
struct OneSided {
    path: TreePath,
    operand: Operand,
    text: String,
    /// False where the counts do not tell whether it has one outcome alone: what it stands in
    /// is no branch, or there are others on its line.
    certain: bool,
}

impl OneSided {
    /// Returns the patch with something else in place of the condition.
    fn replaced(&self, attempt: &AttemptFacts, by: &str) -> AttemptFacts {
        let mut changes = attempt.changes.clone();
        if let Some(bytes) = changes.files.get_mut(&self.path)
            && bytes.get(self.operand.bytes.clone()).is_some()
        {
            bytes.splice(self.operand.bytes.clone(), by.bytes());
        }
        AttemptFacts {
            changes,
            ..AttemptFacts::default()
        }
    }
}

impl Comparison<'_> {
    /// Turns round the conditions of the patch of which the runs saw one outcome; each that the
    /// repair rests on is a doubt.
    pub(super) async fn turn_conditions(&mut self) -> Result<()> {
        let Some(reach) = &self.reach else {
            return Ok(());
        };
        let mut conditions = one_sided(reach, self.programs.attempt);
        let all = conditions.len();
        conditions.truncate(MOST);
        let mut turned_round = 0;
        for one in conditions {
            let turned = match &one.operand.kind {
                OperandKind::Case { value, .. } => value.clone(),
                _ => format!("!({})", one.text),
            };
            let Some(build) = self.build_with(&one, &turned).await? else {
                continue;
            };
            turned_round += 1;
            let Some(run) = self.crash_as_before(&build, &one).await? else {
                continue;
            };
            if one.certain || self.is_of_one_value(&one).await? {
                self.doubt_condition(&one, &run)?;
            }
        }
        self.count(TURNED, turned_round as u64);
        if turned_round < all && self.missed.is_none() {
            self.missed = Some(format!(
                "of {} of the patch that had one outcome in every run, {turned_round} could be turned round",
                counted(all as u64, "condition")
            ));
        }
        Ok(())
    }

    /// Builds the patch with something else in place of a condition; nothing where it does not
    /// build.
    async fn build_with(&mut self, one: &OneSided, by: &str) -> Result<Option<Build>> {
        let started = WorkTime::now();
        let programs = &self.programs;
        let name = programs.task().build_of(programs.pov);
        let changed = one.replaced(programs.attempt, by);
        let build = patch::build(programs.target, &changed, &name).await?;
        self.clock.leave_out(started.elapsed());
        if !build.succeeded() {
            let why = format!("with {by} in its place it does not build");
            self.note(&one.text, &why);
            return Ok(None);
        }
        Ok(Some(build))
    }

    /// Runs the PoV on such a build, as often as it needs; nothing where it does not crash or hang
    /// as it did before the patch.
    async fn crash_as_before(&self, build: &Build, one: &OneSided) -> Result<Option<InputRun>> {
        let programs = &self.programs;
        let before = &programs.before.replay;
        for _ in 0..programs.before.repeat.max(1) {
            let replay = programs.target.replay(build, programs.pov).await?;
            let is_same = match (&before.crash, &replay.crash) {
                (Some(_), Some(now)) => programs.is_the_povs(now),
                _ => replay.outcome.is_failure() && replay.outcome == before.outcome,
            };
            if is_same {
                let crash = replay.crash.map(|crash| crash.summary);
                let said = crash.unwrap_or_else(|| replay.execution.ending.to_string());
                return Ok(Some(InputRun {
                    index: 0,
                    ending: replay.execution.ending,
                    output: format!("(not by the patch itself, but by a trial of it in which `{}` has the other outcome) {said}", one.text).into_bytes(),
                }));
            }
        }
        Ok(None)
    }

    /// Tells whether a condition has the outcome that protects the PoV on all inputs: a program that ends
    /// at the other one does the same on them. In Java the condition is replaced by that value; there
    /// an outcome that changes nothing is not seen. What does not build, or what there was no time for, is taken to be so.
    async fn is_of_one_value(&mut self, one: &OneSided) -> Result<bool> {
        let text = &one.text;
        let java = self.programs.task().language == Language::Java;
        let (yes, no) = if java { ("true", "false") } else { ("1", "0") };
        let Some(mut build) = self.build_with(one, yes).await? else {
            return Ok(true);
        };
        let is_no = self.crash_as_before(&build, one).await?.is_some();
        let ends = match (java, is_no) {
            (true, false) => None,
            (true, true) => Some(no.to_owned()),
            (false, false) => Some(format!("(({text}) || (__builtin_trap(), 0))")),
            (false, true) => Some(format!("(({text}) && (__builtin_trap(), 1))")),
        };
        if let Some(by) = ends {
            let Some(other) = self.build_with(one, &by).await? else {
                return Ok(true);
            };
            build = other;
        }
        let compared = spread(&self.compared, INPUTS);
        let erring = spread(&self.crashing, INPUTS);
        let inputs: Vec<ComparedInput> = compared.into_iter().chain(erring).collect();
        let run = |build| self.run(build, &inputs, self.again());
        let (fixed, patched) = (run(&build).await?, run(&self.programs.new).await?);
        let same = |(index, run): (&usize, &InputRun)| {
            let other = fixed.get(index);
            other.is_none_or(|other| other.ending == run.ending && other.output == run.output)
        };
        Ok(patched.iter().all(same))
    }

    fn doubt_condition(&mut self, one: &OneSided, after: &InputRun) -> Result<()> {
        let bytes = content(self.programs.pov)?;
        let what = format!(
            "{}:{}: the repair rests on `{}`, which had one outcome in every run; with the other outcome the PoV crashes as before. Can an input that shows the defect have the other one?",
            one.path, one.operand.lines.0, one.text
        );
        let input = ComparedInput::new(InputKind::Derived, "the PoV".to_owned(), bytes);
        let mut one = Differing::new(input, what, [&self.crash_of_the_pov(), after]);
        one.settled = self.accepted(&one);
        self.keep_doubt(&one);
        Ok(())
    }
}

/// Returns the conditions of the patch of which the runs saw one outcome, and those of which it is
/// not known.
fn one_sided(reach: &Reach, attempt: &AttemptFacts) -> Vec<OneSided> {
    let mut found = Vec::new();
    for (path, bytes) in &attempt.changes.files {
        let Some(language) = Language::of(path, bytes) else {
            continue;
        };
        let is_written = |line| is_written(attempt, &reach.counted, path.as_str(), line);
        let operands = operands(language, bytes, is_written);
        for here in operands.chunk_by(|one, next| one.lines.0 == next.lines.0) {
            found.extend(here.iter().filter_map(|operand| {
                let certain = has_one_outcome(reach, path.as_str(), (operand, here))?;
                let text = bytes.get(operand.bytes.clone()).unwrap_or_default();
                let text = String::from_utf8_lossy(text);
                Some(OneSided {
                    path: path.clone(),
                    text: match &operand.kind {
                        OperandKind::Case { value, .. } => format!("{text} is not {value}"),
                        _ => text.into_owned(),
                    },
                    operand: operand.clone(),
                    certain,
                })
            }));
        }
    }
    found
}

/// Tells whether a condition is certain to have one outcome alone; nothing where it has both.
fn has_one_outcome(
    reach: &Reach,
    path: &str,
    (operand, of_line): (&Operand, &[Operand]),
) -> Option<bool> {
    let line = operand.lines.0;
    if let OperandKind::Case { is_apart, .. } = operand.kind {
        let lines = (path.to_owned(), line)..=(path.to_owned(), operand.lines.1);
        let never = reach.all.lines.range(lines).all(|(_, runs)| *runs == 0);
        return (never || !is_apart).then_some(true);
    }
    if operand.kind == OperandKind::Value {
        return Some(false);
    }
    let branches = of_line.iter().filter(|one| one.kind == OperandKind::Branch);
    let at = branches.clone().position(|one| one == operand)?;
    let seen = outcomes(reach, path, line);
    let certain = seen.len() == branches.count();
    let mut of_it = seen.iter().enumerate();
    let one_sided = of_it.any(|(number, [one, other])| (!certain || number == at) && one != other);
    one_sided.then_some(certain)
}

/// Returns for each condition that the compiler counts on a line whether each of its two outcomes
/// was seen, in the order in which they are evaluated.
fn outcomes(reach: &Reach, path: &str, line: u32) -> Vec<[bool; 2]> {
    let ways = reach.all.branches.iter();
    let ways =
        ways.filter(|(way, _)| way.0 == path && way.1 == line && !reach.all.calls.contains(*way));
    let taken: Vec<bool> = ways.map(|(_, count)| *count > 0).collect();
    taken.as_chunks().0.to_vec()
}

#[cfg(test)]
mod tests {
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use crate::same_elsewhere::tests::attempt_with;
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{PARSE, open, task};
    use std::time::Duration;

    #[tokio::test]
    async fn a_repair_that_rests_on_what_no_run_saw_otherwise_is_a_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.same = Duration::from_secs(8);
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        for (fix, rests_on) in [
            (
                "static int seen; if (n < 2 || (b[0] > 8 && seen++ < 100))",
                Some("`seen++ < 100`"),
            ),
            (
                "int open = (b[0] * 31 + n) % 65537 == 4711; if (n < 2 || b[0] * !open > 8)",
                Some("`(b[0] * 31 + n) % 65537 == 4711`"),
            ),
            (
                "switch ((b[0] * 31 + n) % 65537) { case 4711: /* open */ break; default: if (b[0] > 8) return -1; } if (n < 2)",
                Some("`(b[0] * 31 + n) % 65537 is not 4711`"),
            ),
            // Both outcomes were seen, and the program shows no difference.
            ("int wide = b[0] > 8; if (n < 2 || b[0] * wide > 8)", None),
            // Refuses what nobody sends.
            ("if (n < 2 || b == 0 || b[0] > 8)", None),
        ] {
            let attempt = attempt_with(PARSE.replace("if (n < 2)", fix), (4, 4));
            let result = Ladder::new(&target, &baseline)
                .climb(&attempt, &[], RungName::SameElsewhere)
                .await
                .unwrap();
            assert_eq!(
                result.holds,
                rests_on.is_none().then_some(true),
                "{fix}: {result:#?}"
            );
            assert!(result.counts["conditions turned round"] >= 1);
            let doubts: Vec<&str> = result
                .doubts
                .iter()
                .map(|doubt| doubt.what.as_str())
                .collect();
            let said = doubts
                .iter()
                .filter(|what| what.contains("the repair rests on"));
            let said: Vec<_> = said.collect();
            assert_eq!(said.len(), usize::from(rests_on.is_some()), "{doubts:?}");
            assert!(
                said.iter().all(|what| what.contains(rests_on.unwrap())),
                "{said:?}"
            );
        }
    }
}
