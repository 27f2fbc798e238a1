//! Verdict cache: results of rungs of earlier runs, kept on disk.
//!
//! The key covers everything that a result depends on: the task with its tree, commands
//! and compilers, the harmless inputs, this program, the patch and the lines it touches,
//! the inputs that refuted other attempts, the baseline, and the isolation. Only settled
//! results are kept. Rungs that cost nothing are always climbed, and so is the last check
//! of a patch before it is delivered ([`crate::confirm`]): a verified patch was checked in
//! the same run.

use crate::attempt::AttemptFacts;
use crate::evidence::{Rung, RungName};
use patchwright_sandbox::process::{Captured, Execution};
use patchwright_target::cache::Cache;
use patchwright_target::runner::Baseline;
use patchwright_target::{LocalTarget, Scratch, TaskDigest, digest_of_inputs, put_record};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The count that marks a result as taken from the cache.
const FROM_CACHE: &str = "from the cache";

/// Verdicts of one task.
#[derive(Debug)]
pub struct VerdictCache {
    cache: Cache,
    task: Arc<TaskDigest>,
    scratch: Arc<Scratch>,
    harmless: Vec<PathBuf>,
    /// Digest of the harmless inputs and of this program, computed at the first use.
    inputs: OnceCell<Option<String>>,
}

impl VerdictCache {
    /// Opens the verdicts of a target's task. There is none where paths cannot
    /// be mapped, as with builds.
    pub fn open(target: &LocalTarget, cache: Cache) -> Option<Self> {
        target.maps_paths().then(|| Self {
            cache,
            task: target.task_digest(),
            scratch: target.scratch(),
            harmless: target.harmless().to_vec(),
            inputs: OnceCell::new(),
        })
    }

    /// Returns the result of an earlier climb.
    pub(crate) fn recall(&self, entry: &str) -> Option<Rung> {
        let (_entry, result) = self.cache.read::<Rung>(entry)?;
        Some(result.count(FROM_CACHE, 1))
    }

    /// Keeps a result, unless another climb may give another one.
    pub(crate) fn keep(&self, entry: &str, result: &Rung) {
        if result.settled && result.holds.is_some() {
            put_record(&self.cache, entry, (&self.scratch.fresh("verdict"), result));
        }
    }

    /// Names the entry of a rung's result by all that it depends on; none for rungs that cost
    /// nothing.
    pub(crate) async fn entry(
        &self,
        baseline: &Baseline,
        attempt: &AttemptFacts,
        rung: RungName,
    ) -> Option<String> {
        let free = [RungName::Applies, RungName::Parses, RungName::Reviewed];
        if free.contains(&rung) {
            return None;
        }
        let inputs = self.inputs.get_or_init(|| async {
            let harmless = self.harmless.clone();
            let digest = move || digest_of_inputs(&harmless);
            tokio::task::spawn_blocking(digest).await.ok().flatten()
        });
        let inputs = inputs.await.as_deref()?;
        let key = key(baseline, attempt, rung);
        self.task.entry_name(&["verdict", inputs, &key]).await
    }
}

/// Returns everything that a rung's result depends on besides the task, as a text.
fn key(baseline: &Baseline, attempt: &AttemptFacts, rung: RungName) -> String {
    // Outputs and reports may be large.
    let digest = |bytes: &[u8]| format!("{:x}", Sha256::digest(bytes));
    let execution = |run: &Execution| {
        let Captured { head, tail, total } = &run.output;
        (run.ending, digest(head), digest(tail), *total)
    };
    let found = attempt.found.iter();
    let found: Vec<_> = found
        .map(|one| (&one.pov, digest(one.blob.bytes())))
        .collect();
    let accepted = attempt.accepted.iter();
    let accepted: Vec<_> = accepted
        .map(|one| (digest(one.blob.bytes()), &one.answer))
        .collect();
    let povs = baseline.povs.iter().map(|pov| {
        let runs = (pov.runs, pov.crashes, pov.repeat);
        let (outcome, run) = (&pov.replay.outcome, execution(&pov.replay.execution));
        (&pov.name, runs, outcome, run)
    });
    let povs: Vec<_> = povs.collect();
    let tests = baseline.tests.as_ref();
    let tests = tests.map(|tests| {
        let reports = tests.reports.iter();
        let reports = reports.map(|(path, report)| (path, digest(report)));
        (execution(&tests.execution), reports.collect::<Vec<_>>())
    });
    let patch = (attempt.changes.digest(), &attempt.touched, found, accepted);
    format!(
        "{rung} {patch:?} {:?} {povs:?} {tests:?}",
        baseline.isolation
    )
}

#[cfg(test)]
mod tests {
    use super::VerdictCache;
    use crate::attempt::AttemptFacts;
    use crate::confirm;
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use crate::tests::{attempt, climb_recalling};
    use patchwright_target::Cache;
    use patchwright_target::LocalTarget;
    use patchwright_target::runner::{Target, TargetTask};
    use patchwright_target::test_support::{lines, open, task};
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    const ONCE: &str = "head -c 8 /dev/urandom | od -An -tx1; ";

    fn marked(folder: &Path) -> TargetTask {
        let mut task = task(folder);
        // The caches are no part of the task.
        task.task_folder = folder.join("task");
        fs::create_dir_all(&task.task_folder).unwrap();
        fs::copy(folder.join("good.bin"), folder.join("task/good.bin")).unwrap();
        let commands = &mut task.commands;
        commands.build.insert_str(0, ONCE);
        for command in [&mut commands.pov, &mut commands.test] {
            command.as_mut().unwrap().insert_str(0, ONCE);
        }
        task.povs[0].timeout = Some(Duration::from_secs(2));
        task
    }

    async fn target(task: TargetTask, folder: &Path) -> (LocalTarget, VerdictCache) {
        let cache = |name| Cache::new(folder.join(name), 1 << 30);
        let target = open(task, folder).await.caching(cache("builds"));
        let verdicts = VerdictCache::open(&target, cache("verdicts")).unwrap();
        (target, verdicts)
    }

    /// The rungs that were climbed: name, whether it holds, whether it was known, what was printed.
    async fn climbed(
        task: &TargetTask,
        folder: &Path,
        attempt: &AttemptFacts,
    ) -> Vec<(RungName, Option<bool>, bool, String)> {
        let (target, verdicts) = target(task.clone(), folder).await;
        let rungs = climb_recalling(&target, Some(&verdicts), attempt).await;
        let rungs = rungs.into_iter();
        rungs
            .map(|rung| {
                let known = rung.counts.contains_key("from the cache");
                (rung.name, rung.holds, known, rung.log.text().into_owned())
            })
            .collect()
    }

    fn kept(folder: &Path) -> usize {
        fs::read_dir(folder.join("verdicts")).map_or(0, Iterator::count)
    }

    #[tokio::test]
    async fn the_same_patch_is_known_and_a_delivered_one_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, task) = (folder.path(), marked(folder.path()));
        let (right, wrong) = ("if (n < 2 || b[0] > 8)", "if (n < 1)");
        for (fix, rungs) in [(right, 5), (wrong, 4)] {
            let attempt = attempt("if (n < 2)", fix);
            let first = climbed(&task, folder, &attempt).await;
            assert!(first.iter().all(|(_, _, known, _)| !known), "{first:?}");
            let again = climbed(&task, folder, &attempt).await;
            assert_eq!((first.len(), again.len()), (rungs, rungs));
            for (before, now) in first.iter().zip(&again) {
                assert_eq!((now.0, now.1, &now.3), (before.0, before.1, &before.3));
                assert_eq!(now.2, before.0 >= RungName::Builds, "{now:?}");
            }
        }
        let attempt = attempt("if (n < 2)", right);
        let (target, _) = target(task, folder).await;
        let baseline = target.baseline().await.unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let last_look = confirm(&target, &baseline, &attempt).await.unwrap();
            assert_eq!(last_look.holds, Some(true));
            assert!(!last_look.counts.contains_key("from the cache"));
            seen.push(last_look.log);
        }
        assert_ne!(seen[0], seen[1], "the tests did not run again");
    }

    #[tokio::test]
    async fn another_question_is_no_hit_and_a_damaged_answer_none() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, mut task) = (folder.path(), marked(folder.path()));
        let mut attempt = attempt("if (n < 2)", "if (n < 1)");
        let known = async |task: &TargetTask, attempt: &AttemptFacts| {
            let all = climbed(task, folder, attempt).await;
            all.iter().any(|(_, _, known, _)| *known)
        };
        assert!(!known(&task, &attempt).await);
        assert!(known(&task, &attempt).await);
        attempt.found.push(crate::FoundInput {
            blob: vec![150, 1].into(),
            reason: String::new(),
            pov: "pov.bin".to_owned(),
        });
        assert!(!known(&task, &attempt).await, "an input found elsewhere");
        task.harmless.push(task.task_folder.join("good.bin"));
        assert!(!known(&task, &attempt).await, "a harmless input");
        fs::write(folder.join("other.bin"), [2, 0]).unwrap();
        task.harmless[0] = folder.join("other.bin");
        assert!(!known(&task, &attempt).await, "another harmless input");
        task.limits.robust /= 2;
        assert!(!known(&task, &attempt).await, "another limit");
        assert!(known(&task, &attempt).await);
        for entry in fs::read_dir(folder.join("verdicts")).unwrap() {
            fs::write(entry.unwrap().path().join("record.json"), "{\"name\":").unwrap();
        }
        assert!(!known(&task, &attempt).await, "damaged");
        assert!(known(&task, &attempt).await, "made anew");
    }

    #[tokio::test]
    async fn what_chance_or_the_machine_decided_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, mut task) = (folder.path(), marked(folder.path()));
        // A hang may be a busy machine.
        let hangs = attempt("if (n < 2)", "while (b[0] > 8) {} if (n < 2)");
        for _ in 0..2 {
            let last = climbed(&task, folder, &hangs).await.pop().unwrap();
            assert_eq!(
                (last.0, last.1, last.2),
                (RungName::Silent, Some(false), false)
            );
        }
        assert_eq!(kept(folder), 1, "that it builds");

        // Two of three builds are killed for lack of memory, so it seems.
        let killed = "case $(grep -c 'b.0. > 7' parse.c) in 1) echo 'cc: fatal error: Killed signal terminated program cc1'; exit 1;; esac; ";
        task.commands.build.insert_str(0, killed);
        let (target, verdicts) = target(task.clone(), folder).await;
        let baseline = target.baseline().await.unwrap();
        let attempt = attempt("if (n < 2)", "if (n < 2 || b[0] > 7)");
        for _ in 0..2 {
            let ladder = Ladder::new(&target, &baseline).with_verdicts(Some(&verdicts));
            let result = ladder.climb(&attempt, &[], RungName::Builds).await;
            assert!(result.is_err(), "{result:?}");
        }
        drop((target, baseline, verdicts));
        assert_eq!(kept(folder), 1);
    }

    #[tokio::test]
    async fn what_is_flaky_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, mut task) = (folder.path(), marked(folder.path()));
        // Every other run takes the PoV; the tests of a patched tree fail the first time.
        let pov = r#"read n <"$TASK"/turns; [ $n = 0 ] || exit 0; "$OUT"/prog "$POV""#;
        task.commands.pov = Some(pov.to_owned());
        let test = r#"grep -q 'b.0. > 8' parse.c || exit 0; read n <"$TASK"/times; [ $n = 1 ]"#;
        task.commands.test = Some(test.to_owned());
        let fix = attempt("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let _turns = lines(&task.task_folder, "turns", &"0\n1\n".repeat(99));
        for _ in 0..2 {
            let _times = lines(
                &task.task_folder,
                "times",
                &("0\n".to_owned() + &"1\n".repeat(9)),
            );
            let rungs = climbed(&task, folder, &fix).await;
            let told = rungs
                .iter()
                .map(|(name, holds, known, _)| (*name, *holds, *known));
            let told: Vec<_> = told.skip(3).collect();
            let anew = |rung| (rung, Some(true), false);
            assert_eq!(told, [anew(RungName::Silent), anew(RungName::Tested)]);
        }
    }
}
