//! Access to the pages: viewers, sign-in, and the refusal of requests that another
//! site makes.

use super::refused::{Answer, Refused, html};
use super::{Host, Review};
use crate::login::{Login, NotAdmitted, bearer, is_this_machine};
use axum::Form;
use axum::extract::{Query, Request, State};
use axum::http::header::{COOKIE, HOST, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use patchwright_page::{ROOT, Viewer};
use patchwright_store::tokens::{Role, hash_of, secret};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The cookie that keeps a viewer signed in.
const NAME: &str = "patchwright_review";

/// The secret that opens the pages once, and the name of its user.
#[derive(Debug, Clone)]
pub struct Opening {
    secret: SecretString,
    /// The secret of the cookie that the browser gets.
    session: SecretString,
    who: String,
    was_used: Arc<AtomicBool>,
}

impl Opening {
    /// Makes the secrets for a user.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new(who: &str) -> std::io::Result<Self> {
        Ok(Self {
            secret: secret()?.into(),
            session: secret()?.into(),
            who: who.to_owned(),
            was_used: Arc::default(),
        })
    }

    /// The path that opens the page of a run, or of the list.
    pub fn path(&self, run: Option<&str>) -> String {
        let secret = self.secret.expose_secret();
        let run = run.map_or_else(String::new, |run| format!("&run={run}"));
        format!("{ROOT}/open?secret={secret}{run}")
    }
}

impl Review {
    /// Returns the tokens of a daemon; where one user opens the pages nobody signs in.
    fn login(&self) -> Result<&Login, Refused> {
        match &self.host {
            Host::Daemon(login, _) => Ok(login),
            Host::User(..) => Err(Refused::missing("nobody signs in here")),
        }
    }

    async fn viewer(&self, headers: &HeaderMap, uri: &Uri) -> Result<Viewer, NotAdmitted> {
        match &self.host {
            Host::User(Opening { session, who, .. }, _) => {
                let session = session.expose_secret();
                let local = headers.get(HOST).and_then(|host| host.to_str().ok());
                let known = cookie(headers).is_some_and(|given| hash_of(given) == hash_of(session));
                if known && local.is_some_and(is_this_machine) {
                    return Ok(viewer(who, Role::Admin, false));
                }
                Err(NotAdmitted::NoToken)
            }
            Host::Daemon(login, _) => {
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

pub(super) fn viewer(name: &str, role: Role, signed_in: bool) -> Viewer {
    Viewer {
        name: name.to_owned(),
        decides: true,
        starts: matches!(role, Role::Submit | Role::Admin),
        signed_in,
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter();
    let texts = all.filter_map(|value| value.to_str().ok());
    let mut pairs = texts.flat_map(|text| text.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))
}

/// Tells whether a request that changes something comes from a page of this server. A
/// browser says so in `Sec-Fetch-Site` or `Origin`; what says neither must carry a
/// token in a header, which no form can.
fn from_own_page(headers: &HeaderMap) -> bool {
    // A header that is no text comes from no page of ours.
    let text = |name: &str| Some(headers.get(name)?.to_str().unwrap_or(""));
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

fn expect_own_page(headers: &HeaderMap) -> Result<(), Refused> {
    let detail = "this request does not come from a page of this server; nothing was changed";
    let own = from_own_page(headers).then_some(());
    own.ok_or_else(|| Refused::forbidden(detail))
}

/// Lets known viewers through, and changes nothing for another site.
pub(super) async fn guard(
    State(review): State<Review>,
    mut request: Request,
    next: Next,
) -> Answer {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads {
        expect_own_page(request.headers())?;
    }
    let refused = match review.viewer(request.headers(), request.uri()).await {
        Ok(viewer) => {
            request.extensions_mut().insert(viewer);
            return Ok(next.run(request).await);
        }
        Err(refused) => refused,
    };
    let asks_again = reads && !request.headers().contains_key("x-fragment");
    Err(match (refused, &review.host) {
        (NotAdmitted::Store(_), _) => unreadable(),
        (NotAdmitted::Elsewhere, _) => {
            let detail = "without a token only this machine is answered, under the name localhost";
            Refused::forbidden(detail)
        }
        (_, Host::User(..)) => Refused::unauthorized(
            "Open it anew",
            "use the address that `patchwright review` printed; it works once, in one browser",
        ),
        _ if asks_again => return Ok(Redirect::to(&format!("{ROOT}/sign-in")).into_response()),
        _ => Refused::unauthorized("Sign in", "a token is needed"),
    }
    .into())
}

fn unreadable() -> Refused {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    Refused::new(status, "Try again later", "the store cannot be read now")
}

/// Shows the form for a token.
pub(super) async fn sign_in_page(State(review): State<Review>) -> Answer {
    review.login()?;
    Ok(html(patchwright_page::sign_in(false)?))
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
) -> Answer {
    let login = review.login()?;
    expect_own_page(&headers)?;
    let token = form.token.trim();
    match login.caller(Some(token), &headers, &Uri::default()).await {
        Ok(_) => Ok(with_cookie(ROOT, token, "Lax")),
        Err(NotAdmitted::UnknownToken) => {
            let page = html(patchwright_page::sign_in(true)?);
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
        Err(_) => Err(unreadable().into()),
    }
}

/// Takes the cookie away.
pub(super) async fn sign_out(headers: HeaderMap) -> Answer {
    expect_own_page(&headers)?;
    let to = format!("{ROOT}/sign-in");
    Ok(with_cookie(&to, "; Max-Age=0", "Lax"))
}

/// The secret that was printed.
#[derive(Debug, Deserialize)]
pub(super) struct Open {
    secret: String,
    run: Option<String>,
}

/// Opens the pages for one browser, once.
pub(super) async fn open(State(review): State<Review>, Query(given): Query<Open>) -> Answer {
    let Host::User(opening, _) = &review.host else {
        return Err(Refused::missing("sign in with a token").into());
    };
    let is_it = hash_of(opening.secret.expose_secret()) == hash_of(&given.secret);
    if !is_it || opening.was_used.swap(true, Ordering::Relaxed) {
        let detail = "this address was used before; start `patchwright review` again for another";
        return Err(Refused::unauthorized("Open it anew", detail).into());
    }
    let run = given.run.filter(|run| patchwright_agent::task::is_id(run));
    let to = run.map_or_else(|| ROOT.to_owned(), |run| format!("{ROOT}/runs/{run}"));
    let session = opening.session.expose_secret();
    Ok(with_cookie(&to, session, "Strict"))
}

fn with_cookie(to: &str, value: &str, site: &str) -> Response {
    let cookie = format!("{NAME}={value}; Path={ROOT}; HttpOnly; SameSite={site}");
    ([(SET_COOKIE, cookie)], Redirect::to(to)).into_response()
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
