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
            ModelError::TooLong { .. } => "too long",
            ModelError::Refused { .. } => "refused",
            ModelError::Fatal { .. } => "fatal",
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
        ModelError::Fatal { .. }
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
        ModelError::Fatal { .. }
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
