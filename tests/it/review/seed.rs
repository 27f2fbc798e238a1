//! Runs that are written into the store, to be looked at: a large one and a hostile one.

use crate::scene::Scene;
use patchwright_agent::journal::{EventKind, NewEvent};
use patchwright_agent::record::StepId;
use patchwright_store::submissions::NewTask;
use patchwright_store::{Journal, Store};
use serde_json::{Value, json};

/// Bytes of the large run's logs, each.
pub(super) const LOG: usize = 256 << 10;
/// Text that wants to run, to leave its place, and to turn the line around.
pub(super) const HOSTILE: &str = "\"'><img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>\u{202e}\u{1b}[31m${{7*7}}</pre></td>";

/// A run in the store.
pub(super) struct Seeded {
    pub(super) run: String,
    pub(super) log: String,
}

fn block<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a run time").block_on(work)
}

async fn store(scene: &Scene) -> Store {
    let folder = scene.patchwright.folder().join("state/patchwright");
    Store::open(&folder).await.expect("the store opens")
}

fn diff(name: &str, text: &str) -> String {
    format!(
        "--- a/{name}\n+++ b/{name}\n@@ -25,3 +25,4 @@\n   int value;\n-  {text}\n+  if (1) {text}\n+  more();\n   done();\n"
    )
}

fn rung(name: &str, holds: Option<bool>, reason: &str, log: &str) -> Value {
    json!({"name": name, "holds": holds, "reason": reason, "seconds": 1.25, "log": log, "counts": {"runs": 3}})
}

fn report(run: &str, attempts: &[Value], text: &str, log: &str) -> Value {
    json!({
        "schema": 1, "run": run, "task": "records", "ending": "no_patch", "detail": format!("none was accepted {text}"),
        "baseline": [
            {"name": "build address", "good": true, "text": "succeeds", "log": log},
            {"name": format!("pov{text}"), "good": true, "text": format!("crashes {text}"), "log": log},
            {"name": "tests", "good": true, "text": "6 passed, 0 failed", "log": log},
        ],
        "crash": {"kind": format!("heap-buffer-overflow{text}"), "summary": text, "function": "copy_name", "file": "records.c", "line": 8},
        "best": attempts.first(), "attempts": attempts, "rounds": 3,
        "cost": {"usd": 0.42, "tokens_in": 1000, "tokens_out": 200, "calls": 9},
        "seconds": {"total": 93.0, "model": 31.0, "commands": 55.0}, "answers": "live from a model",
    })
}

impl Seeded {
    /// A run with 20 attempts and 5 MB of logs.
    pub(super) fn large(scene: &Scene) -> Self {
        block(async {
            let store = store(scene).await;
            let mut logs = Vec::new();
            for number in 0..20 {
                let line = format!("line of log {number}\n");
                let mut log = line.repeat(LOG / line.len() + 1).into_bytes();
                log.truncate(LOG);
                logs.push(store.keep(&log).await.expect("a blob"));
            }
            let attempts: Vec<Value> = logs
                .iter()
                .enumerate()
                .map(|(number, log)| {
                    json!({"number": number + 1, "lane": 1, "diff": diff("records.c", "call(name, value);"),
                        "explanation": "The buffer is too small.", "p_right": 0.1,
                        "rungs": [rung("applies", Some(true), "every edit was located", ""), rung("builds", Some(true), "the build command succeeds", log),
                                  rung("silent", Some(false), "long-name.txt still crashes: it is the same crash as before", log)]})
                })
                .collect();
            Self::write(scene, &store, ("large", &attempts, ""), &logs[0]).await
        })
    }

    /// A run in which every text is hostile.
    pub(super) fn hostile(scene: &Scene) -> Self {
        block(async {
            let store = store(scene).await;
            let log = store
                .keep(HOSTILE.repeat(20).as_bytes())
                .await
                .expect("a blob");
            let doubt = json!({"what": HOSTILE, "input": log, "change": HOSTILE, "before": format!("before {HOSTILE}"), "after": format!("after {HOSTILE}")});
            let mut same = rung("same elsewhere", None, HOSTILE, &log);
            same["doubts"] = json!([doubt]);
            let attempt = json!({"number": 1, "lane": 1, "diff": diff(HOSTILE, HOSTILE), "explanation": HOSTILE,
                "p_right": 0.5, "rungs": [rung("builds", Some(true), HOSTILE, &log), same],
                "test": {"diff": diff(HOSTILE, HOSTILE), "holds": true, "strong": true, "script": true, "reason": HOSTILE}});
            Self::write(scene, &store, ("hostile", &[attempt], HOSTILE), &log).await
        })
    }

    async fn write(
        scene: &Scene,
        store: &Store,
        (run, attempts, text): (&str, &[Value], &str),
        log: &str,
    ) -> Self {
        let mut task = patchwright_agent::task::read(&scene.path("")).expect("a task");
        task.title = Some(format!("records: heap overflow {text}"));
        let definition = serde_json::to_string(&task).expect("JSON");
        let beginning =
            json!({"limits": {}, "answers": "nobody", "foreign": null, "flags": [], "out": null})
                .to_string();
        store
            .create_run(run, ("records", &definition), &beginning)
            .await
            .expect("a run");
        let journal = Journal::claim(store, run).await.expect("a claim");
        for number in 0..200 {
            let event = NewEvent {
                step: StepId {
                    lane: 1,
                    number: number / 2,
                },
                kind: if number % 2 == 0 {
                    EventKind::Intent
                } else {
                    EventKind::Outcome
                },
                name: "ask".to_owned(),
                summary: format!("asking the model, step {number} {text}"),
                body: json!({"prompt": text, "outcome": {"text": text}}),
            };
            journal.append(event).await.expect("an event");
        }
        let report = report(run, attempts, text, log).to_string();
        journal
            .finish("no_patch", &report)
            .await
            .expect("an ending");
        Self {
            run: run.to_owned(),
            log: log.to_owned(),
        }
    }
}

/// Tasks that wait in the queue.
pub(super) fn tasks(scene: &Scene, count: usize) {
    let tasks: Vec<NewTask> = (0..count)
        .map(|number| NewTask {
            id: format!("task-{number:05}"),
            task: "{}".to_owned(),
            origin: "api".to_owned(),
            ..NewTask::default()
        })
        .collect();
    block(async { store(scene).await.submit(&tasks).await.expect("tasks") });
}
