//! The description of the interface (OpenAPI), and the page to browse it.

use super::problem::{Kind, MEDIA_TYPE, Problem, Wrong};
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use std::sync::Arc;
use utoipa::OpenApi as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};

/// Paths of the document and of the page.
const DOCUMENT: &str = "/api/v1/openapi.json";
pub(super) const PAGE: &str = "/api/v1/docs";
/// Content security policy of the page: its own files, and calls of this daemon.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'none'; base-uri 'none'; \
    frame-ancestors 'none'";
/// The name of the way in.
const TOKEN: &str = "token";

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Patchwright",
        description = "Takes crashes in, repairs them, and gives patches out, with evidence."
    ),
    tags(
        (name = "tasks", description = "Hand crashes in and see how far they are"),
        (name = "results", description = "What came of them"),
        (name = "queue", description = "The queue as a whole"),
        (name = "health", description = "How the daemon is"),
    ),
    components(schemas(Problem, Wrong)),
    security(("token" = []))
)]
struct Description;

/// The document without its paths, with the security scheme that holds for every operation.
pub(super) fn base() -> OpenApi {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A token that `patchwright token create` made. On a daemon that only this machine reaches, none is \
             needed until the first one is made.",
        ))
        .build();
    let mut document = Description::openapi();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(TOKEN, SecurityScheme::Http(scheme));
    document
}

/// The document with every problem that an operation may answer, and the page.
pub(super) fn page(mut document: OpenApi, loopback: bool) -> Router {
    if loopback {
        // Nobody needs a token before the first one is made.
        let token = SecurityRequirement::new(TOKEN, [""; 0]);
        document.security = Some(vec![SecurityRequirement::default(), token]);
    }
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post].into_iter().flatten();
        operations.for_each(describe_problems);
    }
    Router::new()
        .route(DOCUMENT, get(json))
        .route(PAGE, get(html))
        .route(&format!("{PAGE}/"), get(html))
        .with_state(Arc::new(document))
}

async fn json(State(document): State<Arc<OpenApi>>) -> Response {
    Json(&*document).into_response()
}

async fn html(State(document): State<Arc<OpenApi>>) -> Result<Html<String>, Problem> {
    let document = serde_json::to_value(&*document).map_err(|error| Problem::internal(&error))?;
    let page = patchwright_page::interface(&document, DOCUMENT);
    Ok(Html(page.map_err(|error| Problem::internal(&error))?))
}

fn describe_problems(operation: &mut Operation) {
    for kind in Kind::ALL {
        let (_, title, status) = kind.facts();
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Problem")))
            .build();
        let response = ResponseBuilder::new()
            .description(title)
            .content(MEDIA_TYPE, content)
            .build();
        let known = operation
            .responses
            .responses
            .entry(status.as_str().to_owned());
        known.or_insert(RefOr::T(response));
    }
}
