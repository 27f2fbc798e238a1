//! Reach: the compared inputs and the tests that run the patched lines, and the
//! ways out of the patch's branches that were taken.
//!
//! That many inputs behave as before tells nothing when none of them comes to
//! the patch. So the patched program is built once more with counters in what the
//! patch touches: the PoV, compared inputs and, where these are not enough, the
//! tests are run there. Accepted inputs have to come to the branches of the patch. The
//! way that none of them takes is accounted for where the PoV takes it, which is the
//! repair, or where inputs that were aimed at it do not take it either, as with a
//! check for what never happens. Where no build with counters can be had, the functions
//! that a debugger sees have to do.

use super::doubts::Differing;
use super::outputs::turns_away;
use super::pool::{ComparedInput, InputKind, spread};
use super::runs::{EACH, Part};
use super::values::mixed;
use super::{Comparison, OPEN_BRANCHES};
use crate::attempt::{AttemptFacts, last, touched_functions};
use crate::given_inputs;
use patchwright_crash::feedback::{LineMap, LineOrigin};
use patchwright_crash::{CrashReport, Operation, Tool};
use patchwright_source::{Touched, Tree};
use patchwright_target::runner::{
    Build, Capture, Counted, Coverage, Inputs, Instrumentation, LineRange,
};
use patchwright_target::{Result, WorkTime};
use std::time::Duration;

/// Compared inputs that are counted at most.
const MOST: usize = 12 * CHUNK;
/// Inputs that are counted in one go.
const CHUNK: usize = 24;
/// Inputs that are counted in one go when the time that was planned is used up.
const FEW: usize = 8;
/// Inputs aimed at the patch that have to be counted before a way that none of them
/// takes is accounted for.
pub(super) const ENOUGH_AIMED: u64 = 8;
/// Reason why the refusal of an input is no doubt.
const AS_THE_POV: &str = "the patched program refuses it on the way on which it refuses the PoV, and which no accepted input takes";
/// Reason why no patched line could be counted.
const NO_COUNTERS: &str = "the build takes no counters (it fails with them, or commands.build names its compilers by absolute paths)";
/// Time for the PoVs, and least time for the inputs.
pub(super) const LEAST: Duration = Duration::from_secs(6);
/// Least time for the inputs while fewer come to the patch than have to.
const LEAST_TO_FLOOR: Duration = Duration::from_secs(18);
/// The tests at the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtPatch {
    Miss,
    /// They run it, and fail where a function of it ends the program.
    Run,
    /// They run it, and end as before then.
    NoticeNothing,
    /// They run it, and it cannot be seen whether they notice anything.
    Unclear,
}

/// Inputs and tests that run the patch, by counters.
#[derive(Debug)]
pub(super) struct Reach {
    /// The patched program with counters, and what they count.
    pub(super) build: Build,
    pub(super) counted: Counted,
    /// The counts of all runs together, and those of accepted inputs and tests.
    pub(super) all: Coverage,
    pub(super) accepted: Coverage,
    /// The counts of the PoVs.
    pub(super) povs: Coverage,
    /// Inputs aimed at the patch that were counted.
    pub(super) aimed: u64,
    /// Compared inputs that were counted, and those that reached the patch.
    pub(super) looked_at: u64,
    pub(super) reached: u64,
    /// None where they were not run.
    pub(super) tests: Option<AtPatch>,
    /// The branches of the patch of which a way is not accounted for, by file and line.
    pub(super) unaccounted: Vec<String>,
    /// Reasons why a way that no accepted input takes is accounted for.
    pub(super) reasons: Vec<String>,
    /// The branches of the patch.
    pub(super) branches: usize,
}

impl Comparison<'_> {
    /// Counts which compared inputs run the patched lines, where a build with
    /// counters can be had. It has a time of its own.
    pub(super) async fn measure_reach(&mut self) -> Result<()> {
        let counted = self.lines_of_patch();
        if counted.lines.is_empty() {
            self.unseen
                .push("the patch writes no line of code".to_owned());
            return Ok(());
        }
        let (target, started) = (self.programs.target, WorkTime::now());
        let name = target.task().build_of(self.programs.pov);
        let counters = Instrumentation::Counters;
        let build = target.instrumented_build(&self.programs.attempt.changes, &name, &counters);
        let build = build.await?;
        self.clock.leave_out(started.elapsed());
        let Some(build) = build else {
            self.unseen.push(NO_COUNTERS.to_owned());
            return Ok(());
        };
        let mut reach = Reach {
            build,
            counted,
            all: Coverage::default(),
            accepted: Coverage::default(),
            povs: Coverage::default(),
            aimed: 0,
            looked_at: 0,
            reached: 0,
            tests: None,
            unaccounted: Vec::new(),
            reasons: Vec::new(),
            branches: 0,
        };
        let povs = given_inputs::povs(target.task())?;
        for (_, coverage) in self.count_runs(&mut reach, povs, LEAST).await? {
            reach.povs.add(&coverage);
        }
        self.count_inputs(&mut reach).await?;
        self.reach = Some(reach);
        Ok(())
    }

    /// Settles which branches of the patch were seen both ways: by inputs that
    /// are no evidence of sameness, and by the tests where these are not enough.
    pub(super) async fn settle_reach(&mut self) -> Result<()> {
        let (Some(mut reach), attempt) = (self.reach.take(), self.programs.attempt) else {
            return Ok(());
        };
        reach.settle(attempt);
        if !reach.unaccounted.is_empty() {
            let others = spread(&self.tried, CHUNK);
            reach.aimed = self.count_runs(&mut reach, others, LEAST).await?.len() as u64;
            reach.settle(attempt);
        }
        self.count_tests(&mut reach).await?;
        self.count("counted", reach.looked_at);
        self.count("reached the patch", reach.reached);
        self.count("branches of the patch", reach.branches as u64);
        self.count(OPEN_BRANCHES, reach.unaccounted.len() as u64);
        let accepted = &reach.accepted;
        let functions = run(accepted.functions.values());
        self.count("touched functions", accepted.functions.len() as u64);
        self.count("touched functions run by tests and inputs", functions);
        let lines = run(accepted.lines.values());
        self.count("patched lines run by tests and inputs", lines);
        self.count("patched lines", reach.all.lines.len() as u64);
        if let Some(tests) = reach.tests {
            self.count("tests reach the patch", u64::from(tests == AtPatch::Run));
        }
        self.reach = Some(reach);
        Ok(())
    }

    /// Settles differing inputs that the patched program refuses on a way of the patch
    /// that the PoV takes and no accepted input does, where the PoV makes the program read
    /// outside of an object. Such a read goes unseen as long as other bytes of the input lie
    /// there, so no experiment may show that the input is malformed. Other faults do show in
    /// the experiments, and what is refused without one stays a doubt: the guard may be too
    /// strict. That too much may be refused of what is read is for given inputs and for those
    /// aimed at the patch to show, so enough of them have to come to the patch.
    pub(super) async fn settle_refused_as_the_pov(
        &mut self,
        differing: &mut [Differing],
    ) -> Result<()> {
        let tells_nothing = [InputKind::Derived, InputKind::FurtherMutant];
        let mut refused: Vec<&mut Differing> = differing.iter_mut().collect();
        refused.retain(|one| {
            let kind = &one.input.kind;
            one.settled.is_none() && tells_nothing.contains(kind) && turns_away(&one.after)
        });
        let crash = self.programs.crash();
        let is_asked = !refused.is_empty() && crash.is_some_and(reads_outside);
        let floor = self.programs.task().limits.reached.max(1);
        let enough = |reach: &mut Reach| is_asked && reach.reached >= floor;
        let Some(mut reach) = self.reach.take_if(enough) else {
            return Ok(());
        };
        let contents = refused.iter().map(|one| one.input.bytes.clone());
        let contents = contents.collect();
        for (place, coverage) in self.count_runs(&mut reach, contents, LEAST).await? {
            if let Some(one) = refused.get_mut(place)
                && reach.goes_as_the_pov(&coverage, self.programs.attempt)
            {
                one.settled = Some(AS_THE_POV.to_owned());
            }
        }
        self.reach = Some(reach);
        Ok(())
    }

    /// Counts compared inputs, given ones first, as long as there is time, and a little longer
    /// while too few come to the patch. Those that both programs refuse are the last: most of
    /// them never come to it.
    async fn count_inputs(&mut self, reach: &mut Reach) -> Result<()> {
        let mut order = mixed(&self.compared);
        order.sort_by_key(|input| input.refused);
        order.truncate(MOST);
        let (floor, started) = (self.programs.task().limits.reached, WorkTime::now());
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let least = if reach.reached < floor {
                LEAST_TO_FLOOR
            } else {
                LEAST
            };
            let planned = self.clock.left(Part::REACH);
            let left = planned.max(least.saturating_sub(started.elapsed()));
            if left.is_zero() {
                break;
            }
            let size = if planned.is_zero() { FEW } else { CHUNK };
            let chunk = rest.get(..size).unwrap_or(rest);
            let before = reach.looked_at;
            self.count_chunk(reach, chunk, left).await?;
            let counted = (reach.looked_at - before) as usize;
            if counted == 0 {
                break;
            }
            rest = rest.get(counted..).unwrap_or_default();
        }
        Ok(())
    }

    /// Counts what some compared inputs run.
    pub(super) async fn count_chunk(
        &mut self,
        reach: &mut Reach,
        chunk: &[ComparedInput],
        left: Duration,
    ) -> Result<()> {
        let contents = chunk.iter().map(|input| input.bytes.clone()).collect();
        for (index, coverage) in self.count_runs(reach, contents, left).await? {
            let input = chunk.get(index);
            if input.is_some_and(|input| !input.refused) {
                reach.accepted.add(&coverage);
            }
            reach.looked_at += 1;
            if coverage.reached() {
                reach.reached += 1;
                self.reaching.extend(input.cloned());
            }
        }
        Ok(())
    }

    /// Runs inputs with counters; those that were run, and what each covered.
    async fn count_runs(
        &self,
        reach: &mut Reach,
        contents: Vec<Vec<u8>>,
        budget: Duration,
    ) -> Result<Vec<(usize, Coverage)>> {
        let inputs = Inputs {
            capture: Capture::Coverage(reach.counted.clone()),
            leaks_allowed: self.leaks_allowed,
            ..Inputs::new(contents, budget, self.each().max(EACH.0 * 2))
        };
        let mut counted = Vec::new();
        for run in self.programs.run(&reach.build, &inputs).await? {
            let coverage = Coverage::read(&String::from_utf8_lossy(&run.output));
            reach.all.add(&coverage);
            counted.push((run.index, coverage));
        }
        Ok(counted)
    }

    /// The lines that the patch wrote; around those that it only took away, the
    /// lines that are left.
    pub(super) fn lines_of_patch(&self) -> Counted {
        let attempt = self.programs.attempt;
        let tree = Tree::open(&self.programs.task().tree).ok();
        let mut lines = Vec::new();
        for touched in &attempt.touched {
            let path = attempt.changes.new_name(&touched.path).as_str();
            let mut ranges = touched.new.clone();
            if let Some(tree) = &tree {
                ranges = rewritten(tree, attempt, touched);
                let map = LineMap::of_change(tree, &attempt.changes, &touched.path);
                if let (true, Some(map)) = (ranges.is_empty(), map) {
                    let before = |first: u32| map.patched(first.saturating_sub(1).max(1));
                    let around =
                        |(first, last): &(u32, u32)| (before(*first), map.patched(last + 1));
                    ranges.extend(touched.old.iter().map(around));
                }
            }
            lines.extend(ranges.into_iter().map(|(first, last)| LineRange {
                path: path.to_owned(),
                first,
                last,
            }));
        }
        let mut functions = touched_functions(attempt);
        if functions.is_empty() {
            functions.clone_from(&self.functions);
        }
        Counted {
            lines,
            functions: functions.iter().map(|name| last(name).to_owned()).collect(),
        }
    }
}

/// Returns the lines that the patch wrote in a file, without those that it only indented
/// otherwise: what these do was there before.
fn rewritten(tree: &Tree, attempt: &AttemptFacts, touched: &Touched) -> Vec<(u32, u32)> {
    let (Ok(pristine), Some(patched)) = (
        tree.read(&touched.path),
        attempt.changes.new_content(&touched.path),
    ) else {
        return touched.new.clone();
    };
    let map = LineMap::between(&without_spaces(pristine.bytes()), &without_spaces(patched));
    let lines = touched.new.iter().flat_map(|(first, last)| *first..=*last);
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines.filter(|line| !matches!(map.origin(*line), LineOrigin::Same(_))) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    ranges
}

/// Returns a text whose lines hold no spaces.
fn without_spaces(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines();
    let lines = lines.map(|line| line.split_whitespace().collect::<String>() + "\n");
    lines.collect()
}

/// Counts what was run at all.
fn run<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.filter(|runs| **runs > 0).count() as u64
}

/// Tells whether a crash is a read outside of an object. An input that brings it may claim
/// more than it has; where other bytes of its own lie behind, the same claim goes unseen.
fn reads_outside(crash: &CrashReport) -> bool {
    let access = crash.access.as_ref();
    let reads = access.and_then(|access| access.operation) == Some(Operation::Read);
    crash.tool == Tool::AddressSanitizer && reads && crash.kind.contains("overflow")
}

impl Reach {
    /// Judges whether this is enough to call the patch tried, by the floor of the settings;
    /// else what is missing.
    pub(super) fn missing(&self, floor: u64) -> Option<String> {
        let tests = match self.tests {
            Some(AtPatch::Run) => ", and the tests do",
            Some(AtPatch::Miss) => ", and neither do the tests",
            Some(AtPatch::NoticeNothing) => {
                ", and the tests do, but end as before where a patched function ends the program"
            }
            Some(AtPatch::Unclear) => {
                ", and the tests do, but it cannot be seen whether they notice anything"
            }
            None => "",
        };
        let (tests_run_it, open) = (self.tests == Some(AtPatch::Run), self.unaccounted.len());
        if !enough((self.reached, floor), tests_run_it, open) {
            return Some(format!(
                "{} of {} compared inputs run {}, and at least {floor} have to (limits.reached){tests}; harmless inputs that come there, where there are any, can be given as [inputs] harmless",
                self.reached,
                self.looked_at,
                place(&self.all)
            ));
        }
        let first = self.unaccounted.first()?;
        let unnoticed = match self.tests {
            Some(AtPatch::NoticeNothing | AtPatch::Unclear) => {
                " by inputs, and not known to be by tests that would notice"
            }
            _ => "",
        };
        Some(format!(
            "of {} branch(es) of the patch {open} were not seen both ways{unnoticed}: {first}; tests or harmless inputs that come there would show it (commands.test, [inputs] harmless, limits.same)",
            self.branches
        ))
    }
}

/// Names the place that an input has to run. Where no line of the patch holds code, as in a table
/// or a constant, functions are counted; classes without debugging information show neither.
pub(super) fn place(counted: &Coverage) -> &'static str {
    if counted.lines.is_empty() && counted.functions.is_empty() {
        "the patched code, of which no counter finds a line or a function in this build (it may be no part of it, or in Java be compiled without -g)"
    } else if counted.lines.is_empty() {
        "a function of the patch or of the crash, since no patched line holds code"
    } else {
        "the patched lines"
    }
}

/// Tells whether the patch was run often enough. Tests that run it say what is right, where a
/// compared input only says that nothing changed: where they run it, and no branch of it is
/// open, the floor is no question.
fn enough((reached, floor): (u64, u64), tests_run_it: bool, open: usize) -> bool {
    reached >= floor || tests_run_it && open == 0
}

#[cfg(test)]
mod tests {
    use super::{enough, place, rewritten, spread};
    use crate::attempt::AttemptFacts;
    use patchwright_source::{Touched, Tree, TreePath};
    use patchwright_target::runner::Coverage;

    #[test]
    fn tests_that_run_every_branch_make_up_for_inputs() {
        for (reached, tests_run_it, open, expected) in [
            (3, false, 0, true),
            (2, false, 0, false),
            (0, true, 0, true),
            (0, true, 1, false),
        ] {
            assert_eq!(enough((reached, 3), tests_run_it, open), expected);
        }
    }

    #[test]
    fn lines_are_said_to_run_where_some_hold_code() {
        let mut counted = Coverage::default();
        assert!(place(&counted).ends_with("without -g)"));
        counted.functions.insert("f".to_owned(), 0);
        assert!(place(&counted).ends_with("no patched line holds code"));
        counted.lines.insert(("a.c".to_owned(), 7), 0);
        assert_eq!(place(&counted), "the patched lines");
    }

    #[test]
    fn lines_that_are_only_indented_otherwise_are_not_the_patch() {
        let folder = tempfile::tempdir().unwrap();
        let old = "a();\nif (b) {\n  c();\n}\n";
        std::fs::write(folder.path().join("a.c"), old).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        for (new, lines, expected) in [
            (
                "a();\nif (x)\n  if ( b ) {\n    c();\n  }\n",
                (2, 5),
                vec![(2, 2)],
            ),
            ("a();\n  if (b) {\n    c();\n  }\n", (2, 4), vec![]),
            ("if (c) {\n  d();\n}\n", (1, 3), vec![(1, 2)]),
        ] {
            let path = TreePath::new("a.c").unwrap();
            let mut attempt = AttemptFacts::default();
            attempt.changes.files.insert(path.clone(), new.into());
            let touched = Touched {
                path,
                old: vec![(2, 4)],
                new: vec![lines],
            };
            assert_eq!(rewritten(&tree, &attempt, &touched), expected, "{new}");
        }
    }

    #[test]
    fn inputs_are_taken_from_all_over() {
        let inputs: Vec<Vec<u8>> = (0..50).map(|number| vec![number]).collect();
        let found = spread(&inputs, 24);
        assert!(found.len() <= 24 && found.contains(&vec![48]), "{found:?}");
        assert_eq!(spread(&inputs[..3], 24).len(), 3);
        assert!(spread::<u8>(&[], 24).is_empty());
    }
}
