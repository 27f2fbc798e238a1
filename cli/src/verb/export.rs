//! `patchwright export`: a finished run as a folder, a diff, a mail or a branch.

use super::client::{Daemon, Place};
use crate::common::{Common, WrongInput, write_file, write_out, write_result};
use crate::export::{self, Exported, LastChange, Signatures, Style};
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

#[derive(Debug, Default, Args)]
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
#[derive(Debug, Default, Args)]
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
    /// The author of the patch, as in 'Name <name@example.org>'
    #[arg(long, value_name = "WHO", value_parser = person)]
    pub author: Option<String>,
    /// Add a sign-off of the author
    #[arg(long, requires = "author")]
    pub signoff: bool,
    /// Whoever reported the crash
    #[arg(long, value_name = "WHO")]
    pub reported_by: Option<String>,
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
pub(crate) async fn export(
    common: &Common,
    arguments: ExportArguments,
) -> anyhow::Result<ExitCode> {
    let (finished, store) = finished(common, arguments.chosen.run.as_deref()).await?;
    match (arguments.format, &finished.task) {
        (Form::Folder, Some(task)) => folder(&store, task, finished.report, &arguments).await,
        (Form::Folder, None) => Err(WrongInput(
            "a daemon keeps the logs of its runs: name another form with --format, such as mbox"
                .to_owned(),
        )
        .into()),
        _ => one_file(&finished, &arguments).await,
    }
}

/// Reads a finished run.
///
/// # Errors
/// There is no such run, or it has not ended.
pub(super) async fn finished(
    common: &Common,
    run: Option<&str>,
) -> anyhow::Result<(Finished, Store)> {
    let (loaded, store) = common.open().await?;
    let finished = match Place::of((&loaded, &store), run).await? {
        Place::Here(id) => of_store(&store, &id).await?,
        Place::There(daemon, task) => of_daemon(&daemon, &task).await?,
    };
    Ok((finished, store))
}

async fn of_store(store: &Store, id: &str) -> anyhow::Result<Finished> {
    let report = report(store, id).await?;
    let (task, _) = store.run(id).await?;
    let task: Task = serde_json::from_str(&task).context("the task of the run cannot be read")?;
    let events = store.events(id).await?;
    let began = events.first().context("the journal of the run is empty")?;
    Ok(Finished {
        title: task.title.clone(),
        rejected: rejected(store, &task).await?,
        task: Some(task),
        smallest: smallest(store, &report).await?,
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
async fn of_daemon(daemon: &Daemon, task: &str) -> anyhow::Result<Finished> {
    let told = daemon.get(&["tasks", task]).await?;
    let report = daemon.get(&["tasks", task, "report"]).await?;
    let created = told.get("created").and_then(Value::as_str);
    Ok(Finished {
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
async fn one_file(finished: &Finished, arguments: &ExportArguments) -> anyhow::Result<ExitCode> {
    let report = &finished.report;
    if let (Form::Diff, Some(fix)) = (arguments.format, report.foreign_fix()) {
        put(arguments.out.as_deref(), fix.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let exported = finished.exported(&arguments.chosen).await?;
    if arguments.format == Form::Branch {
        let (name, commit) = finished.branch(&exported, &arguments.chosen).await?;
        write_out(format!("{name} {commit}\n"))?;
    } else {
        let text = written(&exported, finished.began, arguments.format)?;
        put(arguments.out.as_deref(), &text)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Finished {
    /// A candidate with what its readers are told beside it.
    ///
    /// # Errors
    /// There is no such candidate.
    pub(super) async fn exported(&self, chosen: &Chosen) -> anyhow::Result<Exported<'_>> {
        let report = &self.report;
        let folder = self.repository(chosen);
        let folder = folder.unwrap_or_else(|_| PathBuf::from("."));
        let author = match &chosen.author {
            Some(author) => Some(author.clone()),
            None => export::identity(&folder).await,
        };
        let attempt = candidate(report, chosen.candidate)?;
        let diff = FileDiff::read(&attempt.diff).unwrap_or_default();
        let files: Vec<&str> = diff.iter().filter_map(|file| file.old.as_deref()).collect();
        Ok(Exported {
            title: self.title.as_deref(),
            report,
            attempt,
            smallest: self.smallest.as_deref(),
            signatures: Signatures {
                author,
                signoff: chosen.signoff,
                reported_by: chosen.reported_by.clone(),
            },
            changed_by: changed_by(&folder, report).await,
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
    pub(super) fn repository(&self, chosen: &Chosen) -> anyhow::Result<PathBuf> {
        match (&chosen.repo, self.task.as_ref().map(|task| &task.source)) {
            (Some(repo), _) => Ok(repo.clone()),
            (None, Some(Source::Path(path))) => Ok(path.clone()),
            (None, _) => anyhow::bail!(
                "the source of the task is no folder of yours; name your repository with --repo DIR"
            ),
        }
    }

    /// Makes the branch of a candidate and returns its name and commit.
    ///
    /// # Errors
    /// The patch does not fit the base, or the branch is there already.
    pub(super) async fn branch(
        &self,
        exported: &Exported<'_>,
        chosen: &Chosen,
    ) -> anyhow::Result<(String, String)> {
        let named = chosen.branch.clone();
        let name = named.unwrap_or_else(|| format!("patchwright/{}", self.report.run));
        let folder = self.repository(chosen)?;
        let commit = export::make_branch((&folder, &chosen.base), &name, exported).await?;
        Ok((name, commit))
    }
}

/// The smallest input that shows the crash, where one was found.
async fn smallest(store: &Store, report: &Report) -> anyhow::Result<Option<Vec<u8>>> {
    let smallest = report.smallest.as_ref();
    match smallest.and_then(|smallest| smallest.input.as_deref()) {
        Some(hash) => Ok(store.blob(hash).await?),
        None => Ok(None),
    }
}

/// A candidate in the form of one file.
fn written(exported: &Exported<'_>, began: jiff::Timestamp, form: Form) -> anyhow::Result<Vec<u8>> {
    let json = |value| serde_json::to_vec_pretty(&value);
    Ok(match form {
        Form::Folder | Form::Diff | Form::Branch => exported.attempt.delivered_bytes(),
        Form::Mbox => export::mail(exported, began)?.into_bytes(),
        Form::Quilt => {
            let day = began.strftime("%Y-%m-%d").to_string();
            let mut text = export::quilt(exported, &day)?.into_bytes();
            text.extend(exported.attempt.delivered_bytes());
            text
        }
        Form::Pr => export::pull_request(exported)?.into_bytes(),
        Form::Sarif => json(export::sarif(exported)?)?,
        Form::Openvex => json(export::openvex(exported, &began.to_string())?)?,
    })
}

/// The commit that changed the crashing line last, where a repository tells.
async fn changed_by(folder: &Path, report: &Report) -> Option<LastChange> {
    let crash = report.crash.as_ref()?;
    export::last_change(folder, crash.file.as_deref()?, crash.line?).await
}

/// Checks the form of a person's name with an address.
fn person(text: &str) -> Result<String, String> {
    let (name, rest) = text
        .split_once('<')
        .ok_or("expected 'Name <name@example.org>'")?;
    let fine = !name.trim().is_empty()
        && rest.ends_with('>')
        && rest.contains('@')
        && !text.chars().any(char::is_control);
    fine.then(|| text.to_owned())
        .ok_or_else(|| "expected 'Name <name@example.org>'".to_owned())
}

/// Writes the mail of the best patch of a run to a file.
///
/// # Errors
/// The run has no patch, or the file cannot be written.
pub(super) async fn write_mail(common: &Common, run: &str, file: &Path) -> anyhow::Result<()> {
    let arguments = ExportArguments {
        chosen: Chosen {
            run: Some(run.to_owned()),
            ..Chosen::default()
        },
        format: Form::Mbox,
        out: Some(file.to_path_buf()),
        ..ExportArguments::default()
    };
    export(common, arguments).await.map(|_| ())
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
    let found = match number {
        None => report.best.as_ref(),
        Some(number) => report
            .attempts
            .iter()
            .find(|attempt| attempt.number == number),
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
    task: &Task,
    mut report: Report,
    arguments: &ExportArguments,
) -> anyhow::Result<ExitCode> {
    if arguments.chosen.candidate.is_some() {
        report.best = Some(candidate(&report, arguments.chosen.candidate)?.clone());
    }
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(&report.run));
    output::prepare(&out, &report.run, arguments.force)?;
    let report = output::write(&out, &report, store).await?;
    let events = store.events(&report.run).await?;
    let story = export::story(task.title.as_deref(), &report, &events)?;
    write_file(&out.join("story.md"), story)?;
    write_out(format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn put(out: Option<&Path>, bytes: &[u8]) -> anyhow::Result<()> {
    match out {
        Some(path) => write_file(path, bytes),
        None => write_result(bytes).context("standard output is closed"),
    }
}
