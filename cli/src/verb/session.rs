//! Shared part of `run`, `resume`, `replay` and `judge`: from a run that is ready
//! to go on to the printed report and the exit status.

use super::model_arguments::ModelArguments;
use crate::common::{Format, WrongInput, write_out};
use crate::display::{self, Display};
use crate::output;
use anyhow::Context;
use clap::Args;
use patchwright_agent::plan::Plan;
use patchwright_agent::record::result::RUN_FILE;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::repair::Run;
use patchwright_agent::report::{INTERRUPTED, Report, RungReport};
use patchwright_agent::report_text;
use patchwright_agent::task::Task;
use patchwright_config::Loaded;
use patchwright_patcher::Patch;
pub(super) use patchwright_run::session::Beginning;
use patchwright_run::session::{Right, Session};
use patchwright_run::{Answers, models};
use patchwright_source::visible_line;
use patchwright_store::Store;
use patchwright_store::runs::RunFilter;
use patchwright_target::Target;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where the results go.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArguments {
    /// Write report.json, patch.diff, journal.jsonl and logs to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the result of another run in that folder
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Format in which the report is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl OutputArguments {
    /// Makes the folder ready for a run, before anything is spent. The result of
    /// another run is replaced only with `--force`.
    pub(super) fn prepare(&self, run: &str) -> anyhow::Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        output::prepare(out, run, self.force)
    }

    /// The refusal of a task that is not as it has to be.
    pub(super) fn invalid(&self, task: &str, reason: &dyn std::fmt::Display) -> anyhow::Error {
        let ending = Ending::new(EndingKind::InvalidTask, reason.to_string());
        self.refused(task, ending)
    }

    /// The refusal of a task, with the ending that its run would have had.
    pub(super) fn refused(&self, task: &str, ending: Ending) -> anyhow::Error {
        anyhow::Error::new(Refused {
            task: task.to_owned(),
            ending,
            format: self.format,
        })
    }
}

/// An ending before there was a run.
#[derive(Debug, thiserror::Error)]
#[error("{task}: {}", .ending.detail)]
pub(crate) struct Refused {
    task: String,
    ending: Ending,
    format: Format,
}

impl Refused {
    /// Prints the report and returns the exit status of the ending.
    pub(crate) fn report(self) -> anyhow::Result<ExitCode> {
        let run = Run::new(Plan::default()).stopped(self.ending);
        print(&Report::of(&run, "", &self.task, "none"), self.format)
    }
}

/// Announces a run, begins it and drives it to its end; prints nothing but progress.
pub(super) async fn begin_to_end(
    display: Display,
    task: (Task, Loaded),
    new: Beginning,
    (asked, output): (&ModelArguments, &OutputArguments),
) -> anyhow::Result<Report> {
    let session = begin_announced(&display, task, new, (asked, output)).await?;
    to_the_end(&session, output, (display, None)).await
}

/// Drives a run to its end and writes everything down but the report to
/// standard output. Without a target, commands are run on this machine.
pub(super) async fn to_the_end(
    session: &Session,
    output: &OutputArguments,
    (display, target): (Display, Option<Arc<dyn Target>>),
) -> anyhow::Result<Report> {
    let id = session.journal.run();
    display.line(&format!(
        "run {id} (should it be cut off: patchwright resume {id})"
    ));
    let stop = CancellationToken::new();
    let watcher = tokio::spawn(stop_on_signal(stop.clone()));
    // On the heap: what waits for a whole run is large.
    let observer = display.observer();
    let finished = Box::pin(session.drive((observer, target), &stop)).await;
    watcher.abort();
    let report = session.conclude(&finished?).await?;
    if let Some(out) = &output.out {
        output::write(out, &report, session.journal.store()).await?;
    }
    Ok(report)
}

/// Announces a run, begins it, and records what its models say where that was asked for.
pub(super) async fn begin_announced(
    display: &Display,
    (task, loaded): (Task, Loaded),
    new: Beginning,
    (asked, output): (&ModelArguments, &OutputArguments),
) -> anyhow::Result<Session> {
    announce(display, &task, &new.answers);
    // On the heap: what begins a run is large.
    let mut session = Box::pin(begin(task, loaded, new, output)).await?;
    session.models = asked.recorded(session.models)?;
    Ok(session)
}

/// Begins a run in the store of the settings.
pub(super) async fn begin(
    task: Task,
    loaded: Loaded,
    new: Beginning,
    output: &OutputArguments,
) -> anyhow::Result<Session> {
    let store = Store::of(&loaded.settings).await?;
    let id = patchwright_run::run_id(&task.id);
    let new = Beginning {
        out: output.out.clone(),
        ..new
    };
    let models = models(&new.answers, &loaded.settings)?;
    output.prepare(&id)?;
    Session::begin(&store, (task, loaded), (Right::Run(id), models), new).await
}

/// Judges a patch of somebody else without a model, and prints nothing but progress.
pub(super) async fn judge(
    (task, loaded): (Task, Loaded),
    patch: Patch,
    output: &OutputArguments,
) -> anyhow::Result<Report> {
    let display = display::of_settings(&loaded.settings);
    let new = Beginning::new(Answers::Nobody, Some(patch));
    let asked = (&ModelArguments::default(), output);
    // On the heap: what begins a run is large.
    Box::pin(begin_to_end(display, (task, loaded), new, asked)).await
}

/// Returns the rung at which the patch of a judgement fell.
pub(super) fn refuting(report: &Report) -> Option<&RungReport> {
    let rungs = report.attempts.first().map(|attempt| &attempt.rungs)?;
    rungs.iter().find(|rung| rung.holds == Some(false))
}

/// Says why a judgement ended as it did: where a rung refutes the patch, that is the reason.
pub(super) fn reason(report: &Report) -> String {
    refuting(report).map_or_else(
        || report.detail.clone(),
        |rung| format!("{}: {}", rung.name, rung.reason),
    )
}

/// Does some work, unless the process is asked to end before it is done.
pub(super) async fn unless_stopped<T>(work: impl Future<Output = T>) -> Option<T> {
    // From before the work begins, which may not pause for a while.
    tokio::select! {
        biased;
        () = asked_to_end() => None,
        done = work => Some(done),
    }
}

/// Cancels the token when the process is asked to end.
pub(super) async fn stop_on_signal(stop: CancellationToken) {
    asked_to_end().await;
    stop.cancel();
}

/// Waits until the process is asked to end; for ever where the system does not tell.
pub(super) async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// The first lines: what is run, and whose answers it uses.
pub(super) fn announce(display: &Display, task: &Task, answers: &Answers) {
    let title = task.title.as_deref().map(visible_line);
    let title = title.map_or_else(String::new, |title| format!(": {title}"));
    display.line(&format!("task {}{title}", task.id));
    match answers {
        Answers::Recorded(path) => display.line(&format!(
            "the model's answers are RECORDED, read from {}; no model is asked",
            path.display()
        )),
        Answers::Live(name) => display.line(&format!("asking the model {name}")),
        Answers::Journal(run) => display.line(&format!(
            "the model's answers are RECORDED, taken from the journal of {run}; no model is asked"
        )),
        Answers::Nobody => {}
    }
}

/// Returns the exit status that goes with a report: that of its ending, or the
/// one of a run that has not ended.
pub(super) fn status(report: &Report) -> ExitCode {
    let code = match EndingKind::read(&report.ending) {
        Some(ending) => ending.exit_code(),
        None if report.ending == INTERRUPTED => EndingKind::Canceled.exit_code(),
        None => crate::common::PAUSED,
    };
    ExitCode::from(code)
}

/// Prints a report to standard output and returns the exit status that goes with it.
pub(super) fn print(report: &Report, format: Format) -> anyhow::Result<ExitCode> {
    write_out(format.render(report, || Ok(report_text::render(report)?))?)?;
    Ok(status(report))
}

/// The word for the run that began last.
const LATEST: &str = "latest";

/// Finds a run by its id, its task's id, or the folder that `--out` made; without
/// a name, or by the word `latest`, the one that began last.
pub(super) async fn find_run(store: &Store, named: Option<&str>) -> anyhow::Result<String> {
    match named {
        None | Some(LATEST) => latest(store, false).await,
        Some(name) => Ok(store.run_named(&run_id(name)?).await?),
    }
}

/// Finds the run that began last, of all or of those without an ending.
pub(super) async fn latest(store: &Store, unfinished: bool) -> anyhow::Result<String> {
    let filter = RunFilter {
        unfinished,
        limit: 1,
        ..RunFilter::default()
    };
    let last = store.runs(&filter).await?.into_iter().next();
    let last = last.ok_or_else(|| {
        let which = if unfinished { " without an ending" } else { "" };
        let folder = store.folder().display();
        WrongInput(format!(
            "there is no run{which} in {folder}; --state DIR names another store"
        ))
    })?;
    Ok(last.id)
}

/// The task of a run.
pub(super) async fn task_of(store: &Store, run: &str) -> anyhow::Result<Task> {
    let (task, _) = store.run(run).await?;
    serde_json::from_str(&task).context("the task of the run cannot be read")
}

/// The id of a run that was named by its id or by the folder that `--out` made.
fn run_id(named: &str) -> anyhow::Result<String> {
    let file = Path::new(named).join(RUN_FILE);
    if !file.is_file() {
        return Ok(named.to_owned());
    }
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(text.trim().to_owned())
}
