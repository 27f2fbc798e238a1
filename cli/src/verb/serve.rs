//! `patchwright serve` and `patchwright work`: the daemon, and whoever works off the tasks of a
//! queue with no interface of its own.

use super::session::stop_on_signal;
use crate::common::{Common, flags_given, tell};
use anyhow::Context;
use clap::Args;
use patchwright_config::{Flag, Settings};
use patchwright_daemon::crs::watch::Watch;
use patchwright_daemon::service::Service;
use patchwright_daemon::worker::WorkerPool;
use patchwright_daemon::{api, crs, review, telemetry};
use patchwright_store::Store;
use patchwright_store::tokens::Role;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Number of tasks that this machine works on at once; 0 leaves all to `patchwright work`
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    /// Number of tasks that this process works on at once
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
}

/// Serves until somebody says stop; then hands back what is not finished.
///
/// # Errors
/// When the store, the queue or the port cannot be opened.
pub(crate) async fn run(common: &Common, arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(workers_flag(arguments.workers))?;
    let settings = Arc::new(loaded.settings.clone());
    let _telemetry = telemetry::start(&settings.telemetry)?;
    let store = Store::of(&settings).await?;
    make_first_token(&store, &settings).await?;
    let service = Service::new(store);
    let pool = WorkerPool::new(&service, loaded.clone());
    let stop = CancellationToken::new();
    if settings.crs.enabled {
        let watch = Watch::new(service.clone(), settings.clone());
        tokio::spawn(watch.watch(stop.clone()));
    }
    let others = settings.crs.enabled;
    let others = others.then(|| crs::api::routes(&service, &settings));
    let pages = review::of_daemon(&service, Arc::new(loaded), stop.clone());
    let pages = others.unwrap_or_default().merge(pages);
    let front = api::listen(service, settings.clone(), pages, stop.clone()).await?;
    tell(&format!("listening on http://{}", front.address()))?;
    if let Some(address) = front.health() {
        tell(&format!("health at http://{address}"))?;
    }
    tokio::spawn(stop_on_signal(stop.clone()));
    let working = tokio::spawn(pool.work(settings.queue.workers, stop.clone()));
    front.answer().await;
    stop.cancel();
    working.await.context("the workers failed")?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the token that a new daemon needs before other machines can reach it, where the
/// settings name a file for it. It is printed nowhere: logs are read by many.
async fn make_first_token(store: &Store, settings: &Settings) -> anyhow::Result<()> {
    let Some(path) = &settings.http.first_token else {
        return Ok(());
    };
    if settings.http.listen.ip().is_loopback() || !store.tokens().await?.is_empty() {
        return Ok(());
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("no token can be written to {path} (http.first_token)"))?;
    if let Some(secret) = store.create_token("first", Role::Admin, None).await? {
        writeln!(file, "{secret}")?;
        tell(&format!("the first token, \"first\", is in {path}"))?;
    }
    Ok(())
}

/// Works until somebody says stop; then hands back what is not finished.
///
/// # Errors
/// When the store or the queue cannot be opened.
pub(crate) async fn work(common: &Common, arguments: &WorkArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(workers_flag(arguments.workers))?;
    let _telemetry = telemetry::start(&loaded.settings.telemetry)?;
    let service = Service::new(Store::of(&loaded.settings).await?);
    let workers = loaded.settings.queue.workers;
    let pool = WorkerPool::new(&service, loaded);
    let name = pool.name();
    tell(&format!("working on {workers} tasks at once as {name}"))?;
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(stop.clone()));
    pool.work(workers, stop).await;
    Ok(ExitCode::SUCCESS)
}

/// The setting that `--workers` gives.
pub(super) fn workers_flag(workers: Option<usize>) -> Vec<Flag> {
    let workers = workers.map(|workers| workers.to_string());
    flags_given(&[("--workers", "queue.workers", &workers)])
}
