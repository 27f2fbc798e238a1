//! The review page over HTTP: the same pages for the callers of a daemon and for the
//! one user of `patchwright review`.
//!
//! Reading needs a known viewer, deciding a role. A request that changes something
//! must come from a page of this server.

mod access;
mod decide;
mod live;
mod load;
mod pages;
mod refused;
mod webhook;

pub use crate::machine::user;
pub use access::Opening;

use crate::api::confined;
use crate::login::Login;
use crate::service::Service;
use axum::extract::DefaultBodyLimit;
use axum::http::HeaderValue;
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use decide::Running;
use pages::asset;
use patchwright_config::Loaded;
use patchwright_page::{self as page, ROOT};
use patchwright_store::Store;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Content security policy of every page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// Bytes of a form.
const FORM: usize = 64 << 10;
/// Bytes of what a forge sends: its texts are at most 64 KiB each.
const EVENT: usize = 1 << 20;

/// State of every page. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Review {
    store: Store,
    loaded: Arc<Loaded>,
    host: Host,
    streams: Arc<Semaphore>,
    stop: CancellationToken,
}

/// Host of the pages: who gets in, and who works on what is started there.
#[derive(Debug, Clone)]
enum Host {
    /// A daemon: callers with tokens, as for its API, and the workers of its queue.
    Daemon(Login, Box<Service>),
    /// A process for one user of this machine, which works on it itself and knows how to stop it.
    User(Opening, Running),
}

/// The pages of a daemon: its callers sign in with their tokens, and what they start
/// goes into its queue.
pub fn of_daemon(service: &Service, loaded: Arc<Loaded>, stop: CancellationToken) -> Router {
    let http = &loaded.settings.http;
    let login = Login::new(service.store().clone(), http);
    router(Review {
        store: service.store().clone(),
        host: Host::Daemon(login, Box::new(service.clone())),
        streams: Arc::new(Semaphore::new(http.streams)),
        loaded,
        stop,
    })
}

/// The pages for one user of this machine, who opens them with a secret that works
/// once. What they start is worked on by this process.
pub fn of_user(
    store: Store,
    loaded: Arc<Loaded>,
    opening: &Opening,
    stop: CancellationToken,
) -> Router {
    router(Review {
        host: Host::User(opening.clone(), Running::default()),
        streams: Arc::new(Semaphore::new(loaded.settings.http.streams)),
        store,
        loaded,
        stop,
    })
}

/// Answers for the pages until somebody says stop.
///
/// # Errors
/// When the system takes the listener away.
pub async fn answer(
    listener: TcpListener,
    pages: Router,
    stop: CancellationToken,
) -> std::io::Result<()> {
    axum::serve(listener, pages)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}

fn router(review: Review) -> Router {
    let pages = Router::new()
        .route("/", get(pages::list))
        .route("/plots", get(pages::plots))
        .route("/decisions.csv", get(pages::decisions_csv))
        .route("/decisions.json", get(pages::decisions_json))
        .route("/runs/{run}", get(pages::run))
        .route("/runs/{run}/story", get(pages::story))
        .route("/runs/{run}/events", get(live::events))
        .route("/runs/{run}/events/{number}", get(pages::event))
        .route("/runs/{run}/logs/{hash}", get(pages::log))
        .route("/runs/{run}/cancel", post(decide::cancel))
        .route("/runs/{run}/attempts/{number}", get(pages::candidate))
        .route("/runs/{run}/attempts/{number}/source", get(pages::source))
        .route(
            "/runs/{run}/attempts/{number}/{decision}",
            post(decide::decide),
        )
        .route_layer(middleware::from_fn_with_state(
            review.clone(),
            access::guard,
        ))
        .route(
            "/webhook",
            post(webhook::take).layer(DefaultBodyLimit::max(EVENT)),
        )
        .route("/sign-in", get(access::sign_in_page).post(access::sign_in))
        .route("/sign-out", post(access::sign_out))
        .route("/open", get(access::open))
        .route(
            "/style.css",
            get(asset("text/css; charset=utf-8", page::STYLE)),
        )
        .route(
            "/script.js",
            get(asset("text/javascript; charset=utf-8", page::SCRIPT)),
        )
        .route("/icon.svg", get(asset("image/svg+xml", page::ICON)))
        .layer(DefaultBodyLimit::max(FORM))
        .layer(middleware::map_response(confine))
        .with_state(review);
    Router::new()
        .route("/", get(|| async { Redirect::to(ROOT) }))
        .nest(ROOT, pages)
}

/// Lets a page run and load nothing but the server's own files, and be shown in no
/// other page.
async fn confine(response: Response) -> Response {
    let mut response = confined(response, POLICY);
    let headers = response.headers_mut();
    for (name, value) in [
        // An Origin header is sent with forms, and no address leaves the host.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        let header = headers.entry(name);
        header.or_insert(HeaderValue::from_static(value));
    }
    response
}
