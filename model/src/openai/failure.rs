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
const TOO_LONG: &str = include_str!("failure/too_long.txt");
/// Phrases by which servers say that they will not answer this.
const REFUSED: &str = include_str!("failure/refused.txt");
/// The meaning of a status, with what to do: a line for each, with the beginnings of the statuses,
/// words of which the answer has one, and the text.
const MEANINGS: &str = include_str!("failure/meanings.txt");
/// Phrases that mean an empty purse rather than too many calls a minute.
const UNPAID: &str = "insufficient_quota\nbilling\ncredit balance";
/// The least wait when the account has no credit left: somebody has to fill it.
const UNPAID_PAUSE: Duration = Duration::from_hours(1);

/// Returns the error that an answer with a status other than success means.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
    let read = serde_json::from_str::<Value>(body).ok();
    let said = read.as_ref().map_or_else(|| plain_words(body), words);
    let codes = read.as_ref().map(codes_in).unwrap_or_default();
    let lower = format!("{said} {codes}").to_lowercase();
    let quoted = quote(&said);
    let number = status.as_u16();
    let reason = format!("{number}{quoted}");
    if says(&lower, TOO_LONG) && matches!(number, 400 | 413 | 422 | 500) || number == 413 {
        return ModelError::TooLong(reason);
    }
    if says(&lower, REFUSED) && matches!(number, 400 | 403 | 422) {
        return ModelError::Refused(reason);
    }
    let (asked, meaning) = (retry_after(headers), meaning(number, &lower));
    let later = |after: Option<Duration>, what: &str| ModelError::Retry {
        after,
        reason: format!("{number} {what}{quoted}"),
        spent: None,
    };
    match number {
        429 if says(&lower, UNPAID) => {
            let wait = asked.unwrap_or_default().max(UNPAID_PAUSE);
            later(
                Some(wait),
                "the account has no credit left; check its billing",
            )
        }
        429 | 529 => later(Some(asked.unwrap_or_default()), meaning),
        408 | 409 | 425 | 500..=599 => later(asked, meaning),
        _ if is_html(headers, body) => html(),
        _ => ModelError::fatal(format!("{number} {meaning}{quoted}")),
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
    let guessed =
        if says(&lower, TOO_LONG) || says(&lower, REFUSED) || lower.contains("invalid_request") {
            StatusCode::BAD_REQUEST
        } else if says(&lower, "rate_limit\ninsufficient_quota") {
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
    let kind = headers.get(reqwest::header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok());
    kind.unwrap_or_default().starts_with("text/html") || body.trim_start().starts_with('<')
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

/// Returns what a status means and what can be done about it.
fn meaning(number: u16, lower: &str) -> &'static str {
    let number = number.to_string();
    for line in MEANINGS.lines() {
        let [statuses, words, meaning] = line.split("; ").collect::<Vec<_>>()[..] else {
            continue;
        };
        // Where no word is needed there is the empty one, which every answer has.
        let mut words = words.split(' ');
        let mut statuses = statuses.split(' ');
        if statuses.any(|status| number.starts_with(status)) && words.any(|one| lower.contains(one))
        {
            return meaning;
        }
    }
    "the endpoint refused the request"
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
    let date = |text: &str| Some(jiff::fmt::rfc2822::parse(text).ok()?.timestamp());
    // The endpoint's own clock, if it tells: ours may be wrong.
    let now = text("date").and_then(date);
    let now = now.unwrap_or_else(jiff::Timestamp::now);
    Duration::try_from(date(value)?.duration_since(now)).ok()
}

/// Tells whether one of the phrases, a line each, is in a text.
fn says(lower: &str, phrases: &str) -> bool {
    phrases.lines().any(|phrase| lower.contains(phrase))
}

/// The words in a body that is not JSON; a page for people says nothing.
fn plain_words(body: &str) -> String {
    let plain = body.trim_start();
    let is_page = plain.starts_with('<');
    if is_page { "" } else { plain }.to_owned()
}

/// The message in a body, whichever of the known shapes it has.
fn words(value: &Value) -> String {
    let value = value.get(0).unwrap_or(value);
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

fn codes_in(value: &Value) -> String {
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
mod tests {
    //! Failures of many servers, and what each is taken for.

    use reqwest::header::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn status(number: u16, body: &str) -> ModelError {
        of_status(
            StatusCode::from_u16(number).unwrap(),
            &HeaderMap::new(),
            body,
        )
    }

    /// The dialects of error bodies, as the providers document them: status, body,
    /// kind, words.
    const FAILURES: &[(u16, &str, &str, &str)] = &[
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#,
            "fatal",
            "PATCHWRIGHT_MODEL__API_KEY",
        ),
        (402, "{}", "fatal", "billing"),
        (403, r#"{"error":"forbidden"}"#, "fatal", "forbidden"),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist"}}"#,
            "fatal",
            "model.name",
        ),
        (404, r#"{"detail":"Not Found"}"#, "fatal", "model.base_url"),
        (404, "<html>nginx</html>", "fatal", "web page"),
        (301, "", "fatal", "has moved"),
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens'"}}"#,
            "fatal",
            "output_limit_field",
        ),
        (
            400,
            r#"{"error":{"message":"Unknown field"}}"#,
            "fatal",
            "model.omit",
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#,
            "too long",
            "8192",
        ),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"no"}}"#,
            "too long",
            "no",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            "too long",
            "210000",
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed","status":"INVALID_ARGUMENT"}}]"#,
            "too long",
            "exceeds",
        ),
        (
            500,
            r#"{"error":{"message":"the request exceeds the available context size"}}"#,
            "too long",
            "context size",
        ),
        (413, "", "too long", "413"),
        (
            400,
            r#"{"error":{"code":"content_filter","message":"filtered"}}"#,
            "refused",
            "filtered",
        ),
        (
            400,
            r#"{"error":{"message":"no","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            "refused",
            "no",
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached"}}"#,
            "retry",
            "too many calls",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
            "retry",
            "billing",
        ),
        (408, "", "retry", "408"),
        (500, "oops", "retry", "oops"),
        (502, "<html>Bad Gateway</html>", "retry", "not available"),
        (503, "", "retry", "not available"),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "retry",
            "overloaded",
        ),
        (418, r#"{"message":"teapot"}"#, "fatal", "teapot"),
    ];

    #[test]
    fn failures_are_sorted_by_what_can_be_done() {
        for (number, body, kind, words) in FAILURES {
            let error = status(*number, body);
            let found = match &error {
                ModelError::Retry { .. } => "retry",
                ModelError::TooLong(_) => "too long",
                ModelError::Refused(_) => "refused",
                ModelError::Fatal(_) => "fatal",
            };
            assert_eq!(found, *kind, "{number} {body}: {error}");
            assert!(
                error.to_string().contains(words),
                "{number} {body}: {error}"
            );
        }
    }

    #[test]
    fn a_long_body_is_quoted_shortly_and_on_one_line() {
        let error = status(500, &format!("line one\n{}", "ä".repeat(5000))).to_string();
        assert!(error.len() < 500 && !error.contains('\n'), "{error}");
    }

    type Headers<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn the_wish_to_wait_has_three_forms() {
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        let cases: [(Headers<'_>, Option<u64>); 9] = [
            (&[("retry-after", "7")], Some(7_000)),
            (&[("retry-after", "1.5")], Some(1_500)),
            (
                &[("retry-after-ms", "250"), ("retry-after", "9")],
                Some(250),
            ),
            (
                &[
                    ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"),
                    ("date", date),
                ],
                Some(30_000),
            ),
            (&[("retry-after", date)], Some(0)),
            (&[("retry-after", "soon")], Some(0)),
            (&[("retry-after", "251000000000")], Some(86_400_000)),
            (
                &[("retry-after", "Wed, 29 Dec 9999 00:00:00 GMT")],
                Some(86_400_000),
            ),
            (&[("retry-after", "-5")], Some(0)),
        ];
        for (pairs, millis) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                let name = HeaderName::try_from(*name).unwrap();
                headers.insert(name, HeaderValue::from_str(value).unwrap());
            }
            let error = of_status(StatusCode::TOO_MANY_REQUESTS, &headers, "");
            let expected = millis.map(Duration::from_millis);
            assert!(
                matches!(error, ModelError::Retry { after, .. } if after == expected),
                "{pairs:?}: {error:?}"
            );
        }
    }

    #[test]
    fn an_error_in_a_stream_is_sorted_by_its_words() {
        assert!(matches!(
            in_stream(&json!({ "code": 401 })),
            ModelError::Fatal(_)
        ));
        assert!(matches!(
            in_stream(&json!({ "code": "503" })),
            ModelError::Retry { .. }
        ));
        assert!(matches!(
            in_stream(&json!("gone")),
            ModelError::Retry { .. }
        ));
        assert!(matches!(
            in_stream(&json!({ "type": "invalid_request_error", "message": "bad" })),
            ModelError::Fatal(_)
        ));
    }

    #[test]
    fn a_limit_asks_for_a_pause_and_a_broken_server_does_not() {
        let after = |number, body| match status(number, body) {
            ModelError::Retry { after, .. } => after,
            other => panic!("{other}"),
        };
        assert_eq!(after(429, ""), Some(Duration::ZERO));
        assert_eq!(after(529, ""), Some(Duration::ZERO));
        assert_eq!(after(503, ""), None);
        let unpaid = r#"{"error":{"code":"insufficient_quota"}}"#;
        assert_eq!(after(429, unpaid), Some(UNPAID_PAUSE));
    }
}
