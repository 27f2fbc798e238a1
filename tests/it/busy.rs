//! The verdict on a busy machine: what it is on a quiet one, only later.

use crate::scene::Scene;
use std::path::Path;
use std::process::{Child, Command};

/// Patches of the program `records`; `make soak` judges all of these.
const PATCHES: &[&str] = if option_env!("PATCHWRIGHT_SOAK").is_some() {
    &[
        "right/limit",
        "right/room-for-all",
        "wrong/cut-short",
        "wrong/other-numbers",
        "wrong/special-cased",
        "wrong/too-strict",
    ]
} else {
    &["right/limit"]
};

/// Programs that keep the processors busy, until it is dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start() -> Self {
        let spin = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        Self((0..4).map(|_| spin()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Each rung with its result and its reason, and the ending; numbers are left out, since what
/// was counted is another count each time.
fn judged(patch: &str) -> Vec<String> {
    let scene = Scene::new();
    let patches = Path::new(env!("CARGO_MANIFEST_DIR")).join("judge/records");
    let patch = patches.join(format!("{patch}.diff")).display().to_string();
    let report = scene.json(&["judge", "records", "--patch", &patch]).report;
    let rungs = report["attempts"][0]["rungs"].as_array().unwrap();
    let rungs = rungs.iter().map(|rung| {
        let (name, holds, reason) = (&rung["name"], &rung["holds"], &rung["reason"]);
        format!("{name} {holds} {reason}")
    });
    let words = rungs.map(|line| line.replace(|c: char| c.is_ascii_digit(), ""));
    // What second witnesses hear does not depend on the time.
    let rungs = report["attempts"][0]["rungs"].as_array().unwrap();
    let robust = rungs.iter().find(|rung| rung["name"] == "robust");
    let heard = robust.map(|rung| rung["counts"]["inputs under a second witness"].to_string());
    words
        .chain([report["ending"].to_string()])
        .chain(heard)
        .collect()
}

#[test]
fn a_busy_machine_gives_the_same_verdict() {
    for patch in PATCHES {
        let quiet = judged(patch);
        let busy = Busy::start();
        let loaded = judged(patch);
        drop(busy);
        assert_eq!(quiet, loaded, "{patch}");
    }
}
