//! The shapes of AIxCC's CRS API v1.4, both directions: what we are sent, and
//! what the competition is sent. Times are Unix milliseconds.
//!
//! Unknown keys are ignored: the two sides may be of different versions.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use patchwright_source::words;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The largest patch that the competition takes, in bytes before encoding.
pub const PATCH_LIMIT: usize = 100 * 1024;

/// A refusal, in the shape of both interfaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For people.
    pub message: String,
    /// Errors, key by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Wrong>,
}

/// The body of `POST /v1/task/`.
#[derive(Debug, Clone, Deserialize)]
pub struct TaskMessage {
    /// The same message is sent again until it is accepted.
    pub message_id: String,
    /// When it was sent.
    pub message_time: i64,
    /// The work to do.
    pub tasks: Vec<TaskDetail>,
}

/// One challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskDetail {
    /// A UUID.
    pub task_id: String,
    /// Whole project or one change.
    #[serde(rename = "type")]
    pub kind: TaskKind,
    /// Given back as attributes of traces.
    pub metadata: Map<String, Value>,
    /// The OSS-Fuzz project.
    pub project_name: String,
    /// The folder of the repository's tarball that holds the target.
    pub focus: String,
    /// True when there are harnesses.
    pub harnesses_included: bool,
    /// When work must stop.
    pub deadline: i64,
    /// The tarballs.
    pub source: Vec<SourceDetail>,
}

/// Subject of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// The whole project.
    Full,
    /// One change of it.
    Delta,
}

/// A tarball.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceDetail {
    #[serde(rename = "type")]
    pub kind: SourceKind,
    /// Its address.
    pub url: String,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Content of a tarball.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The sources, before the change in question.
    Repo,
    /// OSS-Fuzz with the project.
    FuzzTooling,
    /// The change in question, as `ref.diff`.
    Diff,
}

/// The body of `POST /v1/sarif/`.
#[derive(Debug, Clone, Deserialize)]
pub struct SarifMessage {
    /// The same message is sent again until it is accepted.
    pub message_id: String,
    /// When it was sent.
    pub message_time: i64,
    /// The reports.
    pub broadcasts: Vec<Broadcast>,
}

/// One report of a suspected bug.
#[derive(Debug, Clone, Deserialize)]
pub struct Broadcast {
    /// Given back as attributes of traces.
    pub metadata: Map<String, Value>,
    pub sarif: Value,
    /// A UUID.
    pub sarif_id: String,
    /// The challenge it is about.
    pub task_id: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// Its files are on the way.
    #[default]
    Pending,
    /// Nothing was found in it yet.
    Waiting,
    /// Something is open in it.
    Processing,
    /// There is a patch, and nothing is open.
    Succeeded,
    /// There is no patch, and nothing is open.
    Failed,
    /// It cannot be worked on.
    Errored,
    Canceled,
}

words!(CaseState: Pending "pending", Waiting "waiting", Processing "processing",
    Succeeded "succeeded", Failed "failed", Errored "errored", Canceled "canceled");

/// Status of a patch on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is on its way; whoever finds it so was cut off and does not know.
    Sending,
    Accepted,
    Passed,
    Failed,
    DeadlineExceeded,
    /// The other side made a mistake.
    Errored,
    /// There was no verdict in time.
    Inconclusive,
}

/// The other side's answer about a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchAnswer {
    pub patch_id: String,
    /// Its outcome.
    pub status: Fate,
    /// True when the tests pass; nothing while they have not been run.
    pub functionality_tests_passing: Option<bool>,
}

/// Errors of a message, key by key.
pub type Wrong = BTreeMap<String, String>;

impl TaskMessage {
    /// Returns the errors in it, apart from its shape.
    pub fn wrong(&self) -> Wrong {
        let mut wrong = Wrong::new();
        expect_uuid(&mut wrong, "message_id", &self.message_id);
        for (at, task) in self.tasks.iter().enumerate() {
            task.wrong(&mut wrong, &format!("tasks[{at}]"));
        }
        wrong
    }
}

impl TaskDetail {
    fn wrong(&self, wrong: &mut Wrong, place: &str) {
        expect_uuid(wrong, &format!("{place}.task_id"), &self.task_id);
        let key = format!("{place}.project_name");
        let named = is_name(&self.project_name);
        expect(wrong, named, &key, "is no name of a project");
        let mut focus = self.focus.split('/').filter(|part| *part != ".");
        let inside = !self.focus.starts_with('/') && focus.all(is_name);
        let key = format!("{place}.focus");
        expect(wrong, inside, &key, "is no folder of a tarball");
        let has = |kind| self.source.iter().filter(|one| one.kind == kind).count();
        let fits = has(SourceKind::Repo) == 1
            && has(SourceKind::FuzzTooling) == 1
            && has(SourceKind::Diff) == usize::from(self.kind == TaskKind::Delta);
        let reason = "needs one repo, one fuzz-tooling and, for a delta, one diff";
        expect(wrong, fits, &format!("{place}.source"), reason);
        for (at, source) in self.source.iter().enumerate() {
            let hexadecimal = source.sha256.chars().all(|c| c.is_ascii_hexdigit());
            let fits = source.sha256.len() == 64 && hexadecimal;
            let key = format!("{place}.source[{at}].sha256");
            expect(wrong, fits, &key, "is no SHA-256");
        }
    }
}

impl SarifMessage {
    /// Returns the errors in it, apart from its shape.
    pub fn wrong(&self) -> Wrong {
        let mut wrong = Wrong::new();
        expect_uuid(&mut wrong, "message_id", &self.message_id);
        for (at, one) in self.broadcasts.iter().enumerate() {
            let key = |name: &str| format!("broadcasts[{at}].{name}");
            expect_uuid(&mut wrong, &key("sarif_id"), &one.sarif_id);
            expect_uuid(&mut wrong, &key("task_id"), &one.task_id);
            let fits = one.sarif.get("runs").is_some_and(Value::is_array);
            let reason = "is no SARIF report: it has no runs";
            expect(&mut wrong, fits, &key("sarif"), reason);
        }
        wrong
    }
}

/// Notes an error under its key, unless the value fits.
pub(super) fn expect(wrong: &mut Wrong, fits: bool, key: &str, reason: &str) {
    if !fits {
        wrong.insert(key.to_owned(), reason.to_owned());
    }
}

pub(super) fn expect_uuid(wrong: &mut Wrong, key: &str, text: &str) {
    expect(wrong, is_uuid(text), key, "is no UUID");
}

/// Returns true when a text is a UUID, written in full.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// Returns true when a text can be part of a path and a word of any shell.
pub fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    !text.is_empty()
        && text.len() <= 128
        && text.chars().all(allowed)
        && !text.starts_with(['.', '-'])
}

/// Base64 as both sides write it.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes behind base64; line ends in it are of no account.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let plain: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::{Fate, PatchAnswer, SarifMessage, TaskMessage, decode, encode};
    use serde_json::{Value, json};

    const ID: &str = "5c24a2b9-7d1b-4d3c-9df1-4a4f4e3b7a10";

    fn detail() -> Value {
        json!({
            "task_id": ID, "type": "delta", "metadata": { "round": "1" },
            "project_name": "libxml2", "focus": "afc-libxml2", "harnesses_included": true,
            "deadline": 1_790_000_000_000_i64,
            "source": [
                { "type": "repo", "url": "https://a/r.tar.gz", "sha256": "0".repeat(64) },
                { "type": "fuzz-tooling", "url": "https://a/t.tar.gz", "sha256": "0".repeat(64) },
                { "type": "diff", "url": "https://a/d.tar.gz", "sha256": "0".repeat(64) },
            ],
        })
    }

    fn wrong(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut task = detail();
        change(&mut task);
        let message = json!({ "message_id": ID, "message_time": 1, "tasks": [task], "new": 1 });
        let message: TaskMessage = serde_json::from_value(message).unwrap();
        message.wrong().into_keys().collect()
    }

    #[test]
    fn what_is_wrong_with_a_task_is_told_by_key() {
        assert!(wrong(|_| {}).is_empty());
        assert_eq!(
            wrong(|task| task["task_id"] = json!("x")),
            ["tasks[0].task_id"]
        );
        for name in ["", "../x", "a b", "a/b", "-x", ".x"] {
            assert_eq!(
                wrong(|task| task["project_name"] = json!(name)),
                ["tasks[0].project_name"]
            );
        }
        for focus in ["", "..", "a/../b", "/a", "a//b", "$(x)"] {
            assert_eq!(
                wrong(|task| task["focus"] = json!(focus)),
                ["tasks[0].focus"],
                "{focus}"
            );
        }
        assert!(wrong(|task| task["focus"] = json!("a/b")).is_empty());
        assert_eq!(
            wrong(|task| task["type"] = json!("full")),
            ["tasks[0].source"]
        );
        assert_eq!(
            wrong(|task| task["source"][1]["sha256"] = json!("00")),
            ["tasks[0].source[1].sha256"]
        );
    }

    #[test]
    fn a_shape_that_does_not_fit_is_no_message() {
        for key in [
            "deadline",
            "source",
            "type",
            "focus",
            "metadata",
            "harnesses_included",
        ] {
            let mut task = detail();
            task.as_object_mut().unwrap().remove(key);
            let message = json!({ "message_id": ID, "message_time": 1, "tasks": [task] });
            let read = serde_json::from_value::<TaskMessage>(message);
            assert!(read.unwrap_err().to_string().contains(key));
        }
        let broadcast =
            json!({ "metadata": {}, "sarif": { "runs": 1 }, "sarif_id": ID, "task_id": ID });
        let message = json!({ "message_id": ID, "message_time": 1, "broadcasts": [broadcast] });
        let message: SarifMessage = serde_json::from_value(message).unwrap();
        assert_eq!(
            message.wrong().into_keys().collect::<Vec<_>>(),
            ["broadcasts[0].sarif"]
        );
    }

    #[test]
    fn answers_of_the_other_side() {
        for (text, status, tests) in [
            (
                r#"{"patch_id":"a","status":"accepted"}"#,
                Fate::Accepted,
                None,
            ),
            (
                r#"{"patch_id":"a","status":"deadline_exceeded","functionality_tests_passing":null}"#,
                Fate::DeadlineExceeded,
                None,
            ),
            (
                r#"{"patch_id":"a","status":"failed","functionality_tests_passing":false}"#,
                Fate::Failed,
                Some(false),
            ),
        ] {
            let answer: PatchAnswer = serde_json::from_str(text).unwrap();
            assert_eq!(
                (answer.status, answer.functionality_tests_passing),
                (status, tests)
            );
        }
        assert!(serde_json::from_str::<PatchAnswer>(r#"{"patch_id":"a","status":"new"}"#).is_err());
    }

    #[test]
    fn base64_goes_both_ways() {
        assert_eq!(
            decode(&encode(b"\x00\xff a")).as_deref(),
            Some(&b"\x00\xff a"[..])
        );
        assert_eq!(decode("YW\nJj\r\n").as_deref(), Some(&b"abc"[..]));
        assert_eq!(decode("%"), None);
    }
}
