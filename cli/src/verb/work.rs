//! `patchwright work`: work off the tasks of a queue, with no interface of its
//! own; and what everything that works off a queue needs.

use crate::common::{Common, flag};
use clap::Args;
use patchwright_agent::progress::Observer;
use patchwright_config::Flag;
use patchwright_daemon::service::Service;
use patchwright_daemon::telemetry;
use patchwright_daemon::worker::{Observers, WorkerPool};
use patchwright_store::Store;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    /// Number of tasks that this process works on at once
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
}

/// Works until somebody says stop; then hands back what is not finished.
///
/// # Errors
/// When the store or the queue cannot be opened.
pub(crate) async fn run(common: &Common, arguments: &WorkArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(workers_flag(arguments.workers))?;
    let _telemetry = telemetry::start(&loaded.settings.telemetry)?;
    let service = Service::new(Store::of(&loaded.settings).await?);
    let workers = loaded.settings.queue.workers;
    let pool = WorkerPool::new(&service, loaded, silent());
    writeln!(
        std::io::stderr(),
        "working on {workers} tasks at once as {}",
        pool.name()
    )?;
    let stop = CancellationToken::new();
    tokio::spawn(super::session::stop_on_signal(stop.clone()));
    pool.work(workers, stop).await;
    Ok(ExitCode::SUCCESS)
}

/// The setting that `--workers` gives.
pub(super) fn workers_flag(workers: Option<usize>) -> Vec<Flag> {
    let flags = workers.map(|workers| flag("--workers", "queue.workers", &workers.to_string()));
    flags.into_iter().collect()
}

/// Nobody watches.
pub(super) fn silent() -> Observers {
    Arc::new(|_| Observer::silent())
}
