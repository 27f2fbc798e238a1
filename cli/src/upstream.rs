//! History of a crash: the commit that fixed it upstream, and the one that introduced it.
//!
//! Revisions are laid out by git, built in the sandbox and shown the PoVs. The commit is
//! found by bisection over the graph of commits, with a limit on builds. Nothing is asked
//! of a model, and the user's repository and work tree are only read.

use crate::display::Display;
use crate::git::Git;
use crate::revisions::{AS_IT_IS, Place, Revisions, Seen, first_line, is_code, tree_of};
use clap::Args;
use patchwright_agent::record::{CommitRecord, CrashHistory};
use patchwright_agent::task::Task;
use patchwright_config::Settings;
use patchwright_patcher::Patch;
use patchwright_source::{Tree, visible_line};
use std::collections::{BTreeMap, BTreeSet};

/// Growth of the steps back to an older revision: 1, 4, 16, 64 ... commits.
const FIRST_STEP: u64 = 1;
const GROWTH: u64 = 4;
/// Frames of a report whose code is looked for in later commits, and commits that are named.
const FRAMES: usize = 4;
const COMMITS: usize = 5;

/// The part of the history that is asked for.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HistoryQuestion {
    /// Look first whether this repository has fixed the crash, at REF or its default branch
    #[arg(long, value_name = "REPOSITORY[#REF]", conflicts_with = "dry_run")]
    pub upstream: Option<String>,
    /// Search the history for the commit that introduced the crash
    #[arg(long, conflicts_with = "dry_run")]
    pub bisect: bool,
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
    let place = Place::of(task, settings, question.upstream.as_deref()).await?;
    let wanted = |place: &Place| place.tip.is_some() || question.bisect;
    let Some(place) = place.filter(wanted) else {
        return Ok(history);
    };
    let mut search = Search {
        revisions: Revisions::begin(task, settings, &place).await?,
        display,
        known: BTreeMap::new(),
        builds: 0,
    };
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
        && question.bisect
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
    let frames = report.main_stack().map_or(&[][..], |stack| &stack.frames);
    let frames = || frames.iter().take(FRAMES);
    let files = frames().filter_map(|frame| tree.rebase(frame.file.as_deref()?));
    let files: BTreeSet<String> = files.map(|path| path.to_string()).collect();
    let range = format!("{base}..{tip}");
    if files.is_empty() {
        return Ok(());
    }
    let log = ["log", "--format=%x00%h (\"%s\", %an, %cs)%n%b", &range];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let arguments = [&log[..], &AS_IT_IS, &["--"], &files].concat();
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
    patch.edits.retain(|edit| is_code(edit.file()));
    let fix = commit.in_words();
    let explanation = format!("Backport of {fix}, which fixed the crash upstream.");
    patch.explanation = Some(explanation);
    patch
}

/// Tries of revisions.
struct Search<'a> {
    revisions: Revisions<'a>,
    display: &'a Display,
    known: BTreeMap<String, Seen>,
    builds: u32,
}

impl Search<'_> {
    /// Tries a revision, each once.
    async fn seen(&mut self, name: &str) -> anyhow::Result<Seen> {
        let commit = self.revisions.commit(name).await?;
        if let Some(seen) = self.known.get(&commit) {
            return Ok(seen.clone());
        }
        self.builds += 1;
        let tree = self.revisions.folder()?;
        let task = self.revisions.task_at(&commit, tree.path()).await?;
        let seen = self.revisions.seen(&task).await?;
        let short: String = commit.chars().take(12).collect();
        let mark = match &seen {
            Seen::Crashes => "no",
            Seen::Silent => "ok",
            Seen::Unknown(_) => "--",
        };
        let told = seen.in_words();
        self.display.line(&format!("  {mark} {short} {told}"));
        self.known.insert(commit, seen.clone());
        Ok(seen)
    }

    /// Returns the commit after which the PoVs do not crash any more.
    async fn fixed_by(
        &mut self,
        tip: &str,
        base: Option<&str>,
    ) -> anyhow::Result<Option<CommitRecord>> {
        let old = match base {
            Some(base)
                if self.revisions.git.is_before(base, tip).await
                    && self.seen(base).await? == Seen::Crashes =>
            {
                Some(base.to_owned())
            }
            _ => self.earlier(tip, &Seen::Crashes).await?,
        };
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
        let relative = format!("--relative={}", self.revisions.prefix);
        let changes = (parent.as_str(), found.commit.as_str());
        let diff = self.revisions.diff(changes, &[&relative], &[]).await;
        found.diff = String::from_utf8_lossy(&diff.unwrap_or_default()).into_owned();
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
        while self.builds < self.revisions.settings.limits.bisect {
            let Ok(commit) = self.revisions.git.commit(&format!("{from}~{step}")).await else {
                let arguments = ["rev-list", "--max-parents=0", "--first-parent", from];
                let roots = self.revisions.git.run(&arguments).await?;
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
        let mut new = self.revisions.commit(new).await?;
        let mut olds = vec![old];
        loop {
            let arguments = ["rev-list", "--bisect-all", &new, "--not"];
            let bounds: Vec<&str> = olds.iter().map(String::as_str).collect();
            let arguments = [&arguments[..], &bounds].concat();
            let listed = self.revisions.git.run(&arguments).await?;
            let commits = listed.lines();
            let commits = commits.filter_map(|line| line.split_whitespace().next());
            let open: Vec<&str> = commits.collect();
            let left = self.builds < self.revisions.settings.limits.bisect;
            let middle = open.iter().find(|commit| match self.known.get(**commit) {
                Some(Seen::Unknown(_)) => false,
                Some(_) => **commit != new,
                None => left,
            });
            let Some(middle) = middle.map(|commit| (*commit).to_owned()) else {
                let among = open.len().max(1) as u64;
                let found = self.revisions.record(&new, among).await?;
                return Ok((found, olds.pop().unwrap_or_default()));
            };
            match self.seen(&middle).await? {
                seen if seen == *wanted => new = middle,
                Seen::Unknown(_) => {}
                Seen::Crashes | Seen::Silent => olds.push(middle),
            }
        }
    }
}
