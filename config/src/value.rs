//! The kinds of values that TOML does not have: times written for people, and
//! values that may be unset. What a default looks like says which kind its key has.

use config::{Map, Value, ValueKind};
use std::time::Duration;

/// The word for "no value".
pub(super) const UNSET: &str = "unset";

/// Brings a value into the form that its type is read from: what may be unset and is becomes
/// nothing, a time a duration.
///
/// # Errors
/// It is no time though its default is one; what would be right.
pub(super) fn shape(value: &mut Value, default: &Value) -> Result<(), String> {
    match (&mut value.kind, &default.kind) {
        (ValueKind::String(text), ValueKind::String(default))
            if default == UNSET && (text.is_empty() || text == UNSET) =>
        {
            value.kind = ValueKind::Nil;
        }
        (kind, ValueKind::String(default)) if parse_duration(default).is_ok() => {
            let time = parse_duration(&kind.to_string())?;
            *kind = ValueKind::Table(Map::from_iter([
                ("secs".to_owned(), time.as_secs().into()),
                ("nanos".to_owned(), time.subsec_nanos().into()),
            ]));
        }
        _ => {}
    }
    Ok(())
}

/// Reads a time such as `"90s"` or `"1h 30m"`.
///
/// # Errors
/// The text is not a time, or is negative. The message says what would be right.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = "expected a time such as \"500ms\", \"30s\", \"10m\" or \"1h 30m\"";
    let span = text.trim().parse::<jiff::SignedDuration>();
    let span = span.map_err(|_| format!("{expected}, found {text:?}"))?;
    Duration::try_from(span).map_err(|_| format!("{expected}, found the negative {text:?}"))
}

/// Writes a time so that [`parse_duration`] reads it back.
pub fn write_duration(time: Duration) -> String {
    match jiff::SignedDuration::try_from(time) {
        Ok(span) => format!("{span:#}"),
        Err(_) => format!("{}s", time.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, millis) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("10m", 600_000),
            ("1h 30m", 5_400_000),
            (" 2h ", 7_200_000),
        ] {
            let time = parse_duration(text).unwrap();
            assert_eq!(time, Duration::from_millis(millis), "{text}");
            assert_eq!(parse_duration(&write_duration(time)).unwrap(), time);
        }
        for bad in ["", "ten", "-3s", "5", "3 parsecs"] {
            assert!(parse_duration(bad).unwrap_err().contains("expected a time"));
        }
    }
}
