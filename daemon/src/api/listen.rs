//! Opens the port and answers until somebody says stop.

use super::{Api, router};
use crate::service::Service;
use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use patchwright_config::Settings;
use patchwright_store::StoreError;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

/// How long requests may take that are being answered when the daemon stops.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// An upload that is older is none any more.
const LEFT_BEHIND: Duration = Duration::from_hours(24);
/// How much longer than a request a connection may be silent. Event streams say
/// something more often.
const SILENCE: Duration = Duration::from_secs(30);

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
    others: Router,
    listener: TcpListener,
    address: SocketAddr,
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
    if !api.loopback && api.tokens.nobody_has_one().await? {
        return Err(ListenError::NoToken(address));
    }
    forget_uploads(&api.settings);
    let wrong = |source| ListenError::Address { address, source };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    Ok(Listening {
        api,
        others,
        listener,
        address,
    })
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
            silence: self.api.settings.http.timeout + SILENCE,
        };
        let service = router(self.api, self.others).into_make_service_with_connect_info::<Peer>();
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
    silence: Duration,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

impl Connected<IncomingStream<'_, Limited>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Limited>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// A connection and its place. One on which nothing moves for too long is
/// closed, so that nobody can take all places and say nothing.
struct Connection {
    stream: TcpStream,
    silence: Duration,
    silent: Pin<Box<Sleep>>,
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
            silence: self.silence,
            silent: Box::pin(tokio::time::sleep(self.silence)),
            _place: place,
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connection {
    /// Something was read or written.
    fn moved(&mut self) {
        let later = Instant::now() + self.silence;
        self.silent.as_mut().reset(later);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.moved();
        } else if self.silent.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.moved();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn a_connection_that_says_nothing_is_closed() {
        let mut limited = Limited {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            places: Arc::new(Semaphore::new(1)),
            silence: Duration::from_millis(50),
        };
        let address = limited.listener.local_addr().unwrap();
        let mut caller = TcpStream::connect(address).await.unwrap();
        let (mut connection, _) = limited.accept().await;
        caller.write_all(b"half a").await.unwrap();
        let mut bytes = Vec::new();
        let error = connection.read_to_end(&mut bytes).await.unwrap_err();
        assert_eq!(
            (error.kind(), bytes.as_slice()),
            (io::ErrorKind::TimedOut, &b"half a"[..])
        );
        assert_eq!(limited.places.available_permits(), 0);
        drop(connection);
        assert_eq!(limited.places.available_permits(), 1);
    }
}
