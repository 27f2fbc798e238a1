//! Whole repairs: every ending with its exit code, the loop that leads there, and
//! the files that remain.

mod endings;
mod output;
mod safety;

use crate::scene::{
    DOES_NOT_BUILD, GOOD, NOTHING, QUERIES, STILL_CRASHES, STILL_CRASHES_AGAIN, Scene, events,
};
use patchwright_tests::model::ScriptedModel;
use std::fs;

#[test]
fn a_crash_is_repaired_after_a_round_and_failures_that_were_told() {
    let scene = Scene::new();
    let answers = [
        NOTHING,
        QUERIES,
        DOES_NOT_BUILD,
        STILL_CRASHES,
        STILL_CRASHES_AGAIN,
        GOOD,
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let out = scene.patchwright.scratch("out");
    let told = scene.run(&model, &["--out", &out.display().to_string()]);
    told.expect("verified", 0, "attempt 4 holds every rung");

    let asked = model.requests();
    assert_eq!(asked.len(), answers.len());
    for (request, words) in [
        // The crash that was seen here, with its code, before any query.
        (
            0,
            vec!["heap-buffer-overflow", " 8:   memcpy(name, text, length);"],
        ),
        (1, vec!["<frobnicate>"]),
        (2, vec!["# Round 1", "6: #define NAME_LIMIT 15"]),
        (3, vec!["Your patch failed", "least_of"]),
        (
            4,
            vec!["Your patch failed", "still crashes", "WRITE of size 35"],
        ),
        (5, vec!["was tried before", "refuted by the rung"]),
    ] {
        for word in words {
            let last = asked[request].last();
            assert!(
                last.contains(word),
                "request {request} lacks {word:?}: {last}"
            );
        }
    }
    for pair in asked.windows(2) {
        let (before, after) = (pair[0].messages(), pair[1].messages());
        assert!(after.starts_with(&before), "the history is only added to");
    }

    // The patch that came again costs an attempt, and is not built.
    assert_eq!(told.report["attempts"].as_array().unwrap().len(), 4);
    assert_eq!(told.report["best"]["number"], 4);
    let again = told.rung(3, "applies");
    assert_eq!(again["holds"], false);
    let progress = &told.finished.stderr;
    assert!(
        progress.contains("attempt 3 was not run: the same patch as attempt 2"),
        "{progress}"
    );
    assert_eq!(told.rung(1, "builds")["holds"], false);
    assert_eq!(told.rung(2, "silent")["holds"], false);
    assert_eq!(told.rung(2, "tested"), &serde_json::Value::Null);
    let journal = events(&fs::read_to_string(out.join("journal.jsonl")).unwrap());
    let built = journal.iter().filter(|event| {
        event["kind"] == "intent" && event["name"] == "climb" && event["body"]["rung"] == "builds"
    });
    assert_eq!(built.count(), 3);
}

/// Quotes a line that [`DOES_NOT_BUILD`] would have added.
const QUOTES_AN_ATTEMPT: &str = "<patch>
<explanation>The function least_of is not declared.</explanation>
<edit file=\"records.c\" lines=\"7-9\">
<original>
  char *name = malloc(NAME_LIMIT + 1);
  memcpy(name, text, least_of(length, NAME_LIMIT));
  name[length] = 0;
</original>
<replacement>
  char *name = malloc(length + 1);
  memcpy(name, text, length);
  name[length] = 0;
</replacement>
</edit>
</patch>";

#[test]
fn a_patch_that_quotes_an_attempt_is_told_so_and_costs_none() {
    let scene = Scene::new();
    let answers = [DOES_NOT_BUILD, QUOTES_AN_ATTEMPT, GOOD];
    let model = ScriptedModel::start(answers).unwrap();
    let told = scene.run(&model, &["--set", "limits.attempts=2"]);
    told.expect("verified", 0, "attempt 2 holds every rung");
    let asked = model.requests();
    let last = asked[2].last();
    for word in [
        "was not applied, not even in part",
        "quotes lines that your attempt 1 added",
        "`memcpy(name, text, least_of(length, NAME_LIMIT));`",
        "every patch is against the unpatched tree",
        "8:   memcpy(name, text, length);",
    ] {
        assert!(last.contains(word), "{word:?} is not in {last}");
    }
}
