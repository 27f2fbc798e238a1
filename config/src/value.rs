//! The kinds of values that TOML does not have: times written for people, and
//! values that may be unset. From the environment everything arrives as text, so
//! each reader takes text too.

use std::net::SocketAddr;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, de};

/// The word for "no value".
pub(super) const UNSET: &str = "unset";

/// A reader of a kind of values, and their shape in the schema.
macro_rules! reader {
    ($name:ident as $shape:ty: $read:path => $value:ty) => {
        #[derive(JsonSchema)]
        #[schemars(inline)]
        #[expect(dead_code, reason = "only its schema is used")]
        pub(super) struct $name($shape);

        impl $name {
            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<$value, D::Error> {
                $read(from)
            }
        }
    };
}

reader!(Time as String: duration => Duration);
reader!(Text as String: text_or_unset => Option<String>);
reader!(Secret as String: secret_or_unset => SecretString);
reader!(Address as String: address_or_unset => Option<SocketAddr>);
reader!(Number as NumberOrUnset: number_or_unset => Option<f64>);

/// The shape of an optional number in the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum NumberOrUnset {
    Number(f64),
    Unset(UnsetWord),
}

/// The word "unset" in the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum UnsetWord {
    Unset,
}

/// Reads a time such as `"90s"` or `"1h 30m"`.
///
/// # Errors
/// The text is not a time, or is negative. The message says what would be right.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = "expected a time such as \"500ms\", \"30s\", \"10m\" or \"1h 30m\"";
    let span: jiff::SignedDuration = text
        .trim()
        .parse()
        .map_err(|_| format!("{expected}, found {text:?}"))?;
    Duration::try_from(span).map_err(|_| format!("{expected}, found the negative {text:?}"))
}

/// Writes a time so that [`parse_duration`] reads it back.
pub fn write_duration(time: Duration) -> String {
    match jiff::SignedDuration::try_from(time) {
        Ok(span) => format!("{span:#}"),
        Err(_) => format!("{}s", time.as_secs()),
    }
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    parse_duration(&text).map_err(de::Error::custom)
}

/// Reads a secret; empty when it is unset.
fn secret_or_unset<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    Ok(text_or_unset(from)?.unwrap_or_default().into())
}

fn text_or_unset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    Ok((text != UNSET && !text.is_empty()).then_some(text))
}

fn address_or_unset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = text_or_unset(from)?;
    text.map(|text| text.parse().map_err(de::Error::custom))
        .transpose()
}

/// A number, or the text that stands for one.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or \"unset\"")]
enum Given {
    Number(f64),
    Text(String),
}

fn number_or_unset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let number = match Given::deserialize(from)? {
        Given::Number(number) => number,
        Given::Text(text) if text == UNSET => return Ok(None),
        Given::Text(text) => text.trim().parse().map_err(|_| {
            de::Error::invalid_value(de::Unexpected::Str(&text), &"a number or \"unset\"")
        })?,
    };
    if number.is_finite() {
        Ok(Some(number))
    } else {
        Err(de::Error::custom("expected a finite number or \"unset\""))
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
