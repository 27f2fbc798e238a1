//! Stored form of a duration: a number of seconds. The text of a task file, such
//! as `30m`, is read as well: rows of earlier versions hold it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::time::Duration;

/// Reads a duration such as `90s`, `30m`, `1h 30m`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let span = || text.trim().parse::<jiff::SignedDuration>().ok();
    let read = match text.trim().parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => span().and_then(|span| span.try_into().ok()),
    };
    read.filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("{text:?} is no duration; write 90s, 30m or 2h"))
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Stored {
    Seconds(u64),
    Fraction(f64),
    Text(String),
}

impl Stored {
    pub(crate) fn read(self) -> Result<Duration, String> {
        match self {
            Self::Seconds(seconds) => Ok(Duration::from_secs(seconds)),
            Self::Fraction(seconds) => {
                Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
            }
            Self::Text(text) => duration(&text),
        }
    }
}

pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    if duration.subsec_nanos() == 0 {
        duration.as_secs().serialize(to)
    } else {
        duration.as_secs_f64().serialize(to)
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Stored::deserialize(from)?.read().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn reads_durations() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("30m", 1800), ("1h 30m", 5400)] {
            assert_eq!(duration(text).unwrap().as_secs(), seconds, "{text}");
        }
        for wrong in ["-3s", "0", "0s", "soon"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
