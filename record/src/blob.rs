//! Bytes that a run observed, and their name in a store.

use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Bytes on their way to a store, or the hash by which it keeps them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Blob {
    /// The hash; empty where there are no bytes.
    Kept(String),
    /// The bytes themselves.
    Held {
        /// The bytes; written as the characters of the same numbers.
        #[serde(with = "latin1")]
        bytes: Vec<u8>,
    },
}

impl Blob {
    /// Tells whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Kept(hash) => hash.is_empty(),
            Self::Held { bytes } => bytes.is_empty(),
        }
    }

    /// Returns the bytes; none of a blob that a store keeps.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Kept(_) => &[],
            Self::Held { bytes } => bytes,
        }
    }

    /// Returns the bytes as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// Returns the hash; empty while no store keeps the bytes.
    pub fn hash(&self) -> &str {
        match self {
            Self::Kept(hash) => hash,
            Self::Held { .. } => "",
        }
    }
}

impl Default for Blob {
    fn default() -> Self {
        Self::Kept(String::new())
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Held { bytes }
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(hash) => f.debug_tuple("Kept").field(hash).finish(),
            Self::Held { .. } => f.debug_tuple("Held").field(&self.text()).finish(),
        }
    }
}

/// Reads the name of a blob: journals of earlier versions hold an empty one where there is none.
///
/// # Errors
/// It is no text.
pub fn empty_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name: Option<String> = Option::deserialize(from)?;
    Ok(name.filter(|name| !name.is_empty()))
}

/// The form of bytes in JSON: each byte is the character of its number.
mod latin1 {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        let text: String = bytes.iter().copied().map(char::from).collect();
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        bytes.map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Blob;

    #[test]
    fn a_blob_is_written_as_its_hash_or_its_bytes() {
        for (blob, json) in [
            (Blob::default(), r#""""#),
            (Blob::Kept("ab12".to_owned()), r#""ab12""#),
            (Blob::from(vec![b'a', 10, 0xff]), "{\"bytes\":\"a\\nÿ\"}"),
        ] {
            assert_eq!(serde_json::to_string(&blob).unwrap(), json);
            assert_eq!(serde_json::from_str::<Blob>(json).unwrap(), blob);
        }
        assert!(serde_json::from_str::<Blob>("{\"bytes\":\"\u{100}\"}").is_err());
    }
}
