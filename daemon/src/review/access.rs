//! Access to the pages: viewers, sign-in, and the refusal of requests that another
//! site makes.

use super::Review;
use super::pages::{refused, sent};
use crate::login::{Login, NotAdmitted, bearer, is_this_machine};
use axum::Form;
use axum::extract::{Query, Request, State};
use axum::http::header::{COOKIE, HOST, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use patchwright_config::Http;
use patchwright_page::{ROOT, Viewer, sign_in as sign_in_text};
use patchwright_store::Store;
use patchwright_store::tokens::{Role, hash_of, secret};
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError};

/// The cookie that keeps a viewer signed in.
const NAME: &str = "patchwright_review";

/// The way in.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// Tokens, as for the API of the daemon.
    Daemon(Login),
    /// One user of this machine.
    User {
        opening: Arc<Mutex<Option<String>>>,
        session: Arc<str>,
        who: Arc<str>,
    },
}

/// The secret that opens the pages once, and the name of its user.
#[derive(Clone)]
pub struct Opening {
    secret: String,
    /// The secret of the cookie that the browser gets.
    session: String,
    who: String,
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening")
            .field("who", &self.who)
            .finish_non_exhaustive()
    }
}

impl Opening {
    /// Makes the secrets for a user.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new(who: &str) -> std::io::Result<Self> {
        Ok(Self {
            secret: secret()?,
            session: secret()?,
            who: who.to_owned(),
        })
    }

    /// The path that opens the page of a run, or of the list.
    pub fn path(&self, run: Option<&str>) -> String {
        let secret = &self.secret;
        match run {
            Some(run) => format!("{ROOT}/open?secret={secret}&run={run}"),
            None => format!("{ROOT}/open?secret={secret}"),
        }
    }
}

impl Access {
    pub(super) fn of_daemon(store: Store, http: &Http) -> Self {
        Self::Daemon(Login::new(store, http))
    }

    pub(super) fn of_user(opening: &Opening) -> Self {
        Self::User {
            opening: Arc::new(Mutex::new(Some(opening.secret.clone()))),
            session: opening.session.as_str().into(),
            who: opening.who.as_str().into(),
        }
    }

    async fn viewer(&self, headers: &HeaderMap, uri: &Uri) -> Result<Viewer, NotAdmitted> {
        match self {
            Self::User { session, who, .. } => {
                let local = headers.get(HOST).and_then(|host| host.to_str().ok());
                let known = cookie(headers).is_some_and(|given| hash_of(given) == hash_of(session));
                if known && local.is_some_and(is_this_machine) {
                    return Ok(viewer(who, Role::Admin, false));
                }
                Err(NotAdmitted::NoToken)
            }
            Self::Daemon(login) => {
                let token = bearer(headers);
                let secret = token.or_else(|| cookie(headers));
                let caller = login.caller(secret, headers, uri).await?;
                let name = match caller.name.as_str() {
                    "" => "this machine",
                    name => name,
                };
                let signed_in = secret.is_some() && token.is_none();
                Ok(viewer(name, caller.role, signed_in))
            }
        }
    }
}

fn viewer(name: &str, role: Role, signed_in: bool) -> Viewer {
    Viewer {
        name: name.to_owned(),
        decides: true,
        starts: matches!(role, Role::Submit | Role::Admin),
        signed_in,
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter();
    let mut pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))
}

/// Tells whether a request that changes something comes from a page of this server. A
/// browser says so in `Sec-Fetch-Site` or `Origin`; what says neither must carry a
/// token in a header, which no form can.
fn from_own_page(headers: &HeaderMap) -> bool {
    // A header that is no text comes from no page of ours.
    let text = |name: &str| {
        let value = headers.get(name);
        value.map(|value| value.to_str().unwrap_or(""))
    };
    let site = text("sec-fetch-site").map(|site| site == "same-origin");
    let origin = text(ORIGIN.as_str()).map(|origin| {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some() && host == text(HOST.as_str())
    });
    match (site, origin) {
        (None, None) => bearer(headers).is_some(),
        (site, origin) => site.unwrap_or(true) && origin.unwrap_or(true),
    }
}

/// Lets known viewers through, and changes nothing for another site.
pub(super) async fn guard(
    State(review): State<Review>,
    mut request: Request,
    next: Next,
) -> Response {
    let reads = *request.method() == Method::GET || *request.method() == Method::HEAD;
    if !reads && !from_own_page(request.headers()) {
        return refuse(FOREIGN);
    }
    match review.access.viewer(request.headers(), request.uri()).await {
        Ok(viewer) => {
            request.extensions_mut().insert(viewer);
            next.run(request).await
        }
        Err(NotAdmitted::NoToken | NotAdmitted::UnknownToken)
            if matches!(review.access, Access::User { .. }) =>
        {
            refused(
                StatusCode::UNAUTHORIZED,
                "Open it anew",
                "use the address that `patchwright review` printed; it works once, in one browser",
            )
        }
        Err(NotAdmitted::NoToken | NotAdmitted::UnknownToken)
            if reads && !request.headers().contains_key("x-fragment") =>
        {
            Redirect::to(&format!("{ROOT}/sign-in")).into_response()
        }
        Err(NotAdmitted::NoToken | NotAdmitted::UnknownToken) => {
            refused(StatusCode::UNAUTHORIZED, "Sign in", "a token is needed")
        }
        Err(NotAdmitted::Elsewhere) => refused(
            StatusCode::FORBIDDEN,
            "Not allowed",
            "without a token only this machine is answered, under the name localhost",
        ),
        Err(NotAdmitted::Store(_)) => refuse(UNREADABLE),
    }
}

type Refusal = (StatusCode, &'static str, &'static str);

const FOREIGN: Refusal = (
    StatusCode::FORBIDDEN,
    "Not allowed",
    "this request does not come from a page of this server; nothing was changed",
);
const NOBODY: Refusal = (
    StatusCode::NOT_FOUND,
    "Nothing here",
    "nobody signs in here",
);
const UNREADABLE: Refusal = (
    StatusCode::SERVICE_UNAVAILABLE,
    "Try again later",
    "the store cannot be read now",
);

fn refuse((status, title, detail): Refusal) -> Response {
    refused(status, title, detail)
}

/// Shows the form for a token.
pub(super) async fn sign_in_page(State(review): State<Review>) -> Response {
    match review.access {
        Access::Daemon(_) => sent(StatusCode::OK, sign_in_text(false)),
        Access::User { .. } => refuse(NOBODY),
    }
}

/// A token as the form sends it.
#[derive(Debug, Deserialize)]
pub(super) struct SignIn {
    token: String,
}

/// Keeps a token in a cookie, when it works.
pub(super) async fn sign_in(
    State(review): State<Review>,
    headers: HeaderMap,
    Form(form): Form<SignIn>,
) -> Response {
    let Access::Daemon(login) = &review.access else {
        return refuse(NOBODY);
    };
    if !from_own_page(&headers) {
        return refuse(FOREIGN);
    }
    let token = form.token.trim();
    match login.caller(Some(token), &headers, &Uri::default()).await {
        Ok(_) => with_cookie(Redirect::to(ROOT), token, "Lax"),
        Err(NotAdmitted::UnknownToken) => sent(StatusCode::UNAUTHORIZED, sign_in_text(true)),
        Err(_) => refuse(UNREADABLE),
    }
}

/// Takes the cookie away.
pub(super) async fn sign_out(headers: HeaderMap) -> Response {
    if !from_own_page(&headers) {
        return refuse(FOREIGN);
    }
    with_cookie(
        Redirect::to(&format!("{ROOT}/sign-in")),
        "; Max-Age=0",
        "Lax",
    )
}

/// The secret that was printed.
#[derive(Debug, Deserialize)]
pub(super) struct Open {
    secret: String,
    run: Option<String>,
}

/// Opens the pages for one browser, once.
pub(super) async fn open(State(review): State<Review>, Query(given): Query<Open>) -> Response {
    let Access::User {
        opening, session, ..
    } = &review.access
    else {
        return refused(
            StatusCode::NOT_FOUND,
            "Nothing here",
            "sign in with a token",
        );
    };
    let known = {
        let mut opening = opening.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opening
            .as_ref()
            .is_some_and(|secret| hash_of(secret) == hash_of(&given.secret));
        if known {
            *opening = None;
        }
        known
    };
    if !known {
        let detail = "this address was used before; start `patchwright review` again for another";
        return refused(StatusCode::UNAUTHORIZED, "Open it anew", detail);
    }
    let run = given.run.filter(|run| patchwright_agent::task::is_id(run));
    let to = run.map_or_else(|| ROOT.to_owned(), |run| format!("{ROOT}/runs/{run}"));
    with_cookie(Redirect::to(&to), session, "Strict")
}

fn with_cookie(to: Redirect, value: &str, site: &str) -> Response {
    let mut response = to.into_response();
    let cookie = format!("{NAME}={value}; Path={ROOT}; HttpOnly; SameSite={site}");
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) => {
            response.headers_mut().insert(SET_COOKIE, cookie);
            response
        }
        Err(_) => refused(
            StatusCode::BAD_REQUEST,
            "Not possible",
            "the token holds odd characters",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{cookie, from_own_page};
    use axum::http::{HeaderMap, HeaderName};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        let pairs =
            pairs.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        pairs.collect()
    }

    #[test]
    fn only_own_pages_change_anything() {
        for (given, expected) in [
            (&[("origin", "http://h:1"), ("host", "h:1")][..], true),
            (
                &[
                    ("origin", "https://h"),
                    ("host", "h"),
                    ("sec-fetch-site", "same-origin"),
                ],
                true,
            ),
            (&[("origin", "http://evil"), ("host", "h:1")], false),
            (&[("origin", "null"), ("host", "h:1")], false),
            (
                &[
                    ("origin", "http://h:1"),
                    ("host", "h:1"),
                    ("sec-fetch-site", "cross-site"),
                ],
                false,
            ),
            (&[("sec-fetch-site", "same-site"), ("host", "h:1")], false),
            (&[("sec-fetch-site", "none"), ("host", "h:1")], false),
            (&[("host", "h:1")], false),
            (&[("host", "h:1"), ("authorization", "Bearer x")], true),
            (&[("host", "h:1"), ("authorization", "Basic x")], false),
        ] {
            assert_eq!(from_own_page(&headers(given)), expected, "{given:?}");
        }
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let given = headers(&[("cookie", "a=b; patchwright_review=x; c=d")]);
        assert_eq!(cookie(&given), Some("x"));
        assert_eq!(
            cookie(&headers(&[("cookie", "patchwright_reviewer=x")])),
            None
        );
    }
}
