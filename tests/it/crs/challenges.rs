//! Challenges of AIxCC's CRS API v1.4, from the message that brings them to the
//! verdict on their patches.

use super::competition::{self, Competition, TASK};
use super::daemon::{
    LEFT, RIGHT, model_of_the_left, patchwright, post, pov, start, wait, wait_for,
};
use super::twins;
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::Request;
use patchwright_tests::model::ScriptedModel;
use serde_json::json;
use std::fs;

/// A daemon that has a challenge and, for its model, whoever answers.
struct Scene {
    competition: Competition,
    daemon: Daemon,
    /// Its folders live as long as it does.
    _patchwright: Patchwright,
}

impl Scene {
    /// The challenge is handed in twice and counts once; its project is built as
    /// OSS-Fuzz would build it.
    fn new(verdicts: &[&'static str], model: &ScriptedModel, workers: &str) -> Self {
        Self::with_deadline(verdicts, (model, workers), 600_000)
    }

    fn with_deadline(
        verdicts: &[&'static str],
        (model, workers): (&ScriptedModel, &str),
        left: i64,
    ) -> Self {
        let competition = Competition::start(verdicts);
        let more = format!(
            "hold = \"1ms\"\ncompetition = {:?}\nkey_id = {:?}\n[intake]\nhosts = [\"127.0.0.1\"]\nprivate_hosts = [\"127.0.0.1\"]\n",
            competition.url(),
            competition::KEY
        );
        let patchwright = patchwright(&more)
            .with("PATCHWRIGHT_MODEL__BASE_URL", &model.base_url())
            .with("PATCHWRIGHT_CRS__KEY_TOKEN", competition::TOKEN);
        let known = patchwright.scratch("projects/twins");
        fs::remove_dir_all(known).expect("a folder that goes");
        let daemon = start(&patchwright, workers);
        let message = competition.message(milliseconds() + left);
        for _ in 0..2 {
            let answer = post(&daemon, "/v1/task/", &message);
            assert_eq!(answer.status, 202, "{}", answer.text());
        }
        Self {
            competition,
            daemon,
            _patchwright: patchwright,
        }
    }

    fn hand_in(&self, id: &str, input: &str) {
        let answer = post(&self.daemon, "/v1/patch/", &pov(id, input));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Waits until the one challenge is counted so.
    fn counted(&self, state: &str) {
        wait(&self.daemon, || {
            let status = self.daemon.get("/status/").json();
            status["state"]["tasks"][state] == 1
        });
    }

    /// Waits until so many patches were submitted and the watcher has looked
    /// around a few times more.
    fn submitted(&self, count: usize) -> Vec<String> {
        wait(&self.daemon, || self.competition.patches().len() >= count);
        let pings = self.competition.pings();
        wait(&self.daemon, || self.competition.pings() > pings + 5);
        self.competition.patches()
    }

    fn state_of(&self, task: &str) -> String {
        let told = self.daemon.get(&format!("/api/v1/tasks/{task}"));
        told.json()["state"].as_str().unwrap_or_default().to_owned()
    }

    fn delete(&self, path: &str) -> u16 {
        self.daemon.ask(&Request::new("DELETE", path)).status
    }
}

fn milliseconds() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(now.expect("a clock").as_millis()).expect("a time")
}

#[test]
fn a_patch_is_submitted_until_the_competition_has_it() {
    // It is not there at first, then errs on the patch, then passes it.
    let model = model_of_the_left();
    let scene = Scene::new(&["503", "errored", "passed"], &model, "1");
    scene.counted("waiting");
    assert_eq!(scene.daemon.get("/status/").json()["ready"], true);
    scene.hand_in(LEFT, "left9");
    wait_for(&scene.daemon, LEFT, "succeeded");
    let patches = scene.submitted(3);
    let expected = "+  return size > 4 ? 4 : size;";
    assert!(patches[0].contains(expected), "{patches:?}");
    assert!(patches.iter().all(|patch| *patch == patches[0]));
    assert_eq!(patches.len(), 3, "one that passed is not sent again");
    scene.counted("succeeded");
    assert_eq!(scene.delete("/status/"), 200);
    let status = scene.daemon.get("/status/").json();
    assert_eq!(status["state"]["tasks"]["succeeded"], 0);
    assert!(!scene.daemon.told().contains(competition::TOKEN));
}

#[test]
fn a_refused_patch_is_sought_anew() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let model = ScriptedModel::answering(move |request| {
        let roles = request.messages();
        if !roles.iter().any(|(role, _)| role == "assistant") {
            asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            return twins::QUERIES.into();
        }
        match asked.load(std::sync::atomic::Ordering::SeqCst) {
            1 => twins::BOTH.into(),
            _ => twins::LEFT_ONLY.into(),
        }
    });
    let model = model.expect("a model");
    let scene = Scene::new(&["failed", "passed"], &model, "1");
    scene.hand_in(LEFT, "left9");
    let patches = scene.submitted(2);
    assert_eq!(patches.len(), 2);
    assert!(patches[0].contains("size > 4 ? 4 : size"), "{patches:?}");
    assert!(patches[1].contains("size_of(text) > 4"), "{patches:?}");
    scene.counted("succeeded");
}

#[test]
fn runs_for_a_challenge_end_with_it() {
    let model = model_of_the_left();
    let scene = Scene::new(&["passed"], &model, "0");
    scene.counted("waiting");
    scene.hand_in(LEFT, "left9");
    let place = json!({ "physicalLocation": {
        "artifactLocation": { "uri": "main.c" }, "region": { "startLine": 20 } } });
    let finding = json!({ "message": { "text": "the name is too short" }, "locations": [place] });
    let report = json!({ "version": "2.1.0", "runs": [{ "results": [finding] }] });
    let broadcast = json!({ "metadata": {}, "sarif": report, "sarif_id": RIGHT, "task_id": TASK });
    let message = json!({ "message_id": LEFT, "message_time": 1, "broadcasts": [broadcast] });
    assert_eq!(post(&scene.daemon, "/v1/sarif/", &message).status, 200);
    let tasks = [format!("pov-{LEFT}"), format!("sarif-{RIGHT}")];
    for task in &tasks {
        wait(&scene.daemon, || scene.state_of(task) == "queued");
    }
    assert_eq!(scene.delete(&format!("/v1/task/{TASK}/")), 200);
    scene.counted("canceled");
    for task in &tasks {
        assert_eq!(scene.state_of(task), "canceled", "{task}");
    }
    let told = scene.daemon.get(&format!("/v1/patch/{LEFT}/")).json();
    assert_eq!(told["status"], "failed");
    assert_eq!(scene.delete("/v1/task/"), 200);
}

#[test]
fn no_run_starts_after_the_deadline() {
    let model = model_of_the_left();
    let scene = Scene::with_deadline(&["passed"], (&model, "0"), 3_000);
    scene.hand_in(LEFT, "left9");
    scene.counted("failed");
    let told = scene.daemon.get(&format!("/v1/patch/{LEFT}/")).json();
    assert_eq!(told["status"], "failed");
    assert!(scene.competition.patches().is_empty());
}
