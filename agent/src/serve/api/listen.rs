//! Opens the port and answers until somebody says stop.

use super::{Api, router};
use crate::serve::Service;
use crate::settings::Settings;
use crate::store::StoreError;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// How long requests may take that are being answered when the daemon stops.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Why the daemon does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address cannot be used.
    #[error("{address} cannot be listened on (http.listen): {source}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system said.
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
    listener: TcpListener,
    address: SocketAddr,
}

/// Opens the port. Nothing is answered before [`Listening::answer`].
///
/// # Errors
/// When the port cannot be opened, or others could connect without a token.
pub async fn listen(
    service: Service,
    settings: Arc<Settings>,
    stop: CancellationToken,
) -> Result<Listening, ListenError> {
    let address = settings.http.listen;
    let api = Api::new(service, settings, stop);
    if !api.loopback && api.tokens.nobody_has_one().await? {
        return Err(ListenError::NoToken(address));
    }
    let wrong = |source| ListenError::Address { address, source };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    Ok(Listening {
        api,
        listener,
        address,
    })
}

impl Listening {
    /// Where it listens; tells the port when any would do.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until somebody says stop, and then a moment longer.
    ///
    /// # Errors
    /// Never, as long as the system lets it accept.
    pub async fn answer(self) -> io::Result<()> {
        let stop = self.api.stop.clone();
        let places = Arc::new(Semaphore::new(self.api.settings.http.connections));
        let limited = Limited {
            listener: self.listener,
            places,
        };
        let service = router(self.api).into_make_service_with_connect_info::<Peer>();
        let stopped = stop.clone();
        let answering = axum::serve(limited, service)
            .with_graceful_shutdown(async move { stopped.cancelled().await })
            .into_future();
        let given_up = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            done = answering => done,
            () = given_up => Ok(()),
        }
    }
}

/// Accepts no more connections than there are places; the next ones wait in
/// the system's queue.
struct Limited {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

impl Connected<IncomingStream<'_, Limited>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Limited>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// A connection and its place.
struct Connection {
    stream: TcpStream,
    _place: Option<OwnedSemaphorePermit>,
}

impl Listener for Limited {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let place = self.places.clone().acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            stream,
            _place: place,
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
