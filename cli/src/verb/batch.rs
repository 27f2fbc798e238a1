//! `patchwright batch`: work off a set of tasks in the foreground.
//!
//! The tasks go into the queue of the store, at a place of their own, so that
//! a batch that was cut off goes on where it was when it is started again, and
//! nobody else's tasks are touched.

mod list;
mod report;
mod watch;

use super::model_arguments::Endpoint;
use super::serve::workers_flag;
use super::session;
use crate::common::{Common, tell, write_out};
use crate::display;
use anyhow::Context;
use clap::{Args, ValueEnum};
use list::Listed;
use patchwright_daemon::service::Service;
use patchwright_daemon::worker::WorkerPool;
use patchwright_source::visible_line;
use patchwright_store::Store;
use patchwright_store::submissions::{NewTask, Submitted};
use report::Row;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(crate) struct BatchArguments {
    /// A folder with tasks anywhere below it, or a file with a task as JSON in each line
    pub tasks: PathBuf,
    /// Number of tasks that are worked on at once
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Print a report of this shape instead of the table
    #[arg(long, value_enum)]
    pub report: Option<ReportShape>,
    /// Work on tasks that have ended anew
    #[arg(long)]
    pub again: bool,
    /// The model that answers
    #[command(flatten)]
    pub endpoint: Endpoint,
}

/// The shape of a batch's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportShape {
    /// JUnit's XML, for continuous integration.
    Junit,
    /// A list of objects.
    Json,
    /// For tables.
    Csv,
    /// For people, in a page.
    Markdown,
}

/// Works the tasks off. The exit status is 0 when every task is verified.
///
/// # Errors
/// When there are no tasks, or the store or the queue cannot be opened.
pub(crate) async fn run(common: &Common, arguments: &BatchArguments) -> anyhow::Result<ExitCode> {
    let mut flags = workers_flag(arguments.workers);
    flags.extend(arguments.endpoint.settings());
    let loaded = common.load(flags)?;
    let listed = list::read(&arguments.tasks)?;
    let place = place(&arguments.tasks)?;
    let service = Service::new(Store::of(&loaded.settings).await?);
    if arguments.again {
        let ids = listed.iter().map(|listed| listed.id.as_str());
        service.store().forget(&ids.collect::<Vec<_>>()).await?;
    }
    let refused = submit(&service, &listed, &place).await?;
    let workers = loaded.settings.queue.workers.max(1);
    let display = display::of_settings(&loaded.settings);
    let pool = WorkerPool::new(&service, loaded).only(place.clone());
    let stop = CancellationToken::new();
    let working = tokio::spawn(pool.work(workers, stop.clone()));
    tokio::select! {
        biased;
        () = session::asked_to_end() => {}
        watched = watch::until_all_over(&service, &place, &display) => watched?,
    }
    stop.cancel();
    working.await.context("the workers failed")?;
    display.close();
    let rows = report::rows(&service, &listed, &refused).await?;
    let text = report::write(&rows, arguments.report)?;
    write_out(&text)?;
    let is_told = |row: &&Row| row.attempts == 0 && !row.detail.is_empty();
    for row in rows.iter().filter(is_told) {
        let line = format!("{}: {}: {}", row.task, row.ending, row.detail);
        tell(&visible_line(&line))?;
    }
    if rows.iter().any(|row| row.ending.is_empty()) {
        let path = arguments.tasks.display();
        tell(&format!("to go on: patchwright batch {path}"))?;
    }
    let verified = rows.iter().all(|row| row.ending == "verified");
    Ok(ExitCode::from(u8::from(!verified)))
}

/// Submits the tasks; those that could not be, with the reason.
async fn submit(service: &Service, listed: &[Listed], place: &str) -> anyhow::Result<Vec<Row>> {
    let mut refused = Vec::new();
    let mut tasks = Vec::new();
    for listed in listed {
        match &listed.task {
            Ok(task) => tasks.push(NewTask {
                id: task.id.clone(),
                task: serde_json::to_string(task)?,
                origin: "batch".to_owned(),
                place: Some(place.to_owned()),
                ..NewTask::default()
            }),
            Err(error) => refused.push(Row::refused(&listed.id, error)),
        }
    }
    let ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
    let answers = service.submit(tasks).await?;
    for (id, answer) in ids.iter().zip(answers) {
        if answer == Submitted::Differs {
            let reason = "this task was another one when it was handed in before; name it anew, or start with --again";
            refused.push(Row::refused(id, reason));
        }
    }
    Ok(refused)
}

/// The place of the tasks in the queue: the same for the same path.
fn place(path: &Path) -> anyhow::Result<String> {
    let path = path
        .canonicalize()
        .with_context(|| format!("{} cannot be opened", path.display()))?;
    let hash = format!("{:x}", Sha256::digest(path.display().to_string()));
    let short: String = hash.chars().take(16).collect();
    Ok(format!("batch-{short}"))
}
