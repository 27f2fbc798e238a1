//! `patchwright export`: a finished run as a folder, a diff, a mail or a branch.

use super::client::{Daemon, Place};
use super::session::task_of;
use crate::common::{Common, WrongInput, write_file, write_out, write_result};
use crate::export::{self, Exported, Signatures, Style};
use crate::output;
use anyhow::Context;
use clap::{Args, ValueEnum};
use patchwright_agent::record::FollowUp;
use patchwright_agent::report::{AttemptReport, Report};
use patchwright_agent::task::{Source, Task};
use patchwright_source::FileDiff;
use patchwright_store::Store;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The candidate that is handed on
    #[command(flatten)]
    pub chosen: Chosen,
    /// Form of the export
    #[arg(long, value_enum, default_value_t)]
    pub format: Form,
    /// Where it goes: a folder, or a file; by default a folder named by the run,
    /// or standard output
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Replace the result of another run in that folder
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// A candidate, the names that it bears, and the repository that it is for.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Chosen {
    /// The run's id, its task's, the folder that --out made, or a task of the daemon that
    /// client.server names; the last run when none is named
    pub run: Option<String>,
    /// Which candidate, by its number; the best when none is named
    pub candidate: Option<u32>,
    /// For a branch: the repository, or the folder in it that the tree
    /// is; by default the source of the task
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// For a branch: where it begins
    #[arg(long, value_name = "REVISION", default_value = "HEAD")]
    pub base: String,
    /// For a branch: its name; by default patchwright/RUN
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// The people whose names it bears
    #[command(flatten)]
    pub signatures: Signatures,
}

/// The forms of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Story, patch, evidence, journal, cost.
    #[default]
    Folder,
    /// The patch and its regression test.
    Diff,
    /// A mail for `git am`.
    Mbox,
    /// A branch of a git repository; no work tree is touched.
    Branch,
    /// A patch of a quilt series, with the headers of DEP-3.
    Quilt,
    /// The text of a pull request.
    Pr,
    /// A SARIF log with the crash and its fix.
    Sarif,
    /// An OpenVEX document.
    Openvex,
}

/// A finished run, of this machine or of a daemon.
pub(super) struct Finished {
    chosen: Chosen,
    title: Option<String>,
    /// The task; none for a run of a daemon.
    task: Option<Task>,
    pub(super) report: Report,
    smallest: Option<Vec<u8>>,
    pub(super) began: jiff::Timestamp,
    /// Patches of the same crash that a person rejected before this run.
    rejected: u32,
}

/// Exports a run.
///
/// # Errors
/// There is no such run or candidate, it has not ended, or what is made cannot
/// be written.
pub(crate) async fn run(common: &Common, arguments: ExportArguments) -> anyhow::Result<ExitCode> {
    let (finished, store) = finished(common, arguments.chosen).await?;
    let out = arguments.out.as_deref();
    match (arguments.format, &finished.task) {
        (Form::Folder, Some(_)) => folder(&store, finished, (out, arguments.force)).await?,
        (Form::Folder, None) => {
            let advice = "name another form with --format, such as mbox";
            let reason = format!("a daemon keeps the logs of its runs: {advice}");
            return Err(WrongInput(reason).into());
        }
        (form, _) => one_file(&finished, form, out).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a finished run.
///
/// # Errors
/// There is no such run, or it has not ended.
pub(super) async fn finished(common: &Common, chosen: Chosen) -> anyhow::Result<(Finished, Store)> {
    let (loaded, store) = common.open().await?;
    let finished = match Place::of((&loaded, &store), chosen.run.as_deref()).await? {
        Place::Here(id) => of_store(&store, &id, chosen).await?,
        Place::There(daemon, task) => of_daemon(&daemon, &task, chosen).await?,
    };
    Ok((finished, store))
}

async fn of_store(store: &Store, id: &str, chosen: Chosen) -> anyhow::Result<Finished> {
    let report = report(store, id).await?;
    let task = task_of(store, id).await?;
    let smallest = report.smallest.as_ref();
    let smallest = match smallest.and_then(|smallest| smallest.input.as_deref()) {
        Some(hash) => store.blob(hash).await?,
        None => None,
    };
    let events = store.events(id).await?;
    let began = events.first().context("the journal of the run is empty")?;
    Ok(Finished {
        chosen,
        title: task.title.clone(),
        rejected: rejected(store, &task).await?,
        task: Some(task),
        smallest,
        began: began.time.parse().context("the journal holds no time")?,
        report,
    })
}

/// Counts the runs before this one of which each was to mend the patch of the one before it.
async fn rejected(store: &Store, task: &Task) -> anyhow::Result<u32> {
    let mut seen = BTreeSet::new();
    let mut follows = task.follows.clone();
    while let Some(FollowUp::Revise(revision)) = follows {
        if !seen.insert(revision.run.clone()) {
            break;
        }
        let (task, _) = store.run(&revision.run).await?;
        let task: Task = serde_json::from_str(&task).context("an earlier task cannot be read")?;
        follows = task.follows;
    }
    Ok(u32::try_from(seen.len())?)
}

/// A run that a daemon carried out. Its logs and inputs stay there.
async fn of_daemon(daemon: &Daemon, task: &str, chosen: Chosen) -> anyhow::Result<Finished> {
    let told = daemon.get(&["tasks", task]).await?;
    let report = daemon.get(&["tasks", task, "report"]).await?;
    let created = told.get("created").and_then(Value::as_str);
    Ok(Finished {
        chosen,
        title: told.get("title").and_then(Value::as_str).map(str::to_owned),
        task: None,
        report: serde_json::from_value(report).context("the daemon's report cannot be read")?,
        smallest: None,
        rejected: 0,
        began: created
            .and_then(|time| time.parse().ok())
            .context("the daemon tells no time of the task")?,
    })
}

/// Writes a form that is one file, or a branch.
async fn one_file(finished: &Finished, form: Form, out: Option<&Path>) -> anyhow::Result<()> {
    if let (Form::Diff, Some(fix)) = (form, finished.report.foreign_fix()) {
        return put(out, fix.as_bytes());
    }
    let exported = finished.exported().await?;
    if form == Form::Branch {
        let (name, commit) = finished.branch(&exported).await?;
        return write_out(format!("{name} {commit}\n"));
    }
    put(out, &written(&exported, finished.began, form)?)
}

impl Finished {
    /// A candidate with what its readers are told beside it.
    ///
    /// # Errors
    /// There is no such candidate.
    pub(super) async fn exported(&self) -> anyhow::Result<Exported<'_>> {
        let (report, chosen) = (&self.report, &self.chosen);
        let folder = self.repository();
        let folder = folder.unwrap_or_else(|_| PathBuf::from("."));
        let mut signatures = chosen.signatures.clone();
        if signatures.author.is_none() {
            signatures.author = export::identity(&folder).await;
        }
        let changed_by = match &report.crash {
            Some(crash) => export::last_change(&folder, crash).await,
            None => None,
        };
        let attempt = candidate(report, chosen.candidate)?;
        let diff = FileDiff::read(&attempt.diff).unwrap_or_default();
        let files: Vec<&str> = diff.iter().filter_map(|file| file.old.as_deref()).collect();
        Ok(Exported {
            title: self.title.as_deref(),
            report,
            attempt,
            smallest: self.smallest.as_deref(),
            signatures,
            changed_by,
            style: Style::learn(&folder, &files).await,
            version: 1 + self.rejected,
            review: self.task.as_ref().and_then(|task| match &task.follows {
                Some(FollowUp::Revise(revision)) => Some(&*revision.reason),
                _ => None,
            }),
            reproduction: self.task.as_ref().and_then(export::reproduction),
        })
    }

    /// The folder of the repository that the tree of the task is.
    ///
    /// # Errors
    /// None is named, and the task has no folder of this machine.
    pub(super) fn repository(&self) -> anyhow::Result<PathBuf> {
        let source = self.task.as_ref().map(|task| &task.source);
        match (&self.chosen.repo, source) {
            (Some(path), _) | (None, Some(Source::Path(path))) => Ok(path.clone()),
            (None, _) => anyhow::bail!(
                "the source of the task is no folder of yours; name your repository with --repo DIR"
            ),
        }
    }

    /// Makes the branch of a candidate and returns its name and commit.
    ///
    /// # Errors
    /// The patch does not fit the base, or the branch is there already.
    pub(super) async fn branch(&self, exported: &Exported<'_>) -> anyhow::Result<(String, String)> {
        let named = self.chosen.branch.clone();
        let name = named.unwrap_or_else(|| format!("patchwright/{}", self.report.run));
        let place = (&*self.repository()?, self.chosen.base.as_str());
        let commit = export::make_branch(place, &name, exported).await?;
        Ok((name, commit))
    }
}

/// A candidate in the form of one file.
fn written(exported: &Exported<'_>, began: jiff::Timestamp, form: Form) -> anyhow::Result<Vec<u8>> {
    let json = |value: Value| serde_json::to_vec_pretty(&value);
    Ok(match form {
        Form::Folder | Form::Diff | Form::Branch => exported.attempt.delivered_bytes(),
        Form::Mbox => export::mail(exported, began)?.into_bytes(),
        Form::Quilt => {
            let day = began.strftime("%Y-%m-%d").to_string();
            let mut text = export::text("quilt.txt", exported, &day)?.into_bytes();
            text.extend(exported.attempt.delivered_bytes());
            text
        }
        Form::Pr => export::text("pull_request.md", exported, "")?.into_bytes(),
        Form::Sarif => json(export::sarif(exported)?)?,
        Form::Openvex => {
            let text = export::text("openvex.json", exported, &began.to_string())?;
            json(serde_json::from_str(&text)?)?
        }
    })
}

/// Writes the mail of the best patch of a run to a file.
///
/// # Errors
/// The run has no patch, or the file cannot be written.
pub(super) async fn write_mail(common: &Common, run: &str, file: &Path) -> anyhow::Result<()> {
    let chosen = Chosen {
        run: Some(run.to_owned()),
        ..Chosen::default()
    };
    let (finished, _) = finished(common, chosen).await?;
    let exported = finished.exported().await?;
    write_file(file, export::mail(&exported, finished.began)?)
}

/// The report of a run that has ended.
pub(super) async fn report(store: &Store, id: &str) -> anyhow::Result<Report> {
    let report = store.report(id).await?;
    Ok(report.ok_or_else(|| {
        WrongInput(format!(
            "run {id} has not ended; go on with it: patchwright resume {id}"
        ))
    })?)
}

/// A candidate by its number, or the best.
pub(super) fn candidate(report: &Report, number: Option<u32>) -> anyhow::Result<&AttemptReport> {
    let mut attempts = report.attempts.iter();
    let found = match number {
        None => report.best.as_ref(),
        Some(number) => attempts.find(|attempt| attempt.number == number),
    };
    let missing = match (number, report.attempts.len()) {
        (_, 0) => "has no candidate".to_owned(),
        (Some(number), count) => format!("has no candidate {number}; it has 1 to {count}"),
        (None, _) => "has no best candidate".to_owned(),
    };
    Ok(found.ok_or_else(|| WrongInput(format!("run {} {missing}", report.run)))?)
}

async fn folder(
    store: &Store,
    finished: Finished,
    (out, force): (Option<&Path>, bool),
) -> anyhow::Result<()> {
    let mut report = finished.report;
    if let Some(number) = finished.chosen.candidate {
        report.best = Some(candidate(&report, Some(number))?.clone());
    }
    let out = out.map_or_else(|| PathBuf::from(&report.run), Path::to_path_buf);
    output::prepare(&out, &report.run, force)?;
    let report = output::write(&out, &report, store).await?;
    let events = store.events(&report.run).await?;
    let story = export::story(finished.title.as_deref(), &report, &events)?;
    write_file(&out.join("story.md"), story)?;
    write_out(format!("{}\n", out.display()))
}

fn put(out: Option<&Path>, bytes: &[u8]) -> anyhow::Result<()> {
    match out {
        Some(path) => write_file(path, bytes),
        None => write_result(bytes).context("standard output is closed"),
    }
}
