//! Listener: opens the ports and answers until somebody says stop. What a
//! connection may do is the business of [`super::connection`].

use super::connection::Gate;
use super::{Api, health_router, router};
use crate::service::Service;
use axum::Router;
use patchwright_config::Settings;
use patchwright_store::StoreError;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// An upload that is older is none any more.
const LEFT_BEHIND: Duration = Duration::from_hours(24);
/// Connections of the listener for health.
const HEALTH_CONNECTIONS: usize = 16;

/// Reason why the daemon does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address cannot be used.
    #[error("{address} cannot be listened on ({key}): {source}")]
    Address {
        /// The setting.
        key: &'static str,
        address: SocketAddr,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// Others could connect, and nobody would need a token.
    #[error(
        "{0} can be reached by others (http.listen), and there is no token: make one with `patchwright token create` first"
    )]
    NoToken(SocketAddr),
    /// The tokens cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An interface that is open.
#[derive(Debug)]
pub struct Listening {
    api: Api,
    others: Router,
    listener: TcpListener,
    address: SocketAddr,
    health: Option<(TcpListener, SocketAddr)>,
}

/// Opens the port, for this interface and the paths of `others`. Nothing is
/// answered before [`Listening::answer`].
///
/// # Errors
/// When the port cannot be opened, or others could connect without a token.
pub async fn listen(
    service: Service,
    settings: Arc<Settings>,
    others: Router,
    stop: CancellationToken,
) -> Result<Listening, ListenError> {
    let address = settings.http.listen;
    let api = Api::new(service, settings, stop);
    if !api.login.loopback && api.login.nobody_has_token().await? {
        return Err(ListenError::NoToken(address));
    }
    forget_uploads(&api.settings);
    let (listener, address) = bind("http.listen", address).await?;
    let health = match api.settings.http.health {
        Some(address) => Some(bind("http.health", address).await?),
        None => None,
    };
    Ok(Listening {
        api,
        others,
        listener,
        address,
        health,
    })
}

async fn bind(
    key: &'static str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), ListenError> {
    let wrong = |source| ListenError::Address {
        key,
        address,
        source,
    };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    Ok((listener, address))
}

/// Removes what uploads left behind that a kill cut off.
fn forget_uploads(settings: &Settings) {
    let folder = settings.cache.folder.join("uploads");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry
            .metadata()
            .and_then(|about| about.modified())
            .ok()
            .and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > LEFT_BEHIND) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Listening {
    /// Returns the address; the port that was opened when any would do.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the listener for health, when there is one.
    pub fn health(&self) -> Option<SocketAddr> {
        self.health.as_ref().map(|(_, address)| *address)
    }

    /// Answers until somebody says stop, and then a moment longer.
    pub async fn answer(self) {
        let stop = self.api.stop.clone();
        let http = &self.api.settings.http;
        let gate = Gate::new(http, http.connections);
        let health_gate = Gate::new(http, HEALTH_CONNECTIONS);
        let health = health_router(self.api.clone());
        let answering = gate.answer(self.listener, router(self.api, self.others), &stop);
        let telling = async {
            if let Some((listener, _)) = self.health {
                health_gate.answer(listener, health, &stop).await;
            }
        };
        futures::future::join(answering, telling).await;
    }
}
