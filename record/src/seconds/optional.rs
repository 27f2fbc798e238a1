//! Stored form of a duration that may be absent.

use super::Stored;
use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::Duration;

pub fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => super::serialize(duration, to),
        None => to.serialize_none(),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let stored: Option<Stored> = Option::deserialize(from)?;
    let read = stored.map(Stored::read).transpose();
    read.map_err(D::Error::custom)
}
