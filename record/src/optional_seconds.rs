//! Stored form of a duration that may be absent, and is never zero: a limit of no time would end
//! what it limits at once.

use crate::seconds::{self, Stored};
use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::Duration;

pub fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => seconds::serialize(duration, to),
        None => to.serialize_none(),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let stored: Option<Stored> = Option::deserialize(from)?;
    match stored.map(Stored::read).transpose() {
        Ok(Some(Duration::ZERO)) => Err(D::Error::custom("0 is no duration; write 90s, 30m or 2h")),
        read => read.map_err(D::Error::custom),
    }
}
