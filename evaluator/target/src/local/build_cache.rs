//! Build cache: the prepared tree, builds and baselines of earlier runs.
//!
//! Whole workspaces are used where they lie in the cache. Of an attempt's build only the
//! changed files are kept. A command that a limit or the machine ended is not kept.

use super::stage::KnownNeeds;
use super::{BuildKey, LocalTarget, blocking, disguise, locked};
use crate::cache::{Cache, Entry};
use crate::runner::{Baseline, BaselinePov, Build, BuildKind, TestRun};
use crate::workspace::{Workspace, delta};
use crate::{Result, TargetError};
use patchwright_sandbox::{Ending, Execution};
use patchwright_source::Changes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Place of errors here.
const CACHE: &str = "cache of builds";

/// The record of an attempt's build.
#[derive(Debug, Serialize, Deserialize)]
struct KeptBuild {
    execution: Execution,
    /// Paths of the base that the build removed.
    gone: Vec<PathBuf>,
}

/// The record of a baseline.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptBaseline {
    pub(super) povs: Vec<BaselinePov>,
    pub(super) tests: Option<TestRun>,
    pub(super) needs: KnownNeeds,
}

impl LocalTarget {
    /// Uses builds of earlier runs from a cache, and keeps its own there. Only where paths
    /// can be mapped: otherwise a build contains a path that no longer exists.
    #[must_use]
    pub fn caching(mut self, cache: Cache) -> Self {
        if self.sandbox.maps_paths() {
            if let Some(home) = disguise::home_of_cache(&cache) {
                self.home = home;
            }
            self.cache = Some(cache);
        }
        self
    }

    /// Names an entry; what it holds was made where commands found their folders.
    async fn entry_name(&self, parts: &[&str]) -> Option<String> {
        let home = self.home.to_string_lossy();
        let parts: Vec<&str> = parts.iter().copied().chain([&*home]).collect();
        self.digest.entry_name(&parts).await
    }

    /// Returns an entry and its record.
    async fn kept<T: DeserializeOwned>(&self, parts: &[&str]) -> Option<(Entry, T)> {
        let cache = self.cache.as_ref()?;
        cache.read(&self.entry_name(parts).await?)
    }

    /// Returns a whole workspace of an earlier run, and its record.
    pub(super) async fn kept_whole<T: DeserializeOwned>(
        &self,
        parts: &[&str],
    ) -> Option<(Workspace, T)> {
        let (entry, record) = self.kept(parts).await?;
        match Workspace::kept(entry) {
            Ok(workspace) => Some((workspace, record)),
            Err(entry) => {
                entry.discard();
                None
            }
        }
    }

    /// Moves a whole workspace into the cache.
    pub(super) async fn keep_whole(
        &self,
        parts: &[&str],
        workspace: Workspace,
        record: impl Serialize + Send + 'static,
    ) -> Result<Workspace> {
        let (Some(cache), Some(key)) = (self.cache.clone(), self.entry_name(parts).await) else {
            return Ok(workspace);
        };
        let keep = move || workspace.into_cache(&cache, &key, &record);
        blocking(CACHE, keep).await
    }

    /// Returns the baseline of an earlier run.
    pub(super) async fn kept_baseline(&self) -> Option<KeptBaseline> {
        let (_entry, baseline) = self.kept(&["baseline"]).await?;
        Some(baseline)
    }

    pub(super) async fn keep_baseline(&self, baseline: &Baseline) {
        let limited = |tests: &TestRun| !matches!(tests.execution.ending, Ending::Exited(_));
        if baseline.tests.as_ref().is_some_and(limited) {
            return;
        }
        let kept = KeptBaseline {
            povs: baseline.povs.clone(),
            tests: baseline.tests.clone(),
            needs: locked(&self.needs).clone(),
        };
        self.keep_record(&["baseline"], &kept, None).await;
    }

    /// Restores an attempt's build of an earlier run from the files that it changed.
    pub(super) async fn kept_build(
        &self,
        changes: &Changes,
        key: &BuildKey,
    ) -> Result<Option<Build>> {
        let Some(kept) = self.kept(&parts(key)).await else {
            return Ok(None);
        };
        let workspace = self.changed(changes, key).await?;
        restored(key, kept, workspace).await.map(Some)
    }

    /// Returns the clean build of the unpatched tree that commands were tried on when they were
    /// proposed; where there was none, makes it in this copy of the prepared tree.
    pub(super) async fn kept_or_built(&self, key: &BuildKey, copy: Workspace) -> Result<Build> {
        match self.kept::<KeptBuild>(&parts(key)).await {
            Some(kept) if kept.1.execution.ending.success() => restored(key, kept, copy).await,
            _ => self.run_build(Arc::new(copy), &key.1, &key.0).await,
        }
    }

    /// Keeps the files that an attempt's build changed.
    pub(super) async fn keep_build(&self, key: &BuildKey, build: &Build) -> Result<()> {
        let Ending::Exited(_) = build.execution.ending else {
            return Ok(());
        };
        if self.cache.is_none() {
            return Ok(());
        }
        let base = match key.2 {
            BuildKind::Incremental => Arc::clone(self.pristine(&key.1).await?.place()?),
            BuildKind::Clean => self.prepared().await?,
        };
        let (now, folder) = (Arc::clone(build.place()?), self.scratch.fresh("delta"));
        let into = folder.clone();
        let gone = if build.succeeded() {
            let write = move || delta::write(base.root(), (now.root(), now.copied()), &into);
            blocking(CACHE, write).await??
        } else {
            Vec::new()
        };
        let kept = KeptBuild {
            execution: build.execution.clone(),
            gone,
        };
        self.keep_record(&parts(key), &kept, Some(folder)).await;
        Ok(())
    }

    /// Keeps a record and its folder. An entry that cannot be kept is made again next time.
    async fn keep_record(&self, parts: &[&str], record: &impl Serialize, folder: Option<PathBuf>) {
        let folder = folder.unwrap_or_else(|| self.scratch.fresh("record"));
        if let (Some(cache), Some(key)) = (&self.cache, self.entry_name(parts).await) {
            put_record(cache, &key, (&folder, record));
        }
    }
}

/// Puts a folder, which is created if necessary, and its record into a cache.
pub fn put_record(cache: &Cache, key: &str, (folder, record): (&Path, &impl Serialize)) {
    let put = std::fs::create_dir_all(folder).and_then(|()| cache.put(key, folder, record));
    if !matches!(put, Ok(Some(_))) {
        patchwright_sandbox::contained_path::remove_folder(folder);
    }
}

/// Applies what a build changed to a copy of what it began with.
async fn restored(
    key: &BuildKey,
    (entry, kept): (Entry, KeptBuild),
    workspace: Workspace,
) -> Result<Build> {
    let gone = kept.gone;
    let applied = blocking(CACHE, move || {
        // Of a failed build no file is kept.
        if entry.path().join(crate::workspace::TREE).is_dir() {
            delta::apply(entry.path(), &gone, workspace.root())?;
        }
        Ok::<_, TargetError>(workspace)
    });
    let (name, workspace) = ((&*key.1, &*key.0), applied.await??);
    Ok(Build::in_workspace(name, kept.execution, workspace))
}

fn parts(key: &BuildKey) -> [&str; 4] {
    let how = match key.2 {
        BuildKind::Incremental => "incremental",
        BuildKind::Clean => "clean",
    };
    ["build", &key.0, &key.1, how]
}

#[cfg(test)]
mod tests {
    use crate::local::LocalTarget;
    use crate::runner::{BuildKind, Target};
    use crate::test_support::{changed, open, task};
    use crate::{Build, Cache};
    use patchwright_source::Changes;
    use std::fs;
    use std::path::Path;

    /// A build that leaves a mark no other build leaves.
    async fn target(folder: &Path) -> LocalTarget {
        let mut task = task(folder);
        // The task's folder is part of what a build depends on; the cache is not in it.
        task.task_folder = folder.join("task");
        fs::create_dir_all(&task.task_folder).unwrap();
        fs::copy(folder.join("good.bin"), folder.join("task/good.bin")).unwrap();
        let mark = r#"; mkdir -p "$OUT"; head -c 8 /dev/urandom | od -An -tx1 >>"$OUT"/marks"#;
        task.commands.build.push_str(mark);
        let cache = Cache::new(folder.join("cache"), 1 << 30);
        open(task, folder).await.caching(cache)
    }

    fn marks(build: &Build) -> Vec<String> {
        let path = build.place().unwrap().part("out").join("marks");
        fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    async fn builds(folder: &Path) -> (Vec<Vec<String>>, String) {
        let target = target(folder).await;
        let baseline = target.baseline().await.unwrap();
        let fix = changed("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let broken = changed("if (n < 2)", "if (n < )");
        let mut seen = vec![marks(&baseline.builds["address"])];
        for how in [BuildKind::Incremental, BuildKind::Clean] {
            let build = target.build(&fix, "address", how).await.unwrap();
            seen.push(marks(&build));
            let replay = target.replay(&build, &target.task().povs[0]).await.unwrap();
            assert!(!replay.outcome.is_failure(), "{how:?}");
        }
        let failed = target.build(&broken, "address", BuildKind::Incremental);
        let failed = failed.await.unwrap();
        assert!(!failed.succeeded());
        let text = baseline.povs[0].replay.execution.text() + &failed.execution.text();
        (seen, text)
    }

    #[tokio::test]
    async fn nothing_is_built_twice_and_a_change_is_no_hit() {
        let folder = tempfile::tempdir().unwrap();
        let (first, told) = builds(folder.path()).await;
        let lengths: Vec<usize> = first.iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 2, 1]);
        let (again, told_again) = builds(folder.path()).await;
        assert_eq!(again, first);
        assert_eq!(
            told_again, told,
            "process ids and all: it was not run again"
        );

        // Another input is another baseline, on the same build; another tree another build.
        fs::write(folder.path().join("pov.bin"), [201, 0]).unwrap();
        fs::write(folder.path().join("tree/notes"), "x").unwrap();
        let target = target(folder.path()).await;
        let other = target
            .build(&Changes::default(), "address", BuildKind::Incremental)
            .await
            .unwrap();
        assert_ne!(marks(&other)[0], first[0][0]);
        drop(other);
        drop(target);
        let scratch = folder.path().join("scratch");
        assert_eq!(
            fs::read_dir(scratch).unwrap().count(),
            0,
            "something was left behind"
        );
    }

    #[tokio::test]
    async fn commands_are_tried_on_the_build_that_a_run_begins_with() {
        let folder = tempfile::tempdir().unwrap();
        let tried = target(folder.path()).await;
        let mut task = tried.task().clone();
        task.povs.clear();
        task.commands.test = None;
        let cache = Cache::new(folder.path().join("cache"), 1 << 30);
        let tried = open(task, folder.path()).await.caching(cache);
        let unchanged = Changes::default();
        let clean = tried.build(&unchanged, "address", BuildKind::Clean);
        let clean = marks(&clean.await.unwrap());
        drop(tried);
        fs::write(folder.path().join("task/task.toml"), "").unwrap();
        fs::create_dir(folder.path().join("task/result")).unwrap();
        let run = "tap-20261130-104004-fdf5\n";
        fs::write(folder.path().join("task/result/run"), run).unwrap();
        fs::write(folder.path().join("task/patch.mbox"), "").unwrap();
        let (first, _) = builds(folder.path()).await;
        assert_eq!(first[0], clean);
        // A file beside it may be read by a script of the tree.
        let task = target(folder.path()).await.task().clone();
        let mut names = Vec::new();
        for words in ["a", "b"] {
            fs::write(folder.path().join("task/words"), words).unwrap();
            let digest = open(task.clone(), folder.path()).await.task_digest();
            names.push(digest.entry_name(&["pristine"]).await.unwrap());
        }
        assert_ne!(names[0], names[1]);
    }

    #[tokio::test]
    async fn a_clean_build_made_ahead_is_the_one_that_confirms_and_a_failed_one_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path()).await;
        let fix = changed("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let broken = changed("if (n < 2)", "if (n < )");
        for changes in [&fix, &broken] {
            let ahead = target.build_ahead(changes, "address");
            ahead.await.unwrap();
        }
        let key = |changes: &Changes| (changes.digest(), "address".to_owned(), BuildKind::Clean);
        let ahead = target.at_hand(&key(&fix)).expect("a build at hand");
        assert!(target.at_hand(&key(&broken)).is_none());
        let clean = target.build(&fix, "address", BuildKind::Clean);
        let clean = clean.await.unwrap();
        assert_eq!(marks(&clean), marks(&ahead), "it was built again");
        let broken = target.build(&broken, "address", BuildKind::Clean);
        assert!(!broken.await.unwrap().succeeded());
    }

    /// Reproducible builds set the times of what they make; here the lengths
    /// are equal too.
    #[tokio::test]
    async fn a_build_that_sets_times_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let fix = changed("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let mut sums = Vec::new();
        for _ in 0..2 {
            let mut task = task(folder.path());
            task.task_folder = folder.path().join("task");
            fs::create_dir_all(&task.task_folder).unwrap();
            let sum = r#"; sha256sum parse.c >"$OUT"/sum; find "$OUT" -type f -exec touch -d @1000000000 {} +"#;
            task.commands.build.push_str(sum);
            task.commands.test = None;
            let cache = Cache::new(folder.path().join("cache"), 1 << 30);
            let target = open(task, folder.path()).await.caching(cache);
            let build = target.build(&fix, "address", BuildKind::Incremental);
            let build = build.await.unwrap();
            let path = build.place().unwrap().part("out").join("sum");
            sums.push(fs::read_to_string(path).unwrap());
            let replay = target.replay(&build, &target.task().povs[0]).await.unwrap();
            assert!(!replay.outcome.is_failure());
        }
        assert_eq!(sums[0], sums[1]);
    }
}
