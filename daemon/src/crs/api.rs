//! HTTP interfaces for cyber reasoning systems: the patch service and AIxCC's CRS
//! API v1.4, with their own paths, statuses and errors.
//!
//! It takes messages down and tells what came of them. The work is done by
//! whoever watches over the cases and by the workers of the queue.

mod auth;
mod patch;
mod refused;
mod status;
mod task;

use crate::login::Login;
use crate::service::Service;
use axum::routing::{delete, get, post};
use axum::{Router, middleware};
use patchwright_config::Settings;
use std::sync::Arc;

/// The paths of these interfaces, for the listener of the daemon.
pub fn routes(service: &Service, settings: &Arc<Settings>) -> Router {
    router(Front {
        service: service.clone(),
        settings: settings.clone(),
        login: Login::new(service.store().clone(), &settings.http),
    })
}

/// State of every handler. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    pub(crate) service: Service,
    pub(crate) settings: Arc<Settings>,
    pub(crate) login: Login,
}

/// The paths as the protocols write them, slashes at the end included.
fn router(front: Front) -> Router {
    Router::new()
        .route("/status/", get(status::status).delete(status::reset))
        .route("/v1/task/", post(task::take).delete(task::cancel_all))
        .route("/v1/task/{task_id}/", delete(task::cancel))
        .route("/v1/sarif/", post(task::take_sarif))
        .route("/v1/patch/", post(patch::take))
        .route("/v1/patch/{pov_id}/", get(patch::tell))
        .route_layer(middleware::from_fn_with_state(front.clone(), auth::guard))
        .with_state(front)
}
