//! Calls while the tests run: how the calls by which the tests reach a touched function end
//! in both programs. This needs no input.
//!
//! The tests pass with both programs, so a call that ends in another way is one that they
//! do not look at: a doubt with arguments and both ends. What functions of the project return
//! to each other is not behaviour. Calls that end as before are evidence as inputs are.
//! A value that differs between two runs of the unpatched program is not compared. A call that
//! ended by the exception of the PoV had met the defect: a value or an exception of the project
//! in its place is told, and holds nothing back.

use super::Comparison;
use crate::evidence::{Doubt, TOLD};
use crate::rung::Programs;
use patchwright_target::runner::{
    Counted, Observed, ObservedCall, ObservedRun, Outcome, Pov, content,
};
use patchwright_target::{Result, WorkTime};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The names of the counts of calls that end as before, and of those that do not.
const AS_BEFORE: &str = "calls of tests that end as before";
const OTHERWISE: &str = "calls of tests that end otherwise";
/// Words before the class of the exception by which a call ended.
const THROWS: &str = "throws ";
/// Differing calls that are told.
const MOST_TOLD: usize = 5;
/// Tests that take longer are not run again.
const LONGEST: Duration = Duration::from_mins(1);
/// Tests may take so many times as long as without the agent, and this longer.
const SLOWER: u32 = 3;
const LEAST: Duration = Duration::from_secs(20);
/// Time for a PoV, and the PoVs that are looked at for how the harness passes them on.
const POV_TIME: Duration = Duration::from_secs(15);
const MOST_POVS: usize = 3;
/// The fewest bytes that are recognised within a PoV.
const FEWEST_BYTES: usize = 4;
/// The most inputs that are made of what tests pass on.
const MOST_INPUTS: usize = 60;

impl Comparison<'_> {
    /// Runs the tests with both programs and compares the calls of the touched functions;
    /// what the tests pass to these become given inputs. It has a time of its own.
    pub(super) async fn test_calls(&mut self) -> Result<()> {
        let Some(usual) = self.tests_time().filter(|_| !self.functions.is_empty()) else {
            return Ok(());
        };
        if usual > LONGEST {
            let why = format!("they take more than {} s", LONGEST.as_secs());
            self.note("calls while the tests run", &why);
            return Ok(());
        }
        let started = WorkTime::now();
        let most = usual * SLOWER + LEAST;
        let plain = self.observed(Counted::default(), most);
        let Programs {
            target, old, new, ..
        } = &self.programs;
        let Some(before) = target.observed_run(old, None, &plain).await? else {
            return Ok(());
        };
        let lines = self.observed(self.lines_of_patch(), most);
        let Some(after) = target.observed_run(new, None, &lines).await? else {
            return Ok(());
        };
        let mut compared = Compared::of(&before, &after);
        if !compared.differing.is_empty() {
            let again = target.observed_run(old, None, &plain).await?;
            compared.keep_steady(&before, &again.unwrap_or_default());
        }
        self.count(AS_BEFORE, compared.same);
        self.count(OTHERWISE, compared.differing.len() as u64);
        let crash = self.programs.crash().map(|crash| crash.kind.as_str());
        self.result.doubts.extend(compared.doubts(crash));
        self.telling_calls = compared.telling;
        self.tests_coverage = Some(after.coverage);
        self.given_by_tests(before.given).await?;
        self.clock.leave_out(started.elapsed());
        Ok(())
    }

    fn observed(&self, counted: Counted, most: Duration) -> Observed {
        Observed {
            functions: self.functions.clone(),
            counted,
            most,
        }
    }

    /// Makes inputs of what the tests pass on. Where the harness passes on a part of
    /// a PoV, it takes the place of that part.
    async fn given_by_tests(&mut self, given: BTreeSet<Vec<u8>>) -> Result<()> {
        if given.is_empty() {
            return Ok(());
        }
        let asked = self.observed(Counted::default(), POV_TIME);
        let task = self.programs.task();
        let hangs = self.programs.before.replay.outcome == Outcome::Hung;
        let mut frames: BTreeSet<(Vec<u8>, Vec<u8>)> = BTreeSet::new();
        // One that hangs would not tell what it was given.
        let like = |pov: &&Pov| !hangs && pov.command == self.programs.pov.command;
        let Programs { target, old, .. } = self.programs;
        for pov in task.povs.iter().filter(like).take(MOST_POVS) {
            if let Some(run) = target.observed_run(old, Some(pov), &asked).await? {
                frames.extend(frame(&content(pov)?, &run.given));
            }
        }
        if frames.is_empty() {
            frames.insert((Vec::new(), Vec::new()));
        }
        let step = (given.len() * frames.len()).div_ceil(MOST_INPUTS).max(1);
        let framed = given.iter().flat_map(|part| {
            let framed =
                |(head, tail): &(Vec<u8>, Vec<u8>)| [head, part, tail].map(Vec::as_slice).concat();
            frames.iter().map(framed).collect::<Vec<_>>()
        });
        let inputs: Vec<Vec<u8>> = framed.step_by(step).collect();
        self.count("inputs that tests pass on", inputs.len() as u64);
        self.pool.add_of_tests(inputs);
        Ok(())
    }
}

/// Returns the bytes of a PoV before and behind the largest part that the harness passes on.
fn frame(pov: &[u8], passed: &BTreeSet<Vec<u8>>) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut parts: Vec<&Vec<u8>> = passed.iter().collect();
    parts.retain(|part| part.len() >= FEWEST_BYTES && part.len() <= pov.len());
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts.into_iter().find_map(|part| {
        let at = pov.windows(part.len()).position(|window| window == part)?;
        Some((
            pov.get(..at)?.to_vec(),
            pov.get(at + part.len()..)?.to_vec(),
        ))
    })
}

/// The calls that both programs make.
#[derive(Debug, Default)]
struct Compared {
    same: u64,
    telling: u64,
    differing: BTreeMap<ObservedCall, (Ends, Ends)>,
}

/// All the ways in which a call ended.
type Ends = BTreeSet<String>;

impl Compared {
    fn of(before: &ObservedRun, after: &ObservedRun) -> Self {
        let mut compared = Self::default();
        for (call, old) in &before.calls {
            let Some(new) = after.calls.get(call) else {
                continue;
            };
            if old == new {
                compared.same += 1;
                compared.telling += u64::from(old.iter().any(|end| tells(end)));
            } else {
                let ends = (old.clone(), new.clone());
                compared.differing.insert(call.clone(), ends);
            }
        }
        compared
    }

    /// Forgets the calls that end otherwise when the unpatched program is tested again.
    fn keep_steady(&mut self, before: &ObservedRun, again: &ObservedRun) {
        self.differing
            .retain(|call, _| again.calls.get(call) == before.calls.get(call));
    }

    /// Returns the doubts about calls that end otherwise, the open ones first. `crash` is the
    /// class of the PoV's exception.
    fn doubts(&self, crash: Option<&str>) -> Vec<Doubt> {
        let doubt = |(call, (old, new)): (&ObservedCall, &(Ends, Ends))| {
            let ObservedCall {
                function,
                arguments,
            } = call;
            let mut doubt = Doubt::new(format!(
                "while the tests run, {function}({arguments}) {}; with the patch it {}",
                told(old, new),
                told(new, old)
            ));
            let is_the_povs = |end: &String| end.strip_prefix(THROWS) == crash;
            if old.difference(new).all(is_the_povs)
                && !new.difference(old).any(|end| is_of_jdk(end))
            {
                doubt.settled = Some(TOLD.to_owned());
            }
            doubt
        };
        let mut doubts: Vec<Doubt> = self.differing.iter().map(doubt).collect();
        doubts.sort_by_key(|doubt| !doubt.is_open());
        doubts.truncate(MOST_TOLD);
        doubts
    }
}

/// Tells whether a call ended by an exception of the JDK, which no project made for its callers.
fn is_of_jdk(end: &str) -> bool {
    let class = end.strip_prefix(THROWS);
    let packages = ["java.", "javax.", "jdk.", "sun."];
    class.is_some_and(|class| packages.iter().any(|package| class.starts_with(package)))
}

/// Returns the first end that the other program does not have, else all of them.
pub(super) fn told(ends: &BTreeSet<String>, others: &BTreeSet<String>) -> String {
    let other = ends.difference(others).next();
    other.cloned().unwrap_or_else(|| all(ends))
}

/// Names all ends.
pub(super) fn all(ends: &BTreeSet<String>) -> String {
    ends.iter().cloned().collect::<Vec<_>>().join(" or ")
}

/// Tells whether an end says more than that it was reached, and which class an object has.
pub(super) fn tells(end: &str) -> bool {
    let class = end.strip_prefix("returns a ");
    let only_class = class.is_some_and(|class| {
        class.starts_with(|c: char| c.is_uppercase())
            && !class.contains(|c: char| !c.is_alphanumeric())
    });
    !matches!(end, "returns nothing" | "returns an object" | "is left") && !only_class
}

#[cfg(test)]
mod tests {
    use super::{AS_BEFORE, Compared, OTHERWISE, frame, tells};
    use crate::evidence::{Rung, RungName};
    use crate::ladder::Ladder;
    use crate::tests::java_attempt;
    use patchwright_target::runner::{ObservedRun, Target};
    use patchwright_target::test_support::{java_task, open};
    use std::time::Duration;

    fn run(lines: &[&str]) -> ObservedRun {
        let mut run = ObservedRun::default();
        let lines: Vec<String> = lines.iter().map(|line| format!("call\t{line}\n")).collect();
        run.read(&lines.concat());
        run
    }

    #[test]
    fn calls_are_compared_by_their_arguments() {
        let old = ["A.f\tx\treturns 1", "A.h\t\treturns nothing"];
        let before = run(&old);
        let same = Compared::of(&before, &before);
        assert_eq!((same.same, same.telling, same.differing.len()), (2, 1, 0));
        let other = Compared::of(&before, &run(&["A.f\tx\tthrows E", old[1]]));
        let doubts = other.doubts(Some("E"));
        assert!(doubts[0].is_open());
        assert_eq!(
            doubts[0].what,
            "while the tests run, A.f(x) returns 1; with the patch it throws E"
        );
        // What the unpatched program does not repeat is nothing.
        let mut noisy = other;
        noisy.keep_steady(&before, &run(&["A.f\tx\treturns 7"]));
        assert!(noisy.doubts(None).is_empty());
    }

    #[test]
    fn a_call_that_met_the_defect_before_holds_nothing_back() {
        let index = "java.lang.IndexOutOfBoundsException";
        let before = run(&[&format!("A.f\tx\tthrows {index}"), "A.g\t\treturns 1"]);
        let doubts = |end: &str, crash| {
            let after = run(&[&format!("A.f\tx\t{end}"), "A.g\t\treturns 2"]);
            let doubts = Compared::of(&before, &after).doubts(crash);
            doubts
                .iter()
                .map(|doubt| doubt.what.contains("A.f") && doubt.is_open())
                .collect::<Vec<_>>()
        };
        assert_eq!(doubts("throws a.Refused", Some(index)), [false, false]);
        assert_eq!(doubts("returns 7", Some(index)), [false, false]);
        // An exception of the JDK is no answer, and another exception was no crash.
        assert_eq!(
            doubts("throws java.nio.BufferUnderflowException", Some(index)),
            [true, false]
        );
        let both = "returns 2\ncall\tA.f\tx\tthrows java.lang.Error";
        assert_eq!(doubts(both, Some(index)), [true, false]);
        assert_eq!(doubts("throws a.Refused", Some("a.Other")), [true, false]);
        assert_eq!(doubts("throws a.Refused", None), [true, false]);
    }

    #[test]
    fn an_end_without_a_value_tells_nothing() {
        for (end, expected) in [
            ("returns nothing", false),
            ("returns a Document", false),
            ("returns a b", true),
            ("returns a Document and leaves [1]", true),
            ("returns nothing and leaves [1]", true),
            ("returns 1", true),
            ("throws java.lang.Error", true),
        ] {
            assert_eq!(tells(end), expected, "{end}");
        }
    }

    #[test]
    fn the_frame_of_a_pov_is_what_the_harness_keeps() {
        let passed = |parts: &[&str]| parts.iter().map(|part| part.as_bytes().to_vec()).collect();
        let found = frame(b"p<zip>", &passed(&["<zip>", "zip>", "other"]));
        assert_eq!(found, Some((b"p".to_vec(), Vec::new())));
        let found = frame(b"ab<zip>!", &passed(&["<zip>", "b"]));
        assert_eq!(found, Some((b"ab".to_vec(), b"!".to_vec())));
        assert_eq!(frame(b"p<zip>", &passed(&["p", "else"])), None);
    }

    /// Climbs the rung with a patch of the Java program, which has no inputs but its PoV.
    async fn climbed(bound: &str, line: &str) -> Rung {
        let folder = tempfile::tempdir().unwrap();
        let mut task = java_task(folder.path());
        task.limits.same = Duration::from_secs(40);
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let fix = format!(
            "        if (end < {bound}) {{\n            end = text.length();\n        }}\n        String line = text.substring(0, end);\n        return upper ? {line} : line;"
        );
        let old = "        String line = text.substring(0, end);\n        return upper ? line.toUpperCase() : line;";
        let attempt = java_attempt(old, &fix, (5, 9));
        let ladder = Ladder::new(&target, &baseline);
        ladder
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn tests_alone_show_that_a_java_program_behaves_as_before() {
        let right = climbed("0", "line.toUpperCase()").await;
        assert_eq!(right.holds, Some(true), "{right:#?}");
        assert!(right.counts[AS_BEFORE] >= 6, "{right:#?}");
        assert!(right.counts["of tests"] >= 3, "{right:#?}");
        assert_eq!(right.counts["branches not accounted for"], 0);
    }

    #[tokio::test]
    async fn a_value_that_the_tests_do_not_look_at_is_a_doubt() {
        let wrong = climbed("0", "line.trim()").await;
        assert_eq!(wrong.holds, None, "{wrong:#?}");
        assert_eq!(wrong.counts[OTHERWISE], 3);
        let told = "Lines.first(a b, true) returns A; with the patch it returns a";
        let mut doubts = wrong.doubts.iter();
        assert!(doubts.any(|doubt| doubt.is_open() && doubt.what.contains(told)));
    }

    #[tokio::test]
    async fn what_the_tests_pass_on_is_a_given_input() {
        let wrong = climbed("2", "line.toUpperCase()").await;
        assert_eq!(wrong.holds, Some(false), "{wrong:#?}");
        assert!(wrong.reason.contains("of the tests"), "{}", wrong.reason);
    }
}
