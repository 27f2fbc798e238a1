//! `patchwright review`: the review page on this machine, for one user.

use super::session::{find_run, stop_on_signal};
use crate::common::{Common, tell};
use anyhow::Context;
use clap::Args;
use patchwright_daemon::review::{self, Opening};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// The run's id, its task's, the folder that --out made, or the word latest; all
    /// runs when none is named
    pub run: Option<String>,
    /// Port on the loopback address; any free one unless it is named
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

/// Serves the pages until it is interrupted.
///
/// # Errors
/// There is no such run, the port is taken, or the store fails.
pub(crate) async fn run(common: &Common, arguments: ReviewArguments) -> anyhow::Result<ExitCode> {
    let (loaded, store) = common.open().await?;
    let id = match &arguments.run {
        Some(named) => Some(find_run(&store, Some(named)).await?),
        None => None,
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("{address} cannot be listened on; name another --port"))?;
    let opening = Opening::new(&review::user()).context("the system gives no random bytes")?;
    let address = listener.local_addr()?;
    let stop = CancellationToken::new();
    let pages = review::of_user(store, Arc::new(loaded), &opening, stop.clone());
    let mut out = std::io::stdout();
    writeln!(out, "http://{address}{}", opening.path(id.as_deref()))?;
    out.flush()?;
    tell("open this address in a browser; it works once. Interrupt to stop.")?;
    tokio::spawn(stop_on_signal(stop.clone()));
    review::answer(listener, pages, stop).await?;
    Ok(ExitCode::SUCCESS)
}
