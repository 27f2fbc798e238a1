//! Health of the daemon: liveness, readiness and metrics.

use super::Api;
use super::problem::{Kind, Problem};
use crate::machine;
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Health of a daemon that works.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of the daemon.
    version: &'static str,
}

const WELL: Health = Health {
    status: "ok",
    version: env!("CARGO_PKG_VERSION"),
};

/// Answers that the daemon is alive
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses((status = 200, description = "It lives", body = Health)))]
pub(crate) async fn live() -> Json<Health> {
    Json(WELL)
}

/// Answers whether the daemon can take tasks
#[utoipa::path(get, path = "/readyz", tag = "health", security(()), responses((status = 200, description = "It can take tasks", body = Health)))]
pub(crate) async fn ready(State(api): State<Api>) -> Result<Json<Health>, Problem> {
    // Reads the store once a second at most, however many ask.
    api.login.nobody_has_token().await?;
    if !machine::has_room(&api.settings) {
        let wanted = api.settings.queue.free_mb;
        let detail = format!(
            "the disk of the state or the cache has less than {wanted} MB free (queue.free_mb): no task is worked on and no upload is received"
        );
        return Err(Problem::new(Kind::Unavailable, detail));
    }
    api.service.ready().await?;
    Ok(Json(WELL))
}

/// Gives the metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "health", responses((status = 200, description = "The metrics", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(api): State<Api>) -> Result<Response, Problem> {
    crate::telemetry::tell_queue(&api.service.store().depth().await?);
    let text = api.metrics.render();
    let headers = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((headers, text).into_response())
}
