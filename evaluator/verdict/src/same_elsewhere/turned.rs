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
use super::decisions::{Operand, operands};
use super::doubts::{Differing, shown};
use super::pool::{ComparedInput, InputKind};
use super::reach::Reach;
use crate::attempt::AttemptFacts;
use crate::rung::builds;
use patchwright_crash::signature;
use patchwright_crash::signature::Change;
use patchwright_source::{Changes, Language, TreePath};
use patchwright_target::runner::InputRun;
use patchwright_target::{TargetError, WorkTime};

/// The most conditions that are turned round, each of which costs a build.
const MOST: usize = 6;
/// Count of the conditions that were turned round.
const TURNED: &str = "conditions turned round";

/// A condition of the patch with one outcome alone.
struct OneSided {
    path: TreePath,
    operand: Operand,
    text: String,
    /// False where the counts do not tell it from the others of its line.
    certain: bool,
}

impl OneSided {
    /// Returns the changes of the patch with this condition turned round.
    fn turned(&self, changes: &Changes) -> Option<Changes> {
        let mut changes = changes.clone();
        let bytes = changes.files.get_mut(&self.path)?;
        let range = self.operand.bytes.clone();
        let operand = bytes.get(range.clone())?;
        let turned = [b"!(", operand, b")"].concat();
        bytes.splice(range, turned);
        Some(changes)
    }
}

impl Comparison<'_> {
    /// Turns round the conditions of the patch of which the runs saw one outcome; each that the
    /// repair rests on is a doubt.
    pub(super) async fn turn_conditions(
        &mut self,
        attempt: &AttemptFacts,
    ) -> Result<(), TargetError> {
        let Some(reach) = &self.reach else {
            return Ok(());
        };
        let mut lines: Vec<Vec<OneSided>> = one_sided(reach, attempt);
        let count: usize = lines.iter().map(Vec::len).sum();
        while lines.iter().map(Vec::len).sum::<usize>() > MOST {
            lines.pop();
        }
        let left_out = count - lines.iter().map(Vec::len).sum::<usize>();
        if left_out > 0 {
            self.count("conditions not turned round", left_out as u64);
        }
        for line in lines {
            let mut resting = Vec::new();
            let certain = line.iter().all(|one| one.certain);
            let conditions = line.len();
            for one in line {
                if let Some(run) = self.crash_when_turned(&one, attempt).await? {
                    resting.push((one, run));
                }
            }
            // One of them has one outcome alone, and it is not known which.
            if !certain && resting.len() < conditions {
                continue;
            }
            for (one, run) in resting {
                self.doubt_condition(&one, run)?;
            }
        }
        Ok(())
    }

    /// Runs the PoV on the patch with a condition turned round; nothing where it does not crash
    /// as it did before the patch.
    async fn crash_when_turned(
        &mut self,
        one: &OneSided,
        attempt: &AttemptFacts,
    ) -> Result<Option<InputRun>, TargetError> {
        let Some(changes) = one.turned(&attempt.changes) else {
            return Ok(None);
        };
        let (target, pov, before) = (self.target, self.pov, self.before);
        let started = WorkTime::now();
        let turned = AttemptFacts {
            changes,
            ..AttemptFacts::default()
        };
        let build = builds::build(target, &turned, &target.task().build_of(pov)).await?;
        self.clock.leave_out(started.elapsed());
        if !build.succeeded() {
            let why = "with a condition turned round it does not build";
            self.note(&one.text, why);
            return Ok(None);
        }
        self.count(TURNED, 1);
        let replay = target.replay(&build, pov).await?;
        let (Some(known), Some(now)) = (&before.replay.crash, &replay.crash) else {
            return Ok(None);
        };
        let in_project = |frame: &_| target.task().in_project(frame);
        let same = signature::compare(known, now, &in_project) == Change::Same;
        Ok(same.then(|| InputRun {
            index: 0,
            ending: replay.execution.ending,
            output: format!("(`{}` turned round) {}", one.text, now.summary).into_bytes(),
        }))
    }

    fn doubt_condition(&mut self, one: &OneSided, after: InputRun) -> Result<(), TargetError> {
        let bytes = std::fs::read(&self.pov.file)
            .map_err(|error| TargetError::io("read", &self.pov.file, error))?;
        let what = format!(
            "{}:{}: the repair rests on `{}`, which was the same in every run; with it turned round the PoV crashes as before. Can it be otherwise while the defect is there?",
            one.path, one.operand.lines.0, one.text
        );
        let one = Differing {
            what,
            input: ComparedInput::new(InputKind::Derived, "the PoV".to_owned(), bytes),
            before: self.crash_of_the_pov(),
            after,
        };
        let settled = self.accepted(&one.input, &shown(&one.after));
        self.doubts.push(self.doubt(&one, settled, None));
        Ok(())
    }
}

/// Returns the conditions of the patch of which the runs saw one outcome, by line.
fn one_sided(reach: &Reach, attempt: &AttemptFacts) -> Vec<Vec<OneSided>> {
    let mut found = Vec::new();
    for (path, bytes) in &attempt.changes.files {
        let Some(language) = Language::of(path, bytes) else {
            continue;
        };
        let mut operands = operands(language, bytes);
        operands.retain(|one| is_written(attempt, &reach.counted, path.as_str(), one.lines.0));
        for here in operands.chunk_by(|one, next| one.lines.0 == next.lines.0) {
            let line = here.first().map_or(0, |one| one.lines.0);
            let seen = outcomes(reach, path.as_str(), line);
            let is_one_sided = |seen: &(bool, bool)| seen.0 != seen.1;
            let certain = seen.len() == here.len();
            let conditions = here.iter().enumerate().filter(|(at, _)| {
                let mut of_it = seen.iter().enumerate();
                of_it.any(|(number, seen)| (!certain || number == *at) && is_one_sided(seen))
            });
            let conditions: Vec<OneSided> = conditions
                .map(|(_, operand)| OneSided {
                    path: path.clone(),
                    text: String::from_utf8_lossy(
                        bytes.get(operand.bytes.clone()).unwrap_or_default(),
                    )
                    .into_owned(),
                    operand: operand.clone(),
                    certain,
                })
                .collect();
            found.push(conditions);
        }
    }
    found.retain(|conditions| !conditions.is_empty());
    found
}

/// Returns for each condition that the compiler counts on a line whether each of its two outcomes
/// was seen, in the order in which they are evaluated.
fn outcomes(reach: &Reach, path: &str, line: u32) -> Vec<(bool, bool)> {
    let ways = reach.all.branches.iter();
    let ways =
        ways.filter(|(way, _)| way.0 == path && way.1 == line && !reach.all.calls.contains(*way));
    let taken: Vec<bool> = ways.map(|(_, count)| *count > 0).collect();
    let pairs = taken.chunks_exact(2).filter_map(|pair| match pair {
        [one, other] => Some((*one, *other)),
        _ => None,
    });
    pairs.collect()
}
