//! Regression tests: the proof that a test fails without a patch and passes with it,
//! several times each. Where it also fails on patches that were refuted, it tells more
//! than whether the first input still crashes.

use crate::rung::first_way;
use patchwright_crash::test_report::{Status, TestReport};
use patchwright_record::RegressionRecord;
use patchwright_sandbox::process::{Ending, Limit};
use patchwright_source::{Changes, TreePath};
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, Build, BuildKind, Outcome, Pov, Target, TestRun};
use std::collections::BTreeSet;
use std::time::Instant;

/// Runs on each side.
const RUNS: usize = 3;
/// Refuted patches that it is run on, the latest ones.
const MOST_REFUTED: usize = 3;

/// A test that goes with a patch.
#[derive(Debug, Clone)]
pub struct RegressionTest {
    /// Its files.
    pub changes: Changes,
    /// The way in which it is run.
    pub run: RegressionRun,
}

/// The way in which a regression test is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegressionRun {
    /// By the test command of the task.
    Suite,
    /// By itself: a script of this path below the tree, which runs one PoV.
    Script(String),
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OneRun {
    Passes,
    /// The tests that fail, where they have names.
    Fails(BTreeSet<String>),
    Unclear(String),
}

/// Runs a test without the patch, with it, and on patches that were refuted.
///
/// # Errors
/// When the machinery fails.
pub async fn prove_regression_test(
    target: &dyn Target,
    baseline: &Baseline,
    test: &RegressionTest,
    patch: &Changes,
    refuted: &[Changes],
) -> Result<RegressionRecord> {
    let started = Instant::now();
    let trial = Trial {
        target,
        baseline,
        test,
        pov: first_way(target, baseline)?.map(|(pov, ..)| pov),
    };
    let mut proof = trial.prove(patch).await?;
    if proof.holds {
        let earlier = refuted.len().saturating_sub(MOST_REFUTED);
        for changes in refuted.iter().skip(earlier) {
            if let Some(fails) = trial.fails_on(changes).await? {
                proof.refuted += 1;
                proof.refuted_fail += u64::from(fails);
            }
        }
    }
    proof.seconds = started.elapsed().as_secs_f64();
    Ok(proof)
}

/// Names of tests that fail in each run, and of those that fail in some.
type Failing = (BTreeSet<String>, BTreeSet<String>);

struct Trial<'a> {
    target: &'a dyn Target,
    baseline: &'a Baseline,
    test: &'a RegressionTest,
    /// The PoV that a script runs.
    pov: Option<&'a Pov>,
}

impl Trial<'_> {
    async fn prove(&self, patch: &Changes) -> Result<RegressionRecord> {
        let refuse = |reason: &str, log: String| RegressionRecord {
            reason: reason.to_owned(),
            log: log.into_bytes().into(),
            ..RegressionRecord::default()
        };
        let Some(merged) = merged(patch, &self.test.changes) else {
            let why = "it changes a file that the patch changes";
            return Ok(refuse(why, String::new()));
        };
        let without = self.build(&self.test.changes).await?;
        if !without.succeeded() {
            let log = without.execution.text();
            return Ok(refuse("with it the unpatched tree does not build", log));
        }
        let (failing, unsteady) = match self.failing(&without).await? {
            Ok(failing) => failing,
            Err((why, log)) => return Ok(refuse(&why, log)),
        };
        let with = self.build(&merged).await?;
        if !with.succeeded() {
            let log = with.execution.text();
            return Ok(refuse("with it the patched tree does not build", log));
        }
        let (mut others, mut last) = (None, String::new());
        for _ in 0..RUNS {
            let (run, log) = self.once(&with, &failing).await?;
            match beside(run, &failing) {
                Ok(names) => others = Some(in_each(others, &names - &unsteady)),
                Err(why) => return Ok(refuse(&format!("with the patch {why}"), log)),
            }
            last = log;
        }
        if let Some(other) = others.unwrap_or_default().first() {
            let why = format!("with the patch and the test {other} fails each time");
            return Ok(refuse(&why, last));
        }
        let mut reason =
            format!("it fails without the patch and passes with it, {RUNS} times each");
        if !failing.is_empty() {
            let names: Vec<String> = failing.into_iter().collect();
            reason = format!("{reason} ({})", names.join(", "));
        }
        Ok(RegressionRecord {
            holds: true,
            reason,
            ..RegressionRecord::default()
        })
    }

    /// Returns the tests that fail in each run without the patch, and those that fail in some; why
    /// the test proves nothing, with the log of the run.
    async fn failing(
        &self,
        without: &Build,
    ) -> Result<std::result::Result<Failing, (String, String)>> {
        let mut failing = None;
        let mut seen = BTreeSet::new();
        for _ in 0..RUNS {
            let (run, log) = self.once(without, &BTreeSet::new()).await?;
            let names = match run {
                OneRun::Fails(names) => names,
                OneRun::Passes => return Ok(Err(("it passes without the patch".to_owned(), log))),
                OneRun::Unclear(why) => return Ok(Err((format!("without the patch {why}"), log))),
            };
            seen.extend(names.clone());
            failing = Some(in_each(failing, names));
        }
        let failing = failing.unwrap_or_default();
        let unsteady = &seen - &failing;
        Ok(Ok((self.own(failing), unsteady)))
    }

    /// Returns those of the failing tests that the project did not have, where there are any: the others
    /// may fail for reasons of their own.
    fn own(&self, failing: BTreeSet<String>) -> BTreeSet<String> {
        let before = self.baseline.tests.as_ref().map(TestRun::report);
        let known = |name: &String| {
            before
                .as_ref()
                .is_some_and(|report| report.tests.contains_key(name))
        };
        let new: BTreeSet<String> = failing
            .iter()
            .filter(|name| !known(name))
            .cloned()
            .collect();
        if new.is_empty() { failing } else { new }
    }

    /// Tells whether the test fails on a refuted patch; nothing where that cannot be said.
    async fn fails_on(&self, changes: &Changes) -> Result<Option<bool>> {
        let Some(merged) = merged(changes, &self.test.changes) else {
            return Ok(None);
        };
        let build = self.build(&merged).await?;
        if !build.succeeded() {
            return Ok(None);
        }
        Ok(match self.once(&build, &BTreeSet::new()).await?.0 {
            OneRun::Fails(_) => Some(true),
            OneRun::Passes => Some(false),
            OneRun::Unclear(_) => None,
        })
    }

    async fn build(&self, changes: &Changes) -> Result<Build> {
        let task = self.target.task();
        let name = match (&self.test.run, self.pov) {
            (RegressionRun::Script(_), Some(pov)) => task.build_of(pov),
            _ => task.main_build(),
        };
        let build = self.target.build(changes, &name, BuildKind::Incremental);
        build.await
    }

    /// Runs the test once; the tests of these names have to be among those that pass.
    async fn once(&self, build: &Build, named: &BTreeSet<String>) -> Result<(OneRun, String)> {
        let unclear = |why: &str| Ok((OneRun::Unclear(why.to_owned()), String::new()));
        let RegressionRun::Script(path) = &self.test.run else {
            let now = self.target.test(build).await?;
            let (Some(before), Some(now)) = (&self.baseline.tests, now) else {
                return unclear("there is no test command");
            };
            return Ok((of_suite(before, &now, named), now.execution.text()));
        };
        let Some(pov) = self.pov else {
            return unclear("there is no PoV that reproduces");
        };
        let pov = Pov {
            command: Some(format!("sh \"$TREE/{path}\"")),
            ..pov.clone()
        };
        let replay = self.target.replay(build, &pov).await?;
        let run = match &replay.outcome {
            Outcome::Silent => OneRun::Passes,
            Outcome::NotRun(why) => OneRun::Unclear(format!("it does not run: {why}")),
            _ => OneRun::Fails(BTreeSet::new()),
        };
        Ok((run, replay.execution.text()))
    }
}

/// Judges one run of the test command by that of the unpatched tree without the test.
fn of_suite(before: &TestRun, now: &TestRun, named: &BTreeSet<String>) -> OneRun {
    if now.execution.ending == Ending::Limit(Limit::WallTime) {
        return OneRun::Unclear("the tests do not end in time".to_owned());
    }
    let failed = |report: &TestReport| -> BTreeSet<String> {
        report.failed().map(|(name, _)| name.to_owned()).collect()
    };
    let (known, report) = (failed(&before.report()), now.report());
    let new: BTreeSet<String> = failed(&report).difference(&known).cloned().collect();
    let by_status = before.execution.ending.success() && !now.execution.ending.success();
    let passed = |name: &String| {
        let test = report.tests.get(name);
        // A report may leave out what passed, where nothing fails.
        let left_out = report.partial && new.is_empty();
        test.map_or(left_out, |test| test.status == Status::Passed)
    };
    let fails = !new.is_empty() || by_status;
    if new.is_disjoint(named) && !named.iter().all(passed) {
        OneRun::Unclear("it is not run".to_owned())
    } else if fails {
        OneRun::Fails(new)
    } else {
        OneRun::Passes
    }
}

/// Returns what other tests fail in a run with the patch; why it refuses the test of these names.
fn beside(run: OneRun, named: &BTreeSet<String>) -> std::result::Result<BTreeSet<String>, String> {
    match run {
        OneRun::Passes => Ok(BTreeSet::new()),
        // Where tests have no names, any that fails is this one.
        OneRun::Fails(names)
            if !names.is_empty() && !named.is_empty() && names.is_disjoint(named) =>
        {
            Ok(names)
        }
        OneRun::Fails(_) => Err("it fails".to_owned()),
        OneRun::Unclear(why) => Err(why),
    }
}

/// Returns the names that are in each of the sets so far, and in this one.
fn in_each(known: Option<BTreeSet<String>>, names: BTreeSet<String>) -> BTreeSet<String> {
    match known {
        Some(known) => &known & &names,
        None => names,
    }
}

/// Both changes together; nothing where they change the same file.
fn merged(patch: &Changes, test: &Changes) -> Option<Changes> {
    let names = |changes: &Changes| -> BTreeSet<TreePath> {
        let renamed = changes.renamed.iter().flat_map(|(from, to)| [from, to]);
        let files = changes.files.keys().chain(&changes.deleted).chain(renamed);
        files.cloned().collect()
    };
    if !names(patch).is_disjoint(&names(test)) {
        return None;
    }
    let mut all = patch.clone();
    all.files.extend(test.files.clone());
    all.deleted.extend(test.deleted.clone());
    all.renamed.extend(test.renamed.clone());
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::{OneRun, RegressionRun, RegressionTest, beside, in_each, prove_regression_test};
    use crate::tests::attempt;
    use patchwright_source::{Changes, TreePath};
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};

    fn script(text: &str) -> RegressionTest {
        let path = TreePath::new("regression/a.sh").unwrap();
        RegressionTest {
            changes: Changes {
                files: [(path, text.as_bytes().to_vec())].into(),
                ..Changes::default()
            },
            run: RegressionRun::Script("regression/a.sh".to_owned()),
        }
    }

    /// A suite of one test, whose file the command reads.
    fn suite(text: &str) -> RegressionTest {
        RegressionTest {
            run: RegressionRun::Suite,
            ..script(text)
        }
    }

    /// Reports one test by name: that the PoV does not crash.
    const NAMED: &str = "echo 1..1\nif \"$OUT\"/prog \"$TASK\"/pov.bin 2>&1 | grep -q AddressSanitizer; then\n  echo 'not ok 1 - long'; exit 1\nfi\necho 'ok 1 - long'\n";

    #[test]
    fn tests_that_fail_now_and_then_refuse_no_other() {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let own = names("long");
        let fails = |text: &str| beside(OneRun::Fails(names(text)), &own);
        assert_eq!(fails("long slow"), Err("it fails".to_owned()));
        assert_eq!(fails(""), Err("it fails".to_owned()));
        let unnamed = beside(OneRun::Fails(names("slow")), &names(""));
        assert_eq!(unnamed, Err("it fails".to_owned()));
        for (runs, expected) in [
            (["slow", "other slow", "slow"], "slow"),
            (["slow", "other", "slow"], ""),
        ] {
            let others = runs.into_iter().map(|run| fails(run).unwrap());
            let others = others.fold(None, |known, run| Some(in_each(known, run)));
            assert_eq!(others.unwrap(), names(expected), "{runs:?}");
        }
    }

    #[tokio::test]
    async fn a_test_has_to_fail_without_the_patch_and_pass_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let good = "\"$OUT\"/prog \"$TASK\"/good.bin";
        let also = "[ ! -e regression/a.sh ] || sh regression/a.sh";
        task.commands.test = Some(format!("{good}; {also}"));
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let changed = |to: &str| attempt("if (n < 2)", to).changes;
        let right = changed("if (n < 2 || b[0] > 8)");
        let refuted = [changed("if (n < 2 || b[0] > 250)"), changed("if (n < 3)")];
        for (test, counts, part) in [
            // The second refuted patch refuses too much, which the PoV does not show.
            (
                script("\"$OUT\"/prog \"$POV\""),
                Some((2, 1)),
                "passes with it, 3 times each",
            ),
            (
                script("\"$OUT\"/prog \"$TASK\"/good.bin"),
                None,
                "passes without the patch",
            ),
            (suite(NAMED), Some((2, 2)), "3 times each (long)"),
            (
                suite("echo 1..1; echo 'ok 1 - long'"),
                None,
                "passes without the patch",
            ),
            (
                suite("echo 1..1; echo 'not ok 1 - long'; exit 1"),
                None,
                "with the patch it fails",
            ),
            // It only fails where the patch is not.
            (
                suite(
                    "grep -q 'b.0. > 8' parse.c && exit 0; echo 1..1; echo 'not ok 1 - long'; exit 1",
                ),
                None,
                "with the patch it is not run",
            ),
        ] {
            let proof = prove_regression_test(&target, &baseline, &test, &right, &refuted);
            let proof = proof.await.unwrap();
            assert_eq!(proof.holds, counts.is_some(), "{test:?}: {proof:#?}");
            assert!(proof.reason.contains(part), "{part}: {proof:#?}");
            let seen = (proof.refuted, proof.refuted_fail);
            assert_eq!(seen, counts.unwrap_or_default(), "{proof:#?}");
        }
        let same_file = RegressionTest {
            changes: right.clone(),
            run: RegressionRun::Suite,
        };
        let proof = prove_regression_test(&target, &baseline, &same_file, &right, &[]).await;
        assert!(
            proof
                .unwrap()
                .reason
                .contains("changes a file that the patch changes")
        );
    }
}
