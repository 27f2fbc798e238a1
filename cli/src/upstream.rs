//! History of a crash: the commit that fixed it upstream, and the one that introduced it.
//!
//! Revisions are laid out by git, built in the sandbox and shown the PoVs. The commit is
//! found by bisection over the graph of commits, with a limit on builds. Nothing is asked
//! of a model, and the user's repository and work tree are only read.

use crate::display::Display;
use crate::git::Git;
use anyhow::Context;
use patchwright_agent::record::{CommitRecord, CrashHistory};
use patchwright_agent::task::{Source, Task};
use patchwright_config::Settings;
use patchwright_patcher::Patch;
use patchwright_source::Changes;
use patchwright_source::{Language, Tree, TreePath, visible_line};
use patchwright_target::runner::measure;
use patchwright_target::{BuildKind, Outcome, Target, TargetError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Growth of the steps back to an older revision: 1, 4, 16, 64 ... commits.
const FIRST_STEP: u64 = 1;
const GROWTH: u64 = 4;
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
const AS_IT_IS: [&str; 4] = ["-p", "--no-color", "--no-ext-diff", "--no-textconv"];
/// Frames of a report whose code is looked for in later commits, and commits that are named.
const FRAMES: usize = 4;
const COMMITS: usize = 5;

/// The part of the history that is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct HistoryQuestion {
    /// A repository or its address, with `#REF` where its default branch is not meant.
    pub upstream: Option<String>,
    /// True where the commit that introduced the crash is wanted too.
    pub introduced: bool,
}

/// Looks the crash of a task up in the history of its project.
///
/// A task without a repository, or whose repository knows nothing later, has no history.
/// Revisions that cannot be built tell nothing and are left out.
///
/// # Errors
/// The repository that was named cannot be read, or the machinery fails.
pub(crate) async fn look_up(
    task: &Task,
    settings: &Settings,
    display: &Display,
    question: &HistoryQuestion,
) -> anyhow::Result<CrashHistory> {
    let mut history = CrashHistory::default();
    if task.povs.is_empty() {
        tell_later_commits(task, settings, display).await?;
    }
    if settings.limits.bisect == 0 || task.povs.is_empty() {
        return Ok(history);
    }
    let Some(place) = Place::of(task, settings, question).await? else {
        return Ok(history);
    };
    let mut search = Search::begin(task, settings, display, &place).await?;
    if let Some(tip) = &place.tip {
        display.line(&format!("history: trying the PoVs at {}", place.name));
        match search.seen(tip).await? {
            Seen::Silent => history.fixed_by = search.fixed_by(tip, place.base.as_deref()).await?,
            Seen::Crashes => display.line("  -- it still crashes there: not fixed upstream"),
            Seen::Unknown(reason) => {
                display.line(&format!("  -- nothing is known of it there: {reason}"));
            }
        }
    }
    if let Some(from) = place.base.as_ref().or(place.tip.as_ref())
        && question.introduced
    {
        history.introduced_by = search.introduced_by(from).await?;
    }
    Ok(history)
}

/// Names the later commits of a clone that change the functions of a reported crash or speak of
/// its kind. Without a PoV nothing shows whether one of them is the fix.
async fn tell_later_commits(
    task: &Task,
    settings: &Settings,
    display: &Display,
) -> anyhow::Result<()> {
    let report = task.crash.as_deref();
    let report = report.and_then(patchwright_crash::read_leading);
    let (Some(report), Some(folder)) = (report, tree_of(task, settings).await) else {
        return Ok(());
    };
    let place = Place::of_tree(&folder).await;
    let Some((base, tip)) = place.and_then(|place| Some((place.base?, place.tip?))) else {
        return Ok(());
    };
    let tree = Tree::open(&folder)?;
    let stack = report.main_stack();
    let frames = || {
        stack
            .into_iter()
            .flat_map(|stack| stack.frames.iter().take(FRAMES))
    };
    let files = frames().filter_map(|frame| tree.rebase(frame.file.as_deref()?));
    let files: BTreeSet<String> = files.map(|path| path.to_string()).collect();
    let range = format!("{base}..{tip}");
    if files.is_empty() {
        return Ok(());
    }
    let mut arguments = vec!["log", "--format=%x00%h (\"%s\", %an, %cs)%n%b", &range];
    arguments.extend(AS_IT_IS);
    arguments.push("--");
    arguments.extend(files.iter().map(String::as_str));
    let git = Git::new(&folder).with("GIT_ALLOW_PROTOCOL", "none");
    let log = git.run(&arguments).await?;
    let symptom = report.kind.replace('-', " ");
    let speaks = |commit: &&str| {
        let functions = frames().map(|frame| frame.function.as_str());
        let functions = functions.filter(|name| *name != "??");
        let mut names = functions.chain([report.kind.as_str(), symptom.as_str()]);
        names.any(|name| commit.contains(name))
    };
    for commit in log.split('\0').skip(1).filter(speaks).take(COMMITS) {
        let line = visible_line(&first_line(commit)).into_owned();
        display.line(&format!(
            "history: a later commit touches this code: {line}"
        ));
    }
    Ok(())
}

/// Returns the changes of a commit to code that is no test, as a patch of somebody else.
pub(crate) fn patch_of(commit: &CommitRecord) -> Patch {
    let mut patch = Patch::from_diff(commit.diff.as_bytes());
    patch.edits.retain(|edit| {
        let path = TreePath::new(edit.file());
        path.is_ok_and(|path| Language::of_path(&path).is_some() && !path.is_test())
    });
    let subject = format!(
        "Backport of {}, which fixed the crash upstream.",
        commit.in_words()
    );
    patch.explanation = Some(subject);
    patch
}

/// Where the history is.
struct Place {
    /// A repository, or its address.
    repository: String,
    /// The folder of the task's tree in it.
    prefix: String,
    /// The commit of the task's tree, where it is one of the repository.
    base: Option<String>,
    /// The latest commit, where it is later than the task's.
    tip: Option<String>,
    /// The name of the latest commit, for people.
    name: String,
}

impl Place {
    async fn of(
        task: &Task,
        settings: &Settings,
        question: &HistoryQuestion,
    ) -> anyhow::Result<Option<Self>> {
        let tree = tree_of(task, settings).await;
        let own = match &tree {
            Some(tree) => Self::of_tree(tree).await,
            None => None,
        };
        let Some(named) = &question.upstream else {
            let own = own.filter(|own| own.tip.is_some() || question.introduced);
            return Ok(own);
        };
        let (repository, reference) = named.split_once('#').unwrap_or((named, "HEAD"));
        let local = std::path::absolute(repository)?;
        let repository = if local.is_dir() {
            local.display().to_string()
        } else {
            repository.to_owned()
        };
        let (prefix, base) = own.map(|own| (own.prefix, own.base)).unwrap_or_default();
        Ok(Some(Self {
            repository,
            prefix,
            base,
            tip: Some(reference.to_owned()),
            name: named.clone(),
        }))
    }

    /// The repository that a tree is in.
    async fn of_tree(tree: &Path) -> Option<Self> {
        let git = Git::new(tree).with("GIT_ALLOW_PROTOCOL", "none");
        let top = git.run(&["rev-parse", "--show-toplevel"]).await.ok()?;
        let prefix = git.run(&["rev-parse", "--show-prefix"]).await.ok()?;
        let base = git.run(&["rev-parse", "--verify", "HEAD"]).await.ok()?;
        let mut later = None;
        for name in LATER {
            let Ok(commit) = git.commit(name).await else {
                continue;
            };
            if commit != base && git.is_before(&base, &commit).await {
                later = Some((name, commit));
                break;
            }
        }
        let name = later.as_ref().map_or("", |(name, _)| name);
        Some(Self {
            name: name.trim_start_matches("refs/").to_owned(),
            repository: top,
            prefix,
            base: Some(base),
            tip: later.map(|(_, commit)| commit),
        })
    }
}

/// The folder of a task's tree, where it is one that may have a history.
async fn tree_of(task: &Task, settings: &Settings) -> Option<PathBuf> {
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
enum Seen {
    /// At least one PoV crashes.
    Crashes,
    /// Every PoV ran, and none crashes.
    Silent,
    /// It cannot be built, or the PoVs did not run.
    Unknown(String),
}

/// Tries of revisions.
struct Search<'a> {
    task: &'a Task,
    settings: &'a Settings,
    display: &'a Display,
    git: Git,
    prefix: &'a str,
    /// Removed with the repository in it.
    folder: tempfile::TempDir,
    known: BTreeMap<String, Seen>,
    builds: u32,
}

impl<'a> Search<'a> {
    /// Clones the repository into a folder of its own.
    async fn begin(
        task: &'a Task,
        settings: &'a Settings,
        display: &'a Display,
        place: &'a Place,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("no folder for a repository")?;
        let clone = folder.path().join("repository");
        let into = clone.display().to_string();
        let arguments = ["clone", "--quiet", "--bare", "--", &place.repository, &into];
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
            display,
            git,
            prefix: &place.prefix,
            folder,
            known: BTreeMap::new(),
            builds: 0,
        })
    }

    /// Tries a revision, each once.
    async fn seen(&mut self, name: &str) -> anyhow::Result<Seen> {
        let missing = || format!("there is no commit {}", visible_line(name));
        let commit = self.git.commit(name).await.ok().with_context(missing)?;
        if let Some(seen) = self.known.get(&commit) {
            return Ok(seen.clone());
        }
        self.builds += 1;
        let tree = tempfile::tempdir_in(self.folder.path())?;
        let seen = self.try_at(&commit, tree.path()).await?;
        let short: String = commit.chars().take(12).collect();
        let (mark, told) = match &seen {
            Seen::Crashes => ("no", "crashes".to_owned()),
            Seen::Silent => ("ok", "does not crash".to_owned()),
            Seen::Unknown(reason) => ("--", format!("tells nothing: {reason}")),
        };
        self.display.line(&format!("  {mark} {short} {told}"));
        self.known.insert(commit, seen.clone());
        Ok(seen)
    }

    async fn try_at(&self, commit: &str, folder: &Path) -> anyhow::Result<Seen> {
        let git = self.git.clone();
        let git = git.with("GIT_INDEX_FILE", self.folder.path().join("index"));
        let into = format!("--work-tree={}", folder.display());
        git.run(&[&into, "read-tree", commit]).await?;
        git.run(&[&into, "checkout-index", "--all", "--force"])
            .await?;
        let task = Task {
            source: Source::Path(folder.join(self.prefix)),
            ..self.task.clone()
        };
        let target = match patchwright_run::ground(&task, self.settings).await {
            Ok((_, target)) => target,
            Err(ending) => return Ok(Seen::Unknown(first_line(&ending.detail))),
        };
        match shown(target.as_ref()).await {
            Ok(seen) => Ok(seen),
            Err(TargetError::InvalidTask { reason, .. }) => Ok(Seen::Unknown(first_line(&reason))),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the commit after which the PoVs do not crash any more.
    async fn fixed_by(
        &mut self,
        tip: &str,
        base: Option<&str>,
    ) -> anyhow::Result<Option<CommitRecord>> {
        let mut old = None;
        if let Some(base) = base
            && self.git.is_before(base, tip).await
            && self.seen(base).await? == Seen::Crashes
        {
            old = Some(base.to_owned());
        }
        if old.is_none() {
            old = self.earlier(tip, &Seen::Crashes).await?;
        }
        let Some(old) = old else {
            self.display
                .line("  -- no earlier commit that crashes was found");
            return Ok(None);
        };
        let (mut found, last) = self.first(old, tip, &Seen::Silent).await?;
        // The changes of every commit that may be the one.
        let parent = match found.among {
            0 | 1 => format!("{}^1", found.commit),
            _ => last,
        };
        let relative = format!("--relative={}", self.prefix);
        let own = [&relative, &parent, &found.commit].map(String::as_str);
        let arguments = [&["diff-tree"][..], &AS_IT_IS, &own].concat();
        found.diff = self.git.output(&arguments).await.map_or_else(
            |_| String::new(),
            |diff| String::from_utf8_lossy(&diff).into_owned(),
        );
        Ok(Some(found))
    }

    /// Returns the commit after which the PoVs crash.
    async fn introduced_by(&mut self, from: &str) -> anyhow::Result<Option<CommitRecord>> {
        self.display
            .line("history: searching for the commit that introduced the crash");
        if self.seen(from).await? != Seen::Crashes {
            return Ok(None);
        }
        let Some(old) = self.earlier(from, &Seen::Silent).await? else {
            self.display
                .line("  -- no earlier commit that does not crash was found");
            return Ok(None);
        };
        let (found, _) = self.first(old, from, &Seen::Crashes).await?;
        Ok(Some(found))
    }

    /// Steps back from a commit, ever farther, to one that does this with the PoVs.
    async fn earlier(&mut self, from: &str, wanted: &Seen) -> anyhow::Result<Option<String>> {
        let mut step = FIRST_STEP;
        while self.builds < self.settings.limits.bisect {
            let Ok(commit) = self.git.commit(&format!("{from}~{step}")).await else {
                let arguments = ["rev-list", "--max-parents=0", "--first-parent", from];
                let roots = self.git.run(&arguments).await?;
                let root = roots.lines().next().unwrap_or_default().to_owned();
                let seen = self.seen(&root).await?;
                return Ok((seen == *wanted).then_some(root));
            };
            if self.seen(&commit).await? == *wanted {
                return Ok(Some(commit));
            }
            step *= GROWTH;
        }
        Ok(None)
    }

    /// Bisects between an old commit and a new one for the first that does this with the
    /// PoVs, as the new one does and the old one does not; returns also the last one that
    /// does not.
    async fn first(
        &mut self,
        old: String,
        new: &str,
        wanted: &Seen,
    ) -> anyhow::Result<(CommitRecord, String)> {
        let missing = || format!("there is no commit {}", visible_line(new));
        let mut new = self.git.commit(new).await.ok().with_context(missing)?;
        let mut olds = vec![old];
        loop {
            let bounds: Vec<String> = olds.iter().map(|old| format!("^{old}")).collect();
            let mut arguments = vec!["rev-list", "--bisect-all", &new];
            arguments.extend(bounds.iter().map(String::as_str));
            let listed = self.git.run(&arguments).await?;
            let open: Vec<&str> = listed
                .lines()
                .filter_map(|line| line.split_whitespace().next())
                .collect();
            let left = self.builds < self.settings.limits.bisect;
            let middle = open.iter().find(|commit| match self.known.get(**commit) {
                Some(Seen::Unknown(_)) => false,
                Some(_) => **commit != new,
                None => left,
            });
            let Some(middle) = middle.map(|commit| (*commit).to_owned()) else {
                let found = self.record(&new, open.len().max(1) as u64).await?;
                return Ok((found, olds.pop().unwrap_or_default()));
            };
            match self.seen(&middle).await? {
                seen if seen == *wanted => new = middle,
                Seen::Unknown(_) => {}
                Seen::Crashes | Seen::Silent => olds.push(middle),
            }
        }
    }

    async fn record(&self, commit: &str, among: u64) -> anyhow::Result<CommitRecord> {
        let arguments = [
            "show",
            "--no-patch",
            "--format=%H%n%s%n%an%n%cI",
            commit,
            "--",
        ];
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

/// Builds the tree of a target and runs every PoV.
async fn shown(target: &dyn Target) -> Result<Seen, TargetError> {
    let task = target.task();
    for pov in &task.povs {
        let name = task.build_of(pov);
        let build = target
            .build(&Changes::default(), &name, BuildKind::Clean)
            .await?;
        if !build.succeeded() {
            let last = build.execution.text();
            let last = last.trim_end().lines().last().unwrap_or_default();
            return Ok(Seen::Unknown(format!("it does not build: {last}")));
        }
        let measured = measure(target, &build, pov).await?;
        match &measured.replay.outcome {
            Outcome::NotRun(reason) => return Ok(Seen::Unknown(reason.clone())),
            _ if measured.reproduces() => return Ok(Seen::Crashes),
            _ => {}
        }
    }
    Ok(Seen::Silent)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
