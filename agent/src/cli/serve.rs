//! `patchwright serve`: the daemon.

use super::Common;
use crate::serve::{Service, api};
use crate::store::Store;
use crate::telemetry;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// How many tasks this machine works on at once
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workers: usize,
}

/// Serves until somebody says stop.
///
/// # Errors
/// When the store or the port cannot be opened.
pub async fn run(common: &Common, _arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let settings = Arc::new(loaded.settings);
    let _telling = telemetry::start(&settings.telemetry)?;
    let service = Service::new(Store::of(&settings).await?);
    let stop = CancellationToken::new();
    let front = api::listen(service, settings, stop.clone()).await?;
    writeln!(std::io::stderr(), "listening on http://{}", front.address())?;
    tokio::spawn(until_told(stop));
    front.answer().await?;
    Ok(ExitCode::SUCCESS)
}

async fn until_told(stop: CancellationToken) {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminated => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    stop.cancel();
}
