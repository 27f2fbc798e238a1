//! What the unpatched program does: prepared, built, crashed and tested once.

use super::LocalTarget;
use super::command::Job;
use crate::target::{Baseline, BaselinePov, Build, BuildKind, Outcome, Pov};
use crate::workspace::{TREE, Workspace, copy_tree};
use crate::{Changes, Execution, TargetError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How often a PoV that does not crash at once is tried before it is given up.
const TRIES: u32 = 5;
/// How often a crashing PoV is run to see whether it always crashes.
const CONFIRMATIONS: u32 = 2;
/// The chance we take that a flaky crash stays away by luck alone.
const LUCK: f64 = 0.01;
/// The most a flaky PoV is repeated.
const MOST_REPEATS: u32 = 20;

impl LocalTarget {
    /// The tree as `prepare` left it.
    pub(super) async fn prepared(&self) -> Result<Arc<Workspace>, TargetError> {
        let made = self.prepared.get_or_try_init(|| async {
            let (tree, root) = (self.task.tree.clone(), self.fresh("prepared"));
            let copied = tokio::task::spawn_blocking(move || {
                let workspace = Workspace::create(root)?;
                copy_tree(&tree, &workspace.part(TREE), &AtomicBool::new(false))?;
                Ok(workspace)
            });
            let workspace: Workspace = copied
                .await
                .map_err(|e| TargetError::machinery(e.to_string(), "copy of the tree"))??;
            if let Some(prepare) = &self.task.commands.prepare {
                let main = self.task.main_build();
                let job = Job {
                    wall: self.task.limits.prepare,
                    network: true,
                    ..Job::new(prepare, &workspace, &main)
                };
                let execution = self.command(job).await?;
                succeeded(&execution, "the prepare command")?;
            }
            Ok::<_, TargetError>(Arc::new(workspace))
        });
        made.await.cloned()
    }

    /// The unpatched tree, built and otherwise untouched: attempts start from a copy of it.
    pub(super) async fn pristine(&self, name: &str) -> Result<Build, TargetError> {
        let mut pristine = self.pristine.lock().await;
        if let Some(build) = pristine.get(name) {
            return Ok(build.clone());
        }
        let prepared = self.prepared().await?;
        let workspace = Arc::new(self.copy(&prepared).await?);
        let digest = Changes::default().digest();
        let build = self.run_build(workspace, name, &digest).await?;
        succeeded(&build.execution, "the build of the unpatched tree")?;
        pristine.insert(name.to_owned(), build.clone());
        Ok(build)
    }

    pub(super) async fn make_baseline(&self) -> Result<Baseline, TargetError> {
        let started = Instant::now();
        let mut builds = BTreeMap::new();
        for name in self.task.used_builds() {
            let pristine = self.pristine(&name).await?;
            // PoVs and tests leave traces, so they run in a copy.
            let workspace = Arc::new(self.copy(&pristine.workspace).await?);
            let build = Build {
                workspace,
                ..pristine
            };
            self.keep(
                (build.changes.clone(), name.clone(), BuildKind::Incremental),
                &build,
            );
            builds.insert(name, build);
        }
        let mut povs = Vec::new();
        for pov in &self.task.povs {
            let name = self.task.build_of(pov);
            let build = builds
                .get(&name)
                .ok_or_else(|| TargetError::invalid(format!("there is no build {name:?}")))?;
            povs.push(self.measure(build, pov).await?);
        }
        reproducible(&povs)?;
        let tests = match builds.get(&self.task.main_build()) {
            Some(build) => self.test_once(build).await?,
            None => None,
        };
        for name in self.task.used_builds() {
            self.make_spare(&name).await?;
        }
        if let Some(tests) = &tests {
            started_at_all(&tests.execution, "the test command")?;
        }
        Ok(Baseline {
            builds,
            povs,
            tests,
            isolation: self.isolation().clone(),
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// Runs a PoV until it is known how reliably it crashes.
    async fn measure(&self, build: &Build, pov: &Pov) -> Result<BaselinePov, TargetError> {
        let mut best = self.replay_once(build, pov).await?;
        let (mut runs, mut crashes) = (1, u32::from(best.outcome.is_failure()));
        loop {
            let enough = if crashes == runs {
                // A hang costs its whole time limit; once is enough.
                crashes >= CONFIRMATIONS || best.outcome == Outcome::Hung
            } else {
                runs >= TRIES
            };
            if enough {
                break;
            }
            let replay = self.replay_once(build, pov).await?;
            runs += 1;
            crashes += u32::from(replay.outcome.is_failure());
            if !best.outcome.is_failure() {
                best = replay;
            }
        }
        Ok(BaselinePov {
            name: pov.name(),
            runs,
            crashes,
            replay: best,
            repeat: pov.repeat.unwrap_or_else(|| repeats(runs, crashes)).max(1),
        })
    }
}

/// How often a patched program must survive, so that luck explains it with
/// the chance [`LUCK`] at most.
fn repeats(runs: u32, crashes: u32) -> u32 {
    if crashes == 0 || crashes == runs {
        return 1;
    }
    let survives = 1.0 - f64::from(crashes) / f64::from(runs);
    let needed = (LUCK.ln() / survives.ln()).ceil();
    (needed as u32).clamp(1, MOST_REPEATS)
}

fn reproducible(povs: &[BaselinePov]) -> Result<(), TargetError> {
    let Some(last) = povs.last() else {
        return Ok(());
    };
    if povs.iter().any(BaselinePov::reproduces) {
        return Ok(());
    }
    let reasons: Vec<String> = povs
        .iter()
        .map(|pov| {
            let what = match &pov.replay.outcome {
                Outcome::NotRun(reason) => reason.clone(),
                _ => pov.replay.execution.ending.to_string(),
            };
            format!("{}: {what}", pov.name)
        })
        .collect();
    Err(TargetError::NotReproducible {
        reason: reasons.join("; "),
        log: last.replay.execution.text(),
    })
}

fn succeeded(execution: &Execution, what: &str) -> Result<(), TargetError> {
    if execution.ending.success() {
        return Ok(());
    }
    Err(TargetError::InvalidTask {
        reason: format!("{what} failed: {}", execution.ending),
        log: execution.text(),
    })
}

fn started_at_all(execution: &Execution, what: &str) -> Result<(), TargetError> {
    match execution.ending {
        crate::Ending::Exited(126 | 127) => succeeded(execution, what),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::repeats;

    #[test]
    fn flaky_crashes_are_repeated_more() {
        for (runs, crashes, expected) in [(2, 2, 1), (1, 1, 1), (5, 4, 3), (5, 1, 20), (5, 3, 6)] {
            assert_eq!(repeats(runs, crashes), expected, "{crashes} of {runs}");
        }
    }
}
