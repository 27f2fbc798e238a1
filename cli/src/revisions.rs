//! The revisions of a project's repository: laid out as trees of a task, built in the sandbox
//! and shown its PoVs. The user's repository and work tree are only read.

use crate::git::Git;
use anyhow::Context;
use patchwright_agent::record::CommitRecord;
use patchwright_agent::task::{Pov, Source, Task};
use patchwright_config::Settings;
use patchwright_crash::feedback::first_error;
use patchwright_source::{Changes, Language, TreePath, visible_line};
use patchwright_target::runner::measure;
use patchwright_target::{BuildKind, Outcome, Target, TargetError};
use std::path::{Path, PathBuf};

/// Places where a clone has the later history of its work tree, the likeliest first.
const LATER: [&str; 6] = [
    "@{upstream}",
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];
/// Options under which git shows changes as they are.
pub(crate) const AS_IT_IS: [&str; 4] = ["-p", "--no-color", "--no-ext-diff", "--no-textconv"];

/// Where the history is.
pub(crate) struct Place {
    /// A repository, or its address.
    pub(crate) repository: String,
    /// The folder of the task's tree in it.
    pub(crate) prefix: String,
    /// The commit of the task's tree, where it is one of the repository.
    pub(crate) base: Option<String>,
    /// The latest commit, where it is later than the task's.
    pub(crate) tip: Option<String>,
    /// The name of the latest commit, for people.
    pub(crate) name: String,
}

impl Place {
    /// The repository that is named, as in `REPOSITORY#REF`, or else the one that the tree of the
    /// task is in.
    pub(crate) async fn of(
        task: &Task,
        settings: &Settings,
        upstream: Option<&str>,
    ) -> anyhow::Result<Option<Self>> {
        let own = match tree_of(task, settings).await {
            Some(tree) => Self::of_tree(&tree).await,
            None => None,
        };
        let Some(named) = upstream else {
            return Ok(own);
        };
        let (repository, reference) = named.split_once('#').unwrap_or((named, "HEAD"));
        let mut repository = repository.to_owned();
        let local = std::path::absolute(&repository)?;
        if local.is_dir() {
            repository = local.display().to_string();
        }
        let (prefix, base) = own.map(|own| (own.prefix, own.base)).unwrap_or_default();
        Ok(Some(Self {
            repository,
            prefix,
            base,
            tip: Some(reference.to_owned()),
            name: named.to_owned(),
        }))
    }

    /// The repository that a tree is in.
    pub(crate) async fn of_tree(tree: &Path) -> Option<Self> {
        let git = Git::new(tree).with("GIT_ALLOW_PROTOCOL", "none");
        let top = git.run(&["rev-parse", "--show-toplevel"]).await.ok()?;
        let prefix = git.run(&["rev-parse", "--show-prefix"]).await.ok()?;
        let base = git.run(&["rev-parse", "--verify", "HEAD"]).await.ok()?;
        let mut place = Self {
            name: String::new(),
            repository: top,
            prefix,
            base: Some(base.clone()),
            tip: None,
        };
        for name in LATER {
            if let Ok(commit) = git.commit(name).await
                && commit != base
                && git.is_before(&base, &commit).await
            {
                name.trim_start_matches("refs/").clone_into(&mut place.name);
                place.tip = Some(commit);
                break;
            }
        }
        Some(place)
    }
}

/// The folder of a task's tree, where it is one that may have a history.
pub(crate) async fn tree_of(task: &Task, settings: &Settings) -> Option<PathBuf> {
    match &task.source {
        Source::Path(path) => Some(path.clone()),
        Source::Git { .. } => {
            let (tree, _) = patchwright_run::ground(task, settings).await.ok()?;
            Some(tree.root().to_path_buf())
        }
        Source::Archive { .. } | Source::Fetch(_) => None,
    }
}

/// Behaviour of a revision on the PoVs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// At least one PoV crashes.
    Crashes,
    /// Every PoV ran, and none crashes.
    Silent,
    /// It cannot be built, or the PoVs did not run.
    Unknown(String),
}

impl Seen {
    /// Reads it from the PoVs that crash a revision.
    pub(crate) fn of(crashing: &Result<Vec<Crashing>, String>) -> Self {
        match crashing {
            Ok(povs) if povs.is_empty() => Self::Silent,
            Ok(_) => Self::Crashes,
            Err(reason) => Self::Unknown(reason.clone()),
        }
    }

    /// Says it for people.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Crashes => "crashes".to_owned(),
            Self::Silent => "does not crash".to_owned(),
            Self::Unknown(reason) => format!("tells nothing: {reason}"),
        }
    }
}

/// A clone of a repository.
pub(crate) struct Revisions<'a> {
    pub(crate) task: &'a Task,
    pub(crate) settings: &'a Settings,
    pub(crate) git: Git,
    /// The folder of the task's tree in it.
    pub(crate) prefix: &'a str,
    /// Removed with the repository in it.
    folder: tempfile::TempDir,
}

impl<'a> Revisions<'a> {
    /// Clones the repository into a folder of its own.
    pub(crate) async fn begin(
        task: &'a Task,
        settings: &'a Settings,
        place: &'a Place,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("no folder for a repository")?;
        let clone = folder.path().join("repository");
        let into = clone.display().to_string();
        // A clone of this machine knows the branches of its origin by names of their own.
        let local = Path::new(&place.repository).is_dir();
        let form = if local { "--mirror" } else { "--bare" };
        let arguments = ["clone", "--quiet", form, "--", &place.repository, &into];
        let git = Git::new(folder.path()).with("GIT_ALLOW_PROTOCOL", "https:http:git:ssh:file");
        git.run(&arguments)
            .await
            .with_context(|| format!("{} cannot be cloned", visible_line(&place.repository)))?;
        let git = Git::new(&clone)
            .with("GIT_ALLOW_PROTOCOL", "none")
            .with("GIT_CONFIG_GLOBAL", "/dev/null")
            .with("GIT_CONFIG_SYSTEM", "/dev/null");
        Ok(Self {
            task,
            settings,
            git,
            prefix: &place.prefix,
            folder,
        })
    }

    /// Returns the hash of a commit by one of its names.
    pub(crate) async fn commit(&self, name: &str) -> anyhow::Result<String> {
        let missing = || format!("there is no commit {}", visible_line(name));
        self.git.commit(name).await.ok().with_context(missing)
    }

    /// Makes a folder that is removed with the repository.
    pub(crate) fn folder(&self) -> std::io::Result<tempfile::TempDir> {
        tempfile::tempdir_in(self.folder.path())
    }

    /// Git with an index of its own.
    pub(crate) fn with_index(&self) -> Git {
        let git = self.git.clone();
        git.with("GIT_INDEX_FILE", self.folder.path().join("index"))
    }

    /// Writes the tree of a commit with a patch for the tree of the task.
    pub(crate) async fn tree_with(&self, base: &str, diff: &[u8]) -> anyhow::Result<String> {
        self.with_index().tree_with(base, diff, self.prefix).await
    }

    /// Makes a commit of a tree that no branch knows.
    pub(crate) async fn commit_of(&self, tree: &str, parent: &str) -> anyhow::Result<String> {
        let git = self.git.clone().signed("nobody", "nobody");
        git.run(&["commit-tree", tree, "-p", parent, "-m", "carried"])
            .await
    }

    /// Returns the changes between two trees, of these files or of all.
    pub(crate) async fn diff(
        &self,
        (from, to): (&str, &str),
        options: &[&str],
        files: &[&str],
    ) -> anyhow::Result<Vec<u8>> {
        let own = ["--no-renames", from, to, "--"];
        let arguments = [&["diff-tree"][..], &AS_IT_IS, options, &own, files].concat();
        self.git.output(&arguments).await
    }

    /// Lays the tree of a commit out in a folder, and returns the task with this tree.
    pub(crate) async fn task_at(&self, commit: &str, folder: &Path) -> anyhow::Result<Task> {
        let git = self.with_index();
        let into = format!("--work-tree={}", folder.display());
        git.run(&[&into, "read-tree", commit]).await?;
        let checkout = [into.as_str(), "checkout-index", "--all", "--force"];
        git.run(&checkout).await?;
        Ok(self.task_in(folder))
    }

    /// Does the same in the cache, where the tree stays under the name of its content.
    pub(crate) async fn kept_at(&self, commit: &str) -> anyhow::Result<Task> {
        let tree = format!("{commit}^{{tree}}");
        let tree = self.git.run(&["rev-parse", "--verify", &tree]).await?;
        let sources = self.settings.cache.folder.join("sources");
        patchwright_config::private_folder(&sources)?;
        let kept = sources.join(format!("tree-{tree}"));
        if !kept.is_dir() {
            let fresh = tempfile::tempdir_in(&sources)?;
            let into = fresh.path().join("tree");
            std::fs::create_dir(&into)?;
            self.task_at(commit, &into).await?;
            let renamed = std::fs::rename(&into, &kept);
            // Somebody else laid the same tree out meanwhile.
            renamed.or_else(|error| kept.is_dir().then_some(()).ok_or(error))?;
        }
        Ok(self.task_in(&kept))
    }

    /// The task with its tree in a folder.
    fn task_in(&self, folder: &Path) -> Task {
        Task {
            source: Source::Path(folder.join(self.prefix)),
            ..self.task.clone()
        }
    }

    /// Builds the tree of a task and runs every PoV.
    pub(crate) async fn seen(&self, task: &Task) -> anyhow::Result<Seen> {
        Ok(Seen::of(&self.crashing(task).await?))
    }

    /// Builds the tree of a task and returns the PoVs that crash it, each with what it prints, or
    /// why nothing is known.
    pub(crate) async fn crashing(
        &self,
        task: &Task,
    ) -> anyhow::Result<Result<Vec<Crashing>, String>> {
        let reason = match patchwright_run::ground(task, self.settings).await {
            Err(ending) => ending.detail,
            Ok((_, target)) => match shown(target.as_ref(), &task.povs).await {
                Err(TargetError::InvalidTask { reason, .. }) => reason,
                shown => return Ok(shown?),
            },
        };
        Ok(Err(first_line(&reason)))
    }

    /// Names a commit.
    pub(crate) async fn record(&self, commit: &str, among: u64) -> anyhow::Result<CommitRecord> {
        let format = "--format=%H%n%s%n%an%n%cI";
        let arguments = ["show", "--no-patch", format, commit, "--"];
        let told = self.git.run(&arguments).await?;
        let mut lines = told.lines().map(|line| visible_line(line).into_owned());
        let mut next = || lines.next().unwrap_or_default();
        Ok(CommitRecord {
            commit: next(),
            subject: next(),
            author: next(),
            date: next(),
            among,
            diff: String::new(),
        })
    }
}

/// Tells whether a file is code, and no test.
pub(crate) fn is_code(path: &str) -> bool {
    let path = TreePath::new(path);
    path.is_ok_and(|path| Language::of_path(&path).is_some() && !path.is_test())
}

/// A PoV that crashes a tree, and what is printed then.
pub(crate) type Crashing = (Pov, String);

/// Builds the tree of a target, runs its PoVs and returns which of them crash it.
async fn shown(
    target: &dyn Target,
    povs: &[Pov],
) -> Result<Result<Vec<Crashing>, String>, TargetError> {
    let task = target.task();
    let mut crashing = Vec::new();
    for (pov, own) in task.povs.iter().zip(povs) {
        let name = task.build_of(pov);
        let unchanged = Changes::default();
        let build = target.build(&unchanged, &name, BuildKind::Clean).await?;
        if !build.succeeded() {
            let said = build.execution.text();
            let why = failure(&said);
            return Ok(Err(format!("it does not build: {why}")));
        }
        let measured = measure(target, &build, pov).await?;
        match &measured.replay.outcome {
            Outcome::NotRun(reason) => return Ok(Err(reason.clone())),
            _ if measured.reproduces() => {
                crashing.push((own.clone(), measured.replay.execution.text()));
            }
            _ => {}
        }
    }
    Ok(Ok(crashing))
}

/// Returns the line of a build that says why it failed: the first error of a compiler, or else the
/// last line.
fn failure(said: &str) -> String {
    let last = || said.trim_end().lines().last().unwrap_or_default().trim();
    first_error(said).unwrap_or_else(|| last().to_owned())
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::failure;

    #[test]
    fn the_error_of_a_compiler_says_more_than_the_end_of_make() {
        let make = "make: *** [a.o] Error 1\nmake: *** Waiting for unfinished jobs....\n";
        let said = format!("cc -c a.c\na.c:1:10: fatal error: b.h: No such file\n{make}");
        assert_eq!(failure(&said), "a.c:1:10: fatal error: b.h: No such file");
        assert_eq!(failure(make), "make: *** Waiting for unfinished jobs....");
        assert_eq!(failure(""), "");
    }
}
