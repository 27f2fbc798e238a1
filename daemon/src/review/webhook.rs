//! The webhook of a forge: reviews of a pull request, and comments to it, that decide about the
//! candidate that it carries.
//!
//! GitHub signs what it sends, GitLab sends the secret along. What is said is heard from the people
//! whom `webhook.deciders` names; a comment decides by a line that begins with `/patchwright`. The
//! forge itself is never asked.

use super::Review;
use super::access::viewer;
use super::decide::Decided;
use super::refused::{Answer, Refused};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use hmac::{Hmac, Mac};
use patchwright_store::reviews::DecisionKind;
use patchwright_store::tokens::{Role, hash_of};
use secrecy::ExposeSecret;
use serde_json::Value;
use sha2::Sha256;

/// The words of a pull request before the run and the number of its candidate.
const MARK: &str = "<!-- patchwright run ";
/// The beginning of a line that decides.
const COMMAND: &str = "/patchwright ";

/// Takes what a forge sends; the answer tells what came of it.
pub(super) async fn take(State(review): State<Review>, headers: HeaderMap, body: Bytes) -> Answer {
    let settings = &review.loaded.settings.webhook;
    let secret = settings.secret.as_ref().map(ExposeSecret::expose_secret);
    let secret = secret.filter(|secret| !secret.is_empty());
    let secret = secret.ok_or_else(|| Refused::missing("webhook.secret is not set"))?;
    if !is_genuine(&headers, &body, secret) {
        let advice = "it is neither signed with webhook.secret nor does it carry it";
        return Err(Refused::unauthorized("Not genuine", advice).into());
    }
    let event: Value = serde_json::from_slice(&body)
        .map_err(|error| Refused::impossible(format!("the body is no JSON: {error}")))?;
    let Some(said) = Said::read(&event) else {
        return Ok("nothing to decide".into_response());
    };
    if !settings.deciders.iter().any(|name| name == said.who) {
        let unknown = "whoever says this is not among webhook.deciders";
        return Err(Refused::forbidden(unknown).into());
    }
    let viewer = viewer(said.who, Role::Admin, false);
    let reason = Decided {
        reason: said.reason,
        ..Decided::default()
    };
    let decided = review.decide(&viewer, said.candidate, said.kind, reason);
    Box::pin(decided).await?;
    Ok(format!("decided: {}", said.kind.as_str()).into_response())
}

/// Returns true where the sender knows the secret.
fn is_genuine(headers: &HeaderMap, body: &[u8], secret: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(token) = text("x-gitlab-token") {
        return hash_of(token) == hash_of(secret);
    }
    let signature = text("x-hub-signature-256").and_then(|value| value.strip_prefix("sha256="));
    let signature = signature.and_then(|digits| hex::decode(digits).ok());
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes());
    let (Some(signature), Ok(mac)) = (signature, mac) else {
        return false;
    };
    mac.chain_update(body).verify_slice(&signature).is_ok()
}

/// The words of a person about a candidate.
#[derive(Debug, PartialEq, Eq)]
struct Said<'a> {
    who: &'a str,
    /// A run, and the number of an attempt.
    candidate: (&'a str, u32),
    kind: DecisionKind,
    reason: String,
}

impl<'a> Said<'a> {
    /// Reads what a forge sends; nothing where it decides nothing.
    fn read(event: &'a Value) -> Option<Self> {
        let text = |places: &[&str]| places.iter().find_map(|at| event.pointer(at)?.as_str());
        let action = text(&["/action", "/object_attributes/action"]).unwrap_or("create");
        if !matches!(action, "created" | "submitted" | "create") {
            return None;
        }
        let said = text(&["/comment/body", "/review/body", "/object_attributes/note"]);
        let (kind, reason) = decision(said.unwrap_or_default(), text(&["/review/state"]))?;
        let about = text(&[
            "/issue/body",
            "/pull_request/body",
            "/merge_request/description",
        ]);
        let who = text(&[
            "/comment/user/login",
            "/review/user/login",
            "/user/username",
        ]);
        Some(Self {
            who: who?,
            candidate: candidate(about?)?,
            kind,
            reason: reason.trim().to_owned(),
        })
    }
}

/// Returns the run and the number of the candidate that a pull request carries.
fn candidate(text: &str) -> Option<(&str, u32)> {
    let (_, rest) = text.split_once(MARK)?;
    let mut words = rest.split_whitespace();
    let run = words.next()?;
    words.next().filter(|word| *word == "candidate")?;
    Some((run, words.next()?.parse().ok()?))
}

/// Returns what a text decides and why: by its command, else by the state of the review that it is.
fn decision<'a>(text: &'a str, state: Option<&str>) -> Option<(DecisionKind, &'a str)> {
    let command = text.lines().find_map(|line| line.strip_prefix(COMMAND));
    let Some(command) = command.map(str::trim) else {
        return match state? {
            "approved" => Some((DecisionKind::Approve, text)),
            "changes_requested" => Some((DecisionKind::Reject, text)),
            _ => None,
        };
    };
    let (word, reason) = command.split_once(' ').unwrap_or((command, ""));
    let kind = DecisionKind::read(word)?;
    let heard = kind.is_verdict() || kind == DecisionKind::Revise;
    heard.then_some((kind, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A comment of GitHub to the pull request of candidate 2 of a run.
    fn comment(action: &str, text: &str) -> Value {
        json!({
            "action": action,
            "comment": { "body": text, "user": { "login": "ann" } },
            "issue": { "body": "Fix it\n<!-- patchwright run r-1 candidate 2 -->" },
        })
    }

    #[test]
    fn commands_and_reviews_decide() {
        let (approve, reject) = (DecisionKind::Approve, DecisionKind::Reject);
        for (text, state, expected) in [
            ("/patchwright approve", None, Some((approve, ""))),
            (
                "I looked.\n/patchwright reject too late",
                None,
                Some((reject, "too late")),
            ),
            (
                "/patchwright revise use it",
                None,
                Some((DecisionKind::Revise, "use it")),
            ),
            ("fine", Some("approved"), Some((approve, "fine"))),
            ("why?", Some("changes_requested"), Some((reject, "why?"))),
            ("why?", Some("commented"), None),
            ("please say /patchwright approve", None, None),
            ("/patchwright cancel", None, None),
            ("> /patchwright approve", None, None),
        ] {
            assert_eq!(decision(text, state), expected, "{text}");
        }
    }

    #[test]
    fn new_comments_about_a_candidate_are_heard() {
        let event = comment("created", "/patchwright approve");
        let said = Said::read(&event).map(|said| (said.who, said.candidate));
        assert_eq!(said, Some(("ann", ("r-1", 2))));
        assert_eq!(Said::read(&comment("edited", "/patchwright approve")), None);
        assert_eq!(Said::read(&comment("created", "looks fine")), None);
        let note = json!({
            "object_kind": "note",
            "user": { "username": "bo" },
            "object_attributes": { "note": "/patchwright reject slow", "action": "create" },
            "merge_request": { "description": "<!-- patchwright run r-2 candidate 1 -->" },
        });
        let said = Said::read(&note).map(|said| (said.who, said.reason));
        assert_eq!(said, Some(("bo", "slow".to_owned())));
        let mut unmarked = comment("created", "/patchwright approve");
        unmarked["issue"]["body"] = json!("<!-- patchwright run -->");
        assert_eq!(Said::read(&unmarked), None);
    }
}
