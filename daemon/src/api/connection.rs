//! Connections: how many there may be, of all and of one address, and how long
//! one may take for its headers or be silent.
//!
//! The server loop of axum knows no time limit for headers, so hyper is driven here.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use patchwright_config::Http;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;
use tower::Service;

/// Time limit of requests that are in flight when the daemon stops.
const SHUTDOWN_TIME: Duration = Duration::from_secs(5);
/// Time beyond that of a request that a connection may be silent. Event streams say
/// something more often.
const SILENCE: Duration = Duration::from_secs(30);
/// The pause after an error of the system, as when no file can be opened.
const PAUSE: Duration = Duration::from_millis(200);

/// Limits of the connections of one listener.
#[derive(Debug)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    /// The places of each address that has a connection.
    peers: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
    peer_connections: usize,
    headers: Duration,
    silence: Duration,
}

impl Gate {
    pub(super) fn new(settings: &Http, connections: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(connections)),
            peers: Mutex::default(),
            peer_connections: settings.peer_connections.min(Semaphore::MAX_PERMITS),
            headers: settings.headers_timeout,
            silence: settings.timeout + SILENCE,
        }
    }

    /// Accepts connections until somebody says stop. More than there are places
    /// for wait in the system's queue; more than one address may have are
    /// closed.
    pub(super) async fn answer(
        self,
        listener: TcpListener,
        router: Router,
        stop: &CancellationToken,
    ) {
        let mut answering = JoinSet::new();
        while let Some(accepted) = stop.run_until_cancelled(self.accept(&listener)).await {
            while answering.try_join_next().is_some() {}
            if let Some(connection) = accepted {
                let answered = answer_one(connection, router.clone(), self.headers, stop.clone());
                answering.spawn(answered);
            }
        }
        let _ = tokio::time::timeout(SHUTDOWN_TIME, answering.join_all()).await;
    }

    /// Returns the next connection; nothing when it must not stay.
    async fn accept(&self, listener: &TcpListener) -> Option<Connection> {
        let place = self.places.clone().acquire_owned().await.ok()?;
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "no connection is accepted");
                tokio::time::sleep(PAUSE).await;
                return None;
            }
        };
        let seat = self.seat(peer.ip())?;
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        Some(Connection {
            stream,
            peer,
            silence: self.silence,
            silent: Box::pin(tokio::time::sleep(self.silence)),
            _place: place,
            _seat: seat,
        })
    }

    /// Takes one of the places of an address; nothing when it has too many connections.
    fn seat(&self, address: IpAddr) -> Option<OwnedSemaphorePermit> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        // Each connection holds on to the places of its address.
        peers.retain(|_, places| Arc::strong_count(places) > 1);
        let places = peers.entry(address);
        let places = places.or_insert_with(|| Arc::new(Semaphore::new(self.peer_connections)));
        places.clone().try_acquire_owned().ok()
    }
}

/// Answers the requests of one connection.
async fn answer_one(
    connection: Connection,
    router: Router,
    headers: Duration,
    stop: CancellationToken,
) {
    let peer = ConnectInfo(connection.peer);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let answer = router.clone().call(request.map(Body::new));
        async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new());
    builder.header_read_timeout(headers);
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(connection), service));
    // A caller that breaks off is no concern of ours.
    tokio::select! {
        _ = served.as_mut() => {}
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            let _ = served.await;
        }
    }
}

/// A connection and its place. One on which nothing moves for too long is
/// closed, so that nobody can take all places and say nothing.
struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    silence: Duration,
    silent: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
    _seat: OwnedSemaphorePermit,
}

impl Connection {
    /// Notes that something was read or written.
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

    fn gate(most: usize) -> Gate {
        Gate {
            places: Arc::new(Semaphore::new(2)),
            peers: Mutex::default(),
            peer_connections: most,
            headers: Duration::from_millis(50),
            silence: Duration::from_millis(50),
        }
    }

    #[tokio::test]
    async fn a_connection_that_says_nothing_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gate = gate(1);
        let address = listener.local_addr().unwrap();
        let mut caller = TcpStream::connect(address).await.unwrap();
        let mut connection = gate.accept(&listener).await.unwrap();
        caller.write_all(b"half a").await.unwrap();
        let mut bytes = Vec::new();
        let error = connection.read_to_end(&mut bytes).await.unwrap_err();
        assert_eq!(
            (error.kind(), bytes.as_slice()),
            (io::ErrorKind::TimedOut, &b"half a"[..])
        );
        assert_eq!(gate.places.available_permits(), 1);
        // An address has no more than its share, and has it again afterwards.
        let mut second = TcpStream::connect(address).await.unwrap();
        assert!(gate.accept(&listener).await.is_none());
        assert_eq!(second.read(&mut [0]).await.unwrap(), 0);
        drop(connection);
        assert_eq!(gate.places.available_permits(), 2);
        let _third = TcpStream::connect(address).await.unwrap();
        assert!(gate.accept(&listener).await.is_some());
    }

    #[tokio::test]
    async fn headers_that_trickle_in_are_cut_off() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Gate {
            silence: Duration::from_hours(1),
            ..gate(1)
        };
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let answering = tokio::spawn(async move {
            gate.answer(listener, Router::new(), &stopped).await;
        });
        let mut caller = TcpStream::connect(address).await.unwrap();
        let (mut read, mut write) = caller.split();
        let trickle = async {
            while write.write_all(b"G").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let mut bytes = Vec::new();
        tokio::select! {
            () = trickle => {}
            _ = read.read_to_end(&mut bytes) => {}
        }
        assert!(!bytes.starts_with(b"HTTP/1.1 2"));
        stop.cancel();
        answering.await.unwrap();
    }
}
