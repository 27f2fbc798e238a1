//! The HTTP interface under `/api/v1`: one file a resource.
//!
//! It reads requests, asks the [`Service`], and writes answers. Every error is
//! a problem ([`problem::Problem`]), and everything that it may answer stands
//! in the OpenAPI document at `/api/v1/openapi.json`. Here its paths are put
//! together and its ports opened; it runs no task.

mod auth;
mod connection;
mod document;
pub(crate) mod events;
pub(crate) mod extract;
mod health;
mod limit;
pub mod problem;
mod submit;
mod tasks;
mod upload;

use crate::login::Login;
use crate::service::Service;
use anyhow::Context;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::http::{HeaderValue, Method, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use connection::Gate;
use limit::Rate;
use metrics_exporter_prometheus::PrometheusHandle;
use patchwright_config::Settings;
use patchwright_run::WrongInput;
use patchwright_store::submissions::TaskRow;
use problem::{Kind, Problem};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Bytes of a kilobyte, and kilobytes of a megabyte.
const KILO: usize = 1024;

/// State of every handler. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    pub(crate) service: Service,
    pub(crate) settings: Arc<Settings>,
    rate: Arc<Rate>,
    /// Places for requests, and for event streams.
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    login: Login,
    metrics: PrometheusHandle,
    stop: CancellationToken,
}

impl Api {
    /// Returns a task; that there is none is the answer.
    async fn task(&self, id: &str) -> Result<TaskRow, Problem> {
        let task = self.service.store().task(id).await?;
        task.ok_or_else(|| Problem::no_task(id))
    }

    /// Bytes of a JSON body.
    fn json_limit(&self) -> usize {
        self.settings.http.body_kb.saturating_mul(KILO)
    }

    /// Bytes of an upload.
    fn upload_limit(&self) -> usize {
        self.settings.http.upload_mb.saturating_mul(KILO * KILO)
    }
}

/// Everything that is answered, with the description of it, and what others
/// answer at the same port.
fn router(api: Api, others: Router) -> Router {
    let guarded = OpenApiRouter::new()
        .routes(routes!(tasks::list, submit::submit))
        .routes(routes!(tasks::one))
        .routes(routes!(tasks::cancel))
        .routes(routes!(events::events))
        .routes(routes!(tasks::patch))
        .routes(routes!(tasks::report))
        .routes(routes!(tasks::journal))
        .routes(routes!(tasks::queue))
        .routes(routes!(tasks::pause))
        .routes(routes!(tasks::resume))
        .routes(routes!(health::metrics))
        .route_layer(middleware::from_fn_with_state(api.clone(), auth::guard));
    let open = OpenApiRouter::new()
        .routes(routes!(health::live))
        .routes(routes!(health::ready));
    let upload = api.upload_limit();
    let (router, described) = OpenApiRouter::with_openapi(document::base())
        .merge(guarded)
        .merge(open)
        .split_for_parts();
    router
        .with_state(api.clone())
        .merge(document::page(described, api.login.loopback))
        .merge(others)
        .fallback(nothing)
        .method_not_allowed_fallback(method)
        .layer(DefaultBodyLimit::max(upload))
        .layer(middleware::from_fn_with_state(api, limit::apply))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(confine))
        .layer(middleware::from_fn(crate::telemetry::count_request))
}

/// Returns the routes of the listener for health.
fn health_router(api: Api) -> Router {
    Router::new()
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .fallback(nothing)
        .with_state(api)
}

/// Lets no page frame an answer, and no answer load anything but the page of the
/// documentation and pages that bring a policy of their own.
async fn confine(request: Request, next: Next) -> Response {
    let is_page = request.uri().path().starts_with(document::PAGE);
    let policy = if is_page {
        document::POLICY
    } else {
        "default-src 'none'; frame-ancestors 'none'"
    };
    confined(next.run(request).await, policy)
}

/// Lets a response load what a policy allows and be shown in no frame, unless it says otherwise.
pub(crate) fn confined(mut response: Response, policy: &'static str) -> Response {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, policy),
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        let header = response.headers_mut().entry(name);
        header.or_insert(HeaderValue::from_static(value));
    }
    response
}

async fn nothing(uri: Uri) -> Problem {
    let shown: String = uri.path().chars().take(200).collect();
    Problem::new(Kind::NotFound, format!("there is no {shown}"))
}

async fn method(method: Method, uri: Uri) -> Problem {
    let shown: String = uri.path().chars().take(200).collect();
    let detail = format!("{method} is not understood at {shown}");
    Problem::new(Kind::Method, detail)
}

/// A panic is a bug; the caller is told as much and no more.
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal(&"a handler panicked").into_response()
}

/// An upload that is older is none any more.
const LEFT_BEHIND: Duration = Duration::from_hours(24);
/// Connections of the listener for health.
const HEALTH_CONNECTIONS: usize = 16;

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
) -> anyhow::Result<Listening> {
    let address = settings.http.listen;
    let api = Api {
        login: Login::new(service.store().clone(), &settings.http),
        rate: Arc::new(Rate::new(settings.http.rate)),
        requests: Arc::new(Semaphore::new(settings.http.requests)),
        streams: Arc::new(Semaphore::new(settings.http.streams)),
        metrics: crate::telemetry::recorder(),
        service,
        settings,
        stop,
    };
    if !api.login.loopback && api.login.nobody_has_token().await? {
        let reason = format!(
            "{address} can be reached by others (http.listen), and there is no token: make one with `patchwright token create` first"
        );
        return Err(WrongInput(reason).into());
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

async fn bind(key: &str, address: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let wrong = || format!("{address} cannot be listened on ({key})");
    let listener = TcpListener::bind(address).await.with_context(wrong)?;
    let opened = listener.local_addr().with_context(wrong)?;
    Ok((listener, opened))
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
