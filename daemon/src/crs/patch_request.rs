//! The shapes of the patch service: a crash is handed in under the id of its
//! PoV, and asked after by it.

use super::protocol::{TaskKind, Wrong, decode, expect, is_name, is_uuid};
use serde::{Deserialize, Serialize};

/// The most inputs of one request.
const BLOBS: usize = 64;
/// The largest input, in bytes: what the competition takes, with room to spare.
const BLOB_LIMIT: usize = 16 << 20;

/// The body of `POST /v1/patch/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchRequest {
    /// The OSS-Fuzz project.
    pub project_name: String,
    /// The inputs that crash it.
    pub blobs: Vec<Blob>,
    /// A UUID.
    pub pov_id: String,
    /// A SARIF report in base64, or nothing; the key must be there.
    #[serde(deserialize_with = "Option::deserialize")]
    pub sarif_report: Option<String>,
    /// Subject of the challenge.
    #[serde(rename = "type")]
    pub kind: TaskKind,
}

/// An input that crashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// The program that it is fed to.
    pub harness_name: String,
    pub sanitizer_name: String,
    /// The input in base64.
    pub blob_data: String,
}

impl PatchRequest {
    /// Returns the errors in it, apart from its shape.
    pub fn wrong(&self) -> Wrong {
        let mut wrong = Wrong::new();
        let mut say = |fits: bool, key: &str, reason: &str| expect(&mut wrong, fits, key, reason);
        say(is_uuid(&self.pov_id), "pov_id", "is no UUID");
        let named = is_name(&self.project_name);
        say(named, "project_name", "is no name of a project");
        let few = self.blobs.len() <= BLOBS;
        say(few, "blobs", "holds more than 64 inputs");
        let any = !self.blobs.is_empty() || self.sarif_report.is_some();
        say(any, "blobs", "is empty, and there is no sarif_report");
        for (at, blob) in self.blobs.iter().enumerate() {
            let key = |name: &str| format!("blobs[{at}].{name}");
            let named = is_name(&blob.harness_name);
            say(named, &key("harness_name"), "is no name of a harness");
            let named = is_name(&blob.sanitizer_name);
            say(named, &key("sanitizer_name"), "is no name of a sanitizer");
            let (data, bytes) = (key("blob_data"), decode(&blob.blob_data));
            say(bytes.is_some(), &data, "is no base64");
            let small = bytes.is_none_or(|bytes| bytes.len() <= BLOB_LIMIT);
            say(small, &data, "is larger than 16 MiB");
        }
        let readable = self.sarif_report.is_none() || self.sarif().is_some();
        let reason = "is no SARIF report in base64";
        say(readable, "sarif_report", reason);
        wrong
    }

    /// The SARIF report as text. Some callers send it as it is.
    pub fn sarif(&self) -> Option<String> {
        let given = self.sarif_report.as_deref()?;
        let text = if given.trim_start().starts_with('{') {
            given.to_owned()
        } else {
            String::from_utf8(decode(given)?).ok()?
        };
        let value: serde_json::Value = serde_json::from_str(&text).ok()?;
        value.get("runs")?.as_array()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::PatchRequest;
    use crate::crs::protocol::encode;
    use serde_json::{Value, json};

    fn request() -> Value {
        json!({
            "project_name": "libxml2",
            "blobs": [{ "harness_name": "xml", "sanitizer_name": "address", "blob_data": encode(b"x") }],
            "pov_id": "5c24a2b9-7d1b-4d3c-9df1-4a4f4e3b7a10",
            "sarif_report": null,
            "type": "full",
        })
    }

    fn wrong(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut value = request();
        change(&mut value);
        let read: PatchRequest = serde_json::from_value(value).unwrap();
        read.wrong().into_keys().collect()
    }

    #[test]
    fn what_is_wrong_is_told_by_key() {
        assert!(wrong(|_| {}).is_empty());
        assert_eq!(wrong(|all| all["pov_id"] = json!("../1")), ["pov_id"]);
        assert_eq!(
            wrong(|all| all["project_name"] = json!("a/b")),
            ["project_name"]
        );
        assert_eq!(wrong(|all| all["blobs"] = json!([])), ["blobs"]);
        assert_eq!(
            wrong(|all| all["blobs"][0]["blob_data"] = json!("%")),
            ["blobs[0].blob_data"]
        );
        assert_eq!(
            wrong(|all| all["blobs"][0]["harness_name"] = json!("a b")),
            ["blobs[0].harness_name"]
        );
        let sarif = r#"{"runs":[]}"#;
        for good in [sarif.to_owned(), encode(sarif.as_bytes())] {
            assert!(wrong(|all| all["sarif_report"] = json!(good)).is_empty());
        }
        assert_eq!(
            wrong(|all| all["sarif_report"] = json!("{}")),
            ["sarif_report"]
        );
    }

    #[test]
    fn every_key_must_be_there() {
        for key in ["project_name", "blobs", "pov_id", "sarif_report", "type"] {
            let mut value = request();
            value.as_object_mut().unwrap().remove(key);
            assert!(
                serde_json::from_value::<PatchRequest>(value).is_err(),
                "{key}"
            );
        }
    }
}
