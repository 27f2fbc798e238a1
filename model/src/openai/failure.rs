//! Sorts what went wrong at an endpoint by what can be done about it, and says
//! so. Pure: status, headers and the beginning of a body in, a [`ModelError`] out.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::ModelError;
use crate::http::{deepest, shown};

/// Most characters of an endpoint's own words that are repeated.
const QUOTED: usize = 300;
/// Phrases by which servers say that a request does not fit: none of them has a
/// code that all share.
const TOO_LONG: [&str; 12] = [
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "context length",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "maximum number of tokens",
    "max_model_len",
    "request too large",
    "string_above_max_length",
];
/// Phrases by which servers say that they will not answer this.
const REFUSED: [&str; 6] = [
    "content_policy_violation",
    "content_filter",
    "content management policy",
    "responsibleaipolicyviolation",
    "invalid_prompt",
    "usage policies",
];
/// Phrases that mean an empty purse rather than too many calls a minute.
const UNPAID: [&str; 3] = ["insufficient_quota", "billing", "credit balance"];
/// The least wait when the account has no credit left: somebody has to fill it.
const UNPAID_PAUSE: Duration = Duration::from_hours(1);

/// Returns the error that an answer with a status other than success means.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
    let said = words(body);
    let lower = format!("{} {}", said.to_lowercase(), code_of(body).to_lowercase());
    let quoted = quote(&said);
    let number = status.as_u16();
    if says(&lower, &TOO_LONG) && matches!(number, 400 | 413 | 422 | 500) || number == 413 {
        return ModelError::TooLong {
            reason: format!("{number}{quoted}"),
        };
    }
    if says(&lower, &REFUSED) && matches!(number, 400 | 403 | 422) {
        return ModelError::Refused {
            reason: format!("{number}{quoted}"),
        };
    }
    match number {
        429 if says(&lower, &UNPAID) => ModelError::Retry {
            after: Some(retry_after(headers).unwrap_or_default().max(UNPAID_PAUSE)),
            reason: format!("429 the account has no credit left; check its billing{quoted}"),
            spent: None,
        },
        429 | 529 => ModelError::Retry {
            after: Some(retry_after(headers).unwrap_or_default()),
            reason: format!("{number} {}{quoted}", meaning(number)),
            spent: None,
        },
        408 | 409 | 425 | 500..=599 => ModelError::Retry {
            after: retry_after(headers),
            reason: format!("{number} {}{quoted}", meaning(number)),
            spent: None,
        },
        _ if is_html(headers, body) => html(),
        _ => ModelError::fatal(format!("{number} {}{quoted}", advice(number, &lower))),
    }
}

/// Returns the error that one inside a stream means. It has no status, or only says so.
pub(super) fn in_stream(error: &Value) -> ModelError {
    let status = ["status", "code", "status_code"]
        .iter()
        .find_map(|name| {
            let value = error.get(*name)?;
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            StatusCode::from_u16(u16::try_from(number).ok()?).ok()
        })
        .filter(|status| status.as_u16() >= 400);
    let body = serde_json::json!({ "error": error }).to_string();
    let lower = body.to_lowercase();
    let guessed = if says(&lower, &TOO_LONG)
        || says(&lower, &REFUSED)
        || says(&lower, &["invalid_request"])
    {
        StatusCode::BAD_REQUEST
    } else if says(&lower, &["rate_limit", "insufficient_quota"]) {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    of_status(status.unwrap_or(guessed), &HeaderMap::new(), &body)
}

/// A page for people where an interface was expected.
pub(super) fn html() -> ModelError {
    ModelError::fatal(
        "the endpoint answered with a web page (HTML): model.base_url is probably wrong; \
         it usually ends in /v1",
    )
}

/// Tells whether an answer is a page for people.
pub(super) fn is_html(headers: &HeaderMap, body: &str) -> bool {
    let kind = headers
        .get(reqwest::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    kind.starts_with("text/html") || body.trim_start().starts_with('<')
}

/// Returns the error that a failed connection means.
pub(super) fn of_connection(error: &reqwest::Error, base_url: &str) -> ModelError {
    let (cause, base_url) = (deepest(error), shown(base_url));
    if error.is_builder() || error.is_redirect() {
        return ModelError::fatal(format!("the request cannot be made: {cause}"));
    }
    let lower = cause.to_lowercase();
    ModelError::retry(if lower.contains("refused") {
        format!("nothing listens at {base_url}: start the endpoint or correct model.base_url")
    } else if lower.contains("certificate") {
        format!("the certificate of {base_url} is not trusted: {cause}")
    } else if lower.contains("dns") || lower.contains("lookup") || lower.contains("name or service")
    {
        format!("the host of {base_url} is not known: check model.base_url and the network")
    } else if error.is_connect() && error.is_timeout() {
        format!("no connection to {base_url} in time (model.timeouts.connect)")
    } else {
        format!("the connection to {base_url} broke: {cause}")
    })
}

fn advice(number: u16, lower: &str) -> String {
    match number {
        300..=399 => "the endpoint has moved: set model.base_url to its new address".to_owned(),
        400 | 422 if lower.contains("max_tokens") || lower.contains("max_completion_tokens") => {
            "the endpoint refuses the output limit: change model.output_limit_field or \
             model.max_output_tokens"
                .to_owned()
        }
        400 | 422 => "the endpoint does not accept the request: see model.omit and model.extra \
                      for what can be left out or added"
            .to_owned(),
        401 => "the key is missing or wrong: set PATCHWRIGHT_MODEL__API_KEY".to_owned(),
        402 => "the account has no credit left: check its billing".to_owned(),
        403 => "the key is not allowed to use this model: check the account, or \
                PATCHWRIGHT_MODEL__API_KEY"
            .to_owned(),
        404 if lower.contains("model") => {
            "the endpoint does not know this model: correct model.name (--model)".to_owned()
        }
        404 | 405 => "nothing answers there: model.base_url is probably wrong (it usually ends \
                      in /v1), or model.api is"
            .to_owned(),
        _ => "the endpoint refused the request".to_owned(),
    }
}

fn meaning(number: u16) -> &'static str {
    match number {
        408 => "the endpoint waited too long",
        429 => "too many calls",
        502..=504 => "the endpoint is not available",
        529 => "the endpoint is overloaded",
        500..=599 => "the endpoint has an error of its own",
        _ => "the endpoint asks to try again",
    }
}

/// The longest wait that is believed: quotas are given by the day at most, and
/// after it the endpoint is asked again.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Returns the wait that an endpoint asks for, at most [`LONGEST_WAIT`].
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    Some(asked_wait(headers)?.min(LONGEST_WAIT))
}

/// Reads the wait that an endpoint asks for: milliseconds, seconds, or a date.
fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| {
        jiff::fmt::rfc2822::parse(text)
            .ok()
            .map(|time| time.timestamp())
    };
    // The endpoint's own clock, if it tells: ours may be wrong.
    let now = text("date")
        .and_then(date)
        .unwrap_or_else(jiff::Timestamp::now);
    Duration::try_from(date(value)?.duration_since(now)).ok()
}

fn says(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// The message in a body, whichever of the known shapes it has.
fn words(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        let plain = body.trim_start();
        let page = plain.starts_with('<');
        return if page {
            String::new()
        } else {
            plain.to_owned()
        };
    };
    let value = value.get(0).unwrap_or(&value);
    let found = ["/error/message", "/error", "/message", "/detail"]
        .iter()
        .filter_map(|pointer| value.pointer(pointer))
        .find_map(|found| match found {
            Value::String(text) => Some(text.clone()),
            Value::Array(_) => Some(found.to_string()),
            _ => None,
        });
    found.unwrap_or_else(|| value.to_string())
}

fn code_of(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return String::new();
    };
    let codes = [
        "/error/code",
        "/error/type",
        "/error/status",
        "/error/innererror/code",
    ];
    let found = codes
        .iter()
        .filter_map(|pointer| value.pointer(pointer)?.as_str());
    found.collect::<Vec<_>>().join(" ")
}

fn quote(said: &str) -> String {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.floor_char_boundary(QUOTED.min(line.len()));
    match line.get(..end) {
        None | Some("") => String::new(),
        Some(short) if end < line.len() => format!("; it says: {short}.."),
        Some(whole) => format!("; it says: {whole}"),
    }
}

#[cfg(test)]
mod tests;
