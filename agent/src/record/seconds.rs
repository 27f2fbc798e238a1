//! Stored form of a duration: a number of seconds. The text of a task file, such
//! as `30m`, is read as well: rows of earlier versions hold it.

use patchwright_config::parse_duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::time::Duration;

/// Reads a duration such as `90s`, `30m`, `1h 30m`; a bare number is seconds.
///
/// # Errors
/// The text is no duration, or is zero.
pub fn duration(text: &str) -> Result<Duration, String> {
    let read = match text.trim().parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => parse_duration(text).ok(),
    };
    read.filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("{text:?} is no duration; write 90s, 30m or 2h"))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Seconds(u64),
    Fraction(f64),
    Text(String),
}

impl Stored {
    fn read(self) -> Result<Duration, String> {
        match self {
            Self::Seconds(seconds) => Ok(Duration::from_secs(seconds)),
            Self::Fraction(seconds) => {
                Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
            }
            Self::Text(text) => duration(&text),
        }
    }
}

pub(super) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    if duration.subsec_nanos() == 0 {
        duration.as_secs().serialize(to)
    } else {
        duration.as_secs_f64().serialize(to)
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Stored::deserialize(from)?.read().map_err(D::Error::custom)
}

/// The same form for a duration that may be absent.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Duration, Error, Serializer, Stored};

    #[expect(clippy::ref_option, reason = "serde hands the field in like this")]
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::serialize(duration, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let stored: Option<Stored> = Option::deserialize(from)?;
        stored
            .map(Stored::read)
            .transpose()
            .map_err(D::Error::custom)
    }
}
