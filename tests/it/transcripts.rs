//! Recorded transcripts: each example replays with its own to a patch, and
//! nothing in a reply comes from anywhere but the prompts before it.
//!
//! The prompts of one example must be the recorded ones, byte for byte; the
//! others may drift. CONTRIBUTING.md says how a transcript is recorded.

mod names;

use crate::scene::{GOOD, QUERIES, Scene};
use names::{Shown, code_names};
use patchwright_agent::task;
use patchwright_model::Role;
use patchwright_model::recorded::{Exchange, read};
use patchwright_patcher::{Edit, reply};
use patchwright_tests::command::{Finished, Patchwright};
use patchwright_tests::model::ScriptedModel;
use std::path::{Path, PathBuf};

/// Queries whose words are names that must have been seen.
const NAMING: [&str; 6] = [
    "symbol",
    "references",
    "callers",
    "callees",
    "implementations",
    "similar",
];

fn examples() -> Vec<(String, PathBuf, Vec<Exchange>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("task.toml").is_file())
        .map(|path| {
            let task = task::read(&path).unwrap();
            let transcript = task.transcript.expect("an example names its transcript");
            (task.id, path, read(&transcript).unwrap())
        })
        .collect();
    all.sort_by(|left, right| left.0.cmp(&right.0));
    all
}

/// Runs an example with its transcript: it ends with a patch, and every reply
/// is asked for.
fn replay(id: &str) -> Finished {
    let (_, folder, exchanges) = examples()
        .into_iter()
        .find(|(name, ..)| name == id)
        .expect("an example of this name");
    let patchwright = Patchwright::new().unwrap();
    let out = patchwright.scratch("out");
    let (out, folder) = (out.to_str().unwrap(), folder.to_str().unwrap());
    // The attacks cost time and change no prompt of these transcripts.
    let finished = patchwright
        .run(&[
            "run",
            folder,
            "--out",
            out,
            "--format",
            "json",
            "--set",
            "limits.robust=5s",
            "--set",
            "limits.executions=1",
            "--set",
            "limits.same=20s",
        ])
        .unwrap();
    assert!(
        finished.stderr.contains("answers are RECORDED"),
        "{}",
        finished.stderr
    );
    let report: serde_json::Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.stderr));
    let ending = report["ending"].as_str().unwrap();
    assert!(
        ["verified", "plausible"].contains(&ending),
        "{id} ended {ending}: {}\n{}",
        report["detail"].as_str().unwrap_or_default(),
        finished.stderr
    );
    let calls = report["cost"]["calls"].as_u64().unwrap();
    assert_eq!(
        calls,
        exchanges.len() as u64,
        "{id}: every answer is asked for"
    );
    assert!(Path::new(out).join("patch.diff").is_file());
    finished
}

macro_rules! replays {
    ($($(#[$attribute:meta])* $name:ident $id:literal)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $name() {
            replay($id);
        }
    )*};
}

replays! {
    #[ignore = "run by `make soak`; each language is replayed once by every test"]
    cares_replays "cares-naptr"
    hunspell_replays "hunspell-leftcommon"
    jsoup_replays "jsoup-adoption"
    #[ignore = "run by `make soak`, as cares_replays is"]
    lua_replays "lua-getlocal"
}

#[test]
fn bzip2_asks_exactly_what_was_recorded() {
    let finished = replay("bzip2-selectors");
    let said = &finished.stderr;
    assert!(!said.contains("drift in turn"), "record it again: {said}");
}

#[test]
fn a_changed_prompt_is_reported_and_does_not_break_the_replay() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, GOOD]).unwrap();
    let live = scene.run(&model, &["--dry-run", "--record", "recorded.jsonl"]);
    live.expect("proposed", 0, "");
    drop(model);

    let replay = ["run", "records", "--dry-run", "--replay", "recorded.jsonl"];
    let same = scene.json(&replay);
    same.expect("proposed", 0, "");
    let said = &same.finished.stderr;
    assert!(!said.contains("drift"), "{said}");

    let title = "a name that is too long";
    let scene = scene.edit("task.toml", "a long name", title);
    let changed = scene.json(&replay);
    changed.expect("proposed", 0, "");
    let said = &changed.finished.stderr;
    assert!(said.contains("drift in turn 1 of 2"), "{said}");
    assert!(
        said.lines()
            .any(|line| line.starts_with('+') && line.contains(title)),
        "the diff shows what changed: {said}"
    );
    assert!(!said.contains("drift in turn 2"), "{said}");
    assert_eq!(changed.report["attempts"], same.report["attempts"]);
}

#[test]
fn every_example_is_replayed_above() {
    let ids: Vec<String> = examples().into_iter().map(|(id, ..)| id).collect();
    let expected = [
        "bzip2-selectors",
        "cares-naptr",
        "hunspell-leftcommon",
        "jsoup-adoption",
        "lua-getlocal",
    ];
    assert_eq!(ids, expected);
}

#[test]
fn a_transcript_retrieves_and_one_fails_first() {
    let mut failures = 0;
    for (id, _, exchanges) in examples() {
        let replies: Vec<_> = exchanges
            .iter()
            .map(|exchange| reply::read(&exchange.reply.text, false))
            .collect();
        assert!(
            replies.iter().any(|reply| !reply.queries.is_empty()),
            "{id} retrieves nothing"
        );
        failures += replies.iter().filter(|reply| reply.patch.is_some()).count() - 1;
    }
    assert!(failures > 0, "no transcript shows the loop looping");
}

#[test]
fn answers_rely_only_on_what_was_shown() {
    for (id, _, exchanges) in examples() {
        for exchange in &exchanges {
            let shown = Shown::in_prompts(
                exchange
                    .request
                    .messages
                    .iter()
                    .filter(|message| message.role == Role::User)
                    .map(|message| message.text.as_str()),
            );
            let problems = problems_of(&exchange.reply.text, &shown);
            assert!(problems.is_empty(), "{id}: {}", problems.join("\n"));
        }
    }
}

#[test]
fn an_answer_from_memory_is_noticed() {
    let shown = Shown::in_prompts(["12: int f(int n) {\n13:   return g(n);\n"].into_iter());
    for (text, expected) in [
        (
            "<patch><edit file='a.c' lines='13'><original>  return g(n);</original><replacement>  return g(n + 1);</replacement></edit></patch>",
            0,
        ),
        (
            "<patch><edit file='a.c' lines='13'><original>  return h(n);</original><replacement>  return g(n);</replacement></edit></patch>",
            1,
        ),
        (
            "<patch><edit file='a.c' lines='13'><original>  return g(n);</original><replacement>  return secret(n);</replacement></edit></patch>",
            1,
        ),
        (
            "<queries><symbol>secret</symbol><symbol>g</symbol><text>anything</text></queries>",
            1,
        ),
    ] {
        assert_eq!(problems_of(text, &shown).len(), expected, "{text}");
    }
}

/// Lists what an answer uses although no prompt shows it.
fn problems_of(text: &str, shown: &Shown) -> Vec<String> {
    let read = reply::read(text, false);
    let mut problems = Vec::new();
    for query in read
        .queries
        .iter()
        .filter(|query| NAMING.contains(&query.kind.as_str()))
    {
        problems.extend(
            code_names(&query.body)
                .into_iter()
                .filter(|name| !shown.has_name(name))
                .map(|name| format!("asks for {name}, which no prompt shows")),
        );
    }
    for edit in read.patch.iter().flat_map(|patch| &patch.edits) {
        let (original, new) = match edit {
            Edit::Replace {
                original,
                replacement,
                ..
            } => (original.as_deref(), replacement.as_deref()),
            Edit::Insert { text, .. } | Edit::Create { text, .. } => (None, Some(text.as_str())),
            _ => (None, None),
        };
        let lines = original
            .unwrap_or_default()
            .lines()
            .filter(|line| !line.trim().is_empty());
        problems.extend(
            lines
                .filter(|line| !shown.has_line(line))
                .map(|line| format!("quotes a line that no prompt shows: {line}")),
        );
        let new = new.unwrap_or_default();
        let own: Vec<String> = names::declared(new);
        problems.extend(
            code_names(new)
                .into_iter()
                .filter(|name| !shown.has_name(name) && !own.contains(name))
                .map(|name| format!("uses {name}, which no prompt shows")),
        );
    }
    problems
}
